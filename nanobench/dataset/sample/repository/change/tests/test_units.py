from tempo import units


def test_units_go_from_large_to_small():
    lengths = [unit.seconds for unit in units.UNITS]
    assert lengths == sorted(lengths, reverse=True)


def test_a_unit_is_found_by_its_symbol():
    assert units.unit_of("m").seconds == 60
    assert units.unit_of("x") is None


def test_the_largest_unit_of_a_duration():
    assert units.largest_unit(90000).symbol == "d"
    assert units.largest_unit(0).symbol == "s"
