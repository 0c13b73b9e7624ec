"""Ids that would be others in the next run."""

import pytest

from nanobench.verify.ids import unstable_ids


@pytest.mark.parametrize(
    "test_id",
    [
        "t::test_x[<object at 0x7f1dd6844750>]",
        "t::test_x[/tmp/tmpab12cd/file]",
        "t::test_x[/private/var/folders/xy/T/file]",
        "t::test_x[pytest-of-someone/pytest-3]",
        "m/p::TestRead//tmp/go-build123/x",
        "t::test_x[/home/someone/a]",
        "t::test_x[123e4567-e89b-12d3-a456-426614174000]",
        "t::at 2026-05-01T10:11:12.345678",
        "t::test_x[1777629072.123]",
    ],
)
def test_addresses_temporary_paths_and_moments_are_found(test_id: str) -> None:
    assert unstable_ids(["t::test_ok", test_id]) == (test_id,)


@pytest.mark.parametrize(
    "test_id",
    [
        "t::test_x[0x10]",
        "t::test_x[deadbeef]",
        "t::test_tmp_path[tmp]",
        "src/tmp/a.test.ts::reads",
        "t::test_x[2026-05-01]",
        "t::test_x[1234567]",
        "t::test_x[home/user]",
        "demo documentation::src/lib.rs - add #2",
    ],
)
def test_words_and_constants_are_not(test_id: str) -> None:
    assert unstable_ids([test_id]) == ()
