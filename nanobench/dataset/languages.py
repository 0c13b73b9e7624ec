"""Which language a file is written in, by its name."""

from pathlib import PurePosixPath

_EXTENSIONS = {
    "Python": "py pyi",
    "Cython": "pyx pxd",
    "JavaScript": "js mjs cjs jsx",
    "TypeScript": "ts tsx mts cts",
    "Svelte": "svelte",
    "Vue": "vue",
    "Go": "go",
    "Rust": "rs",
    "Java": "java",
    "Kotlin": "kt kts",
    "Scala": "scala",
    "Groovy": "groovy",
    "C": "c h",
    "C++": "cc cpp cxx hh hpp hxx",
    "C#": "cs",
    "Dart": "dart",
    "Ruby": "rb",
    "PHP": "php",
    "Swift": "swift",
    "Objective-C": "m mm",
    "Elixir": "ex exs",
    "Erlang": "erl",
    "Haskell": "hs",
    "OCaml": "ml mli",
    "Lua": "lua",
    "Perl": "pl pm",
    "R": "r",
    "Zig": "zig",
    "Shell": "sh bash",
    "SQL": "sql",
    "Protocol Buffers": "proto",
    "HTML": "html htm",
    "CSS": "css scss sass less",
}
_BY_EXTENSION = {
    extension: language for language, row in _EXTENSIONS.items() for extension in row.split()
}


def language_of(path: str) -> str | None:
    """The language of a source file; null for data, prose and what is not known here."""
    return _BY_EXTENSION.get(PurePosixPath(path).suffix[1:].lower())
