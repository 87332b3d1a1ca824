"""Systems, loads and questions."""
