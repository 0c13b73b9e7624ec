import subprocess
from pathlib import Path

from nanobench.environment.shims import write_shims


def test_shim_runs_its_program_with_all_arguments(tmp_path: Path) -> None:
    place = tmp_path / "it's a place"
    place.mkdir()
    program = place / "program"
    program.write_text('#!/bin/sh\nfor word; do echo "<$word>"; done\n')
    program.chmod(0o755)
    shims = write_shims(tmp_path, {"tool": [program, "first word"]})
    done = subprocess.run([shims / "tool", "a b", "$HOME"], capture_output=True, text=True)
    assert done.stdout == "<first word>\n<a b>\n<$HOME>\n"


def test_same_programs_have_the_same_place_and_others_another(tmp_path: Path) -> None:
    first = write_shims(tmp_path, {"a": ["/x"], "b": ["/y"]})
    assert write_shims(tmp_path, {"b": ["/y"], "a": ["/x"]}) == first
    assert write_shims(tmp_path, {"a": ["/x"], "b": ["/z"]}) != first
