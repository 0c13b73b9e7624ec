"""The report as one self-contained page, with the detail of each run behind it."""
