"""Edits are played on a real directory by a small stand-in for the agent's tools.

The stand-in keeps the rules of Nanocoder 1.30 that the edits must respect; the integration
tests play the same kind of edits through the real one.
"""

import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanobench.agent.scripted.edits import BaseTree, edit_calls, pack
from nanobench.agent.scripted.script import ToolCall
from nanobench.workspace.changes import Change

REGULAR, EXECUTABLE, LINK = 0o100644, 0o100755, 0o120000
State = dict[bytes, tuple[int, bytes]]


class Tools:
    """read_file, write_file, file_op and execute_bash, with their refusals."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.seen: set[Path] = set()

    def play(self, call: ToolCall) -> None:
        getattr(self, call.name)(**call.arguments)

    def read_file(self, path: str) -> None:
        target = self.root / path
        assert not path.endswith((".pdf", ".docx"))
        text = target.read_bytes().decode(errors="replace")
        assert all(len(line) <= 10_000 for line in text.split("\n")), "refused as minified"
        self.seen.add(target)

    def write_file(self, path: str, content: str) -> None:
        target = self.root / path
        assert target.parent.is_dir(), "the parent directory must exist"
        assert target in self.seen or not target.exists(), "must be read first"
        target.write_bytes(content.encode())
        self.seen.add(target)

    def file_op(self, operation: str, path: str) -> None:
        target = self.root / path
        if operation == "mkdir":
            target.mkdir(parents=True, exist_ok=True)
        else:
            assert operation == "delete"
            assert target.exists()
            assert not target.is_dir(), "stat follows links"
            target.unlink()

    def execute_bash(self, command: str) -> None:
        assert len(command.encode()) < 128 * 1024 - 200, "one argument of Linux"
        blocked = (r"rm\s+-rf\s+/(?!\w)", "mkfs", r"dd\s+if=", r">\s*/dev/sd[a-z]")
        assert not any(re.search(pattern, command, re.IGNORECASE) for pattern in blocked)
        subprocess.run(["sh", "-c", command], cwd=self.root, check=True, timeout=20)


def write_state(root: Path, state: State) -> None:
    for path, (mode, content) in state.items():
        target = root / Path(path.decode("utf-8", "surrogateescape"))
        target.parent.mkdir(parents=True, exist_ok=True)
        if mode == LINK:
            target.symlink_to(content.decode("utf-8", "surrogateescape"))
        else:
            target.write_bytes(content)
            target.chmod(mode & 0o777)


def read_state(root: Path) -> State:
    state: State = {}
    for item in root.rglob("*"):
        name = str(item.relative_to(root)).encode("utf-8", "surrogateescape")
        if item.is_symlink():
            state[name] = (LINK, str(item.readlink()).encode("utf-8", "surrogateescape"))
        elif item.is_file():
            executable = item.stat().st_mode & 0o100
            state[name] = (EXECUTABLE if executable else REGULAR, item.read_bytes())
    return state


def changes_between(before: State, after: State) -> list[Change]:
    changed = [path for path in before.keys() | after.keys() if before.get(path) != after.get(path)]
    return [
        Change(path, *after.get(path, (None, None)), before.get(path, (None,))[0])
        for path in changed
    ]


def play(root: Path, before: State, after: State) -> tuple[ToolCall, ...]:
    root.mkdir(exist_ok=True)
    write_state(root, before)
    base = BaseTree(frozenset(before), lambda path: before[path][1])
    calls = edit_calls(changes_between(before, after), base)
    tools = Tools(root)
    for call in calls:
        tools.play(call)
    assert read_state(root) == after
    return calls


def names(calls: Iterable[ToolCall]) -> list[str]:
    return [call.name for call in calls]


def commands(calls: Iterable[ToolCall]) -> list[Mapping[str, str]]:
    return [call.arguments for call in calls if call.name == "execute_bash"]


def test_a_text_edit_reads_and_then_writes(tmp_path: Path) -> None:
    calls = play(tmp_path, {b"a.py": (REGULAR, b"x = 1\n")}, {b"a.py": (REGULAR, b"x = 2\n")})
    assert names(calls) == ["read_file", "write_file"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no end",
        b"a\r\nb\r\n",
        "ünï \U0001f600 \u2028 \ufeff\n".encode(),
        b"\xff\xfe",
        b"a\0b",
        b"\r",
    ],
)
def test_bytes_come_out_as_they_are(tmp_path: Path, content: bytes) -> None:
    play(tmp_path / "new", {}, {b"dir/a.txt": (REGULAR, content)})
    play(tmp_path / "old", {b"a.txt": (REGULAR, b"was")}, {b"a.txt": (REGULAR, content)})
    play(tmp_path / "back", {b"a.txt": (REGULAR, content)}, {b"a.txt": (REGULAR, b"is")})


@pytest.mark.parametrize(
    "path",
    [
        b"with space/and 'quotes' \"too\".txt",
        b"-rf",
        b"~/home.txt",
        b"C:/windows.txt",
        b"back\\slash",
        b"line\nend\n",
        b"not-\xff-utf8",
        "ünï/ç.txt".encode(),
        b"$(touch owned)/`id`;x",
        b"100%sure%d",
        b"mkfs/MKFS.txt",
        b"dd if=x",
        b" lead",
        b"dir/ trail ",
    ],
)
def test_odd_names_are_added_edited_linked_and_deleted(tmp_path: Path, path: bytes) -> None:
    one, two = {path: (REGULAR, b"one\n")}, {path: (EXECUTABLE, b"two\n")}
    link = {path: (LINK, b"- odd target\xfe")}
    for number, (before, after) in enumerate(
        [({}, one), (one, two), (two, one), (one, link), (link, two), ({}, link), (link, {})]
    ):
        play(tmp_path / str(number), before, after)


def test_files_directories_and_links_take_each_others_place(tmp_path: Path) -> None:
    file: State = {b"a": (REGULAR, b"file")}
    tree: State = {b"a/b/c": (REGULAR, b"deep"), b"a/d": (REGULAR, b"")}
    link: State = {b"a": (LINK, b"elsewhere")}
    for number, (before, after) in enumerate(
        [(file, tree), (tree, file), (tree, link), (link, tree), (file, link), (link, file)]
    ):
        play(tmp_path / str(number), before, after)


def test_a_link_to_a_directory_is_deleted_and_not_followed(tmp_path: Path) -> None:
    kept: State = {b"real/x": (REGULAR, b"x")}
    play(tmp_path, {**kept, b"link": (LINK, b"real")}, kept)


def test_what_read_file_refuses_goes_through_the_shell(tmp_path: Path) -> None:
    minified = b"x" * 10_001
    calls = play(tmp_path, {b"m.js": (REGULAR, minified)}, {b"m.js": (REGULAR, b"y")})
    assert names(calls) == ["execute_bash"]
    calls = play(tmp_path / "p", {b"a.pdf": (REGULAR, b"x")}, {b"a.pdf": (REGULAR, b"y")})
    assert names(calls) == ["execute_bash"]


def test_a_mode_alone_changes_no_content(tmp_path: Path) -> None:
    calls = play(tmp_path, {b"a": (REGULAR, b"x")}, {b"a": (EXECUTABLE, b"x")})
    assert names(calls) == ["execute_bash"]
    assert "chmod" in commands(calls)[0]["command"]


def test_large_binary_files_come_in_pieces(tmp_path: Path) -> None:
    content = bytes(range(256)) * 1500
    calls = play(tmp_path, {b"big.bin": (EXECUTABLE, b"old")}, {b"big.bin": (REGULAR, content)})
    assert len(commands(calls)) > 5


def test_base64_that_spells_a_blocked_word_is_broken_up(tmp_path: Path) -> None:
    import base64

    content = base64.b64decode("AmkfsMKFSmkfs+mKfs==") + b"\0"
    play(tmp_path, {}, {b"a.bin": (REGULAR, content)})


def test_a_directory_is_made_once(tmp_path: Path) -> None:
    after: State = {b"new/deep/a": (REGULAR, b"a"), b"new/deep/b": (REGULAR, b"b")}
    calls = play(tmp_path, {}, after)
    assert names(calls).count("file_op") == 1


def test_the_order_of_the_changes_does_not_matter(tmp_path: Path) -> None:
    changes = [Change(b"b", REGULAR, b"1", None), Change(b"a", None, None, REGULAR)]
    base = BaseTree(frozenset({b"a"}), lambda path: b"")
    assert edit_calls(changes, base) == edit_calls(reversed(changes), base)


_PATHS = st.sampled_from([b"a", b"b", b"a/x", b"a/y z", b"c/d/e", b"c"])
_FILES = st.tuples(st.sampled_from([REGULAR, EXECUTABLE]), st.binary(max_size=30))
_LINKS = st.tuples(st.just(LINK), st.sampled_from([b"b", b"gone", b"c/d"]))


def _is_tree(state: State) -> bool:
    return not any(other.startswith(path + b"/") for path in state for other in state)


_STATES = st.dictionaries(_PATHS, st.one_of(_FILES, _LINKS), max_size=5).filter(_is_tree)


@settings(max_examples=25)  # each plays its calls with real shells
@given(_STATES, _STATES)
def test_any_tree_becomes_any_other(
    tmp_path_factory: pytest.TempPathFactory, before: State, after: State
) -> None:
    play(tmp_path_factory.mktemp("tree"), before, after)


def test_turns_are_bounded_and_keep_the_order() -> None:
    calls = [ToolCall("write_file", {"path": str(n), "content": "x" * 90_000}) for n in range(50)]
    steps = pack(calls)
    assert [call for step in steps for call in step.calls] == calls
    assert 1 < len(steps) < 10
    sizes = [sum(len(c.arguments["content"]) for c in step.calls) for step in steps]
    assert max(sizes) <= 1_000_000
    assert pack([]) == ()
    huge = ToolCall("write_file", {"path": "a", "content": "x" * 2_000_000})
    assert pack([huge])[0].calls == (huge,)
