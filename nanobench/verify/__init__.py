"""The target repository's own tests: tree, suites, result formats, symbols."""
