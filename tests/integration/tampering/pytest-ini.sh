# Try: pytest.ini collects one easy test only
# Work: wrong
# Seen: edits.protected: pytest.ini
printf '[pytest]\naddopts = --deselect tests/test_notation.py -k negative\n' > pytest.ini
