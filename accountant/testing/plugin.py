"""The pytest plugin: the fixture ``pdp``, the marker ``pdp`` and the session's table of claims. See docs/testing-kit.md.

Nothing but pytest and the standard library is imported until a test uses the fixture. Switch it off with ``-p no:pdp``.
"""

from __future__ import annotations

import json
import operator
import os
import shlex
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

try:
    import pytest
except ModuleNotFoundError as error:
    from profiles.errors import MissingExtra

    raise MissingExtra("the plugin needs pytest, but it is not installed; install pdp-accountant[testing]") from error

if TYPE_CHECKING:
    from accountant.testing.checking import ClaimChecker
    from accountant.testing.entries import ClaimEntry

_PROPERTY, _EVIDENCE = "pdp", "pdp-evidence"
_MARKER = (
    "pdp(samples=N, confidence=C, pairs=N, unknown='report'|'fail', too_large='warn'|'fail', time_limit=SECONDS, effort=NAME): "
    "how the fixture pdp audits"
)
_DEFAULTS = {"samples": "10000", "pairs": "8", "confidence": "0.99", "unknown": "report", "too_large": "warn"}
_KEYWORDS = (*_DEFAULTS, "effort", "time_limit")


class _State:
    """What the session knows: its seed, how many tests use the fixture, the claims that were tested, and refutations without a failure.

    ``checkers``: those of this process, by test.
    """

    __slots__ = ("checkers", "claims", "counted", "overlooked", "seed", "tests")

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.tests = 0
        self.counted: set[str] = set()
        self.claims: dict[tuple[str, str], list[str]] = {}
        self.overlooked: set[str] = set()
        self.checkers: dict[str, ClaimChecker] = {}


_STATE = pytest.StashKey[_State]()
_REFUTED = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, all with the prefix ``pdp``."""
    group = parser.getgroup("pdp", "audits of privacy claims (fixture pdp)")
    group.addoption("--pdp-samples", type=_whole(10), metavar="N", help="outputs on each data set of a pair (default: 10000)")
    group.addoption("--pdp-pairs", type=_whole(1), metavar="N", help="generated pairs of neighboring data sets for a profile (default: 8)")
    group.addoption("--pdp-confidence", type=_probability, metavar="C", help="confidence of the whole session (default: 0.99)")
    group.addoption("--pdp-unknown", choices=("report", "fail"), help="what a condition that is not decided does (default: report)")
    group.addoption(
        "--pdp-too-large", choices=("warn", "fail"), help="what a claim does that so few outputs could not have refuted (default: warn)"
    )
    group.addoption("--pdp-seed", type=_whole(0), metavar="SEED", help="repeats a session (default: a new one)")
    group.addoption(
        "--pdp-tests", type=_whole(1), metavar="N", help="divide the error among N tests at least, also those of other runs that count"
    )
    for name, value in _DEFAULTS.items():
        parser.addini(f"pdp_{name}", f"see {_option(name)}", default=value)


def _option(name: str) -> str:
    return f"--pdp-{name.replace('_', '-')}"


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

    from accountant.testing.checking import ClaimChecker  # noqa: PLC0415
    from accountant.testing.settings import AuditSettings, Budget, divide  # noqa: PLC0415
    from profiles.errors import PDPError  # noqa: PLC0415

    __tracebackhide__ = True
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
    told = {name: marked.get(name, _setting(config, name)) for name in _DEFAULTS}
    try:
        own = Fraction(str(marked["confidence"])) if "confidence" in marked else None
        error = divide(Fraction(str(_setting(config, "confidence"))), tests, at_least=own)
        settings = AuditSettings(
            samples=_number(told["samples"]),
            pairs=_number(told["pairs"]),
            unknown=told["unknown"],
            too_large=told["too_large"],
            repeat=_repeat(config, node, state.seed, tests),
            **{name: marked[name] for name in ("time_limit", "effort") if name in marked},
        )
    except (ValueError, TypeError, ArithmeticError, PDPError) as wrong:
        raise pytest.UsageError(f"a setting of pdp cannot be used ({wrong}); correct the marker or the configuration") from None
    # A plugin that runs a failed test again keeps its properties: those of the last run count.
    node.user_properties[:] = [known for known in node.user_properties if known[0] not in (_PROPERTY, _EVIDENCE)]

    def note(entry: ClaimEntry) -> None:
        node.user_properties.append((_PROPERTY, entry.to_text()))

    def show(evidence: str) -> None:
        node.user_properties.append((_EVIDENCE, evidence))
        node.add_report_section("call", "pdp", evidence)

    refuted = node.stash.setdefault(_REFUTED, [])
    made = ClaimChecker(Budget(error, state.seed, _name_for_seed(node), tests), settings, note=note, show=show, refuted=refuted.append)
    state.checkers[node.nodeid] = made
    return made


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Fail a test in which a claim was refuted, or asserted in a forked process, whatever became of that: caught, or followed by a skip."""
    return (yield from _watch(item))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, Any]:
    """Do the same for what a fixture asserts after the test."""
    return (yield from _watch(item))


