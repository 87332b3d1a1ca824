"""Measurements in one checked form, from bundles of the collector or other readers."""
