from nanobench.agent.prompt import build_prompt


def test_hinted_mode_puts_the_files_below_one_blank_line() -> None:
    assert build_prompt("Fix add.\n\n", ("a.py", "b c.js"), "hinted") == (
        "Fix add.\n\nKey files to focus on:\na.py\nb c.js"
    )


def test_navigation_mode_gives_no_hint() -> None:
    assert build_prompt("\nFix add.\n  code\n", ("a.py",), "navigation") == "Fix add.\n  code"


def test_indentation_of_the_first_line_is_kept() -> None:
    assert build_prompt("    >>> add(1, 2)", (), "navigation") == "    >>> add(1, 2)"
