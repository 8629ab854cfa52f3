"""The command line ``pdp``: one module a command, thin over the library."""
