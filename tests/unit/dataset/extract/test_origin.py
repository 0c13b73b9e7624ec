"""Pages of a repository, from what its commits say."""

import pytest

from nanobench.dataset.extract.origin import Origin

URL = "https://github.com/acme/widget"


@pytest.mark.parametrize(
    ("message", "number"),
    [
        ("fix: it (#12)\n\nFixes #34 and closes #56.", 34),
        (f"Resolves: {URL}/issues/34", 34),
        ("Part of #34", None),
        ("Fixes other/thing#34", None),
        ("Fixes #12", None),
        ("<!-- For example:\n\n- closes #106 -->\ncloses #34", 34),
    ],
)
def test_the_issue_that_a_commit_closes(message: str, number: int | None) -> None:
    expected = f"{URL}/issues/{number}" if number else None
    assert Origin("acme/widget", URL).issue_url(message, 12) == expected


def test_other_hosts_have_other_pages() -> None:
    assert Origin("acme/widget", "https://example.org/acme/widget").issue_url("Fixes #3", 1) is None
