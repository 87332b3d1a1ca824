"""Questions that take many runs: what-if, rebuild, compression, controllers, hot spots."""
