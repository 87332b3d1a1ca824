"""Measured beside simulated: errors by point and region, and straight lines as the baseline."""
