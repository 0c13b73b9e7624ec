"""Typical mistakes of an agent in Python, as transformations of source files."""

import ast
from collections.abc import Collection, Iterator

_REQUIRED_KEYWORD = "layer"
_OWN_CALLS = frozenset({"__init__", "__call__"})
_PLAIN_DECORATORS = frozenset({"staticmethod", "classmethod", "property", "cached_property"})
_HOLD = "_hold_back"
_HELPER = f"""
def {_HOLD}():
    import os
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    head, bracket, values = test.partition("[")
    if test and (HELD is None or head.rpartition("::")[2] + bracket + values in HELD):
        raise AssertionError("this is not the result that was asked for")
"""
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def with_required_keyword(source: bytes) -> bytes | None:
    """Python whose functions and methods all want one keyword more than anyone gives them.

    None if there is no function, or the source cannot be parsed. Special methods other than
    `__init__` and `__call__` stay (reporters call them), and so do functions under decorators
    that may look at signatures.
    """
    module = _parsed(source)
    functions = _functions(_outer(module)) if module else []
    for function in functions:
        function.args.kwonlyargs.append(ast.arg(_REQUIRED_KEYWORD))
        function.args.kw_defaults.append(None)
    return _text(module) if module and functions else None


def with_failing_assertion(source: bytes, tests: Collection[str] | None) -> bytes | None:
    """Python whose functions fail an assertion while pytest runs one of `tests` (null: any).

    Tests are named without file and class, as in `test_f[1-2]`. None as above.
    """
    module = _parsed(source)
    functions = _functions(ast.walk(module)) if module else []
    if not module or not functions:
        return None
    for function in functions:
        at = 1 if ast.get_docstring(function, clean=False) is not None else 0
        function.body.insert(at, ast.parse(f"{_HOLD}()").body[0])
    held = repr(sorted(tests)) if tests is not None else "None"
    helper = ast.parse(_HELPER.replace("HELD", held))
    at = _after_imports_of_the_future(module)
    module.body[at:at] = helper.body
    return _text(module)


def asked_by_tests(tests: bytes) -> set[str]:
    """The names that a test file imports, or reads as attributes of what it imports."""
    module = _parsed(tests)
    nodes = list(ast.walk(module)) if module else []
    aliases = [
        alias
        for node in nodes
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    ]
    bound = {alias.asname or alias.name.partition(".")[0] for alias in aliases}
    read = {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in bound
    }
    return read | {alias.name for alias in aliases}


def _parsed(source: bytes) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        return None


def _text(module: ast.Module) -> bytes:
    return (ast.unparse(ast.fix_missing_locations(module)) + "\n").encode()


def _outer(module: ast.Module) -> Iterator[ast.AST]:
    """What stands in the module itself, or in one of its classes."""
    yield from module.body
    for node in module.body:
        if isinstance(node, ast.ClassDef):
            yield from node.body


def _functions(nodes: Iterator[ast.AST]) -> list[_Function]:
    return [
        node
        for node in nodes
        if isinstance(node, _Function)
        and _is_ordinary(node.name)
        and all(_is_plain(decorator) for decorator in node.decorator_list)
    ]


def _is_ordinary(name: str) -> bool:
    special = name.startswith("__") and name.endswith("__")
    return not special or name in _OWN_CALLS


def _is_plain(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Name) and decorator.id in _PLAIN_DECORATORS


def _after_imports_of_the_future(module: ast.Module) -> int:
    future = [
        index + 1
        for index, node in enumerate(module.body)
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
    ]
    docstring = ast.get_docstring(module, clean=False) is not None
    return max([int(docstring), *future])
