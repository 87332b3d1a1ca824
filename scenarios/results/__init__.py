"""Results of runs: figures, warnings, tables, charts and pages."""
