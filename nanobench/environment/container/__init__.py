"""Environments in containers of a Docker-compatible engine."""
