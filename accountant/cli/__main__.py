"""``python -m accountant.cli``: the same as ``pdp``."""

from accountant.cli.entry import run

run()
