"""The page as text: what others wrote is inert in it, and the same records give the same bytes."""

import base64
import hashlib
import json
import random
import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest

from nanobench.model.record import Record
from nanobench.report.aggregate import build_report
from nanobench.report.comparison import compare_results
from nanobench.report.document import Report
from nanobench.report.html.page import render_page, script_json
from nanobench.report.pairing import Results

Make = Callable[..., Record]
HOSTILE = (
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "<img src=x onerror=alert(1)>",
    "\" onfocus='alert(1)' autofocus x=\"",
    "{{ 7 * 7 }}{% raw %}",
    "\u202egnp.exe\u2066",
    "\x1b[31mred\x1b[0m\x1b]8;;http://evil.example\x07link",
    "\u2028\u2029\x00\x85\ufeff",
    "`| a | b |` [x](javascript:alert(1))",
)


class Elements(HTMLParser):
    """Every element of a page with its attributes, and the texts of scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.found and self.found[-1][0] == "script":
            self.scripts.append(data)


def report_of(make: Make, text: str) -> Report:
    verdict = {"category": "unclassified", "reason": text, "evidence": [text], "flags": [text]}
    slashless = text.replace("/", "\N{DIVISION SLASH}").replace(" ", "\N{NO-BREAK SPACE}")
    records = [
        make(0.0, f"acme/{slashless} t1 1", verdict=verdict, provenance={"platform": text}),
        make(None, f"acme/{slashless} t1 2", verdict={"reason": text, "evidence": [text]}),
    ]
    return build_report(None, records, [text])


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_others_makes_no_element_and_no_attribute(make_record: Make, text: str) -> None:
    harmless = Elements(render_page(report_of(make_record, "x"), None, {}, {}))
    page = render_page(report_of(make_record, text), None, {}, {})
    found = Elements(page)
    assert [(tag, attrs.keys()) for tag, attrs in found.found] == [
        (tag, attrs.keys()) for tag, attrs in harmless.found
    ]
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\x85\u202a-\u202e\u2066-\u2069\ufeff]", page)


@pytest.mark.parametrize("text", HOSTILE)
def test_data_for_the_script_cannot_end_it(text: str) -> None:
    told = script_json({"text": text, "list": [text], "more": {"deep": (text,)}})
    assert told.isascii()
    assert not set("<>&'") & set(told)
    assert set(json.loads(told)) == {"text", "list", "more"}


def test_numbers_and_harmless_text_reach_the_script_as_they_are() -> None:
    value = {"a": [1, 2.5, None, True], "b": "line\n\ttab \u00e4 \u4e2d"}
    assert json.loads(script_json(value)) == value


def test_the_policy_names_the_hashes_of_style_and_script(make_record: Make) -> None:
    page = render_page(report_of(make_record, "x"), None, {}, {})
    elements = Elements(page)
    (policy,) = (a["content"] for tag, a in elements.found if a.get("http-equiv"))
    assert policy is not None
    style = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    for (text,), kind in ((style, "style-src"), (script, "script-src")):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_nothing_in_the_page_points_outside_it(make_record: Make) -> None:
    found = Elements(render_page(report_of(make_record, "x"), None, {}, {})).found
    places = [a[name] for _, a in found for name in ("src", "href", "action") if name in a]
    assert places
    assert all(place and place.startswith("#") for place in places)
    assert not [a for _, a in found if "style" in a or any(name.startswith("on") for name in a)]


def test_the_same_records_give_the_same_page_in_any_order(make_record: Make) -> None:
    records = [
        make_record(score, f"acme/{model} t{task} {run}", mode=mode)
        for score in (1.0, 0.5)
        for model in ("one", "two")
        for task in (1, 2)
        for run in (1, 2, 3)
        for mode in ("hinted", "navigation")
    ]
    pages = set()
    for seed in range(5):
        random.Random(seed).shuffle(records)
        results = Results.of("new", None, records)
        comparison = compare_results(Results.of("old", None, records[:7]), results)
        pages.add(render_page(results.report, compare_results(results, results), {}, {}))
        assert comparison.verdict in render_page(results.report, comparison, {}, {})
    assert len(pages) == 1


def test_every_task_shows_whether_its_first_run_is_solved(make_record: Make) -> None:
    records = [
        make_record(score, f"acme/one {task} {run}")
        for task, scores in (("t1", (1.0, 0.5)), ("t2", (None, 0.5, 1.0)))
        for run, score in enumerate(scores, 1)
    ]
    page = render_page(build_report(None, records), None, {}, {})
    cells = re.findall(r"<b>(\d/\d)</b>\s*<span class=\"aside\">(.*?)</span>", page)
    assert cells == [("1/2", "0.750, pass@1 yes"), ("1/2", "0.750, pass@1 no")]
