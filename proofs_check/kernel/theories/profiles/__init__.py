"""Claims about the profile of a mechanism."""
