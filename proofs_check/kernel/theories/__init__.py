"""What claims mean, derived from the text: profiles and compositions."""
