"""Fast laws of a device's rate: what chooses the form of a fit, starts it, and judges it."""
