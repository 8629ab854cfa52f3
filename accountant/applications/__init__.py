"""Private algorithms that are made of the accountant's rules: each returns an answer together with its guarantee."""
