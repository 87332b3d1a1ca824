"""How sure a fit is: standard errors, replicates, goodness of fit, contradictions."""
