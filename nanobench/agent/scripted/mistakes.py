"""Typical mistakes of an agent, as transformations of source files."""

import ast

from nanobench.agent.scripted.sources import JAVASCRIPT, PYTHON

_CALLS = {PYTHON: "load_adapter_{tail}()\n", JAVASCRIPT: "loadAdapter{tail}();\n"}
_REQUIRED_KEYWORD = "layer"
_OWN_CALLS = frozenset({"__init__", "__call__"})


def with_invented_call(family: str, source: bytes, base_commit: str) -> bytes:
    """Python or JavaScript that calls a helper when it is loaded; the helper exists nowhere.

    The name looks like one of the project; the commit in it makes sure that it is none.
    """
    call = _CALLS[family].format(tail=base_commit[:8])
    return _with_line_end(source) + call.encode()


def with_required_keyword(source: bytes) -> bytes | None:
    """Python whose functions and methods all want one keyword more than anyone gives them.

    None if there is no function, or the source cannot be parsed. Special methods other than
    `__init__` and `__call__` stay: reporters call them.
    """
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    bodies = [module.body, *(node.body for node in module.body if isinstance(node, ast.ClassDef))]
    functions = [
        node
        for body in bodies
        for node in body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _is_ordinary(node.name)
    ]
    for function in functions:
        function.args.kwonlyargs.append(ast.arg(_REQUIRED_KEYWORD))
        function.args.kw_defaults.append(None)
    return (ast.unparse(module) + "\n").encode() if functions else None


def throwing_at_the_end(source: bytes) -> bytes:
    """JavaScript that defines everything and then fails to load, with an ordinary error.

    No symbol is missing then and no call has a wrong form.
    """
    return _with_line_end(source) + b'throw new Error("this layer has not been set up");\n'


def _is_ordinary(name: str) -> bool:
    special = name.startswith("__") and name.endswith("__")
    return not special or name in _OWN_CALLS


def _with_line_end(source: bytes) -> bytes:
    return source if not source or source.endswith(b"\n") else source + b"\n"
