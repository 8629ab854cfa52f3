"""Workers that run a peer on a case, in the peer's own environment: a JSON object in, a JSON object out."""
