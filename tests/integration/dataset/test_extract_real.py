"""Extraction against plain git on thirty real merge and squash commits.

`NANOBENCH_TEST_CLONES` names a directory of whole clones, each called after its repository.
"""

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from nanobench.dataset.changes import changed_files
from nanobench.dataset.clone import open_clone
from nanobench.dataset.extract.extraction import Request, extract_task
from nanobench.dataset.extract.origin import Origin
from nanobench.dataset.task_files import task_text
from nanobench.model.task import PatchSource, Task
from nanobench.workspace.golden import patch_to_pin

COMMITS = {
    "Textualize/textual": (
        "3d2ed3566eab21e998eb891a357773d8b6685b42",
        "da5b7aa98717289207270ed6c9fcd68c78e54c17",
        "8ce58dc0287e6247f25096c3a1a7349a411cc485",
        "aea9d4b5529841757aead36670a8a7f75aa61ed9",
        "13eef1fe6acac857c82d3ff854a1cce54d0c8749",
    ),
    "honojs/hono": (
        "f82aba8e8ea45d56199e751cee6ea7c067bcd176",
        "b20d4225c9aa9e615717ca74e437852cc9fd5b94",
        "c4a44071eee614c7317403f3534cd213d3f0e0b3",
        "f8b7847d755d98009feb2d7d1e6dff0921f8c500",
        "7967760748503b50de7c315fe3aa76666a8e6cab",
    ),
    "caddyserver/caddy": (
        "8e2dd5079c27af50a3288502b3a82f683e3737fe",
        "6584c75999996c71f154a04f4e41f1ebce65a9c3",
        "aed1af59763d54520a9c72f1fd0222d43904ebfd",
        "0bbda5c728e7694ba929aa4fa0c549f1387d3a3f",
        "1880021e76b8b0067fe54c5e55ccd4647c85d637",
    ),
    "grpc/grpc-java": (
        "4813c6d06089d49a479f7f1786297dc3d8c0e549",
        "e9a8c2bf83bd0403bb77ae96748d10d7d8781bcd",
        "0f859c3bb69bbf229c39194ff433a095c630e31c",
        "72c6e5f913bdf605588da5003f853bbf5444fde8",
        "1053f4be9505ae50c9a9678fd23595991cbdd359",
    ),
    "lancedb/lancedb": (
        "f7feed48c31e1683a77f7ba9cd073975521d460b",
        "d065be0474368485f3032f4bc64ef25070f77fe4",
        "851fa16b47ecdde2b9aa116ad4100adfaf68279c",
        "1baada89ef8809cccc45b1dc6360713d28f0db9a",
        "6a0df4de474b88fa0e151953540f55cbbe4e0485",
    ),
    "apache/fory": (
        "4cdf1510fcf292a08d79b8233a6c2dac8d4998be",
        "2febfddf3c8f03bbcbe6efc3b34ea83f6c78d2ee",
        "34801cb5b9b25f923f772eeccc99e73c3617a725",
        "a723392a5b27a542c92e1100ee8c7c9d0dd5b41b",
        "5a8daaf9df463c192835dc92302ccfff14dbca5f",
    ),
}
# SHA-256 of `git diff --binary` as it was taken when the commits were first looked at.
KNOWN = {
    "2febfddf3c8f03bbcbe6efc3b34ea83f6c78d2ee": (
        "8a1c5c2aca9fa1bb5b2a187938fb4ca4814750cc301fa152b73bc392d485352e"
    ),
    "3d2ed3566eab21e998eb891a357773d8b6685b42": (
        "bb38744c6c3a726ff982ef613af7d663608f11b8f674cfa9d4b4e7844097c9fd"
    ),
    "4813c6d06089d49a479f7f1786297dc3d8c0e549": (
        "27dad6a628709c6f899a2ec8aa41573a6f5186e622be0613ed5dde422730c43f"
    ),
    "4cdf1510fcf292a08d79b8233a6c2dac8d4998be": (
        "53f84944951a38025eb169b3ee8a554d67bf445f73cc5699d208650691e72d19"
    ),
    "6584c75999996c71f154a04f4e41f1ebce65a9c3": (
        "2b85202a50f535b6bee4fd3949735ff9adfa62b0a003eba7e60bbbeb3a8c25e8"
    ),
    "8e2dd5079c27af50a3288502b3a82f683e3737fe": (
        "8091759a2a07b60b743f37da2749ab6b54f10b78ae72a9795f0dc11b0e2c2a6d"
    ),
    "aed1af59763d54520a9c72f1fd0222d43904ebfd": (
        "0a145bdc83eeed677c829a2b7fe1e6fa93e285557d91ac625ab2db8e6c18153e"
    ),
    "b20d4225c9aa9e615717ca74e437852cc9fd5b94": (
        "55c0981c74491387ac75bdf058c04d5d52f636b9a3a7e0f41bae2bb0b55a849d"
    ),
    "d065be0474368485f3032f4bc64ef25070f77fe4": (
        "176a59a46bde5db31501e081904bbd82eb3ee645862aa3a851f0b01c6f44c484"
    ),
    "e9a8c2bf83bd0403bb77ae96748d10d7d8781bcd": (
        "7540bd27e9d61be4a6d2e09f1f228940ba90eb78789c699b2cc5a99fca53830d"
    ),
    "f7feed48c31e1683a77f7ba9cd073975521d460b": (
        "89a515a132a070786314fff6659960936e1b6e4c7cb5e47544b191c36a350247"
    ),
    "f82aba8e8ea45d56199e751cee6ea7c067bcd176": (
        "fd5bafc4ae10fe62362c3c9f946289664ce7b4c495c7fd9993ca24cb82113bec"
    ),
}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def clones() -> Path:
    named = os.environ.get("NANOBENCH_TEST_CLONES")
    if not named:
        pytest.skip("NANOBENCH_TEST_CLONES is not set")
    return Path(named)


