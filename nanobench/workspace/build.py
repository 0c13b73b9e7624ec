"""Build the files of a snapshot from a repository that holds its commit.

The result holds the base commit's tree under one commit of our own, with fixed author and
date: the same tree gives the same SHA everywhere, and nothing of the history before or after
can be reached (SPEC X3). Files are raw blobs: no attribute or filter of the repository is
obeyed, since some of them run commands.
"""

import os
import shutil
import tarfile
from io import BytesIO
from pathlib import Path

from nanobench.errors import InvalidInputError
from nanobench.files import make_directory
from nanobench.workspace.changes import SYMLINK
from nanobench.workspace.git import GitError, run_git
from nanobench.workspace.paths import display, parents
from nanobench.workspace.tree import SUBMODULE, parse_tree

ARCHIVE = "workspace.tar"
GIT_DIR = "pristine.git"
IGNORE_RULES = "ignore"
TREE = "tree.list"  # `git ls-tree -r -z` of the commit

_EPOCH = 946_684_800  # 2000-01-01T00:00:00Z
_IDENTITY = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (
        ("NAME", "NanoBench"),
        ("EMAIL", "nanobench@localhost"),
        ("DATE", f"{_EPOCH} +0000"),
    )
}
_MESSAGE = b"Base commit\n"
_RAW = "* -text -filter -working-tree-encoding -ident -eol\n"
# File times are fixed in the archive, so that the index in it fits every unpacked copy; what
# unpacking must change (inode, change time, owner) is not compared.
WORKSPACE_CONFIG = b"""[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\ttrustctime = false
\tcheckStat = minimal
"""
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_LFS_POINTER_LIMIT = 1024


def build_snapshot(repository: Path, commit: str, destination: Path) -> None:
    """Write archive, git directory, listing and ignore rules into an empty directory.

    Raises:
        InvalidInputError: the commit has submodules or Git LFS pointers.
        GitError: the repository is broken.
    """
    git_dir = destination / GIT_DIR
    _commit_once(repository, commit, git_dir)
    listing = run_git("ls-tree", "-r", "-z", "--full-tree", "main", git_dir=git_dir)
    (destination / TREE).write_bytes(listing)
    modes = {path: entry.mode for path, entry in parse_tree(listing).items()}
    _refuse(commit, "submodules", [path for path, mode in modes.items() if mode == SUBMODULE])
    checkout = make_directory(destination / "checkout")
    _check_out(git_dir, checkout)
    pointers = [path for path in modes if _is_lfs_pointer(os.fsencode(checkout) + b"/" + path)]
    _refuse(commit, "Git LFS pointers", pointers)
    _write_archive(destination / ARCHIVE, git_dir, checkout, modes)
    rules = make_directory(destination / IGNORE_RULES)
    for path, mode in modes.items():
        if path.rpartition(b"/")[2] == b".gitignore" and mode != SYMLINK:
            target = os.fsencode(rules) + b"/" + path
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(os.fsencode(checkout) + b"/" + path, target)
    shutil.rmtree(checkout)


def _commit_once(repository: Path, commit: str, git_dir: Path) -> None:
    """A bare repository with one commit of the base's tree, one branch, one pack."""
    run_git("init", "--quiet", "--bare", "--template=", str(git_dir))
    run_git("symbolic-ref", "HEAD", "refs/heads/main", git_dir=git_dir)
    alternates = git_dir / "objects/info/alternates"
    make_directory(alternates.parent)
    alternates.write_text(f"{repository.resolve()}/objects\n")
    tree = f"{commit}^{{tree}}"
    made = run_git("commit-tree", tree, git_dir=git_dir, stdin=_MESSAGE, env=_IDENTITY)
    synthetic = made.decode().strip()
    wanted = run_git("rev-parse", "--verify", tree, git_dir=git_dir)
    run_git("update-ref", "refs/heads/main", synthetic, git_dir=git_dir)
    repack = ("repack", "-a", "-d", "-n", "-q")
    run_git("-c", "repack.writeBitmaps=false", *repack, git_dir=git_dir)
    alternates.unlink()
    # Nothing of the cache is in reach now: every object is hashed, every link followed.
    run_git("fsck", "--full", "--no-dangling", git_dir=git_dir)
    if run_git("rev-parse", "--verify", "main^{tree}", git_dir=git_dir) != wanted:
        raise GitError("the synthetic commit does not hold the base's tree", where=commit)
    make_directory(git_dir / "info")
    (git_dir / "info/attributes").write_text(_RAW)


