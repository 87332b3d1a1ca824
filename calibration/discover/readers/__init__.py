"""Readers of captured outputs, one for each tool."""
