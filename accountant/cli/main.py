"""Entry point of ``pdp``: the commands, and the one place where errors become a line on standard error and an exit code.

Exit codes: 0 all asked is proved, accepted or consistent; 1 something is refuted, rejected or violated; 3 nothing refuted but something
unknown; 2 the input is not usable.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from types import FrameType
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from accountant.cli.completion import mend_words
from accountant.cli.options import Verb, say_examples, to_callback
from accountant.cli.output import make_printable, print_json
from accountant.cli.streams import Terminated, end_output, prepare_streams
from profiles.errors import PURE, PDPError
from profiles.private import EYES_ONLY, quote_failure, reveal
from profiles.suggestions import find_nearest

_INTERRUPTED = 130
_SHOW_VALUES, _HELP = "--show-values", ("-h", "--help")
_LONGEST = 300  # letters of a word in an error
_VERDICTS = {1: "refuted", 3: "unknown"}

EXAMPLE = """\b
Examples:
  pdp mechanisms
  pdp verify profiles.mechanisms.lloyd:default --target-epsilon 10
  pdp epsilon profiles.mechanisms.lloyd:default --rule uniform --constant rate=0.1
\b
Every command has --help with examples of its own, and --json.
"""

#: The commands as ``pdp --help`` lists them, each the module of its name: ``HELP``, ``EXAMPLE``, and ``VERBS``, or ``Options`` and ``run``.
COMMANDS = (
    "verify",
    "weight",
    "weights",
    "sample",
    "epsilon",
    "account",
    "calibrate",
    "compose",
    "release",
    "kmeans",
    "select",
    "cover",
    "cluster",
    "monitor",
    "ledger",
    "report",
    "check",
    "audit",
    "claims",
    "mechanisms",
)


class _InOrder(TyperGroup):
    """The commands in the order in which they are named, also where one of them has verbs."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx), key=COMMANDS.index)


def make_app(names: Iterable[str] = COMMANDS, *, listed: bool = False) -> typer.Typer:
    """Return the command line with these commands; other modules are not loaded. ``listed``: without their options, for the list alone."""
    app = typer.Typer(
        name="pdp",
        cls=_InOrder,
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        help=f"Formal privacy accounting for personalized differential privacy. Profiles: {PURE}, or Gaussian noise "
        "with a target delta; many steps with a delta: pdp account. Units of privacy loss are nats.",
        epilog=EXAMPLE,
        context_settings={"help_option_names": list(_HELP)},
    )
    app.callback()(_root)
    for name in names:
        module = import_module(f"accountant.cli.{name}")
        verbs: Mapping[str, Verb] = getattr(module, "VERBS", {})
        if listed:
            app.command(name=name, help=module.HELP)(_list)
            continue
        if not verbs:
            app.command(name=name, help=module.HELP, epilog=module.EXAMPLE)(to_callback(module.Options, module.run))
            continue
        group = typer.Typer(name=name, help=module.HELP, epilog=module.EXAMPLE, rich_markup_mode=None)
        for word, verb in verbs.items():
            group.command(name=word, help=verb.help, epilog=say_examples(verb.example))(to_callback(verb.options, verb.run))
        app.add_typer(group)
    return app


def _list() -> None:
    """Stand for a command of which the list of commands shows the name and the help."""


def _show_version(asked: bool) -> None:  # noqa: FBT001 - the command line library calls it
    if asked:
        from importlib.metadata import version

        print(f"pdp-accountant {version('pdp-accountant')}")  # noqa: T201
        raise typer.Exit


def _root(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)] = False,  # noqa: FBT002
) -> None:
    """Formal privacy accounting for personalized differential privacy."""


