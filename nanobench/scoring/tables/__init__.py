"""The symptom tables: one module per language, each an ordered tuple of rows (SPEC F4)."""
