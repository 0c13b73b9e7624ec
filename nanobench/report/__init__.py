"""Records to aggregates to Markdown and JSON."""
