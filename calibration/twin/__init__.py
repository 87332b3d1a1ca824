"""A machine's simulated twin: what is measured next, the fit, and how far to trust it."""
