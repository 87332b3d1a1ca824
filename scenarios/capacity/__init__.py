"""Which systems serve a load within its goals, at what cost."""
