"""What tests of Go and Rust print as they fail: Go's `panic:`, Rust's `panicked at`."""

import re

from nanobench.verify.failures import of_build

_GO_FRAME = ("=== ", "--- ", "FAIL\t", "exit status ")
_GO_PANIC = re.compile(r"^(?:panic|fatal error): (?P<text>.+)$", re.MULTILINE)
_RUST_PANIC = re.compile(
    r"^thread '.*'(?: \(\d+\))? panicked at [^\n]+:\n(?P<text>[^\n]+(?:\n +(?:left|right): .*)*)",
    re.MULTILINE,
)
_RUST_THREAD = re.compile(r"^(thread '.*') \(\d+\) panicked", re.MULTILINE)


def of_go_test(output: str) -> tuple[str | None, str]:
    """Type and message of a failed Go test, from what it printed."""
    panic = _GO_PANIC.search(output)
    if panic:
        return "panic", panic[0]
    lines = [line.strip() for line in output.splitlines()]
    told = [line for line in lines if line and not line.startswith(_GO_FRAME)]
    return None, "\n".join(told)


def of_rust_test(output: str) -> tuple[str | None, str]:
    """Type and message of a failed Rust test: its panic, a compiler's error, or what it says."""
    panic = _RUST_PANIC.search(output)
    if panic:
        return "panic", panic["text"]
    error = of_build("rust", output)  # a documentation test is compiled as it runs
    return (error.type, error.message) if error else (None, output.strip())


def without_thread_numbers(output: str) -> str:
    """Rust's panics without the number of the thread, which is another one in every run."""
    return _RUST_THREAD.sub(r"\1 panicked", output)
