"""Cells that share installed dependencies do not see each other."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from nanobench.environment.sandbox import Sandbox

pytestmark = pytest.mark.real

FILES = {"own.txt": "base", ".gitignore": "node_modules\n"}
INSTALL = (
    "mkdir -p node_modules/dep && echo installed > node_modules/dep/index.js && "
    "echo run >> node_modules/dep/installs && echo small > generated.txt"
)
DAMAGE = (
    "rm -rf node_modules/dep 2>/dev/null; echo damaged > node_modules/dep/index.js; "
    "echo {0} > node_modules/.cache/shared; echo {0} > generated.txt; echo {0} > own.txt; "
    "sleep 0.05; cat own.txt generated.txt node_modules/.cache/shared node_modules/dep/index.js "
    "node_modules/dep/installs"
)


def test_twenty_cells_four_at_a_time_share_one_install_and_nothing_else(
    bubblewrap: Sandbox, bench: Any
) -> None:
    task = bench.task(FILES, INSTALL)
    bench.snapshot(task)

    def cell(number: int) -> str:
        prepared = bench.prepare(bubblewrap, task)
        place = bench.root / f"cell-{number}"
        bench.snapshot(task).unpack(place / "ws")
        with prepared.open(place / "ws", place / "run") as room:
            room.run(
                ("sh", "-c", DAMAGE.format(number)),
                timeout_seconds=60,
                stdout=place / "stdout",
                stderr=place / "stderr",
                network="none",
            )
        return Path(place, "stdout").read_text()

    with ThreadPoolExecutor(4) as pool:
        said = list(pool.map(cell, range(20)))
    assert said == [f"{number}\n{number}\n{number}\ninstalled\nrun\n" for number in range(20)]


def test_a_damaged_environment_is_not_the_next_one_s(sandbox: Sandbox, bench: Any) -> None:
    task = bench.task(FILES, INSTALL)
    for number in range(2):
        prepared = bench.prepare(sandbox, task)
        workspace, run_dir = bench.workspace(task)
        with prepared.open(workspace, run_dir) as room:
            _, said = bench.run(room, "cat", "node_modules/dep/index.js", "generated.txt")
            assert said == "installed\nsmall\n", number
            bench.run(room, "sh", "-c", DAMAGE.format("damaged"))
