"""A reviewer's sheet is taken whole or refused with the row that is wrong."""

import pytest

from nanobench.audit.answers import read_answers
from nanobench.errors import InvalidInputError
from nanobench.model.audit import AuditKey, KeyEntry

HEAD = "bundle,item,reviewer,label,note\n"


@pytest.fixture
def key():
    return AuditKey(
        bundle="b1",
        seed="s",
        ruleset="1.1",
        population=2,
        entries=tuple(
            KeyEntry(
                item=item,
                cell_id="c",
                attempt=1,
                record_sha256="a" * 64,
                language="Python",
                category="hallucinated_api",
            )
            for item in ("i1", "i2")
        ),
    )


def sheet(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_labels_are_read_and_an_empty_one_is_missing(tmp_path, key):
    text = HEAD + 'b1,i1,ann,hallucinated_api,"a, ""note"""\nb1,i2,ann,,\n'
    (one,) = read_answers([sheet(tmp_path / "a.csv", text)], key)
    assert (one.reviewer, one.labels) == ("ann", {"i1": "hallucinated_api"})


def test_a_byte_order_mark_and_dos_line_ends_are_fine(tmp_path, key):
    text = "\ufeff" + (HEAD + "b1,i1,ann,neither,\n").replace("\n", "\r\n")
    (one,) = read_answers([sheet(tmp_path / "a.csv", text)], key)
    assert one.labels == {"i1": "neither"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (HEAD + "b2,i1,ann,neither,\n", "answers the bundle 'b2'"),
        (HEAD + "b1,i9,ann,neither,\n", "no item 'i9'"),
        (HEAD + "b1,i1,ann,neither,\nb1,i1,ann,neither,\n", "stands twice"),
        (HEAD + "b1,i1,ann,maybe,\n", "'maybe' is none of"),
        (HEAD + "b1,i1,ann,,\n", "no item is labelled"),
        (HEAD + "b1,i1,ann,neither,\nb1,i2,bob,neither,\n", "the same one reviewer"),
        (HEAD + "b1,i1,,neither,\n", "the same one reviewer"),
        (HEAD + "b1,i1,ann\n", "it has not 5 fields"),
        (HEAD + "b1,i1,ann,neither,x,y\n", "it has not 5 fields"),
        ("item,label\n", "its first row"),
        ("", "its first row"),
        (b"\xff\xfe\x00", "no CSV in UTF-8"),
        (HEAD + 'b1,i1,ann,neither,"open\n', "no CSV"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, key, text, told):
    with pytest.raises(InvalidInputError, match=told):
        read_answers([sheet(tmp_path / "a.csv", text)], key)


def test_one_reviewer_has_one_sheet(tmp_path, key):
    text = HEAD + "b1,i1,ann,neither,\n"
    paths = [sheet(tmp_path / name, text) for name in ("a.csv", "b.csv")]
    with pytest.raises(InvalidInputError, match="another sheet already"):
        read_answers(paths, key)


def test_an_absent_sheet_is_named(tmp_path, key):
    with pytest.raises(InvalidInputError, match="cannot be read"):
        read_answers([tmp_path / "none.csv"], key)
