from collections.abc import Callable

from nanobench.model.record import Record
from nanobench.report.aggregate import build_report
from nanobench.report.terminal import render_table

Make = Callable[..., Record]


def test_each_cell_is_a_line_of_plain_text(make_record: Make) -> None:
    records = [
        make_record(1.0, "acme/one t1 1"),
        make_record(0.5, "acme/one t1 2", verdict={"category": "partial_fix_only", "rule": 5}),
        make_record(None, "acme/one t1 3", verdict={"reason": "quota"}),
    ]
    lines = render_table(build_report(None, records)).splitlines()
    assert lines[0].split() == ["model", "task", "mode", "run", "score", "tests", "outcome"]
    assert lines[1].split()[-4:] == ["1.0", "1/2", "Complete", "Resolution"]
    assert lines[2].endswith("0.5    1/2  partial_fix_only (rule 5)")
    assert lines[3].endswith("infrastructure: quota")
    assert "\x1b" not in "".join(lines)


def test_colour_is_given_only_when_asked_for(make_record: Make) -> None:
    assert "\x1b[" in render_table(build_report(None, [make_record(1.0)]), color=True)


def test_markup_and_control_sequences_of_names_do_nothing(make_record: Make) -> None:
    record = make_record(1.0, "acme/[red]\x1b[31mx[/red] t1 1")
    table = render_table(build_report(None, [record]))
    assert "[red]x[/red]" in table
    assert "\x1b" not in table
