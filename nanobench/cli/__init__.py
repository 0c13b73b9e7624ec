"""Click commands, one file per group: parse, call, print."""
