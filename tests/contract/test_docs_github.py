"""docs/github.md says what the commands do."""

import re
from pathlib import Path

from nanobench.cli.publish import publish
from nanobench.github.actions import OUTPUT_BYTES, SUMMARY_BYTES
from nanobench.github.client import ATTEMPTS, LONGEST_WAIT_SECONDS
from nanobench.github.matrix import MATRIX_JOBS
from nanobench.github.review import BODY_LIMIT
from nanobench.report.comment import SHED_ORDER

TEXT = (Path(__file__).parents[2] / "docs/github.md").read_text()


def test_the_order_in_which_parts_go_is_the_documented_one() -> None:
    listed = TEXT.split("<!-- shed order: begin -->")[1].split("<!-- shed order: end -->")[0]
    assert tuple(re.findall(r"^\d+\. (.*)$", listed, re.MULTILINE)) == SHED_ORDER


def test_the_limits_are_the_documented_ones() -> None:
    assert (BODY_LIMIT, SUMMARY_BYTES, OUTPUT_BYTES) == (60_000, 900 * 1024, 1024**2)
    assert (MATRIX_JOBS, ATTEMPTS, LONGEST_WAIT_SECONDS) == (256, 5, 120.0)
    for told in (
        "60,000",
        "900 KiB",
        "1 MiB",
        "more than 256",
        "at most five tries",
        "two minutes",
    ):
        assert told in TEXT


def test_every_subcommand_is_told() -> None:
    for name in publish.commands:
        assert f"`nanobench publish {name}" in TEXT
