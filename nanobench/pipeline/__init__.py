"""Run one cell, run many, keep the records."""
