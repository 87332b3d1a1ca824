"""Traces: readers of their formats, and replay on a drive or a system."""