def _refuse(commit: str, what: str, paths: list[bytes]) -> None:
    if paths:
        raise InvalidInputError(
            f"the base commit has {what}, which are not supported",
            where=f"{commit}: {', '.join(map(display, paths[:3]))}",
            remedy="choose a task whose repository holds all its files itself",
        )


def _check_out(git_dir: Path, checkout: Path) -> None:
    """Write the raw blobs with fixed times, and an index that knows these times."""
    tree = f"--work-tree={checkout}"
    settings = ("-c", "core.symlinks=true", "-c", "core.fileMode=true")
    run_git(*settings, tree, "read-tree", "main", git_dir=git_dir)
    run_git(*settings, tree, "checkout-index", "--all", "--quiet", git_dir=git_dir)
    for folder, directories, names in os.walk(os.fsencode(checkout)):
        for name in (*directories, *names):
            path = folder + b"/" + name
            os.utime(path, (_EPOCH, _EPOCH), follow_symlinks=False)
    run_git(*settings, tree, "update-index", "-q", "--really-refresh", git_dir=git_dir)
    run_git(*settings, tree, "diff-files", "--quiet", git_dir=git_dir)


def _is_lfs_pointer(path: bytes) -> bool:
    if os.path.islink(path) or os.path.getsize(path) > _LFS_POINTER_LIMIT:
        return False
    with open(path, "rb") as stream:
        return stream.read(len(_LFS_POINTER)) == _LFS_POINTER


def _write_archive(archive: Path, git_dir: Path, checkout: Path, modes: dict[bytes, int]) -> None:
    with tarfile.open(
        archive, "w", format=tarfile.GNU_FORMAT, encoding="utf-8", errors="surrogateescape"
    ) as tar:
        _add_git_directory(tar, git_dir)
        for directory in sorted(set().union(*map(parents, modes))):
            tar.addfile(_member(directory, tarfile.DIRTYPE, 0o755))
        for path, mode in modes.items():
            source = os.fsencode(checkout) + b"/" + path
            if mode == SYMLINK:
                member = _member(path, tarfile.SYMTYPE, 0o777)
                member.linkname = _text(os.readlink(source))
                tar.addfile(member)
                continue
            member = _member(path, tarfile.REGTYPE, mode & 0o777)
            member.size = os.path.getsize(source)
            with open(source, "rb") as stream:
                tar.addfile(member, stream)


def _add_git_directory(tar: tarfile.TarFile, git_dir: Path) -> None:
    """The git directory as an agent gets it: not bare, without our attributes."""
    files: dict[str, bytes] = {
        str(path.relative_to(git_dir)): path.read_bytes()
        for path in sorted(git_dir.rglob("*"))
        if path.is_file()
    }
    del files["info/attributes"]
    files |= {"config": WORKSPACE_CONFIG, "info/exclude": b""}
    directories = {"refs/tags", "objects/info"} | {
        str(parent) for name in files for parent in Path(name).parents if str(parent) != "."
    }
    tar.addfile(_member(b".git", tarfile.DIRTYPE, 0o755))
    for directory in sorted(directories):
        tar.addfile(_member(f".git/{directory}".encode(), tarfile.DIRTYPE, 0o755))
    for name, content in sorted(files.items()):
        packed = name.startswith("objects/")
        member = _member(f".git/{name}".encode(), tarfile.REGTYPE, 0o444 if packed else 0o644)
        member.size = len(content)
        # Younger than every file: git takes entries as young as their index for doubtful.
        member.mtime = _EPOCH + 60
        tar.addfile(member, BytesIO(content))


def _member(path: bytes, kind: bytes, mode: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(_text(path))
    member.type, member.mode, member.mtime = kind, mode, _EPOCH
    return member


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
