"""A small task of our own, to see everything work; never part of the dataset."""
