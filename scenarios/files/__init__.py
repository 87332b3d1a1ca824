"""Files that people write, as files: their kinds, JSON Schema, checks, a first scenario."""
