"""Corners that no other test reaches: each kills a mutant of the scanner (`./box soak mutants`)."""
