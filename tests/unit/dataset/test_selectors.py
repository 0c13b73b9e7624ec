import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nanobench.dataset.catalog import Catalog, TaskEntry
from nanobench.dataset.selectors import names_sample, select, split_terms
from nanobench.errors import InvalidInputError, UsageError
from nanobench.files import StateDirectory

AddTask = Callable[..., Path]
RETIRED = {"state": "retired", "reason": "flaky", "retired_on": "2026-06-01"}


@pytest.fixture
def catalog(tasks_dir: Path, add_task: AddTask, state: StateDirectory) -> Catalog:
    add_task("hono-1", repo="honojs/hono", tier=1, languages=["TypeScript"])
    add_task("hono-2", repo="honojs/hono", tier=2, languages=["TypeScript", "Go"])
    add_task("jaeger-3", repo="jaegertracing/jaeger", tier=3, languages=["Go"], domain="tracing")
    add_task("jaeger-4", repo="jaegertracing/jaeger", tier=4, languages=["Go"], domain="tracing")
    add_task("old-5", repo="acme/old", tier=2, languages=["Rust"], status=RETIRED)
    opened = Catalog.open(tasks_dir, state)
    sample = TaskEntry(
        opened.entries["hono-1"].task.model_copy(update={"task_id": "builtin"}),
        "sample",
        None,
        "f" * 64,
    )
    return opened.holding([sample])


def ids(catalog: Catalog, *expressions: str) -> str:
    return " ".join(entry.task.task_id for entry in select(expressions, catalog))


@pytest.mark.parametrize(
    ("expression", "selected"),
    [
        ("", "hono-1 hono-2 jaeger-3 jaeger-4"),
        ("hono-1", "hono-1"),
        ("HONO-1", "hono-1"),
        ("jaeger-4,hono-1", "hono-1 jaeger-4"),
        ("jaeger-4 hono-1", "hono-1 jaeger-4"),
        ("hono*", "hono-1 hono-2"),
        ("*-[34]", "jaeger-3 jaeger-4"),
        ("tier=3", "jaeger-3"),
        ("tier=1,tier=4", "hono-1 jaeger-4"),
        ("tier<=2", "hono-1 hono-2"),
        ("tier>=2,tier<=3", "hono-2 jaeger-3"),
        ("lang:go", "hono-2 jaeger-3 jaeger-4"),
        ("lang:go,lang:typescript", "hono-1 hono-2 jaeger-3 jaeger-4"),
        ("lang:go,tier<=2", "hono-2"),
        ("lang:type*", "hono-1 hono-2"),
        ("domain:tracing", "jaeger-3 jaeger-4"),
        ("domain:'web framework'", "hono-1 hono-2"),
        ("domain:web*", "hono-1 hono-2"),
        ("repo:honojs/hono tier=1", "hono-1"),
        ("!lang:go", "hono-1"),
        ("hono*,!hono-1", "hono-2"),
        ("tier<=2 !lang:go", "hono-1"),
        ("status:retired", "old-5"),
        ("status:*", "hono-1 hono-2 jaeger-3 jaeger-4 old-5"),
        ("!status:retired", "hono-1 hono-2 jaeger-3 jaeger-4"),
        ("old-5", "old-5"),
        ("old*,hono-1", "hono-1"),
        ("lang:rust,lang:go", "hono-2 jaeger-3 jaeger-4"),
        ("sample", "builtin"),
        ("sample,hono-1", "builtin hono-1"),
        ("builtin", "builtin"),
        ("*", "hono-1 hono-2 jaeger-3 jaeger-4"),
    ],
)
def test_selection(catalog: Catalog, expression: str, selected: str) -> None:
    assert ids(catalog, expression) == selected


def test_repeated_options_are_one_selection(catalog: Catalog) -> None:
    assert ids(catalog, "lang:go", "tier<=2") == ids(catalog, "lang:go,tier<=2") == "hono-2"


@pytest.mark.parametrize(
    ("expression", "what", "remedy"),
    [
        ("hono-9", "no task is named 'hono-9'", "did you mean hono-"),
        ("xyz", "no task is named 'xyz'", "there are: builtin, hono-1, hono-2"),
        ("!hono-9", "no task is named 'hono-9'", ""),
        ("lang:cobol", "no task has lang:cobol", "there are: Go, Rust, TypeScript"),
        ("domain:web app", "no task has domain:web", 'there are: tracing, "web framework"'),
        ("status:gone", "no task has status:gone", "there are: active, retired"),
        ("tier=5", "'tier=5' is no term", "tier<=N"),
        ("tier<3", "'tier<3' is no term", ""),
        ("colour:red", "'colour:red' is no term", "lang:VALUE"),
        ("lang:", "'lang:' is no term", ""),
        ("!", "'' is no term", ""),
        ("hono-1,lang:go", "no task is selected", "there are:"),
        ("lang:rust", "no task is selected", ""),
        ("domain:'open", "quotation mark", ""),
    ],
)
def test_what_selects_nothing_is_an_error_that_lists_what_exists(
    catalog: Catalog, expression: str, what: str, remedy: str
) -> None:
    with pytest.raises(UsageError) as caught:
        select([expression], catalog)
    assert what in caught.value.what
    assert remedy in caught.value.remedy


def test_a_task_file_outside_the_dataset_can_be_selected(
    catalog: Catalog, add_task: AddTask, tmp_path: Path
) -> None:
    outside = tmp_path / "my tasks, mine"
    outside.mkdir()
    path = add_task("new-1").rename(outside / "new-1.json")
    (entry,) = select([str(path)], catalog)
    assert entry.path == path


def test_a_named_file_stands_in_for_the_task_of_its_id(catalog: Catalog, tmp_path: Path) -> None:
    original = catalog.entries["hono-1"]
    assert original.path is not None
    path = tmp_path / "hono-1.json"
    path.write_text(json.dumps(json.loads(original.path.read_text())))
    (entry,) = select([str(path)], catalog)
    assert entry.path == path
    with pytest.raises(UsageError, match="two different files hold the task 'hono-1'"):
        select([str(path), str(original.path)], catalog)


def test_a_wrong_task_file_is_an_error_of_the_file(catalog: Catalog, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="cannot be read"):
        select([str(tmp_path / "none.json")], catalog)
    with pytest.raises(InvalidInputError, match="cannot be read"):
        select(["x" * 5000 + ".json"], catalog)


def test_an_empty_dataset_says_so(tasks_dir: Path, state: StateDirectory) -> None:
    with pytest.raises(UsageError) as caught:
        select([], Catalog.open(tasks_dir, state))
    assert "empty" in caught.value.remedy


def test_terms_are_split_at_commas_and_blanks_outside_of_quotes() -> None:
    assert split_terms(["a, b  c", "", 'domain:"x, y" #d']) == ("a", "b", "c", "domain:x, y", "#d")


def test_the_sample_is_needed_only_if_it_is_named() -> None:
    assert names_sample(["tier<=2, sample"])
    assert not names_sample(["samples", "lang:go"])
