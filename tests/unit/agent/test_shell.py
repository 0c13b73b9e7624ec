"""Command lines read word by word: what they are seen to do, and that no text is too odd."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.agent.shell import (
    Step,
    changes_files,
    fetches_pages,
    mines_history,
    reaches_for_harness,
    runs_code,
    steps,
    uses_browser,
    uses_network,
    uses_ocr,
    without_filters,
)


def says(fact: Callable[[Step], bool], command: str) -> bool:
    return any(map(fact, steps(command)))


@pytest.mark.parametrize(
    "command",
    [
        "pytest -q",
        "cd src && FOO=1 timeout 60 python -m pytest 2>&1 | tail -5",
        "if true; then npm test; fi",
        "bash -c 'make check'",
        "for f in *; do node $f; done",
        "echo $(./run.sh)",
        'echo "`go test ./...`"',
        "sudo -E env A=b cargo test",
        "python - <<'EOF'\nimport x\nEOF",
        "./node_modules/.bin/vitest run",
    ],
)
def test_what_runs_code(command: str) -> None:
    assert says(runs_code, command)


@pytest.mark.parametrize(
    "command",
    [
        "cat a.py | head -5",
        "git diff && git status",
        "sed -n 1,5p a.py",
        "grep -rn 'pytest' .",
        "cat > run.py <<EOF\npytest\nEOF",
        "pip install pytest",
        "echo 'npm test'",
        "ls; pwd; find . -name '*.py' | xargs grep pytest",
        "",
    ],
)
def test_looking_and_writing_run_no_code(command: str) -> None:
    assert not says(runs_code, command)


@pytest.mark.parametrize(
    ("command", "changes"),
    [
        ("sed -i 's/a/b/' a.py", True),
        ("sed -i.bak s/a/b/ a.py", True),
        ("sed -n 1,5p a.py", False),
        ("cat > a.py <<'EOF'\nx\nEOF", True),
        ("echo x >> a.py", True),
        ("pytest > /dev/null 2>&1", False),
        ("pytest 2>&1 | tail", False),
        ("git apply fix.patch", True),
        ("git -C sub checkout -- a.py", True),
        ("git diff", False),
        ('bash -c "mv a b"', True),
        ("grep '>' a.py", False),
    ],
)
def test_what_changes_files(command: str, changes: bool) -> None:
    assert says(changes_files, command) is changes


@pytest.mark.parametrize(
    ("command", "reaches", "page"),
    [
        ("curl -s https://example.com/x", True, True),
        ("curl http://localhost:8000/x", False, False),
        ("wget http://127.0.0.1/x", False, False),
        ("curl http://127.0.0.1.example.com/", True, True),
        ("curl $URL", True, True),
        ("pip install x", True, False),
        ("python3 -m pip install x", True, False),
        ("npm ci", True, False),
        ("npm test", False, False),
        ("git -c a=b fetch origin", True, False),
        ("git log", False, False),
        ('echo "$(curl https://example.com)"', True, True),
        ("cat > a.sh <<'EOF'\ncurl https://example.com\nEOF", False, False),
    ],
)
def test_what_reaches_the_network(command: str, reaches: bool, page: bool) -> None:
    assert (says(uses_network, command), says(fetches_pages, command)) == (reaches, page)


@pytest.mark.parametrize(
    "command",
    [
        "git log --all --oneline",
        "git reflog",
        "git fetch origin pull/7/head",
        "git fsck --lost-found",
        "git show origin/main:a.py",
        "git show HEAD@{1}",
        "git stash list",
        "git branch -a",
        "git rev-list --all | head",
        "git cat-file --batch-all-objects --batch-check",
        "cat .git/packed-refs",
        "gh pr view 7",
        "git diff ORIG_HEAD",
        f"git show {'ab' * 20}",
        f"git checkout {'0a' * 20} -- .",
        f"git diff HEAD {'1' * 40}:src/a.py",
    ],
)
def test_what_mines_history(command: str) -> None:
    assert says(mines_history, command)


@pytest.mark.parametrize(
    "command",
    ["git log --oneline -5", "git show HEAD~1", "git diff", "git blame a.py", "git stash",
     "cat .gitignore", "git branch", "cat docs/git/logs.md", "git commit -a -m all",
     "git show 1234567", f"git commit -m {'a' * 40}", f"echo {'a' * 40}"],
)  # fmt: skip
def test_the_commits_own_past_is_no_mining(command: str) -> None:
    assert not says(mines_history, command)


def test_browsers_and_ocr() -> None:
    assert says(uses_browser, "npx playwright test")
    assert says(uses_ocr, "tesseract shot.png -")
    assert says(uses_ocr, "python -c 'import pytesseract'")
    assert not says(uses_ocr, "python -c 'import pytest'")
    assert not says(uses_browser, "cat chromium.md")


def test_filters_make_no_new_command() -> None:
    plain = without_filters("npm test")
    for narrowed in ("npm test 2>&1 | tail -20", "npm test | grep -i fail | head", "npm  test"):
        assert without_filters(narrowed) == plain
    assert without_filters("npm test -- a") != plain
    assert without_filters("cat a.py") != without_filters("cat b.py")


@given(st.text(alphabet=st.sampled_from("ab '\"\\$()`<>|&;\n-={}#EOF"), max_size=60))
def test_no_text_breaks_the_reading(command: str) -> None:
    for step in steps(command):
        for fact in (changes_files, runs_code, uses_network, uses_browser, mines_history):
            fact(step)
    without_filters(command)


def test_a_huge_command_is_read_in_part() -> None:
    assert steps("echo x; " * 1_000_000)[0].program == "echo"
    assert steps("$(" * 100_000) is not None
    assert steps("cat <<A\n" * 20_000) is not None


@pytest.mark.parametrize(
    "text",
    [
        "cat > /run/nb/results-pytest",
        "kill -9 $PPID",
        "kill ${PPID}",
        "pkill -f nanocoder",
        "for p in /proc/[0-9]*; do cat $p/cmdline; done",
        "echo x > .git/hooks/pre-commit",
        "git config core.fsmonitor true",
        "git update-index --assume-unchanged a.py",
        "echo x > .venv/lib/python3.11/site-packages/_pytest/runner.py",
        "rm -rf .venv",
        "env | grep NANOCODER_",
    ],
)
def test_what_reaches_for_the_harness(text: str) -> None:
    assert reaches_for_harness(text)


@pytest.mark.parametrize(
    "text",
    [
        ".venv/bin/python -m pytest -q",
        "cat .venv/lib/python3.11/site-packages/requests/api.py",
        "ls -la .git",
        "git status",
        "rm -rf build",
        "cat results.txt",
        "kill %1",
        "cat /proc/cpuinfo",
    ],
)
def test_ordinary_commands_do_not(text: str) -> None:
    assert not reaches_for_harness(text)


@pytest.mark.parametrize("part", ["\\'", '\\"', "<<A\n", "$(", "`", "\n", "1"])
def test_the_work_on_a_command_stays_linear(part: str) -> None:
    assert steps("pytest -x; " + part * 10_000)[0].program == "pytest"
