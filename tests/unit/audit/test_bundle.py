"""What goes to a reviewer, and what must not."""

import csv
import json
import re

import pytest

from nanobench.audit.bundle import build, write
from nanobench.audit.sampling import candidates
from nanobench.errors import InvalidInputError
from nanobench.pipeline.records import records_below

HOSTILE = "</script><script>alert(1)</script> <!-- & \u2028"


def made(root, seed="s"):
    found = candidates(records_below(root), "1.1")
    return build(found, found, seed, "1.1")


def test_an_item_has_trace_diff_and_base_and_no_name(tmp_path, write_run):
    write_run(tmp_path, "acme/zeta-big t 1", message="acme says: no attribute convert_all")
    bundle, key = made(tmp_path)
    (item,) = bundle.items
    assert [one.test for one in item.failures] == [None, "t::one"]
    assert "no attribute convert_all" in item.failures[1].text
    assert "+return total.convert_all()" in item.diff
    (hunk,) = item.base
    assert (hunk.path, hunk.first_line) == ("src/a.py", 3)
    assert hunk.text == "keep\nreturn total\nend\n"
    told = bundle.to_json().lower()
    for name in ("acme", "zeta", "big did", key.entries[0].cell_id, "hallucinated", "attempt"):
        assert name.lower() not in told


def test_every_item_is_without_the_names_of_all_runs(tmp_path, write_run):
    patch = "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n from google import keep\n-x\n+y\n"
    for model in ("google/alpha-1", "acme/zeta-big"):
        write_run(tmp_path, f"{model} t 1", patch=patch)
    bundle, _ = made(tmp_path)
    assert {one.base[0].text.splitlines()[0] for one in bundle.items} == {
        "from [model] import keep"
    }
    assert {one.diff for one in bundle.items} == {bundle.items[0].diff}


def test_the_error_that_the_verdict_rests_on_is_among_those_shown(tmp_path, write_run):
    path = write_run(tmp_path, "acme/zeta t 1", message="no attribute last")
    document = json.loads(path.read_text())
    suite = document["signals"]["verification"]["suites"][0]
    last = suite["targets"][0]
    others = [{**last, "id": f"t::{n}", "message": "b", "details": "b"} for n in range(20)]
    suite["targets"] = [*others, last]
    symptom = document["signals"]["verification"]["symptoms"][0]
    mismatch = {**symptom, "kind": "interface_mismatch", "language": "Go", "symbol": None}
    known = {"in_agent_lines": True, "in_repository_at_base": False, "in_golden_patch": False}
    document["signals"]["verification"]["symptoms"] = [mismatch, {**symptom, **known}]
    path.write_text(json.dumps(document))
    (item,) = made(tmp_path)[0].items
    assert item.language == "Python"
    assert len(item.failures) == 10
    assert item.failures[-1].test == "t::one"


def test_the_key_tells_what_the_bundle_does_not(tmp_path, write_run):
    path = write_run(tmp_path, "acme/one t 1", "wrong_abstraction_layer", language="Go")
    bundle, key = made(tmp_path)
    (entry,) = key.entries
    assert entry.item == bundle.items[0].item
    assert (entry.category, entry.language) == ("wrong_abstraction_layer", "Go")
    assert entry.cell_id == path.parent.parent.name


def test_ids_cannot_be_foreseen_without_the_seed(tmp_path, write_run):
    write_run(tmp_path, "acme/one t 1")
    assert made(tmp_path, "a")[0].bundle != made(tmp_path, "b")[0].bundle
    assert made(tmp_path, "a")[0].items[0].item != made(tmp_path, "b")[0].items[0].item


@pytest.mark.parametrize("damage", ["missing", "changed", "link"])
def test_a_patch_that_was_not_graded_is_refused(tmp_path, write_run, damage):
    patch = write_run(tmp_path, "acme/one t 1").with_name("agent.patch")
    if damage == "changed":
        patch.write_text("other")
    else:
        patch.unlink()
    if damage == "link":
        patch.symlink_to("/etc/hostname")
    with pytest.raises(InvalidInputError, match="patch"):
        made(tmp_path)


@pytest.mark.parametrize(
    "patch", ["@@ no patch", "", "diff --git a/x b/x\nGIT binary patch\nliteral 0\n", "\xff\x00"]
)
def test_a_patch_without_hunks_is_shown_as_it_is(tmp_path, write_run, patch):
    write_run(tmp_path, "acme/one t 1", patch=patch)
    (item,) = made(tmp_path)[0].items
    assert item.diff == patch
    assert item.base == ()


def test_the_form_holds_all_items_and_foreign_text_cannot_leave_its_place(tmp_path, write_run):
    write_run(tmp_path / "in", "acme/one t 1", message=HOSTILE)
    bundle, _ = made(tmp_path / "in")
    write(bundle, tmp_path / "out")
    form = (tmp_path / "out/form.html").read_text()
    data = re.search(r'<script type="application/json" id="bundle">(.*?)</script>', form, re.S)
    assert data is not None
    assert json.loads(data[1]) == bundle.model_dump(mode="json")
    assert "alert(1)</script>" not in form
    assert not re.search("https?:", form)


def test_the_sheet_has_one_row_for_each_item(tmp_path, write_run):
    for number in (1, 2, 3):
        write_run(tmp_path / "in", f"acme/one t{number} 1")
    bundle, _ = made(tmp_path / "in")
    write(bundle, tmp_path / "out")
    rows = list(csv.DictReader((tmp_path / "out/answers.csv").read_text().splitlines()))
    assert [row["item"] for row in rows] == [one.item for one in bundle.items]
    assert {row["label"] for row in rows} == {""}
