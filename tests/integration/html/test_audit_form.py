"""The audit's form in a real browser, from a file: answers go in, a sheet comes out."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from nanobench.audit.answers import read_answers
from nanobench.audit.bundle import write
from nanobench.model.audit import (
    AuditBundle,
    AuditItem,
    AuditKey,
    BaseHunk,
    KeyEntry,
    TracedFailure,
)

pytestmark = pytest.mark.real
HOSTILE = "</script><img src=x onerror=alert(1)> `code` & \u202e \u2028"
ITEMS = ("a1", "b2")


def bundle() -> AuditBundle:
    return AuditBundle(
        bundle="b0",
        items=tuple(
            AuditItem(
                item=item,
                language="Python",
                failures=(TracedFailure(test=HOSTILE, text=f"AttributeError {HOSTILE}"),),
                diff=f"+{HOSTILE}\n",
                base=(BaseHunk(path=HOSTILE, first_line=3, text=HOSTILE),),
            )
            for item in ITEMS
        ),
    )


def key() -> AuditKey:
    return AuditKey(
        bundle="b0",
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
            for item in ITEMS
        ),
    )


def test_a_reviewer_labels_offline_goes_on_after_a_reload_and_saves_a_sheet(
    browser: Browser, tmp_path: Path
) -> None:
    write(bundle(), tmp_path / "bundle")
    page = browser.new_page(viewport={"width": 390, "height": 800})
    told: list[str] = []
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("dialog", lambda dialog: told.append(f"dialog {dialog.message}"))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "bundle/form.html").as_uri())
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert not wide, "a phone would have to scroll sideways"
    assert HOSTILE in page.locator("#diff").inner_text()
    page.get_by_label("hallucinated_api", exact=True).check()
    page.get_by_role("button", name="Save").click()
    assert page.locator("#saved").inner_text() == "Write your name first."
    page.get_by_label("Your name").fill('Ann "A", B')
    page.reload()
    assert page.get_by_label("hallucinated_api", exact=True).is_checked()
    page.get_by_role("button", name="Next").click()
    page.get_by_label("neither", exact=True).check()
    page.get_by_label("Note").fill('it says "no",\nin two lines')
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save").click()
    sheet = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(sheet)
    (answers,) = read_answers([sheet], key())
    assert answers.reviewer == 'Ann "A", B'
    assert answers.labels == {"a1": "hallucinated_api", "b2": "neither"}
    assert told == []
    assert all(url.startswith(("file:", "blob:")) for url in asked)


def test_the_form_has_no_fault_that_a_machine_finds_for_people_who_do_not_see_it(
    browser: Browser, tmp_path: Path
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    write(bundle(), tmp_path / "bundle")
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)  # type: ignore[arg-type]
        page.goto((tmp_path / "bundle/form.html").as_uri())
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
