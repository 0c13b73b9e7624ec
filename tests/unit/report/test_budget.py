from hypothesis import given
from hypothesis import strategies as st

from nanobench.report.budget import Part, fit

LIMIT = 5000
PARTS = st.lists(st.tuples(st.integers(0, 4000), st.none() | st.integers(0, 9)), max_size=12).map(
    lambda drawn: [Part(f"part {n}", "x" * size, sheds) for n, (size, sheds) in enumerate(drawn)]
)


@given(PARTS)
def test_a_page_fits_unless_what_never_goes_is_too_long_by_itself(parts: list[Part]) -> None:
    page = fit(parts, LIMIT, len, "Elsewhere.")
    fixed = sum(len(part.text) + 2 for part in parts if part.sheds is None)
    assert len(page) <= max(LIMIT, fixed + 2000)
    goes = [part for part in parts if part.sheds is not None and part.text]
    named = {part.name for part in goes if f" {part.name}," in page or f" {part.name}." in page}
    assert ("Left out for length" in page) == bool(named)
    for part in goes:
        for other in goes:
            if part.name in named and other.name not in named:
                assert (part.sheds or 0) <= (other.sheds or 0)


def test_a_page_that_fits_is_whole_and_in_order() -> None:
    parts = [Part("a", "first"), Part("b", "", 1), Part("c", "last", 0)]
    assert fit(parts, LIMIT, len, "Elsewhere.") == "first\n\nlast"


def test_of_many_parts_that_go_ten_are_named() -> None:
    parts = [Part(f"p{n}", "x" * 100, n) for n in range(300)]
    page = fit(parts, LIMIT, len, "Elsewhere.")
    assert page.endswith("p8, p9 and 260 more. Elsewhere.") or " more. Elsewhere." in page
    assert len(page) <= LIMIT
