"""The commands, one file each; they read arguments, call the packages below and print."""
