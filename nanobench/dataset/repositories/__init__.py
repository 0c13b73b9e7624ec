"""Repositories: their scores, their registry, and which of their changes could be tasks."""
