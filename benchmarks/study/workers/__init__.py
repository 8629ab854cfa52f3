"""Programs that run in other environments."""
