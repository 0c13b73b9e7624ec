"""Task files: catalogue, selection, the sample task."""
