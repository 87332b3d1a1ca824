"""What each room says, and the numbers that it must agree with, found another way."""
