"""On which points: which a fit sees, and which lie at a limit."""
