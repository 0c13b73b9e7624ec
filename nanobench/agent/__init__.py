"""The Nanocoder adapter: prompt, invocation, report, contract."""
