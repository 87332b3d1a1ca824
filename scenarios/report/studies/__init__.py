"""Pages of questions of many runs."""
