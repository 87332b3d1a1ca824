"""What a candidate does: measured points simulated on a bench."""
