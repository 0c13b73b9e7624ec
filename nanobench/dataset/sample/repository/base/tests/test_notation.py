import pytest

import tempo


def test_writes_hours_and_minutes():
    assert tempo.format_duration(5400) == "1h 30m"


def test_writes_nothing_as_zero_seconds():
    assert tempo.format_duration(0) == "0s"


def test_refuses_a_negative_duration():
    with pytest.raises(tempo.NotationError):
        tempo.format_duration(-1)


def test_reads_what_it_writes():
    for seconds in (0, 59, 60, 3601, 7325):
        assert tempo.parse_duration(tempo.format_duration(seconds)) == seconds


def test_refuses_an_unknown_unit():
    with pytest.raises(tempo.NotationError):
        tempo.parse_duration("3 parsecs")
