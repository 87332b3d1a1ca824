"""The planner in the browser: `raidlab plan` for planners who do not write TOML."""
