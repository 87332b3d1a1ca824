"""The lab: rooms that each answer one question about storage, on the real engine.

A room is a marimo notebook: `knee.py` is the room `knee`. What rooms share is in `frame`.
"""
