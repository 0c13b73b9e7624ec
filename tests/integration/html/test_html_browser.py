"""`report.html` in a real headless Chromium, opened from a file."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from nanobench.report.html import writing

Open = Callable[..., Page]
PHONE, DESKTOP = (390, 844), (1280, 800)
HOSTILE = (
    "</script></template><script>hacked=1</script><img src=x onerror=hacked=1><svg onload=hacked=1>"
    "<!--<script> ' \" ` | {{7*7}} [a](javascript:hacked=1) \x1b[31mred\x1b[0m \u202egnp.exe\u2066"
    " \u2028\u2029\x00 @someone #1 :smile: **bold** &lt;b&gt; \N{COMBINING ACUTE ACCENT}"
)
HUGE = HOSTILE + "x" * 1_000_000


@pytest.fixture
def matrix(bench: Any) -> Path:
    found = bench()
    return found.page(found.results(13, 4, absent=1))


@pytest.fixture
def regression(bench: Any) -> Path:
    old, new = bench("old"), bench("new")
    return new.page(new.results(15, 0, absent=1), old.results(15, 14))


def unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")


def fits(page: Page) -> bool:
    """Whether the page, and the dialog in it, can be read without scrolling sideways."""
    return bool(
        page.evaluate(
            "[document.documentElement, document.querySelector('dialog[open]')]"
            ".every((one) => !one || one.scrollWidth <= one.clientWidth)"
        )
    )


def test_text_of_others_is_inert_wherever_it_is_shown(bench: Any, opened: Open) -> None:
    found = bench(text=HUGE, models=(f"acme/<b>{HOSTILE}</b>",), tasks=("alpha",))
    page = opened(found.page(found.results(1)), size=PHONE)
    elements = "document.querySelectorAll('script, img, iframe, svg[onload], template').length"
    before = page.evaluate(elements)
    page.locator("#list a").nth(2).click()
    expect(page.locator("#run-body h3").first).to_be_visible()
    unfold(page)
    shown = page.evaluate("document.body.innerText")
    for part in ("Prompt", "Diff", "Tests", "Tool calls (1)", "Gateway log (1)", "Logs"):
        assert part in shown, part
    assert shown.count("<img src=x onerror=hacked=1>") > 12
    assert "\\u202egnp.exe" in shown
    assert not set("\x1b\x00\u202e\u2066") & set(page.content())
    assert page.evaluate(elements) == before
    assert page.evaluate("typeof hacked") == "undefined"
    assert fits(page)


def test_script_and_style_that_got_in_would_have_no_effect(matrix: Path, browser: Browser) -> None:
    evil = "<script>document.title = 'hacked'</script><style>main { display: none }</style>"
    matrix.write_text(matrix.read_text().replace("<main", f"{evil}<main", 1))
    page = browser.new_page()
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text))
    page.goto(matrix.as_uri())
    assert page.title() == "NanoBench report"
    expect(page.locator("main")).to_be_visible()
    page.close()
    assert len([text for text in refused if "Content Security Policy" in text]) == 2


def test_the_first_screen_answers_the_five_questions(regression: Path, opened: Open) -> None:
    page = opened(regression)
    cards = page.locator(".cards > div")
    told = [card.inner_text() for card in cards.all()]
    assert "acme/one: 100.0 % solved, 15 of 15" in " ".join(told[0].split())
    assert "Clearly behind: 1 model" in told[0]
    assert "Regression" in told[1]
    assert "acme/two hinted: regression" in told[1]
    assert "alpha" in told[2]
    assert "solved → hallucinated_api: 10" in told[3]
    assert "points" in told[4]
    assert all(card.bounding_box()["y"] < DESKTOP[1] for card in cards.all())  # type: ignore[index]
    assert page.locator(".standing").first.bounding_box()["y"] < DESKTOP[1]  # type: ignore[index]


def test_filters_stand_in_the_address_and_come_back_from_it(matrix: Path, opened: Open) -> None:
    page = opened(matrix, "#model=acme%2Ftwo&result=failed")
    count = page.locator("#count")
    expect(page.get_by_role("combobox", name="Model")).to_have_value("acme/two")
    expect(count).to_contain_text("10 of 30 runs; 0 of 10 graded ones solved: 0.0 % (0 to 28)")
    expect(page.locator("#list li")).to_have_count(10)
    expect(page.locator(".matrix thead th:visible")).to_have_count(2)
    page.get_by_role("combobox", name="Task").select_option("gamma")
    expect(count).to_contain_text("4 of 30 runs")
    expect(page.locator(".matrix tbody tr:visible")).to_have_count(1)
    assert "task=gamma" in page.url
    page.reload()
    expect(count).to_contain_text("4 of 30 runs")
    page.get_by_role("button", name="Clear").click()
    expect(count).to_contain_text("30 of 30 runs")
    page.go_back()
    expect(count).to_contain_text("4 of 30 runs")
    page.get_by_role("searchbox", name="Text").fill("BETA")
    expect(count).to_contain_text("0 of 30 runs")


def test_a_cell_of_the_matrix_leads_to_its_runs_and_a_part_keeps_the_filter(
    matrix: Path, opened: Open
) -> None:
    page = opened(matrix)
    page.locator(".matrix tr[data-task=beta] a").nth(1).click()
    expect(page.locator("#count")).to_contain_text("5 of 30 runs")
    expect(page.locator("#runs")).to_be_focused()
    page.get_by_role("navigation").get_by_role("link", name="Conditions").click()
    expect(page.locator("#conditions")).to_be_focused()
    expect(page.locator("#count")).to_contain_text("5 of 30 runs")


def test_all_can_be_done_with_the_keyboard(matrix: Path, opened: Open) -> None:
    page = opened(matrix)
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the results")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    link = page.locator("#list a").nth(1)
    link.focus()
    page.keyboard.press("Enter")
    title = page.locator("#run-title")
    expect(title).to_be_focused()
    expect(title).to_have_text("acme/one · alpha · hinted · run 2")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(title).to_have_text("acme/one · alpha · hinted · run 3")
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_be_hidden()
    expect(link).to_be_focused()
    assert "run=" not in page.url


def test_an_address_opens_a_run_and_going_back_closes_it(matrix: Path, opened: Open) -> None:
    page = opened(matrix)
    page.locator("#list a").first.click()
    expect(page.locator("dialog")).to_be_visible()
    address = page.url.split("#")[1]
    page.go_back()
    expect(page.locator("dialog")).to_be_hidden()
    again = opened(matrix, f"#{address}")
    expect(again.locator("#run-title")).to_have_text("acme/one · alpha · hinted · run 1")
    expect(again.locator("#run-body")).to_contain_text("Complete Resolution")


def test_a_missing_run_says_so(matrix: Path, opened: Open) -> None:
    page = opened(matrix, "#result=missing")
    page.locator("#list a").click()
    expect(page.locator("#run-body")).to_contain_text("never took place")


def test_the_detail_of_many_runs_is_loaded_from_files_beside_the_page(
    bench: Any, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "INLINE_RUNS", 3)
    monkeypatch.setattr(writing, "_FILE_RUNS", 7)
    found = bench()
    path = found.page(found.results(13, 4))
    page = opened(path)
    page.locator("#list a").nth(20).click()
    expect(page.locator("#run-body")).to_contain_text("Prompt")
    for _ in range(3):
        page.get_by_role("button", name="Next").click()
    expect(page.locator("#run-title")).to_have_text("acme/two · beta · hinted · run 4")
    expect(page.locator("#run-body")).to_contain_text("Prompt")


def test_a_page_without_its_files_says_what_belongs_beside_it(
    bench: Any, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "INLINE_RUNS", 3)
    found = bench()
    path = found.page(found.results(13, 4))
    shutil.rmtree(path.parent / "report-files")
    page = browser.new_page()
    page.goto(path.as_uri())
    page.locator("#list a").first.click()
    expect(page.locator("#run-body")).to_contain_text("report-files belongs beside this page")
    page.close()


@pytest.mark.parametrize("width", [320, 390, 768])
def test_nothing_makes_a_narrow_page_scroll_sideways(
    regression: Path, opened: Open, width: int
) -> None:
    page = opened(regression, size=(width, 800))
    unfold(page)
    assert fits(page)
    verdict = page.locator(".changes .verdict").first.bounding_box()
    assert verdict is not None
    assert verdict["height"] < 60, "the words stand one below the other"
    page.locator("#list a").nth(14).click()
    expect(page.locator("#run-body h3").first).to_be_visible()
    unfold(page)
    assert fits(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_barrier(regression: Path, opened: Open, scheme: str) -> None:
    page = opened(regression, color_scheme=scheme)
    unfold(page)
    assert Axe().run(page).generate_snapshot() == ""
    page.locator("#list a").nth(14).click()
    expect(page.locator("#run-body h3").first).to_be_visible()
    unfold(page)
    assert Axe().run(page).generate_snapshot() == ""


def test_the_results_can_be_read_without_script_and_printed(matrix: Path, opened: Open) -> None:
    bare = opened(matrix, java_script_enabled=False)
    expect(bare.locator(".cards")).to_contain_text("acme/one")
    expect(bare.locator(".matrix")).to_contain_text("5/5")
    expect(bare.get_by_text("need JavaScript")).to_be_visible()
    page = opened(matrix, color_scheme="dark")
    page.emulate_media(media="print")
    ink = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ink == "rgb(255, 255, 255)", "a dark page is printed light"
    expect(page.locator("#filters")).to_be_hidden()
    expect(page.locator("#list li")).to_have_count(30)
    page.emulate_media(media="screen")
    page.locator("#list a").first.click()
    page.emulate_media(media="print")
    expect(page.locator("#run-title")).to_be_visible()
    expect(page.locator("main")).to_be_hidden()


@pytest.mark.parametrize("size", [PHONE, DESKTOP])
def test_results_without_any_graded_run_are_told_as_such(
    bench: Any, opened: Open, size: tuple[int, int]
) -> None:
    empty, broken = bench("empty"), bench("broken", trouble="quota")
    page = opened(empty.page(empty.results(0, 0, absent=30)), size=size)
    expect(page.locator(".cards")).to_contain_text("Nothing was graded")
    expect(page.locator(".cards")).to_contain_text("30 missing")
    assert fits(page)
    page = opened(broken.page(broken.results(0, 0)), size=size)
    expect(page.locator(".cards")).to_contain_text("Nothing was graded")
    expect(page.locator(".cards")).to_contain_text("quota: 30")
    expect(page.locator("#count")).to_have_text("30 of 30 runs, none of them graded.")
    assert fits(page)
