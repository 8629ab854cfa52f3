"""``python -m accountant.cli``: the same as ``pdp``."""

from accountant.cli.main import run

run()
