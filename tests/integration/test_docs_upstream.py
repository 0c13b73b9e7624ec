"""`docs/upstream.md` tells the truth: every snippet, on the real Nanocoder, prints what it says."""

import os
import re
import socket
import subprocess
from pathlib import Path

import pytest

from nanobench.environment.toolchain import Toolchain
from nanobench.model.plan import AgentSettings

pytestmark = pytest.mark.real

DOCS = Path(__file__).parents[2] / "docs"
SNIPPET = re.compile(r"^## (.+?)$.*?^```sh\n(.*?)^```\n\n```text\n(.*?)^```$", re.M | re.S)
PAGE = (DOCS / "upstream.md").read_text()
SNIPPETS = SNIPPET.findall(PAGE)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def test_every_section_has_a_snippet() -> None:
    assert [title for title, _, _ in SNIPPETS] == re.findall(r"^## (.+)$", PAGE, re.M)
    assert AgentSettings().nanocoder in PAGE


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [pytest.param(snippet, expected, id=title) for title, snippet, expected in SNIPPETS],
)
def test_a_snippet_prints_what_the_page_says(
    snippet: str, expected: str, toolchain: Toolchain, tmp_path: Path
) -> None:
    cli = toolchain.nanocoder(AgentSettings().nanocoder)
    script = tmp_path / "snippet.sh"
    script.write_text(f". {DOCS / 'upstream' / 'setup.sh'}\n{snippet}")
    done = subprocess.run(
        ("bash", str(script)),
        env={
            **os.environ,
            "NANOCODER": f"node {cli}",
            "PATH": f"{toolchain.bin()}:{os.environ['PATH']}",
            "PORT": str(free_port()),
            "TMPDIR": str(tmp_path),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout == expected, done.stderr
    assert not list(tmp_path.glob("tmp.*"))
