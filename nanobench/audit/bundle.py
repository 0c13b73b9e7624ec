"""The bundle that a reviewer gets, and the key that the maintainer keeps."""

import csv
import hashlib
import io
import json
from collections.abc import Sequence
from pathlib import Path

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from nanobench.audit.blinding import Blinder
from nanobench.audit.sampling import Candidate, keyed
from nanobench.errors import InvalidInputError
from nanobench.files import make_directory, write_atomic
from nanobench.model.audit import (
    AuditBundle,
    AuditItem,
    AuditKey,
    BaseHunk,
    KeyEntry,
    TracedFailure,
)
from nanobench.model.plan import Ruleset
from nanobench.model.signals import TestOutcome

ANSWER_FIELDS = ("bundle", "item", "reviewer", "label", "note")
_MOST_FAILURES = 10
_MOST_CHARACTERS = 200_000
_FORM = Path(__file__).with_name("form.html")
_PATCH = "agent.patch"
_ID_LENGTH = 12


def build(
    drawn: Sequence[Candidate], found: Sequence[Candidate], seed: str, ruleset: Ruleset
) -> tuple[AuditBundle, AuditKey]:
    """The blinded items in an order that tells nothing, and what they are in truth.

    Args:
        found: all of which the sample is drawn; their names are taken out of every item.

    Raises:
        InvalidInputError: the patch of a run is missing or is not the one it was graded with.
    """
    pairs = sorted((_item_id(seed, one), one) for one in drawn)
    bundle_id = keyed(seed, "".join(item for item, _ in pairs))[:_ID_LENGTH]
    blind = Blinder(one.record.cell for one in found)
    items = tuple(_item(item, one, blind) for item, one in pairs)
    entries = tuple(
        KeyEntry(
            item=item,
            cell_id=one.record.cell.cell_id,
            attempt=one.record.attempt,
            record_sha256=one.digest,
            language=one.language,
            category=one.category,
        )
        for item, one in pairs
    )
    key = AuditKey(
        bundle=bundle_id, seed=seed, ruleset=ruleset, population=len(found), entries=entries
    )
    return AuditBundle(bundle=bundle_id, items=items), key


def write(bundle: AuditBundle, directory: Path) -> None:
    """Write `items.json`, the form and an empty answer sheet.

    Raises:
        StateError: the directory cannot be written.
    """
    make_directory(directory)
    write_atomic(directory / "items.json", bundle.to_json())
    write_atomic(directory / "answers.csv", _sheet(bundle))
    write_atomic(directory / "form.html", _form(bundle))


def _item_id(seed: str, one: Candidate) -> str:
    return keyed(seed, f"item {one.digest}")[:_ID_LENGTH]


def _item(item: str, one: Candidate, blind: Blinder) -> AuditItem:
    patch = _patch(one)
    return AuditItem(
        item=item,
        language=one.language,
        failures=tuple(
            TracedFailure(test=test and blind(test), text=blind(text)[:_MOST_CHARACTERS])
            for test, text in _failures(one)
        ),
        diff=blind(patch)[:_MOST_CHARACTERS],
        base=tuple(
            BaseHunk(path=blind(path), first_line=line, text=blind(text))
            for path, line, text in _base(patch)
        ),
    )


def _patch(one: Candidate) -> str:
    """The agent's patch, checked against the record.

    Raises:
        InvalidInputError: as `build`.
    """
    path = one.directory / _PATCH
    try:
        content = path.read_bytes() if not path.is_symlink() else b""
    except OSError as error:
        raise InvalidInputError(
            f"the patch of a run cannot be read: {error.strerror}",
            where=str(path),
            remedy="audit from whole result directories",
        ) from None
    if hashlib.sha256(content).hexdigest() != one.record.agent_patch_sha256:
        raise InvalidInputError(
            "the patch is not the one that the run was graded with",
            where=str(path),
            remedy="audit from the result directory as the bench left it",
        )
    return content.decode(errors="replace")


def _failures(one: Candidate) -> list[tuple[str | None, str]]:
    """What the suites say: their own errors first, then their failing target tests.

    Of too many those go that do not show the error that the verdict rests on.
    """
    suites = one.record.signals.verification.suites
    own = [(None, text) for suite in suites for text in suite.suite_errors]
    tests = [
        (test.id, _told(test))
        for suite in suites
        for test in suite.targets
        if test.status in ("failed", "error") and _told(test)
    ]
    found: list[tuple[str | None, str]] = [*own, *tests]

    def beside(place: int) -> bool:
        test, text = found[place]
        shown = one.symptom and (test in one.symptom.test_ids or one.symptom.message in text)
        return not shown

    return [
        found[place] for place in sorted(sorted(range(len(found)), key=beside)[:_MOST_FAILURES])
    ]


def _told(test: TestOutcome) -> str:
    """Type and message, and the trace unless it repeats them."""
    head = ": ".join(part for part in (test.error_type, test.message) if part)
    details = test.details or ""
    return details if head and head in details else "\n".join(filter(None, (head, details)))


def _base(patch: str) -> list[tuple[str, int, str]]:
    """Path, first line and text of what each hunk replaces; none of a patch that has no hunks."""
    try:
        files = PatchSet(patch)
    except UnidiffParseError:
        return []
    return [
        (file.path, hunk.source_start, "".join(line.value for line in hunk.source_lines()))
        for file in files
        for hunk in file
    ]


def _sheet(bundle: AuditBundle) -> str:
    stream = io.StringIO()
    sheet = csv.writer(stream, lineterminator="\n")
    sheet.writerow(ANSWER_FIELDS)
    sheet.writerows((bundle.bundle, one.item, "", "", "") for one in bundle.items)
    return stream.getvalue()


def _form(bundle: AuditBundle) -> str:
    """The form with the items in it; `<` is escaped, so that no text can end the script."""
    data = json.dumps(bundle.model_dump(mode="json"), sort_keys=True)
    return _FORM.read_text().replace("{{BUNDLE}}", data.replace("<", "\\u003c"))
