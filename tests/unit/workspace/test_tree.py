from nanobench.workspace.tree import Entry, canonical_mode, parse_tree


def test_a_listing_is_parsed_with_odd_names_and_sorted_by_path() -> None:
    sha = "a" * 40
    names = [(b"100755", b"z\n\tname"), (b"100664", b"caf\xe9"), (b"120000", b"-l")]
    lines = [mode + b" blob " + sha.encode() + b"\t" + name + b"\0" for mode, name in names]
    listing = b"".join(lines)
    assert list(parse_tree(listing).items()) == [
        (b"-l", Entry(0o120000, sha)),
        (b"caf\xe9", Entry(0o100644, sha)),
        (b"z\n\tname", Entry(0o100755, sha)),
    ]
    assert parse_tree(b"") == {}


def test_modes_become_those_of_gits_index() -> None:
    modes = (0o100664, 0o100600, 0o100775, 0o120000, 0o160000)
    expected = [0o100644, 0o100644, 0o100755, 0o120000, 0o160000]
    assert [canonical_mode(mode) for mode in modes] == expected
