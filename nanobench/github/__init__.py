"""GitHub: Actions input and output, reviews, baselines, findings."""
