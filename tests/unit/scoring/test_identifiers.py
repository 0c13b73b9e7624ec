"""Names in text: whole identifiers, members, imports, in any script."""

import pytest

from nanobench.scoring.identifiers import identifiers, imported, names_path, occurs


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("module.Class.__init__", ["module", "Class", "__init__"]),
        ("$a.b$2", ["$a", "b$2"]),
        ("हिन्दी.größe", ["हिन्दी", "größe"]),
        ("1abc 2", ["abc"]),
        ("", []),
    ],
)
def test_identifiers(text, names):
    assert list(identifiers(text)) == names


@pytest.mark.parametrize(
    ("name", "text", "is_there"),
    [
        ("name", "x.name = 1", True),
        ("name", "x->name(), T::name", True),
        ("name", 'x["name"]', True),
        ("name", "from a import (other, name)", True),
        ("name", "import { other as name } from 'a'", True),
        ("name", "names rename $name name$ _name name2", False),
        ("name", "names name", True),
        ("$name", "x.$name", True),
        ("$name", "x$name", False),
        ("größe", "x.größe", True),
        ("größe", "größen", False),
        ("gro\u0308\u00dfe", "größe", True),  # written with a combining mark
        ("हिन्दी", "हिन्दी()", True),
        ("हिन्द", "हिन्दी()", False),  # a vowel sign continues the identifier
        ("ﬁle", "file", True),  # Python compares identifiers in NFKC
        ("left-pad", 'require("left-pad")', True),
        ("left-pad", "leftXleft-pads", False),
        ("@scope/pkg", "import x from '@scope/pkg/deep'", True),
        ("github.com/a/b", 'import "github.com/a/b"', True),
        ("github.com/a/b", 'import "github.com/a/bc"', False),
        ("com.acme.util", "import com.acme.util.Text;", True),
    ],
)
def test_a_name_occurs_as_a_whole(name, text, is_there):
    assert occurs(name, text) is is_there


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("./nope", "nope"),
        ("../a/nope.js", "nope"),
        ("./nope.test.tsx", "nope.test"),
        ("/ws/src/nope.mjs", "nope"),
        ("..", ".."),
        ("left-pad", "left-pad"),
        ("@scope/pkg/deep", "@scope/pkg/deep"),
        ("github.com/a/nope", "github.com/a/nope"),
        ("com.acme.nope", "com.acme.nope"),
    ],
)
def test_what_an_import_is_looked_up_as(module, name):
    assert imported(module) == name


@pytest.mark.parametrize(
    ("name", "path", "is_named"),
    [
        ("b", "a/b.py", True),
        ("a", "a/b.py", True),
        ("b", "a/bc.py", False),
        ("b.test", "a/b.test.ts", False),
        ("com.acme", "src/main/java/com/acme/X.java", True),
        ("com.acme", "src/main/java/com/acmes/X.java", False),
        ("acme.com", "src/com/acme/X.java", False),
        ("example.com/m/internal/x", "internal/x/y.go", True),
        ("example.com/m/internal/x", "other/x/y.go", False),
        ("example.com/m/internal/x", "y.go", False),
    ],
)
def test_modules_are_named_by_files_and_directories(name, path, is_named):
    assert names_path(name, path) is is_named


def test_a_sign_at_an_end_of_a_name_keeps_it_apart_from_what_stands_there():
    assert occurs("@acme/pkg", "x@acme/pkg")
    assert not occurs("acme/pkg", "xacme/pkg")
    assert occurs("acme/", "acme/pkg")
    assert not occurs("acme/p", "acme/pkg")


def test_a_package_at_the_root_is_named_by_its_directories():
    assert names_path("com.acme", "com/acme/X.java")
    assert not names_path("com.acme", "org/com/acmes/X.java")
