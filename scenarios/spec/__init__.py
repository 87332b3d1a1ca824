"""The scenario file: its keys, units and what is not supported."""
