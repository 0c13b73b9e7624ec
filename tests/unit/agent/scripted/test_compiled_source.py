"""Go, Rust and Java with one mistake, as text."""

import pytest

from nanobench.agent.scripted.compiled_source import with_another_parameter
from nanobench.agent.scripted.mistakes import with_invented_call

GO_SOURCE = b"""package main

type T struct{ n int }

func (t *T) Add(more int) int { return t.n + more }

func Twice(value int) int { return 2 * value }

func none() int { return Twice(1) }

func main() { println((&T{}).Add(1) + none()) }
"""
RUST_SOURCE = b"""pub struct T { n: i32 }
impl T {
    pub fn get(&self) -> i32 { self.n }
    pub fn add(&mut self, more: i32) -> i32 { self.n += more; self.n }
}
pub fn twice(value: i32) -> i32 { 2 * value }
pub(crate) fn none() -> i32 { twice(1) }
pub fn all() -> i32 { let mut t = T { n: 1 }; t.add(1) + t.get() + none() }
"""
JAVA_SOURCE = b"""public class Main {
    public static int twice(int value) { return 2 * value; }
    protected int none() { return twice(1); }
    public static void main(String[] args) { System.out.println(new Main().none()); }
}
"""


def test_each_function_takes_one_parameter_more() -> None:
    go = with_another_parameter("go", GO_SOURCE)
    assert go is not None
    assert b"func (t *T) Add(layer int, more int)" in go
    assert b"func none(layer int, )" in go
    assert b"func main()" in go
    rust = with_another_parameter("rust", RUST_SOURCE)
    assert rust is not None
    assert b"pub fn get(&self, _layer: i32, )" in rust
    assert b"pub fn add(&mut self,_layer: i32,  more: i32)" in rust
    assert b"pub fn twice(_layer: i32, value: i32)" in rust
    java = with_another_parameter("java", JAVA_SOURCE)
    assert java is not None
    assert b"twice(int layer, int value)" in java
    assert b"none(int layer)" in java


@pytest.mark.parametrize("family", ["go", "rust", "java", "perl"])
def test_what_has_no_functions_stays(family: str) -> None:
    assert with_another_parameter(family, b"// nothing\n") is None


def test_a_call_is_invented_within_the_class() -> None:
    made = with_invented_call("java", JAVA_SOURCE, "0123456789")
    assert made is not None
    assert made.endswith(b"LoadAdapter01234567.load();\n}\n")
    assert with_invented_call("java", b"", "0123456789") is None
    assert with_invented_call("perl", b"", "0123456789") is None
