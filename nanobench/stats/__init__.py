"""Intervals and sampling policy: pure functions, no I/O."""
