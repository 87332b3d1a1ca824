"""Pages of a planner's questions."""
