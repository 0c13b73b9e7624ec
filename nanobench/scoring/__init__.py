"""Signals to verdict: symptoms, rules, scores. Pure functions, no I/O."""
