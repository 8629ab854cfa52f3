"""Where ``pdp`` begins: Ctrl-C ends it without a traceback also while the command line is still being loaded."""

from __future__ import annotations

import sys


def run() -> None:
    """Run the command line and exit with its code."""
    try:
        from accountant.cli.main import run as start  # what takes a while is inside of the try

        start()
    except KeyboardInterrupt:
        print("pdp: interrupted; nothing was left half-written", file=sys.stderr)  # noqa: T201
        sys.exit(130)


if __name__ == "__main__":
    run()
