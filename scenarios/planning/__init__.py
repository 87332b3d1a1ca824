"""From a checked scenario to the plan that the engine runs."""
