"""The action installs itself in the checkout of whoever uses it."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
# Checks how pip is called, and installs nothing.
PYTHON = """#!/bin/sh
case "$*" in
  *"-m pip "*) exec {real} ${{1%-m}} -m pip --version ;;
esac
exec {real} "$@"
"""


def test_files_of_the_checkout_named_like_modules_are_not_imported(tmp_path: Path) -> None:
    """A repository may hold token.py or a directory pip; neither is ours to run."""
    checkout, programs, venv = (tmp_path / name for name in ("checkout", "programs", "venv"))
    checkout.mkdir()
    programs.mkdir()
    for name in ("token.py", "types.py", "sysconfig.py", "venv.py", "pip.py", "pydantic.py"):
        (checkout / name).write_text('raise SystemExit("a file of the checkout ran")')
    real = Path(sys.base_prefix, "bin", "python3")
    for name, text in {
        "python": PYTHON.format(real=real),
        "bwrap": "#!/bin/sh\n",  # else it would be installed
        "sudo": "#!/bin/sh\n",
    }.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    done = subprocess.run(
        [ROOT / "scripts/install-action", venv],
        cwd=checkout,
        env={"PATH": f"{programs}:{os.environ['PATH']}", "PYTHON": str(programs / "python")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    (link,) = venv.glob("lib/python3*/site-packages/nanobench-source.pth")
    assert link.read_text().strip() == str(ROOT)
