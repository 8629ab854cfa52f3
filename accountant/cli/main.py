"""Entry point of ``pdp``: the commands, and the one place where errors become a line on standard error and an exit code.

Exit codes: 0 all asked is proved, accepted or consistent; 1 something is refuted, rejected or violated; 3 nothing refuted but something
unknown; 2 the input is not usable.
"""

from __future__ import annotations

import os
import sys

import typer

from accountant.cli import audit, check, claims, epsilon, mechanisms, report, sample, verify, weight, weights
from profiles.errors import PDPError

_INTERRUPTED = 130

app = typer.Typer(
    name="pdp",
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Formal privacy accounting for personalized differential privacy. Units of privacy loss are nats.",
)
for command in (verify, weight, weights, sample, epsilon, report, check, audit, claims, mechanisms):
    app.command(name=command.NAME, help=command.HELP, epilog=command.EXAMPLE)(command.main)


@app.callback()
def _root() -> None:
    """Formal privacy accounting for personalized differential privacy."""


def run(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code. Never shows a traceback unless ``PDP_DEBUG`` is set."""
    sys.exit(invoke(arguments))


def invoke(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        result = app(args=given or ["--help"], prog_name="pdp", standalone_mode=False)
        code = result if isinstance(result, int) else 0
        return _interrupted() if code == _INTERRUPTED else code  # what typer makes of Ctrl-C
    except PDPError as error:
        return _complain(str(error), error.exit_code)
    except typer.Exit as stop:
        return stop.exit_code
    except (typer.Abort, KeyboardInterrupt):
        return _interrupted()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        usage = getattr(error, "format_message", None)  # usage errors of the command line library, under whichever name it ships them
        if callable(usage):
            return _complain(f"{usage()} (see 'pdp --help')", 2)
        if os.environ.get("PDP_DEBUG"):
            raise
        return _complain(
            f"an internal error stopped the command ({type(error).__name__}: {str(error)[:200]}); no result was given; please report it "
            "with the output of PDP_DEBUG=1",
            2,
        )


def _interrupted() -> int:
    return _complain("interrupted; nothing was left half-written", _INTERRUPTED)


def _complain(message: str, code: int) -> int:
    print("pdp: " + " ".join(message.split()), file=sys.stderr)  # noqa: T201
    return code
