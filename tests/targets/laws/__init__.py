"""The exact laws of what the applications release, for tiny instances: an exact check compares them over all neighbors."""
