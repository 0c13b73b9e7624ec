"""A task file from a merged change: facts from git, no word of our own."""
