"""What a machine's storage consists of, from the outputs of its tools."""
