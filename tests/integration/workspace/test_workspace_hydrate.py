"""Object cache and snapshots, with real git."""

import multiprocessing
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from nanobench.errors import InvalidInputError, RepositoryError, StateError
from nanobench.workspace import snapshot as snapshot_module
from nanobench.workspace.cache import ObjectCache
from nanobench.workspace.snapshot import Snapshot, SnapshotStore


def git(workspace: Path, *args: str, check: bool = True) -> str:
    argv = ["git", "-C", str(workspace), *args]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert not check or done.returncode == 0, done.stderr
    return done.stdout


def contents(root: Path) -> dict[bytes, tuple[int, bytes]]:
    found = {}
    for folder, directories, names in os.walk(os.fsencode(root)):
        if b".git" in directories:
            directories.remove(b".git")
        links = [name for name in directories if os.path.islink(folder + b"/" + name)]
        for name in (*names, *links):
            path = folder + b"/" + name
            if os.path.islink(path):
                found[os.path.relpath(path, os.fsencode(root))] = (0, os.readlink(path))
            else:
                with open(path, "rb") as stream:
                    mode = os.lstat(path).st_mode & 0o777
                    found[os.path.relpath(path, os.fsencode(root))] = (mode, stream.read())
    return found


def test_the_tree_is_the_base_byte_for_byte(history: Any, snapshot: Any, workspace: Path) -> None:
    archive = history.origin.git("ls-tree", "-r", "-z", "--full-tree", history.base)
    paths = [line.split(b"\t", 1)[1] for line in archive.split(b"\0")[:-1]]
    found = contents(workspace)
    assert sorted(found) == sorted(paths) == list(snapshot.entries)
    for path in paths:
        sha = snapshot.entries[path].sha
        assert found[path][1] == history.origin.git("cat-file", "blob", sha), path
    assert found[b"run.sh"][0] == 0o755
    assert found[b"empty"][0] == 0o644
    assert found[b"absolute"][1] == b"/etc/hostname"


def test_a_fresh_workspace_is_clean_without_reading_a_file(workspace: Path) -> None:
    """The index fits the unpacked files: git need not compare contents."""
    assert git(workspace, "status", "--porcelain") == ""
    assert git(workspace, "diff-files") == ""  # refreshes nothing, so every stat has to match
    assert git(workspace, "diff-index", "HEAD") == ""


def test_git_apply_to_index_works_at_once(history: Any, workspace: Path, tmp_path: Path) -> None:
    patch = tmp_path / "golden.patch"
    patch.write_bytes(history.origin.git("diff", "--binary", history.base, history.merge))
    git(workspace, "apply", "--index", str(patch))
    tree = git(workspace, "write-tree").strip()
    assert tree == history.origin.git("rev-parse", f"{history.merge}^{{tree}}").decode().strip()


def test_past_and_future_cannot_be_reached(history: Any, workspace: Path) -> None:
    assert len(git(workspace, "log", "--all", "--format=%H").split()) == 1
    for commit in (history.past, history.base, history.merge, history.later):
        assert git(workspace, "cat-file", "-t", commit, check=False) == ""
    secret = history.origin.git("rev-parse", f"{history.later}:secret").decode().strip()
    assert git(workspace, "cat-file", "-t", secret, check=False) == ""
    assert git(workspace, "fsck", "--full", "--lost-found", "--no-progress") == ""
    assert git(workspace, "reflog", "--all") == ""
    assert git(workspace, "remote") == ""
    assert git(workspace, "for-each-ref", "--format=%(refname)") == "refs/heads/main\n"
    names = {str(path.relative_to(workspace / ".git")) for path in (workspace / ".git").rglob("*")}
    assert not names & {"objects/info/alternates", "ORIG_HEAD", "FETCH_HEAD", "hooks", "logs"}
    assert not any(name.startswith("info/attributes") for name in names)


def test_the_packed_objects_are_all_reachable(workspace: Path) -> None:
    packed = git(workspace, "cat-file", "--batch-all-objects", "--batch-check").splitlines()
    reachable = git(workspace, "rev-list", "--objects", "--no-object-names", "--all").splitlines()
    assert {line.split()[0] for line in packed} == set(reachable)


