"""Measured against simulated."""
