"""DiskSim 4's parameter files as device files."""
