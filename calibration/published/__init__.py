"""Published figures beside simulated ones, and the catalogue fitted to them."""
