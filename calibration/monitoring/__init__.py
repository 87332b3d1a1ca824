"""Loads from what monitoring tools print: iostat, sar, Prometheus, perfmon and others."""
