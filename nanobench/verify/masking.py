"""What a runner prints differently in two equal runs: durations, clock times, addresses, places.

Only durations that the runner itself prints go, by the place where it prints them; those that a
test's own message speaks of stay.
"""

import re

MASK = "<time>"
_SECONDS = r"\d+(?:\.\d+)?\s?s(?:econds)?"
_TIME = r"\d+(?:\.\d+)?\s?(?:ms|s|m)"

# Text of a runner is as long as it likes: possessive quantifiers keep the work linear.
_RULES = tuple(
    (re.compile(pattern, re.MULTILINE), replacement)
    for pattern, replacement in (
        (r"\b0x[0-9a-f]{8,}\b", "0x..."),
        (r"/runs/[0-9a-f]{8}(?=/)", "/runs/..."),  # a run's directory, where paths are not fixed
        (r"\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?\b(?:\s[AP]M\b)?", MASK),
        # Behind a test's name: Jest and Vitest print it for slow tests only, so it goes wholly.
        (rf"(?<![ \t])[ \t]++\({_TIME}\)[ \t]*+$", ""),
        (rf"^([ \t]*+[✓✔✗✘×✖❯↓√].*\S)[ \t]++{_TIME}[ \t]*+$", r"\1"),  # noqa: RUF001
        (r"\bduration_ms \d+(?:\.\d+)?", f"duration_ms {MASK}"),  # node
        (r"^([ \t]*Duration[ \t]+)\d.*$", rf"\g<1>{MASK}"),  # Vitest
        (r"^(Time:[ \t]+)\d.*$", rf"\g<1>{MASK}"),  # Jest
        # pytest fills the line up with equals signs, as many as the duration leaves room for.
        (
            rf"^=*+[ \t]?(.*\b(?:passed|failed|errors?|skipped|deselected|warnings?|ran))"
            rf" in {_SECONDS}(?: \({MASK}\))?[ \t]?=*+$",
            rf"\1 in {MASK}",
        ),
    )
)


def without_times(text: str) -> str:
    """The text as every equal run would print it."""
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text
