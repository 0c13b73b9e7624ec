"""Git: object cache, hydrate at a commit, diff, teardown."""
