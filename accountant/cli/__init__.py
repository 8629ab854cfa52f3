"""The command line ``pdp``: one module per command, thin over the library."""
