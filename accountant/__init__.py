"""What promises add up to."""
