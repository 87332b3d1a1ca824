"""From what a maker states to a device: the sheet, closed forms, and priors for the rest.

docs/explanation/data-sheets.md has the equations.
"""
