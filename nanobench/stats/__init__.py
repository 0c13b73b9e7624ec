"""Sampling policy, intervals and comparisons: pure functions of counts and scores."""
