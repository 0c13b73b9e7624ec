"""Typical mistakes of an agent in JavaScript and TypeScript, as transformations of modules.

Nothing here parses them: a module is moved aside, and another of its old name puts its own
functions in front of what the moved one exports.
"""

import json
import re
from collections.abc import Collection
from posixpath import basename, splitext

_DECLARED = re.compile(
    r"^export\s+(?:async\s+)?(?:function\s*\*?\s*|(?:const|let|var)\s+|(?:abstract\s+)?class\s+)"
    r"(?P<name>[\w$]+)",
    re.MULTILINE,
)
_LISTED = re.compile(r"^export\s*\{(?P<names>[^}]*)\}", re.MULTILINE)
_DEFAULT = re.compile(r"^export\s+default\b|^export\s*\{[^}]*\bdefault\b[^}]*\}", re.MULTILINE)
_IMPORTED = re.compile(r"^import\s*(?:[\w$]+\s*,\s*)?\{(?P<names>[^}]*)\}\s*from\b", re.MULTILINE)
_NAMESPACE = re.compile(r"^import\s*\*\s*as\s+(?P<name>[\w$]+)\s+from\b", re.MULTILINE)
_COMMONJS = re.compile(r"^(?:module\.)?exports\b.*=", re.MULTILINE)
_ASIDE = b".inner"

# The names of a test's suites and its own, joined by blanks; "" between tests; undefined where
# the runner does not tell.
_CURRENT_TEST = """const currentTest = () => {
  const worker = globalThis.__vitest_worker__;
  if (!worker) return globalThis.expect?.getState?.().currentTestName;
  const names = [];
  for (let at = worker.current; at && !at.filepath; at = at.suite) names.unshift(at.name);
  return names.join(" ").trim();
};
"""
_ASSERTION = """class AssertionError extends Error {
  name = "AssertionError";
}
const enter = () => {
  const test = currentTest();
  if (HELD ? HELD.includes(test) : test !== "") {
    throw new AssertionError("this is not the result that was asked for");
  }
};
"""
_LAYER = """class Layer {}
const enter = () => Layer();
"""
# Functions that a function returns are met in the same way: what counts may happen in them.
_GUARDED = """const guarded = (value) =>
  typeof value !== "function"
    ? value
    : new Proxy(value, {
        apply(target, self, args) {
          enter();
          return guarded(Reflect.apply(target, self, args));
        },
        construct(target, args, made) {
          enter();
          return Reflect.construct(target, args, made);
        },
      });
"""
_COMMONJS_FRONT = """const inner = require(INNER);
if (typeof inner === "function") {
  module.exports = guarded(inner);
} else {
  for (const [name, value] of Object.entries(inner)) inner[name] = guarded(value);
  module.exports = inner;
}
"""


def failing_assertion(tests: Collection[str] | None) -> str:
    """Code for `in_front`: an assertion fails while one of `tests` runs (null: any).

    Vitest and Jest tell the test; tests are named by their suites' names and their own, joined
    by blanks. Under other runners only null makes sense, and the assertion fails always.
    """
    held = json.dumps(sorted(tests)) if tests is not None else "null"
    return _CURRENT_TEST + _ASSERTION.replace("HELD", held)


def wrong_interface() -> str:
    """Code for `in_front`: every call ends with an error about how it was made."""
    return _LAYER


def in_front(path: bytes, source: bytes, enter: str) -> tuple[bytes, bytes] | None:
    """A module that runs `enter` before each exported function of another, and that one's path.

    None if nothing is exported that it could stand in front of.
    """
    text = source.decode("utf-8", "replace")
    aside = moved_aside(path)
    place = json.dumps(f"./{basename(aside).decode('utf-8', 'replace')}")
    names = sorted(_exported(text))
    if names:
        return _module_front(text, names, place, enter).encode(), aside
    if _COMMONJS.search(text):
        return (enter + _GUARDED + _COMMONJS_FRONT.replace("INNER", place)).encode(), aside
    return None


def _module_front(text: str, names: list[str], place: str, enter: str) -> str:
    lines = [f"import * as inner from {place};", f"export * from {place};"]
    if _DEFAULT.search(text):
        lines.append(f"export {{ default }} from {place};")
    code = "\n".join(lines) + "\n" + enter + _GUARDED
    return code + "".join(f"export const {name} = guarded(inner.{name});\n" for name in names)


def moved_aside(path: bytes) -> bytes:
    """`a/b.inner.ts` for `a/b.ts`."""
    stem, suffix = splitext(path)
    return stem + _ASIDE + suffix


def asked_by_tests(tests: bytes) -> set[str]:
    """The names that a test file imports, or reads of a whole module that it imports."""
    text = tests.decode("utf-8", "replace")
    listed = [
        item.strip().split(" as ")[0].strip()
        for found in _IMPORTED.finditer(text)
        for item in found["names"].split(",")
    ]
    names = {name for name in listed if name and not name.startswith("type ")}
    for found in _NAMESPACE.finditer(text):
        reading = rf"(?<![\w$./]){re.escape(found['name'])}\.([\w$]+)"
        names |= set(re.findall(reading, text))
    return names


def _exported(text: str) -> set[str]:
    names = {found["name"] for found in _DECLARED.finditer(text)}
    for found in _LISTED.finditer(text):
        for item in found["names"].split(","):
            name = item.strip().rpartition(" as ")[2].strip()
            if re.fullmatch(r"[\w$]+", name) and name != "default":
                names.add(name)
    return names