def test_the_synthetic_commit_is_the_same_everywhere(
    history: Any, snapshot: Snapshot, tmp_path: Path
) -> None:
    other = ObjectCache(tmp_path / "other/repositories")
    again = SnapshotStore(tmp_path / "other/snapshots", other).get(history.origin.url, history.base)
    assert again.head == snapshot.head
    shown = subprocess.run(
        ["git", f"--git-dir={again.git_dir}", "cat-file", "commit", again.head],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    tree = history.origin.git("rev-parse", f"{history.base}^{{tree}}").decode().strip()
    who = "NanoBench <nanobench@localhost> 946684800 +0000"
    assert shown == f"tree {tree}\nauthor {who}\ncommitter {who}\n\nBase commit\n"


def test_without_a_tar_program_the_same_tree_comes_out(
    snapshot: Snapshot, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot_module.shutil, "which", lambda name: None)
    plain = tmp_path / "plain"
    snapshot.unpack(plain)
    assert contents(plain) == contents(workspace)
    assert git(plain, "status", "--porcelain") == ""


def test_a_used_directory_is_not_unpacked_into(snapshot: Snapshot, workspace: Path) -> None:
    with pytest.raises(StateError, match="not empty"):
        snapshot.unpack(workspace)


def test_blobs_are_read_at_once(snapshot: Snapshot) -> None:
    read = snapshot.blobs([b"new\nline.txt", b"caf\xe9.dat", b"empty", b"link"])
    assert list(read.values()) == [b"n\n", b"latin\n", b"", b"src/app.py"]
    assert snapshot.blob(b"crlf.txt") == b"one\r\ntwo\n"
    with pytest.raises(KeyError):
        snapshot.blob(b"missing")


def test_only_the_asked_commit_is_fetched(history: Any, cache: ObjectCache) -> None:
    repository = cache.ensure(history.origin.url, [history.base])
    listed = git(repository, "rev-list", "--all").split()
    assert listed == [history.base]
    assert git(repository, "cat-file", "-t", history.merge, check=False) == ""
    git(repository, "gc", "--prune=now", "-q")  # a pinned commit survives anything
    assert git(repository, "cat-file", "-t", history.base) == "commit\n"


@pytest.mark.parametrize("url", ["https://example.invalid/owner/name", "/nowhere/at/all"])
def test_an_unreachable_repository_leaves_nothing(
    cache: ObjectCache, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")  # refused at once, no name looked up
    with pytest.raises(RepositoryError, match="fatal: ") as caught:
        cache.ensure(url, ["a" * 40])
    assert caught.value.where == url
    assert caught.value.remedy
    assert [path.name for path in cache.root.iterdir() if path.suffix != ".lock"] == []


def test_an_unknown_commit_keeps_what_was_there(history: Any, cache: ObjectCache) -> None:
    repository = cache.ensure(history.origin.url, [history.base])
    before = sorted(str(path) for path in repository.rglob("*"))
    with pytest.raises(RepositoryError, match="not our ref"):
        cache.ensure(history.origin.url, ["b" * 40])
    assert sorted(str(path) for path in repository.rglob("*")) == before
    assert cache.ensure(history.origin.url, [history.base]) == repository


def test_a_wrong_sha_is_invalid_input(history: Any, cache: ObjectCache) -> None:
    for commit in ("HEAD", "abc", "--upload-pack=x", "A" * 40):
        with pytest.raises(InvalidInputError, match="not a full commit SHA-1"):
            cache.ensure(history.origin.url, [commit])


def test_the_users_insteadof_is_obeyed(
    history: Any, cache: ObjectCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.{history.origin.url}.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "https://example.invalid/o/r")
    repository = cache.ensure("https://example.invalid/o/r", [history.base])
    assert git(repository, "cat-file", "-t", history.base) == "commit\n"


def test_a_killed_fetch_does_not_block_the_next(history: Any, cache: ObjectCache) -> None:
    repository = cache.ensure(history.origin.url, [history.base])
    (repository / "shallow.lock").touch()
    (repository / "objects/pack/tmp_pack_abc").write_bytes(b"half")
    cache.ensure(history.origin.url, [history.merge])
    assert not list(repository.glob("objects/pack/tmp_*"))
    assert not (repository / "shallow.lock").exists()


def damage_head(repository: Path) -> None:
    (repository / "HEAD").write_bytes(b"")


def damage_config(repository: Path) -> None:
    (repository / "config").write_bytes(b"[core\n")


def damage_pack(repository: Path) -> None:
    for pack in repository.glob("objects/pack/*.pack"):
        pack.chmod(0o600)
        os.truncate(pack, pack.stat().st_size // 2)


def damage_objects(repository: Path) -> None:
    shutil.rmtree(repository / "objects")


@pytest.mark.parametrize("damage", [damage_head, damage_config, damage_pack, damage_objects])
def test_a_broken_repository_is_fetched_anew(
    history: Any, cache: ObjectCache, tmp_path: Path, damage: Any
) -> None:
    damage(cache.ensure(history.origin.url, [history.base]))
    fresh = ObjectCache(cache.root)  # as another process
    repository = fresh.ensure(history.origin.url, [history.base, history.merge])
    assert git(repository, "fsck", "--full", "--no-progress", "--no-dangling") == ""


def test_damage_within_one_process_is_found_while_building(
    history: Any, cache: ObjectCache, store: SnapshotStore
) -> None:
    damage_pack(cache.ensure(history.origin.url, [history.base]))
    assert store.get(history.origin.url, history.base).blob(b"empty") == b""


def flip(path: Path) -> None:
    """One byte in the middle, with size and times as they were."""
    status = path.stat()
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.chmod(0o600)
    path.write_bytes(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("workspace.tar", flip),
        ("workspace.tar", truncate),
        ("tree.list", flip),
        ("pristine.git/index", Path.unlink),
        ("ignore/.gitignore", flip),
        ("manifest.json", truncate),
        ("manifest.json", Path.unlink),
    ],
)
def test_a_damaged_snapshot_is_rebuilt(
    history: Any, cache: ObjectCache, store: SnapshotStore, tmp_path: Path, name: str, damage: Any
) -> None:
    directory = store.get(history.origin.url, history.base).git_dir.parent
    whole = (directory / "workspace.tar").read_bytes()
    damage(directory / name)
    fresh = SnapshotStore(directory.parent, cache)  # as another process
    fresh.get(history.origin.url, history.base).unpack(tmp_path / "ws")
    assert git(tmp_path / "ws", "status", "--porcelain") == ""
    assert git(tmp_path / "ws", "fsck", "--full", "--no-progress") == ""
    assert len((directory / "workspace.tar").read_bytes()) == len(whole)
    assert sorted(path.suffix for path in directory.parent.iterdir()) == sorted(
        [directory.suffix, ".lock"]
    )


def test_a_snapshot_changed_during_the_process_is_noticed(
    history: Any, store: SnapshotStore, tmp_path: Path
) -> None:
    directory = store.get(history.origin.url, history.base).git_dir.parent
    truncate(directory / "workspace.tar")
    store.get(history.origin.url, history.base).unpack(tmp_path / "ws")
    assert git(tmp_path / "ws", "status", "--porcelain") == ""


def test_a_half_built_snapshot_of_a_killed_process_is_swept(
    history: Any, store: SnapshotStore, tmp_path: Path
) -> None:
    directory = store.get(history.origin.url, history.base).git_dir.parent
    half = directory.parent / f".{directory.name}.killed"
    half.mkdir()
    (half / "workspace.tar").write_bytes(b"half")
    shutil.rmtree(directory)
    store.get(history.origin.url, history.base)
    assert not half.exists()


def test_the_snapshot_is_warm_without_the_repository(
    history: Any, cache: ObjectCache, store: SnapshotStore
) -> None:
    first = store.get(history.origin.url, history.base)
    shutil.rmtree(history.origin.path)
    shutil.rmtree(cache.root)
    fresh = SnapshotStore(first.git_dir.parent.parent, cache)
    assert fresh.get(history.origin.url, history.base).entries == first.entries
    assert store.get(history.origin.url, history.base) is first


def hydrate(root: str, url: str, commit: str, barrier: Any, results: Any) -> None:
    store = SnapshotStore(Path(root) / "snapshots", ObjectCache(Path(root) / "repositories"))
    barrier.wait(30)
    snapshot = store.get(url, commit)
    workspace = Path(root) / f"ws-{os.getpid()}"
    snapshot.unpack(workspace)
    results.put((snapshot.head, git(workspace, "status", "--porcelain")))


def test_processes_share_one_cold_cache(history: Any, tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    barrier, results = context.Barrier(3), context.Queue()
    root = tmp_path / "shared"
    arguments = (str(root), history.origin.url, history.base, barrier, results)
    workers = [context.Process(target=hydrate, args=arguments) for _ in range(3)]
    for worker in workers:
        worker.start()
    answers = [results.get(timeout=60) for _ in workers]
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    assert len(set(answers)) == 1
    assert answers[0][1] == ""
    assert len([path for path in (root / "snapshots").iterdir() if path.is_dir()]) == 1


def test_submodules_are_refused(history: Any, store: SnapshotStore) -> None:
    entry = f"160000 {history.base}\tvendor/module\n".encode()
    history.origin.git("update-index", "--add", "--index-info", stdin=entry)
    history.origin.git("commit", "-q", "-m", "Add a submodule")
    commit = history.origin.git("rev-parse", "HEAD").decode().strip()
    with pytest.raises(InvalidInputError, match="submodules") as caught:
        store.get(history.origin.url, commit)
    assert "vendor/module" in caught.value.where


def test_lfs_pointers_are_refused(history: Any, store: SnapshotStore, tmp_path: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 9\n"
    history.origin.write(b"model.bin", pointer)
    commit = history.origin.commit("Add a pointer")
    with pytest.raises(InvalidInputError, match="LFS") as caught:
        store.get(history.origin.url, commit)
    assert "model.bin" in caught.value.where
    assert not [path for path in (tmp_path / "state/snapshots").iterdir() if path.is_dir()]


def test_a_state_directory_that_is_a_file_is_a_clear_error(history: Any, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    broken = ObjectCache(tmp_path / "file/repositories")
    with pytest.raises(StateError):
        broken.ensure(history.origin.url, [history.base])
    with pytest.raises(StateError):
        SnapshotStore(tmp_path / "file/snapshots", broken).get(history.origin.url, history.base)
