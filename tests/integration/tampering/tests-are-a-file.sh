# Try: a file stands where the tests' directory was
# Work: gold
# Seen: edits.protected: tests
rm -rf tests
echo gone > tests
