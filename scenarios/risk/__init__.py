"""Random failures: how probable it is that data are lost."""
