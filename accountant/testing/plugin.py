"""The pytest plugin: the fixture ``pdp``, the marker ``pdp`` and the session's table of claims. See docs/testing-kit.md.

Nothing but pytest and the standard library is imported until a test uses the fixture. Switch it off with ``-p no:pdp``.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from accountant.testing.checking import ClaimChecker
    from accountant.testing.entries import Entry

_PROPERTY = "pdp"
_MARKER = "pdp(samples=N, confidence=C, pairs=N, unknown='report'|'fail', time_limit=SECONDS, effort=NAME): how the fixture pdp audits"
_DEFAULTS = {"pdp_samples": "10000", "pdp_confidence": "0.99", "pdp_unknown": "report", "pdp_pairs": "8"}
_KEYWORDS = ("confidence", "effort", "pairs", "samples", "time_limit", "unknown")


class _State:
    """What the session knows: its seed, how many tests use the fixture, and the claims that were tested."""

    __slots__ = ("claims", "counted", "seed", "tests")

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.tests = 0
        self.counted: set[str] = set()
        self.claims: list[tuple[str, str]] = []


_STATE = pytest.StashKey[_State]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, all with the prefix ``pdp``."""
    group = parser.getgroup("pdp", "audits of privacy claims (fixture pdp)")
    group.addoption("--pdp-samples", type=_whole(10), metavar="N", help="outputs on each data set of a pair (default: 10000)")
    group.addoption("--pdp-pairs", type=_whole(1), metavar="N", help="generated pairs of neighboring data sets for a profile (default: 8)")
    group.addoption("--pdp-confidence", type=_probability, metavar="C", help="confidence of the whole session (default: 0.99)")
    group.addoption("--pdp-unknown", choices=("report", "fail"), help="what a condition that is not decided does (default: report)")
    group.addoption("--pdp-seed", type=_whole(0), metavar="SEED", help="repeats a session (default: a new one)")
    group.addoption(
        "--pdp-tests", type=_whole(1), metavar="N", help="divide the error among N tests at least, also those of other runs that count"
    )
    for name, value in _DEFAULTS.items():
        parser.addini(name, f"see --{name.replace('_', '-')}", default=value)


def _whole(least: int) -> Callable[[str], int]:
    def integer(text: str) -> int:
        value = int(text)
        if value < least:
            raise ValueError
        return value

    return integer


def _probability(text: str) -> str:
    from fractions import Fraction  # noqa: PLC0415 - only where the option is used

    if not 0 < Fraction(text) < 1:
        raise ValueError
    return text


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and choose the seed; a worker of pytest-xdist gets it from the controller."""
    config.addinivalue_line("markers", _MARKER)
    given = getattr(config, "workerinput", {}).get("pdp_seed", config.getoption("--pdp-seed"))
    state = _State(int.from_bytes(os.urandom(4), "big") if given is None else int(given))
    config.stash[_STATE] = state
    config.pluginmanager.register(_Collector(state), "pdp-claims")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist the seed, and how many workers run each test."""
    node.workerinput["pdp_seed"] = node.config.stash[_STATE].seed
    node.workerinput["pdp_times"] = node.workerinput.get("workercount", 1) if node.config.getoption("dist", "no") == "each" else 1


def pytest_collection_finish(session: pytest.Session) -> None:
    """Count the tests that use the fixture, after everything is deselected: the session's error is divided among them."""
    state = session.config.stash[_STATE]
    users = [item for item in session.items if "pdp" in getattr(item, "fixturenames", ())]
    state.counted = {item.nodeid for item in users}
    state.tests = len(users) * int(getattr(session.config, "workerinput", {}).get("pdp_times", 1))


@pytest.fixture
def pdp(request: pytest.FixtureRequest) -> ClaimChecker:
    """Assertions about privacy claims: ``assert_satisfies``, ``assert_epsilon``, ``assert_add_dp``; the session controls their error."""
    from fractions import Fraction  # noqa: PLC0415 - lazy, like all that follows

    from accountant.testing.checking import ClaimChecker, Settings  # noqa: PLC0415
    from accountant.testing.spending import Budget, divide  # noqa: PLC0415

    config, node = request.config, request.node
    state = config.stash[_STATE]
    if node.nodeid not in state.counted:
        raise pytest.UsageError("the fixture pdp must be an argument of the test: a test that asks for it while it runs was not counted")
    marked: dict[str, Any] = {}
    for marker in node.iter_markers("pdp"):
        marked = {**marker.kwargs, **marked}
        if marker.args or set(marker.kwargs) - set(_KEYWORDS):
            raise pytest.UsageError(f"the marker pdp takes the keywords {', '.join(_KEYWORDS)} only; correct it")
    tests = max(state.tests, config.getoption("--pdp-tests") or 1)
    try:
        own = Fraction(str(marked["confidence"])) if "confidence" in marked else None
        error = divide(Fraction(str(_setting(config, "confidence"))), tests, at_least=own)
        settings = Settings(
            samples=int(marked.get("samples", _setting(config, "samples"))),
            pairs=int(marked.get("pairs", _setting(config, "pairs"))),
            unknown=_choose(marked.get("unknown", _setting(config, "unknown"))),
            repeat=_repeat(config, node, state.seed, tests),
            **{name: marked[name] for name in ("time_limit", "effort") if name in marked},
        )
    except (ValueError, TypeError) as wrong:
        raise pytest.UsageError(f"a setting of pdp cannot be used ({wrong}); correct the marker or the configuration") from None

    def note(entry: Entry) -> None:
        node.user_properties.append((_PROPERTY, entry.to_text()))

    return ClaimChecker(Budget(error, state.seed, _stable_name(node), tests), settings, note=note)


def _setting(config: pytest.Config, name: str) -> Any:
    given = config.getoption(f"--pdp-{name}")
    return config.getini(f"pdp_{name}") if given is None else given


def _choose(text: object) -> str:
    if text not in ("report", "fail"):
        raise ValueError(f"unknown must be report or fail, not {text!s:.40}")
    return str(text)


def _stable_name(node: pytest.Item) -> str:
    """Return the test's name as it is in every way to run it: pytest-xdist appends the group of the marker xdist_group."""
    marker = node.get_closest_marker("xdist_group")
    group = "" if marker is None else "@" + str(marker.args[0] if marker.args else marker.kwargs.get("name", "default"))
    return node.nodeid.removesuffix(group)


def _repeat(config: pytest.Config, node: pytest.Item, seed: int, tests: int) -> tuple[str, ...]:
    words = ["pytest", shlex.quote(_stable_name(node)), "--pdp-seed", str(seed), "--pdp-tests", str(tests)]
    for name in ("samples", "pairs", "confidence"):
        given = config.getoption(f"--pdp-{name}")
        words += [] if given is None else [f"--pdp-{name}", str(given)]
    return tuple(words)


class _Collector:
    """Collects the claims of a session, on the controller where there are workers."""

    def __init__(self, state: _State) -> None:
        self._state = state

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the claims of a test from its report, once, when it is torn down."""
        if report.when == "teardown":
            self._state.claims += [(report.nodeid, str(text)) for name, text in report.user_properties if name == _PROPERTY]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the table of the claims that were tested, if any was."""
    state = config.stash[_STATE]
    if not state.claims:
        return
    from accountant.testing.entries import Entry, lay_out  # noqa: PLC0415

    terminalreporter.section("privacy claims")
    found = [(test, Entry.from_text(text)) for test, text in state.claims]
    for line in lay_out(found, str(_setting(config, "confidence")), state.seed):
        terminalreporter.write_line(line)
