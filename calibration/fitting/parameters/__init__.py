"""What a fit may change: parameters, their bounds and priors, kind by kind."""
