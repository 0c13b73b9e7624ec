"""The hard gates of a submitted task (SPEC 11), one file each."""
