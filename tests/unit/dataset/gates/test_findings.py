"""What a repository's silence says of a task: nothing."""

import pytest

from nanobench.dataset.gates.findings import Findings
from nanobench.errors import RepositoryError


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("unable to access 'https://x/': Could not resolve host: x", "not_run"),
        ("unable to access: Failed to connect to x port 443 after 3 ms: no", "not_run"),
        ("ssh: connect to host x port 22: Connection timed out", "not_run"),
        ("ssh: connect to host x port 22: No route to host", "not_run"),
        ("unable to access: Operation too slow. Less than 100 bytes/sec", "not_run"),
        ("unable to access: The requested URL returned error: 503", "not_run"),
        ("unable to access: The requested URL returned error: 429", "not_run"),
        ("unable to access: The requested URL returned error: 404", "failed"),
        ("repository 'https://x/y/' not found", "failed"),
        ("remote error: upload-pack: not our ref " + "5" * 40, "failed"),
        ("'/nowhere' does not appear to be a git repository", "failed"),
    ],
)
def test_a_repository_that_does_not_answer_fails_no_task(words: str, status: str) -> None:
    findings = Findings("clone", "t1")
    findings.take_from_repository("base_commit", RepositoryError(f"git fetch failed: {words}"))
    assert findings.outcome().status == status
    assert words in findings.outcome().problems[0].seen
