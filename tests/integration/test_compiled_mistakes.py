"""Compilers see the mistake that was made for them, where they are installed."""

import shutil
import subprocess
from pathlib import Path

import pytest

from nanobench.agent.scripted.compiled_source import with_another_parameter
from nanobench.agent.scripted.mistakes import with_invented_call

pytestmark = pytest.mark.real

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
SOURCES = {"go": GO_SOURCE, "rust": RUST_SOURCE, "java": JAVA_SOURCE}
NAMES = {"go": "main.go", "rust": "lib.rs", "java": "Main.java"}
COMPILERS = {
    "go": ("go", "vet"),
    "rust": ("rustc", "--crate-type=lib", "--emit=metadata"),
    "java": ("javac", "-d", "."),
}


@pytest.mark.parametrize("family", SOURCES)
@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        (None, ()),
        ("layer", ("not enough arguments", "E0061", "cannot be applied")),
        ("call", ("undefined: loadAdapter", "E0425", "cannot find symbol")),
    ],
)
def test_the_compiler_sees_the_mistake(
    family: str, mistake: str | None, said: tuple[str, ...], tmp_path: Path
) -> None:
    program, *options = COMPILERS[family]
    compiler = shutil.which(program)
    if compiler is None:
        pytest.skip(f"{program} is not installed")
    source: bytes | None = SOURCES[family]
    if mistake == "layer":
        source = with_another_parameter(family, SOURCES[family])
    elif mistake == "call":
        source = with_invented_call(family, SOURCES[family], "0123456789")
    assert source is not None
    (tmp_path / NAMES[family]).write_bytes(source)
    done = subprocess.run(
        [compiler, *options, NAMES[family]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode == 0) is (mistake is None), done.stderr
    assert mistake is None or any(text in done.stderr for text in said)
