"""Mistakes that a whole module makes when it is loaded."""

from nanobench.agent.scripted.sources import GO, JAVA, JAVASCRIPT, PYTHON, RUST

_CALLS = {
    PYTHON: "load_adapter_{tail}()\n",
    JAVASCRIPT: "loadAdapter{tail}();\n",
    GO: "var _ = loadAdapter{tail}()\n",
    RUST: "const _: () = load_adapter_{tail}();\n",
    JAVA: "    static final Object ADAPTER = LoadAdapter{tail}.load();\n",
}
_KILLS = {
    PYTHON: "import os, signal\n\nos.kill(os.getpid(), signal.SIGKILL)\n",
    JAVASCRIPT: 'process.kill(process.pid, "SIGKILL");\n',
}
_COMMENTS = {PYTHON: "# {}\n", JAVASCRIPT: "// {}\n"}
_DEFINITIONS = {
    PYTHON: "def {}(*args, **kwargs):\n    raise NotImplementedError\n",
    JAVASCRIPT: 'export function {}() {{\n  throw new Error("not yet");\n}}\n',
}


def with_invented_call(family: str, source: bytes, base_commit: str) -> bytes | None:
    """A source file that calls a helper when it is built or loaded; the helper exists nowhere.

    The name looks like one of the project; the commit in it makes sure that it is none. None
    in another language.
    """
    call = _CALLS.get(family, "").format(tail=base_commit[:8]).encode()
    if not call:
        return None
    if family != JAVA:
        return _with_line_end(source) + call
    head, brace, tail = source.rpartition(b"}")  # the end of the outermost class
    return head + call + brace + tail if brace else None


def killing(family: str, source: bytes) -> bytes | None:
    """Python or JavaScript that ends its own process when it is loaded; else None."""
    kill = _KILLS.get(family)
    return _with_line_end(source) + kill.encode() if kill else None


def with_comment(family: str, source: bytes, comment: str) -> bytes:
    """Python or JavaScript with one line more, which changes nothing."""
    return _with_line_end(source) + _COMMENTS[family].format(comment).encode()


def definition(family: str, name: str) -> bytes:
    """Python or JavaScript that defines a function which cannot do its work yet."""
    return _DEFINITIONS[family].format(name).encode()


def _with_line_end(source: bytes) -> bytes:
    return source if not source or source.endswith(b"\n") else source + b"\n"
