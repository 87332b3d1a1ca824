"""The search: loss, minimisation, its budget and its store of evaluations."""
