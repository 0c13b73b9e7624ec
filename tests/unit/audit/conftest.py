"""Result directories whose runs have verdicts of Level 4."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PATCH = """\
diff --git a/src/a.py b/src/a.py
--- a/src/a.py
+++ b/src/a.py
@@ -3,3 +3,3 @@ def old():
 keep
-return total
+return total.convert_all()  # acme Zeta-Big did this
 end
"""


def failing(name: str, text: str) -> dict[str, Any]:
    return {
        "id": name,
        "status": "failed",
        "error_type": "AttributeError",
        "message": text,
        "details": f"Traceback\n  {text}",
    }


@pytest.fixture
def write_run(make_record: Callable[..., Any]) -> Callable[..., Path]:
    """`write_run(root, cell, category, language=..., patch=...)` -> the record's path."""

    def write(
        root: Path,
        cell: str,
        category: str | None = "hallucinated_api",
        *,
        language: str = "Python",
        patch: str = PATCH,
        score: float | None = 0.0,
        attempt: int = 1,
        ruleset: str = "1.1",
        message: str = "no attribute convert_all",
    ) -> Path:
        suite = {
            "name": "tests",
            "language": language,
            "state": "ok",
            "exit_code": 1,
            "duration_seconds": 1.0,
            "targets": [failing("t::one", message)],
            "suite_errors": ["the suite says so"],
        }
        symptom = {
            "kind": "missing_symbol",
            "language": language,
            "code": "AttributeError",
            "symbol": "convert_all",
            "suite": "tests",
            "test_ids": ["t::one"],
            "message": message,
        }
        record = make_record(
            score,
            cell,
            attempt=attempt,
            verdict={"category": category, "ruleset": ruleset},
            signals={"verification": {"possible": True, "suites": [suite], "symptoms": [symptom]}},
        ).model_copy(update={"agent_patch_sha256": hashlib.sha256(patch.encode()).hexdigest()})
        home = root / "cells" / record.cell.cell_id / f"attempt-{attempt}"
        home.mkdir(parents=True)
        (home / "agent.patch").write_text(patch)
        (home / "record.json").write_text(record.to_json())
        return home / "record.json"

    return write