def _watch(item: pytest.Item) -> Generator[None, Any, Any]:
    __tracebackhide__ = True
    try:
        result = yield
    except (pytest.skip.Exception, pytest.xfail.Exception):
        _require_no_refutation(item)
        raise
    except BaseException:
        item.stash.get(_REFUTED, []).clear()  # it fails: once is enough
        raise
    _require_no_refutation(item)
    return result


def _require_no_refutation(item: pytest.Item) -> None:
    __tracebackhide__ = True
    texts = item.stash.get(_REFUTED, [])
    if texts:
        from accountant.testing.errors import ClaimRefuted  # noqa: PLC0415

        first, texts[:] = texts[0], []
        raise ClaimRefuted(f"a refuted claim was caught in the test (use pdp.expects_refutation where it is expected): {first}") from None
    checker = item.config.stash[_STATE].checkers.get(item.nodeid)
    if checker is not None and checker.used_elsewhere:
        from accountant.testing.checking import ELSEWHERE  # noqa: PLC0415
        from accountant.testing.errors import NotAudited  # noqa: PLC0415

        del item.config.stash[_STATE].checkers[item.nodeid]  # once is enough
        raise NotAudited(f"nothing can be said about a claim of this test: {ELSEWHERE}") from None


def _setting(config: pytest.Config, name: str) -> Any:
    given = config.getoption(_option(name))
    return config.getini(f"pdp_{name}") if given is None else given


def _number(told: Any) -> int:
    """Return an integer, also one that is written as text; a boolean or 1.5 is none."""
    if isinstance(told, bool):
        raise TypeError(f"{told} is not an integer")
    return int(told) if isinstance(told, str) else operator.index(told)


def _name_for_seed(node: pytest.Item) -> str:
    """Return the test's name without its folder: that depends on where pytest finds its configuration."""
    path, separator, rest = _stable_name(node).partition("::")
    return path.rpartition("/")[2] + separator + rest


def _stable_name(node: pytest.Item) -> str:
    """Return the test's name as it is in every way to run it: pytest-xdist appends the group of the marker xdist_group."""
    marker = node.get_closest_marker("xdist_group")
    group = "" if marker is None else "@" + str(marker.args[0] if marker.args else marker.kwargs.get("name", "default"))
    return node.nodeid.removesuffix(group)


def _repeat(config: pytest.Config, node: pytest.Item, seed: int, tests: int) -> tuple[str, ...]:
    """Return the words that run the test again from the folder in which pytest was started, with every setting that is not the default."""
    path, separator, rest = _stable_name(node).partition("::")
    try:
        place = Path(os.path.relpath(config.rootpath / path, config.invocation_params.dir)).as_posix()
    except ValueError:  # another drive
        place = str(config.rootpath / path)
    words = ["pytest", shlex.quote(place + separator + rest), "--pdp-seed", str(seed), "--pdp-tests", str(tests)]
    for name, default in _DEFAULTS.items():
        told = str(_setting(config, name))
        words += [] if told == default else [_option(name), shlex.quote(told)]
    return tuple(words)


class _Collector:
    """Collects the claims of a session, on the controller where there are workers."""

    def __init__(self, state: _State) -> None:
        self._state = state
        self._told: set[tuple[str, str]] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the claims of a test from its report when it is torn down; the last run counts where a plugin repeats it.

        A refuted claim of any run is remembered where that run neither failed nor was marked as one that is expected to fail.
        """
        key = report.nodeid, str(getattr(report, "worker_id", ""))
        if report.when == "setup":
            self._told.discard(key)
        if report.failed or (report.skipped and hasattr(report, "wasxfail")):
            self._told.add(key)
        if report.when == "teardown":
            texts = [str(text) for name, text in report.user_properties if name == _PROPERTY]
            self._state.claims.pop(key, None)
            self._state.claims.update({key: texts} if texts else {})
            if key not in self._told and any(json.loads(text)["verdict"] == "REFUTED" for text in texts):
                self._state.overlooked.add(report.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Let the run fail where a claim was refuted, although no test failed for it: a plugin may have run it again until it passed.

        Or where one was asserted in a forked process, after the test was over.
        """
        self._state.overlooked |= {test for test, checker in self._state.checkers.items() if checker.used_elsewhere}
        if self._state.overlooked and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the table of the claims that were tested, if any was, and the tests for which the session fails."""
    state = config.stash[_STATE]
    if not state.claims and not state.overlooked:
        return
    from accountant.testing.entries import ClaimEntry, lay_out  # noqa: PLC0415

    terminalreporter.section("privacy claims")
    entries = [(test, ClaimEntry.from_text(text)) for (test, _), texts in state.claims.items() for text in texts]
    for line in lay_out(entries, str(_setting(config, "confidence")), state.seed) if entries else ():
        terminalreporter.write_line(line)
    for test in sorted(state.overlooked):
        why = "asserted in a forked process" if test in state.checkers and state.checkers[test].used_elsewhere else "REFUTED"
        terminalreporter.write_line(f"{why} in a run of {test} that did not fail: the session fails")
