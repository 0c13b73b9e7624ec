from collections.abc import Callable

from nanobench.model.plan import Plan, PlanTask
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


def test_trouble_shows_its_cause_in_the_table(make_record: Make) -> None:
    evidence = ("npm exited with 1\x1b[31m\nwith a second line", "and more")
    record = make_record(None, verdict={"reason": "environment", "evidence": evidence})
    table = render_table(build_report(None, [record]), width=200)
    assert "infrastructure: environment: npm exited with 1 with a second line" in table
    assert "and more" not in table


def test_a_low_audit_shows_one_category_in_the_table_too(make_record: Make) -> None:
    record = make_record(0.0, verdict={"category": "hallucinated_api", "rule": 3})
    assert "hallucinated_api (rule 3)" in render_table(build_report(None, [record]))
    table = render_table(build_report(None, [record], merged_rulesets=("1.1",)))
    assert "implementation_error (rule 3)" in table
    assert "hallucinated_api" not in table


def test_a_cell_that_never_ran_is_missing_and_no_more(make_record: Make) -> None:
    record = make_record(1.0)
    task = PlanTask(task_id="t1", origin="dataset", sha256="a" * 64)
    plan = Plan(tasks=(task,), cells=(record.cell,))
    assert render_table(build_report(plan, [])).splitlines()[1].endswith(" missing")


def test_of_many_cells_the_first_are_shown_and_the_rest_is_counted(make_record: Make) -> None:
    records = [make_record(1.0, f"acme/one t{number} 1") for number in range(305)]
    lines = render_table(build_report(None, records)).splitlines()
    assert len(lines) == 1 + 300 + 1
    assert lines[-1] == "and 5 more cells, which are in the report"
