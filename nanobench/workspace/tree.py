"""The entries of a git tree."""

from dataclasses import dataclass

SUBMODULE = 0o160000


@dataclass(frozen=True)
class Entry:
    """One file of the tree: its mode (0o100644, 0o100755 or 0o120000) and its blob's SHA-1."""

    mode: int
    sha: str


def parse_tree(listing: bytes) -> dict[bytes, Entry]:
    """Path -> entry, sorted by path, from the output of `git ls-tree -r -z`."""
    entries = {}
    for line in listing.split(b"\0")[:-1]:
        head, path = line.split(b"\t", 1)
        mode, _, sha = head.split()
        entries[path] = Entry(canonical_mode(int(mode, 8)), sha.decode())
    return dict(sorted(entries.items()))


def canonical_mode(mode: int) -> int:
    """A mode as git's index has it (old trees hold 0o100664)."""
    if mode & 0o170000 != 0o100000:
        return mode
    return 0o100755 if mode & 0o100 else 0o100644
