"""The audit of Level 4 verdicts by people who see neither provider nor model."""
