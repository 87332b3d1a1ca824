"""Runs of plans: one, many, cached, or live inside a SimPy model."""
