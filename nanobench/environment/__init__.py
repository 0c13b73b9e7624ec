"""Where commands run: runtimes, dependencies, sandboxes."""
