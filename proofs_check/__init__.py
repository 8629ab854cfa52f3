"""Why you can believe a statement."""
