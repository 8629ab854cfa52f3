"""Programs that run in the environments of peers: they import nothing of ours."""