def run(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code. Never shows a traceback unless ``PDP_DEBUG`` is set."""
    prepare_streams()
    _listen()
    code = invoke(arguments)
    end_output()
    sys.exit(code)


def _listen() -> None:
    """Let a request to end (SIGTERM) and a terminal that is closed (SIGHUP, unless nohup has it ignored) be heard."""
    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", None)):
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def _end(number: int, _frame: FrameType | None) -> None:
    """End as after Ctrl-C, so that files which are half-written are removed."""
    raise Terminated(128 + number)


def invoke(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        with mend_words():
            listed = (not given or given[0] in _HELP) and "_PDP_COMPLETE" not in os.environ
            app = make_app(given[:1] if given and given[0] in COMMANDS else COMMANDS, listed=listed)
            result = app(args=given or ["--help"], prog_name="pdp", standalone_mode=False)
        code = result if isinstance(result, int) else 0
        sys.stdout.flush()  # what cannot be written must be known before the exit code is
        return _interrupted() if code == _INTERRUPTED else code  # what typer makes of Ctrl-C
    except PDPError as error:
        shown = _SHOW_VALUES in given
        if "--json" in given and error.exit_code in _VERDICTS:
            private = {"private": {"found": error.private}} if shown and error.private else {}
            verdict = error.verdict or _VERDICTS[error.exit_code]
            print_json({"verdict": verdict, "error": type(error).__name__, "reason": str(error), **private})
        return _complain(reveal(error) if shown else str(error), error.exit_code)
    except typer.Exit as stop:
        return stop.exit_code
    except (typer.Abort, KeyboardInterrupt):
        return _interrupted()
    except MemoryError:
        return _complain("there is not enough memory for this input; give a smaller one, or Parquet, which is read in parts", 2)
    except Exception as error:
        usage = getattr(error, "format_message", None)  # usage errors of the command line library, under whichever name it ships them
        if callable(usage):
            return _complain(f"{_describe(error, usage())} (see '{_path(error)} --help')", 2)
        if os.environ.get("PDP_DEBUG"):
            raise
        return _complain(
            f"an internal error stopped the command ({type(error).__name__}{_quote(error, given)}); no result was given; please report it "
            "with the output of PDP_DEBUG=1, which may quote the data",
            2,
        )


def _quote(error: Exception, given: list[str]) -> str:
    """Return the text of an error that nobody foresaw, which may quote the data: where that was asked for."""
    return f"; {EYES_ONLY}: {quote_failure(error)}" if _SHOW_VALUES in given else ""


def _path(error: Exception) -> str:
    """Return the command that a usage error is about, such as ``pdp verify``."""
    return str(getattr(getattr(error, "ctx", None), "command_path", "pdp"))


def _describe(error: Exception, text: str) -> str:
    """Return what a usage error says, with the nearest option or command in the words of all other errors."""
    wrong, possible = getattr(error, "option_name", None), getattr(error, "possibilities", None)
    if wrong is None or not hasattr(error, "possibilities"):
        return text
    takers = _find_takers(error, str(wrong))
    if str(wrong) == "--delta" and not takers:
        return f"no such option: --delta; this command is about {PURE}, which has no delta (pdp account and pdp epsilon have one)"
    if takers:
        *most, last = takers
        said = f"{', '.join(most)} and {last} do" if most else f"{last} does"
        todo = "write it after one of these" if hasattr(error.ctx.command, "commands") else "leave it out"  # type: ignore[attr-defined]
        return f"{wrong} was given, but {_path(error)} does not take it: {said}; {todo}"
    bare = {option.lstrip("-"): option for option in possible or ()}
    near = find_nearest(str(wrong).lstrip("-"), bare)
    return f"no such option: {wrong}" + ("" if near is None else f" (did you mean {bare[near]!r}?)")


def _find_takers(error: Exception, option: str) -> list[str]:
    """Return the verbs of the command that a usage error is about, or of that whose verb it is about, that take an option."""
    verbs: Mapping[str, Any] = {}
    context = getattr(error, "ctx", None)
    while context is not None and context.parent is not None:  # the commands of pdp itself are not meant
        verbs = getattr(context.command, "commands", verbs)
        context = context.parent
    return [name for name, verb in verbs.items() if any(option in item.opts for item in verb.params)]


def _interrupted() -> int:
    return _complain("interrupted; nothing was left half-written", _INTERRUPTED)


def _complain(message: str, code: int) -> int:
    words = (word if len(word) <= _LONGEST else f"{word[: _LONGEST // 2]}...{word[-_LONGEST // 4 :]}" for word in message.split())
    with contextlib.suppress(OSError):
        print("pdp: " + make_printable(" ".join(words)), file=sys.stderr)  # noqa: T201
    return code
