"""The commands, one file each; they read arguments, call the floors below and print."""