def plain(clone: Path, *args: str) -> bytes:
    environ = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    argv = ["git", "-C", str(clone), *args]
    return subprocess.run(argv, env=environ, capture_output=True, check=True, timeout=120).stdout


@pytest.mark.parametrize(
    ("repo", "sha"), [(repo, sha) for repo, shas in COMMITS.items() for sha in shas]
)
def test_base_files_and_patch_are_those_of_plain_git(clones: Path, repo: str, sha: str) -> None:
    path = clones / repo.partition("/")[2]
    with open_clone(path) as clone:
        found = extract_task(clone, sha, Origin(repo, f"https://github.com/{repo}"), Request())
    task = found.task
    base = plain(path, "rev-parse", f"{sha}^1").decode().strip()
    assert (task.base_commit, task.merge_commit) == (base, sha)
    patch = plain(path, "diff", "--binary", base, sha)
    assert isinstance(task.ground_truth_patch, PatchSource)
    assert task.ground_truth_patch.sha256 == hashlib.sha256(patch).hexdigest()
    assert KNOWN.get(sha, task.ground_truth_patch.sha256) == task.ground_truth_patch.sha256
    names = plain(path, "diff", "--name-only", "-z", "--no-renames", base, sha).split(b"\0")[:-1]
    ours = [path for file in found.files for path in (file.old_path, file.path) if path is not None]
    assert sorted(ours) == sorted(names)
    assert (
        task.merged_at.isoformat() == plain(path, "log", "-1", "--format=%cI", sha).decode().strip()
    )
    at_base = set(plain(path, "ls-tree", "-r", "-z", "--name-only", base).decode().split("\0"))
    assert set(task.required_files) <= at_base
    assert Task.model_validate_json(task_text(task)) == task


@pytest.mark.parametrize("repo", sorted(COMMITS))
def test_the_view_prints_the_patch_that_the_clone_prints(clones: Path, repo: str) -> None:
    path = clones / repo.partition("/")[2]
    sha = COMMITS[repo][0]
    base = plain(path, "rev-parse", f"{sha}^1").decode().strip()
    with open_clone(path) as clone:
        assert patch_to_pin(clone.view, base, sha) == plain(path, "diff", "--binary", base, sha)
        assert len(changed_files(clone, base, sha)) > 1
