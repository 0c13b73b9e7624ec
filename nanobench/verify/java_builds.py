"""What of Maven's and Gradle's build files configures tests.

- `pom.xml`: the plugins that run tests, the properties that steer them, the places of the tests;
- `*.gradle` and `*.gradle.kts`, which are programs: the statements that speak of tests or of tasks,
  or bring in another script. They cannot be taken out of the rest.

Sources: the goals of the Surefire and Failsafe plugins (user properties), Maven's POM reference,
Gradle's `Test` task.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from xml.dom import Node, expatbuilder, minidom
from xml.parsers.expat import ExpatError, errors

_TEST_PLUGINS = frozenset({"maven-surefire-plugin", "maven-failsafe-plugin"})
_TEST_PLACES = frozenset({"testSourceDirectory", "testResources"})
_TEST_PROPERTY = re.compile(
    r"skipTests|skipITs|maven\.test\..+|(?:surefire|failsafe)\..+|test|it\.test|argLine"
    r"|groups|excludedGroups|includesFile|excludesFile|testFailureIgnore|failIfNoTests"
)
_CLOSED = frozenset({"plugin", "dependencies"})  # in which nothing steers the tests
# Maven knows HTML's entities and more encodings, and does not look at prefixes.
_READ_BY_MAVEN = frozenset(
    errors.codes[message]
    for message in (
        errors.XML_ERROR_UNDEFINED_ENTITY,
        errors.XML_ERROR_UNKNOWN_ENCODING,
        errors.XML_ERROR_INCORRECT_ENCODING,
    )
)
_BETWEEN_TAGS = re.compile(r">\s+<")

# What never ends is taken to the end, so that the work stays linear.
_GRADLE_COMMENT = re.compile(
    r"""("(?:\\.|[^"\\\n])*+"?|'(?:\\.|[^'\\\n])*+'?)|//[^\n]*|/\*.*?(?:\*/|\Z)""", re.DOTALL
)
_GRADLE_TESTS = re.compile(
    r"\b(?:[tT]ests?|tasks|check|gradle|startParameter|ignoreFailures|useJUnit\w*|useTestNG)\b"
    r"|\bapply\s*\(?\s*from\b"
)


@dataclass(frozen=True)
class _Part:
    """An element that configures tests, and the names of the elements around it."""

    place: tuple[str, ...]
    element: minidom.Element


def pom_sections(text: str) -> Mapping[str, str]:
    """The parts by name, such as `build.plugins.maven-surefire-plugin`, as text without layout.

    Raises:
        ValueError: it is no XML.
        LookupError: it may be XML to Maven, and cannot be read here.
    """
    return {
        name: _BETWEEN_TAGS.sub("><", part.element.toxml()) for name, part in _parts(text).items()
    }


def merge_pom(agent: str, base: str, names: Collection[str]) -> str:
    """The agent's POM with the parts of these names as in the base's."""
    document = _document(agent)
    mine, wanted = _parts_of(document), _parts(base) if base else {}
    for name in names:
        if name in mine:
            old = mine[name].element
            if old.parentNode:
                old.parentNode.removeChild(old)
        if name in wanted:
            parent = _parent(document, wanted[name].place)
            parent.appendChild(document.importNode(wanted[name].element, True))
    return document.toxml()


def _document(text: str) -> minidom.Document:
    try:
        # Expat itself bounds what entities expand to.
        content = text.encode("utf-8", "surrogateescape")
        return expatbuilder.parseString(content, namespaces=False)  # noqa: S316
    except ExpatError as error:
        kind = LookupError if error.code in _READ_BY_MAVEN else ValueError
        raise kind(str(error)) from None
    except ValueError as error:  # an encoding with several bytes to a character
        raise LookupError(str(error)) from None


def _root(document: minidom.Document) -> minidom.Element:
    root = document.documentElement
    assert root is not None  # noqa: S101 - it was parsed
    return root


def _parts(text: str) -> dict[str, _Part]:
    return _parts_of(_document(text))


def _parts_of(document: minidom.Document) -> dict[str, _Part]:
    found: dict[str, _Part] = {}
    seen: Counter[str] = Counter()
    waiting: list[tuple[tuple[str, ...], minidom.Element]] = [((), _root(document))]
    while waiting:
        place, parent = waiting.pop()
        for element in _elements(parent):
            name = _name(element)
            if _is_about_tests(element, name, place):
                key = ".".join((*place, name))
                seen[key] += 1
                key = f"{key}#{seen[key]}" if seen[key] > 1 else key
                while key in found:  # an element's own name ends so
                    key += "+"
                found[key] = _Part(place, element)
            elif element.tagName not in _CLOSED:
                waiting.append(((*place, name), element))
    return found


def _is_about_tests(element: minidom.Element, name: str, place: tuple[str, ...]) -> bool:
    if element.tagName == "plugin":
        return name in _TEST_PLUGINS or "${" in name
    if place[-1:] == ("properties",):
        return _TEST_PROPERTY.fullmatch(name) is not None
    return place[-1:] == ("build",) and name in _TEST_PLACES


def _elements(parent: minidom.Node) -> Iterator[minidom.Element]:
    return (node for node in parent.childNodes if node.nodeType == Node.ELEMENT_NODE)


def _name(element: minidom.Element) -> str:
    """What tells an element from its siblings: a plugin's and a profile's own name, or the tag."""
    own = {"plugin": "artifactId", "profile": "id"}.get(element.tagName)
    for child in _elements(element) if own else ():
        if child.tagName == own:
            texts = (node.data for node in child.childNodes if isinstance(node, minidom.Text))
            return "".join(texts).strip()
    return element.tagName


def _parent(document: minidom.Document, place: tuple[str, ...]) -> minidom.Element:
    """The element at a place, made if it is not there."""
    parent = _root(document)
    for index, name in enumerate(place):
        found = next((one for one in _elements(parent) if _name(one) == name), None)
        if found is None:
            is_profile = place[index - 1 : index] == ("profiles",)
            found = parent.appendChild(document.createElement("profile" if is_profile else name))
            if is_profile:
                found.appendChild(document.createElement("id")).appendChild(
                    document.createTextNode(name)
                )
        parent = found
    return parent


def gradle_statements(text: str) -> tuple[str, ...]:
    """The lines that speak of tests or tasks, with the blocks that they open; no comments."""
    plain = _GRADLE_COMMENT.sub(lambda match: match[1] or " ", text)
    found = []
    depth: int | None = None  # of the braces that an open block must still close
    for line in plain.split("\n"):
        if depth is None and not _GRADLE_TESTS.search(line):
            continue
        found.append(" ".join(line.split()))
        depth = (depth or 0) + line.count("{") - line.count("}")
        depth = depth if depth > 0 else None
    return tuple(line for line in found if line)
