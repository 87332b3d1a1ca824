"""A fit from its start to its result: the device, its host, several together, or a law."""
