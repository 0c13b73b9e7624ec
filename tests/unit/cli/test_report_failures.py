"""What makes a report fail: exact shares of all cells."""

from collections.abc import Callable

import pytest

from nanobench.cli.report import FailOn, _check_states
from nanobench.errors import InfrastructureError
from nanobench.model.record import Record
from nanobench.report.aggregate import build_report

Make = Callable[..., Record]


@pytest.mark.parametrize("share", [7, 29, 57, 58])
def test_a_share_that_is_met_and_not_exceeded_fails_nothing(make_record: Make, share: int) -> None:
    def report(troubled: int) -> None:
        scores = [None] * troubled + [1.0] * (100 - troubled)
        records = [
            make_record(score, f"acme/one t1 {run}", verdict={} if score else {"reason": "quota"})
            for run, score in enumerate(scores, 1)
        ]
        _check_states(build_report(None, records), FailOn(infrastructure=share / 100))

    report(share)
    with pytest.raises(InfrastructureError):
        report(share + 1)
