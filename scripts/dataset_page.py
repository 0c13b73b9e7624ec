"""docs/dataset.md: the tasks with what was measured of them, and the candidates after them."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, get_args

from pydantic import AwareDatetime, NonNegativeFloat, NonNegativeInt

from nanobench.model.base import Document, NonEmpty, Sha1, Sha256, canonical_json
from nanobench.model.gate import GateName, GateStatus
from nanobench.model.registry import ScoredRepository
from nanobench.model.task import StatementSource, Suite, Task
from nanobench.report.escape import inert

DECISIONS: Final = {"status", "curation", "rulings"}  # what people add later; not measured
HEAD = """# The dataset

Written by `scripts/generate-dataset-page`; do not edit. What stands here comes from the task files,
from `tasks/registry.json`, and from what was measured last (`docs/dataset-evidence.json`).

Every task is one merged pull request of a public repository, with the repository's own tests. The
statement is named by its place in the repository and its hash; no text and no patch is copied.
`nanobench task show ID` resolves both and adds hints for a judgement. Until a person approves a
task it is a *candidate*, and its tier a suggestion. Seconds are of one machine, with whatever else
it did at the time: read them as an order of magnitude.
"""
CANDIDATES = """## Candidates beyond these

The best of each repository of the registry, all ranked together by the rules of
`nanobench repo candidates`; what is a task already is left out. Software ranks, a person picks: of
a change in this list nobody has said yet whether its tests run, or whether its statement suffices.
"""


class Played(Document):
    """The runs of one scripted model on a task: one entry for each run."""

    model: NonEmpty
    scores: tuple[float, ...]
    suite_seconds: dict[str, tuple[NonNegativeFloat, ...]]


class PatchFacts(Document):
    """How large the golden patch is, and the tree that it starts from."""

    base_files: NonNegativeInt
    files: NonNegativeInt
    added: NonNegativeInt
    removed: NonNegativeInt
    not_required: tuple[str, ...]


class TaskEvidence(Document):
    """What was measured of a task file; `pinned` tells whether it is still the same file."""

    pinned: Sha256
    gates: dict[GateName, GateStatus]
    patch: PatchFacts
    ran_on: str
    where: str
    install_seconds: NonNegativeFloat | None
    played: tuple[Played, ...]


class Candidate(Document):
    """A merged change that could be a task."""

    repo: NonEmpty
    commit: Sha1
    pr_url: str | None
    pull: int | None
    merged_at: AwareDatetime
    required_files: int
    languages: tuple[str, ...]
    test_languages: tuple[str, ...]
    source_lines: int
    test_lines: int
    points: int


class Evidence(Document):
    """docs/dataset-evidence.json."""

    tasks: dict[str, TaskEvidence] = {}
    rules: tuple[str, ...] = ()
    listed: str = ""
    candidates: tuple[Candidate, ...] = ()


def pinned_digest(task: Task) -> str:
    """SHA-256 of all that a gate or a run depends on."""
    document = task.model_dump(mode="json", by_alias=True, exclude=DECISIONS)
    return hashlib.sha256(canonical_json(document).encode()).hexdigest()


def render(
    tasks: Iterable[Task], registry: Mapping[str, ScoredRepository], evidence: Evidence
) -> str:
    """The page; the same tasks and evidence give the same bytes."""
    ordered = sorted(tasks, key=lambda task: task.task_id)
    blocks = [HEAD, _overview(ordered, evidence)]
    blocks += [_task(task, registry.get(task.repo), evidence) for task in ordered]
    blocks.append(_candidates(ordered, evidence))
    return "\n".join(blocks)


def _overview(tasks: list[Task], evidence: Evidence) -> str:
    rows = [
        (
            f"[{task.task_id}](#{task.task_id})",
            f"{task.tier()}",
            ", ".join(task.languages),
            f"{len(task.required_files)}",
            f"{_count(task, 'fail_to_pass')} + {_count(task, 'pass_to_pass')}",
            task.environment.strategy,
            _state(task),
            _gates_in_short(task, evidence),
        )
        for task in tasks
    ]
    head = ("task", "tier", "languages", "required files", "targets + kept tests", "strategy",
            "state", "gates")  # fmt: skip
    return _table(head, rows)


def _state(task: Task) -> str:
    return "retired" if task.status.state == "retired" else task.curation.state


def _task(task: Task, repository: ScoredRepository | None, evidence: Evidence) -> str:
    found = evidence.tasks.get(task.task_id)
    parts = [f"## {task.task_id}\n", _bullets(_origin(task))]
    parts.append("Why it is hard:\n\n" + _bullets(_facts(task, repository, found)))
    parts.append(_commands(task))
    parts.append(_measured(task, found) if found else "Nothing was measured of it yet.\n")
    return "\n".join(parts)


def _origin(task: Task) -> Iterator[str]:
    link = f"[{inert(task.repo)}]({task.repo_url})"
    pull = f"[pull request]({task.pr_url})" if task.pr_url else "a commit"
    issue = f", [issue]({task.issue_url})" if task.issue_url else ""
    yield f"{link}, {pull}{issue}, merged {task.merged_at:%Y-%m-%d}"
    if task.status.state == "retired":
        yield f"retired on {task.status.retired_on}: {inert(task.status.text or '')}"
    yield f"base `{task.base_commit}`, merge `{task.merge_commit}`"
    yield f"statement: {_statement(task.problem_statement)}"
    yield f"domain: {inert(task.domain)}; {inert(task.task_type)}; {inert(task.reasoning_category)}"


def _statement(source: str | StatementSource) -> str:
    if isinstance(source, str):
        return "stands in the task file"
    place = {"commit_message": "the message of the merge commit", "file": f"`{source.path}`"}
    chosen = []
    if source.select and source.select.heading:
        chosen.append(f"the section {inert(source.select.heading)}")
    if source.select and source.select.paragraphs:
        first, last = source.select.paragraphs
        chosen.append(f"paragraph {first}" if first == last else f"paragraphs {first} to {last}")
    return ", ".join([place.get(source.from_, source.from_), *chosen])


def _facts(
    task: Task, repository: ScoredRepository | None, found: TaskEvidence | None
) -> Iterator[str]:
    places = {name.rpartition("/")[0] for name in task.required_files}
    yield (
        f"{task.complexity_tier}, suggested"
        if task.curation.state == "candidate"
        else (task.complexity_tier)
    )
    yield (
        f"{len(task.required_files)} required files in {len(places)} "
        f"{'directory' if len(places) == 1 else 'directories'}, {task.token_estimate:,} tokens, in "
        f"{', '.join(task.languages)}"
    )
    if found:
        patch = found.patch
        yield (
            f"the golden patch changes {patch.files} of {patch.base_files:,} files: "
            f"{patch.added} lines added, {patch.removed} removed, tests included"
        )
        if patch.not_required:
            yield "it changes sources that are not required: " + _names(patch.not_required)
    if repository:
        yield (
            f"a change of this repository edits {repository.depth.mean_files:g} sources on "
            f"average, in directories of {repository.context.median_tokens:,} tokens (median)"
        )
    for suite in task.all_suites():
        targets, kept = (_count(task, f"{way}_to_pass", suite) for way in ("fail", "pass"))
        yield (
            f"suite `{suite.name}` ({suite.language}): {targets} of its tests must come to pass, "
            f"{kept} must go on passing"
        )


def _count(task: Task, which: str, suite: Suite | None = None) -> int:
    if task.expected is None:
        return 0
    tests: dict[str, tuple[str, ...]] = getattr(task.expected, which)
    names = [suite.name] if suite else list(tests)
    return sum(len(tests.get(name, ())) for name in names)


def _place(task: Task) -> str:
    """Where it runs, and what has to be there."""
    environment = task.environment
    file = environment.dockerfile or environment.devcontainer
    if environment.strategy == "native":
        where = "Runs on the machine"
    elif file:
        where = f"Runs in a container, built from `{file}`"
    else:
        where = "Runs in a container, of the image that `--image` or `NANOBENCH_IMAGE` names"
    runtimes = ", ".join(f"{name} `{version}`" for name, version in environment.runtimes.items())
    return f"{where}; needs {runtimes}." if runtimes else f"{where}."


def _commands(task: Task) -> str:
    exported = sorted(task.environment.env.items())
    lines = ["```sh", *(f"export {name}={value}" for name, value in exported)]
    lines += [_first_line(command) for command in task.environment.install]
    for suite in task.all_suites():
        where = "" if suite.cwd == "." else f"cd {suite.cwd} && "
        variables = "".join(f"{name}={value} " for name, value in sorted(suite.env.items()))
        lines += [f"# {suite.name}", f"{where}{variables}{suite.command}"]
    head = f"{_place(task)} Install, and the suites, each from the root of the repository:\n"
    return "\n".join([head, *lines, "```", ""])


def _first_line(command: str) -> str:
    first, *rest = command.splitlines()
    return f"{first}  # and {len(rest)} lines that follow" if rest else first


def _measured(task: Task, found: TaskEvidence) -> str:
    if found.pinned != pinned_digest(task):
        return "The file was changed after it was measured: gate and play it again.\n"
    said = ", ".join(
        f"{name.replace('_', ' ')} {found.gates[name].replace('_', ' ')}"
        for name in get_args(GateName)
        if name in found.gates
    )
    parts = [f"Gates: {said}.\n"]
    if found.played:
        install = "" if found.install_seconds is None else (
            f"; the installation took {found.install_seconds:.0f} s"
        )  # fmt: skip
        parts.append(f"Played on {found.ran_on}, {found.where}{install}:\n")
        suites = [suite.name for suite in task.all_suites()]
        rows = [
            (
                f"`{one.model}`",
                ", ".join(f"{score:.1f}" for score in one.scores),
                *(_seconds(one.suite_seconds.get(name, ())) for name in suites),
            )
            for one in found.played
        ]
        parts.append(_table(("model", "scores", *(f"{name}, seconds" for name in suites)), rows))
    return "\n".join(parts)


def _seconds(values: tuple[float, ...]) -> str:
    return ", ".join(f"{value:.1f}" for value in values) or "-"


def _gates_in_short(task: Task, evidence: Evidence) -> str:
    found = evidence.tasks.get(task.task_id)
    if found is None or found.pinned != pinned_digest(task):
        return "not measured"
    passed = sum(state == "passed" for state in found.gates.values())
    return f"{passed} of {len(found.gates)} pass"


def _candidates(tasks: list[Task], evidence: Evidence) -> str:
    taken = {task.merge_commit for task in tasks}
    rows = [
        (
            f"{one.points}",
            f"[{inert(one.repo)} {one.pull or one.commit[:12]}]({one.pr_url or ''})",
            f"{one.merged_at:%Y-%m-%d}",
            f"{one.required_files}",
            ", ".join(one.languages),
            ", ".join(one.test_languages) or "-",
            f"{one.source_lines} + {one.test_lines}",
        )
        for one in evidence.candidates
        if one.commit not in taken
    ]
    head = ("points", "pull request", "merged", "sources", "languages", "languages of tests",
            "lines of sources + tests")  # fmt: skip
    rules = _bullets([f"Listed: {evidence.listed}.", *(f"{rule}." for rule in evidence.rules)])
    return "\n".join([CANDIDATES, rules, _table(head, rows)])


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _bullets(lines: Iterable[str]) -> str:
    return "".join(f"- {line}\n" for line in lines)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
