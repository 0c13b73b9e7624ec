import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from nanobench.report.escape import inert, plain

HOSTILE = [
    "<script>alert(1)</script>",
    "</code><img src=x onerror=alert(1)>",
    "a | b | c",
    r"a\|b\\|c",
    "`code` ``more``",
    "[link](http://example.org) ![image](x) <http://a.b>",
    "**bold** __bold__ _em_ ~~gone~~",
    "line\nbreak\r\n\n# heading\n- item\n| cell |",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07",
    "right\u202eto-left\u2066\u200b",
    "&lt;b&gt; &#60;",
    "nul\0 bell\x07 \x9b31m",
    "@maintainer #12 $x$ :smile:",
    "lone \ud800 surrogate",
]


def inline_tokens(source: str) -> list[Token]:
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return [child for token in parser.parse(source) for child in token.children or ()]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_only_text_in_a_markdown_table(text: str) -> None:
    page = f"| a | b |\n| --- | --- |\n| {inert(text)} | end |\n"
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(page)
    assert sum(token.type == "td_open" for token in tokens) == 2
    inline = inline_tokens(page)
    assert {token.type for token in inline} <= {"text", "html_inline"}
    assert [t.content for t in inline if t.type == "html_inline"] == ["<code>", "</code>"]


@given(st.text(alphabet=st.characters(), min_size=1, max_size=60))
def test_no_text_at_all_becomes_markup(text: str) -> None:
    tokens = inline_tokens(f"- begin {inert(text)} end")
    assert {token.type for token in tokens} <= {"text", "html_inline"}
    shown = "".join(token.content for token in tokens if token.type == "text")
    assert shown == " ".join(f"begin {plain(text)} end".split(" ")) or plain(text) == ""


@given(st.text(alphabet=st.characters(), max_size=300), st.integers(1, 80))
def test_plain_text_is_one_bounded_line_without_control_or_format_characters(
    text: str, limit: int
) -> None:
    shown = plain(text, limit)
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]", shown)
    assert len(shown) <= limit + len(f"… ({len(text):,} characters)")
    shown.encode()


def test_ansi_sequences_are_dropped_and_hidden_marks_are_shown() -> None:
    assert plain("\x1b[1;31mred\x1b[0m \x1b]0;title\x07text") == "red text"
    assert plain("a\u202eb") == r"a\u202eb"
    assert plain("bell\x07") == r"bell\x07"


def test_ordinary_text_of_any_language_is_left_as_it_is() -> None:
    for text in ("test_parse[ünïcode-日本語]", "src/app.py: 3 of 5 (60 %)", "שלום"):
        assert plain(text) == text


def test_names_of_tests_stay_readable_in_the_source_of_the_page() -> None:
    assert inert("tests/test_a.py::test_b") == "<code>tests/test_a.py::test_b</code>"


def test_bare_addresses_are_broken_up() -> None:
    assert "http://" not in inert("see http://example.org")
    assert "www." not in inert("see www.example.org")


def test_a_line_of_a_megabyte_is_cut_and_says_so() -> None:
    shown = plain("x" * 1_000_000, 200)
    assert shown == "x" * 200 + "… (1,000,000 characters)"


def test_a_cut_inside_escapes_keeps_the_bound() -> None:
    assert plain("\x01" * 100, 10) == r"\x01\x01\x" + "… (100 characters)"


def test_empty_text_gives_no_empty_code() -> None:
    assert inert(" \n ") == ""
