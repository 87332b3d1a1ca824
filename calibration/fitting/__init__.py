"""Parameters of devices and systems, fitted to measurements."""
