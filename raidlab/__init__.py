"""Simulate the block-storage path, calibrated from what fio measures."""
