"""One script a peer, run by the Python of its environment: a setting as JSON on standard input, the answers as JSON on standard output."""
