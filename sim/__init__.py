"""Time itself: knows no device."""
