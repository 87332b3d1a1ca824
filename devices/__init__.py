"""What storage components are."""
