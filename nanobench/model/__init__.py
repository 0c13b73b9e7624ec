"""The documents that pass between the parts: plain data, importing nothing else of ours."""
