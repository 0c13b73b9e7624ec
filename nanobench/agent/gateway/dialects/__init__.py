"""The ways in which agents and providers speak, one file each; see `registry`."""
