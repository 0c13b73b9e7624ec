from pathlib import Path

import pytest

from nanobench.environment.compilers import fits as does_fit
from nanobench.environment.runtimes import _uv_env
from nanobench.environment.toolchain import Toolchain


@pytest.mark.parametrize(
    ("version", "wanted", "fits"),
    [
        ("24.19.0", ">=22", True),
        ("24.19.0", ">= 24.19", True),
        ("24.19.0", ">=24.19.1", False),
        ("24.19.0", "24", True),
        ("24.19.0", "24.1", False),
        ("24.1.0", "24.1.0", True),
        ("24.19.0", "^24", False),
        ("24.19.0", "lts", False),
    ],
)
def test_version_fits_a_prefix_or_a_least_one(version: str, wanted: str, fits: bool) -> None:
    assert does_fit(version, wanted) is fits


def test_interpreters_of_pyenv_are_found_without_its_shims(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / ".pyenv" / "versions" / "3.12.1" / "bin"
    installed.mkdir(parents=True)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / ".pyenv"))
    monkeypatch.setenv("PATH", f"{tmp_path}/.pyenv/shims:/usr/bin")
    path = _uv_env(Toolchain(tmp_path))["PATH"]
    assert path == f"/usr/bin:{installed}"
