"""The pytest plugin: what it counts, prints and repeats."""

from __future__ import annotations

import os
import re
import shlex
from types import SimpleNamespace

import pytest

from accountant.testing import plugin

pytest_plugins = ["pytester"]

FILE = """
import pytest

def count(dataset, rng, size):
    return len(dataset) + rng.laplace(0.0, 1.0, size)

def test_right(pdp):
    pdp.assert_epsilon(count, 1, [1, 2], [1])

def test_wrong(pdp):
    pdp.assert_epsilon(count, "0.5", [1, 2], [1])

def test_other():
    pass
"""


@pytest.fixture
def run(pytester, plugin_arguments):
    def of(text, *arguments):
        pytester.makepyfile(test_it=text)
        return pytester.runpytest_inprocess(*plugin_arguments, *arguments)

    return of


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("ci", ["", "true"])
def test_a_failure_tells_pair_event_bound_and_how_to_repeat_it(run, pytester, plugin_arguments, monkeypatch, ci):
    monkeypatch.setenv("CI", ci)  # where it is set, pytest repeats whole messages in its summary
    first = run(FILE, "--pdp-samples", "3000", "--pdp-seed", "8")
    first.assert_outcomes(passed=2, failed=1)
    text = first.stdout.str()
    for words in (
        "epsilon is at least 0.",
        "but at most 0.5 was claimed",
        "D has one record more: x = 2, w = 1",
        "event A: output at least",
    ):
        assert words in text
    (summary,) = re.findall(r"^FAILED .*", text, re.MULTILINE)  # one line, whether or not it is cut off
    assert "FAILED test_it.py::test_wrong - accountant.testing.ClaimRefuted: epsilon" in summary
    (message,) = re.findall(r"^E .*", text, re.MULTILINE)
    command = message.partition("; to repeat: ")[2]
    assert command in re.sub(r" \\\n +", " ", text.partition("Captured pdp call")[2])
    again = pytester.runpytest_inprocess(*plugin_arguments, *command.split()[1:])
    again.assert_outcomes(failed=1)
    shown = re.findall(r"(?:VIOLATED|event [AB]|fixed sample|seed ).*", text)
    assert len(shown) >= 5
    assert shown == re.findall(r"(?:VIOLATED|event [AB]|fixed sample|seed ).*", again.stdout.str())


def test_the_table_of_the_session(run):
    found = run(FILE, "--pdp-samples", "500", "--pdp-seed", "7", "-k", "right or other")
    found.stdout.fnmatch_lines(
        [
            "*= privacy claims =*", "test *claim *epsilon>= *claimed verdict", "test_it.py::test_right *1-DP * 1 consistent", "",
            "1 claim in 1 test, 0 refuted.*",
        ]
    )  # fmt: skip
    table = found.stdout.str().partition("privacy claims")[2].partition("\n")[2].partition("\n=")[0]
    assert max(map(len, table.splitlines())) <= 80
    assert "at most 0.01," in table
    assert "--pdp-seed 7" in table


def test_nothing_is_printed_where_nothing_is_tested(run):
    found = run("def test_it():\n    pass\n")
    assert "privacy claims" not in found.stdout.str()
    assert "seed" not in found.stdout.str()


LEVELS = """
import pytest
from pathlib import Path

@pytest.fixture
def by_fixture(pdp):
    return pdp

@pytest.fixture(autouse=True)
def tell(request):
    yield
    pdp = request.node.funcargs.get("pdp")
    if pdp is not None:
        with Path("levels").open("a") as file:
            print(request.node.name, pdp._budget.error, pdp._budget.tests, pdp._settings.samples, file=file)

@pytest.mark.parametrize("number", range(3))
def test_some(pdp, number):
    pass

def test_indirect(by_fixture):
    pass

@pytest.mark.pdp(confidence=0.9999, samples=77)
class TestMarked:
    def test_strict(self, pdp):
        pass

    @pytest.mark.pdp(confidence="0.5", samples=88)
    def test_loose(self, pdp):
        pass

def test_without():
    pass
"""


def test_the_error_is_divided_among_the_tests_that_are_run(run, pytester):
    run(LEVELS, "--pdp-confidence", "0.94").assert_outcomes(passed=7)
    lines = dict(line.split(" ", 1) for line in (pytester.path / "levels").read_text().splitlines())
    assert lines["test_some[0]"] == "1/100 6 10000"
    assert lines["test_strict"] == "1/10000 6 77"
    assert lines["test_loose"] == "1/100 6 88"
    (pytester.path / "levels").unlink()
    run(LEVELS, "--pdp-confidence", "0.94", "-k", "some").assert_outcomes(passed=3, deselected=4)
    assert (pytester.path / "levels").read_text().splitlines()[0] == "test_some[0] 1/50 3 10000"
    (pytester.path / "levels").unlink()
    run(LEVELS, "--pdp-confidence", "0.94", "-k", "some", "--pdp-tests", "30")
    assert (pytester.path / "levels").read_text().splitlines()[0] == "test_some[0] 1/500 30 10000"


def test_settings_of_the_configuration_file(run, pytester):
    pytester.makeini("[pytest]\npdp_samples = 55\npdp_confidence = 0.9\n")
    run(LEVELS, "-k", "some")
    assert (pytester.path / "levels").read_text().splitlines()[0] == "test_some[0] 1/30 3 55"


@pytest.mark.thorough(quick=3)
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def test_it(request):\n    request.getfixturevalue('pdp')\n", "must be an argument of the test"),
        ("import pytest\n@pytest.mark.pdp(sample=3)\ndef test_it(pdp):\n    pass\n", "takes the keywords samples"),
        ("import pytest\n@pytest.mark.pdp(confidence=2)\ndef test_it(pdp):\n    pass\n", "must lie in .0, 1."),
        ("import pytest\n@pytest.mark.pdp(confidence=float('nan'))\ndef test_it(pdp):\n    pass\n", "a setting of pdp cannot be used"),
        ("import pytest\n@pytest.mark.pdp(samples=None)\ndef test_it(pdp):\n    pass\n", "a setting of pdp cannot be used"),
        ("import pytest\n@pytest.mark.pdp(confidence='1/0')\ndef test_it(pdp):\n    pass\n", "a setting of pdp cannot be used"),
        ("import pytest\n@pytest.mark.pdp(samples=50.5)\ndef test_it(pdp):\n    pass\n", "a setting of pdp cannot be used"),
        ("import pytest\n@pytest.mark.pdp(unknown='maybe')\ndef test_it(pdp):\n    pass\n", "must be report or fail"),
    ],
    ids=["asked for late", "keyword", "confidence", "not a number", "nothing", "division", "half", "unknown"],
)
def test_misuse_is_an_error_in_words(run, text, words):
    found = run(text)
    assert found.ret == 1
    assert re.search(words, found.stdout.str())


@pytest.mark.parametrize("option", ["--pdp-confidence=1", "--pdp-samples=3", "--pdp-seed=-1", "--pdp-tests=0", "--pdp-unknown=maybe"])
def test_bad_options_are_usage_errors(run, option):
    assert run(FILE, option).ret == pytest.ExitCode.USAGE_ERROR


def test_the_marker_is_documented(run):
    assert "@pytest.mark.pdp(samples=N" in run(FILE, "--markers").stdout.str()


@pytest.mark.thorough
def test_a_failure_is_repeated_from_the_folder_where_pytest_was_started(pytester, plugin_arguments, monkeypatch):
    pytester.makeini("[pytest]\npdp_samples = 2000\n")
    folder = pytester.mkdir("inner") / "with space"
    folder.mkdir()
    (folder / "test_it.py").write_text(
        FILE.replace("def test_wrong(pdp)", "@pytest.mark.parametrize('n', ['a/b c'])\ndef test_wrong(pdp, n)")
    )
    monkeypatch.chdir(folder.parent)
    first = pytester.runpytest_inprocess(*plugin_arguments, "--pdp-seed", "3", "--pdp-confidence", "0.9999", "--pdp-too-large", "fail")
    ((message, command),) = re.findall(r"^E .*?: (epsilon .*); to repeat: pytest (.*)", first.stdout.str(), re.MULTILINE)
    assert command.startswith("'with space/test_it.py::test_wrong[a/b c]' --pdp-seed 3 ")
    assert command.endswith(" --pdp-tests 2 --pdp-samples 2000 --pdp-confidence 0.9999 --pdp-too-large fail")
    (pytester.path / "tox.ini").unlink()  # the folder is another one for pytest now, the test the same
    assert message in pytester.runpytest_inprocess(*plugin_arguments, *shlex.split(command)).stdout.str()


@pytest.mark.thorough
def test_claims_too_large_are_a_warning_or_a_failure(run):
    text = FILE.replace("count, 1,", "count, 50,")
    found = run(text, "-k", "right", "--pdp-samples", "100", "-W", "default")
    found.assert_outcomes(passed=1, warnings=1, deselected=2)
    found.stdout.fnmatch_lines_random(["*test_it.py:7: ClaimTooLarge: the claim 50-DP*", "1 claim in 1 test, 0 refuted, 1 too large*"])
    run(text, "-k", "right", "--pdp-too-large", "fail").assert_outcomes(failed=1, deselected=2)
    run(text, "-k", "right", "-W", "error::accountant.testing.ClaimTooLarge").assert_outcomes(failed=1, deselected=2)


AGAIN = """
import pytest

def pytest_runtest_protocol(item, nextitem):
    from _pytest.runner import runtestprotocol
    for _ in range(2):
        item._initrequest()
        for report in runtestprotocol(item, nextitem=nextitem, log=False):
            item.ihook.pytest_runtest_logreport(report=report)
    return True
"""


@pytest.mark.thorough
def test_a_test_that_is_run_again_is_in_the_table_once(run, pytester):
    pytester.makeconftest(AGAIN)
    found = run(FILE, "-k", "right", "--pdp-samples", "500")
    found.assert_outcomes(passed=2, deselected=2)
    found.stdout.fnmatch_lines(["1 claim in 1 test, 0 refuted.*"])


CAUGHT = """
import pytest

def count(dataset, rng, size):
    return len(dataset) + rng.laplace(0.0, 1.0, size)

def wrong(pdp):
    pdp.assert_epsilon(count, "0.3", [1, 2], [1], samples=3000)

def test_caught(pdp):
    try:
        wrong(pdp)
    except AssertionError:
        pass

def test_raises(pdp):
    with pytest.raises(AssertionError):
        wrong(pdp)

def test_skipped(pdp):
    try:
        wrong(pdp)
    except AssertionError:
        pytest.skip("no")

def test_excused(pdp):
    try:
        wrong(pdp)
    except AssertionError:
        pytest.xfail("no")

@pytest.fixture
def before(pdp):
    try:
        wrong(pdp)
    except AssertionError:
        return pdp

def test_in_a_fixture(before):
    pass

def test_profile(pdp):
    from profiles import declare
    try:
        pdp.assert_satisfies(count, declare("negative", "w - 2", record={}))
    except AssertionError:
        pass
"""

EXPECTED = """
import pytest

def count(dataset, rng, size):
    return len(dataset) + rng.laplace(0.0, 1.0, size)

def test_expected(pdp):
    with pdp.expects_refutation():
        pdp.assert_epsilon(count, "0.3", [1, 2], [1], samples=3000)

@pytest.mark.xfail
def test_marked(pdp):
    pdp.assert_epsilon(count, "0.3", [1, 2], [1], samples=3000)

def test_right(pdp):
    pdp.assert_epsilon(count, 1, [1, 2], [1], samples=300)
"""


@pytest.mark.thorough
def test_a_refuted_claim_fails_the_run_whatever_became_of_the_assertion(run):
    found = run(CAUGHT, "--pdp-seed", "1")
    found.assert_outcomes(failed=6)
    assert found.ret == pytest.ExitCode.TESTS_FAILED
    assert len(re.findall(r"^E .*ClaimRefuted: a refuted claim was caught in the test .*", found.stdout.str(), re.MULTILINE)) == 6
    alone = run(CAUGHT, "--pdp-seed", "1", "-k", "raises")
    assert alone.ret == pytest.ExitCode.TESTS_FAILED


def test_what_a_fixture_catches_after_the_test_is_an_error(run):
    late = CAUGHT[: CAUGHT.index("def test_caught")] + "@pytest.fixture\ndef late(pdp):\n    yield\n    try:\n        wrong(pdp)\n"
    late += "    except AssertionError:\n        pass\n\ndef test_it(late):\n    pass\n"
    run(late, "--pdp-seed", "1").assert_outcomes(passed=1, errors=1)


FORKED = """
import multiprocessing, os

def count(dataset, rng, size):
    return len(dataset) + rng.laplace(0.0, 1.0, size)

def wrong(pdp):
    pdp.assert_epsilon(count, "0.3", [1, 2], [1], samples=3000)

def test_forked(pdp):
    child = os.fork()
    if not child:
        try:
            wrong(pdp)
        finally:
            os._exit(0)
    os.waitpid(child, 0)

def test_worker(pdp):
    worker = multiprocessing.get_context("fork").Process(target=wrong, args=(pdp,))
    worker.start()
    worker.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without forks")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_claim_that_is_asserted_in_a_forked_process_fails_the_test(run):
    """Was: refuted in the child, whose error nobody sees, and green."""
    found = run(FORKED, "--pdp-seed", "1", "-s")
    found.assert_outcomes(failed=2)
    assert found.ret == pytest.ExitCode.TESTS_FAILED
    words = r"^E .*NotAudited: nothing can be said about a claim of this test: it was asserted in a process that the test had forked"
    assert len(re.findall(words, found.stdout.str(), re.MULTILINE)) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without forks")
def test_a_claim_that_is_asserted_in_a_forked_process_after_the_test_fails_the_run(run):
    late = FORKED.replace("    os.waitpid(child, 0)\n", "    CHILDREN.append(child)\n").replace(
        "            wrong(pdp)", "            os.read(GATE[0], 1), wrong(pdp)"
    )
    late = late.replace("def test_forked", "CHILDREN, GATE = [], os.pipe()\n\ndef test_forked")
    late += "\ndef test_last():\n    os.write(GATE[1], b'x')\n    os.waitpid(CHILDREN[0], 0)\n"
    found = run(late, "--pdp-seed", "1", "-k", "forked or last", "-s")
    assert found.ret == pytest.ExitCode.TESTS_FAILED
    found.stdout.fnmatch_lines(["asserted in a forked process in a run of *test_forked that did not fail: the session fails"])


@pytest.mark.thorough
def test_an_expected_refutation_is_no_failure(run):
    found = run(EXPECTED, "--pdp-seed", "1")
    found.assert_outcomes(passed=2, xfailed=1)
    assert found.ret == pytest.ExitCode.OK
    found.stdout.fnmatch_lines(["*test_expected *0.3 as expected", "*test_marked *0.3 REFUTED", "3 claims in 3 tests, 1 refuted.*"])
    wrong = run(EXPECTED.replace('"0.3"', '"3"'), "--pdp-seed", "1", "-k", "expected")
    wrong.assert_outcomes(failed=1, deselected=2)
    assert "NotRefuted: a claim was expected to be refuted, but none was" in wrong.stdout.str()


UNTIL_IT_PASSES = """
import pytest

def pytest_runtest_protocol(item, nextitem):
    from _pytest.runner import runtestprotocol
    for times in range(2):
        item._initrequest()
        for report in runtestprotocol(item, nextitem=nextitem, log=False):
            if times == 0 and report.failed:
                report.outcome = "rerun"
            item.ihook.pytest_runtest_logreport(report=report)
    return True
"""

LUCKY = """
RUNS = []

def leaky(dataset, rng, size):
    return len(dataset) + rng.laplace(0.0, 1.0, size)

def test_it(pdp):
    RUNS.append(1)
    pdp.assert_epsilon(leaky, "0.3" if len(RUNS) == 1 else 1, [1, 2], [1], samples=3000)
"""


def test_to_run_until_it_passes_is_no_way_out(run, pytester):
    pytester.makeconftest(UNTIL_IT_PASSES)
    found = run(LUCKY, "--pdp-seed", "1")
    assert found.ret == pytest.ExitCode.TESTS_FAILED
    found.stdout.fnmatch_lines(["REFUTED in a run of test_it.py::test_it that did not fail: the session fails"])


PAIRS = """
def count(dataset, rng, size):
    return len(dataset) + rng.laplace(0.0, 1.0, size)

class Opaque:
    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size

MEMORY = []

def remembers(dataset, rng, size):
    MEMORY.append(len(dataset))
    return MEMORY[0] + rng.laplace(0.0, 1.0, size)

def test_same(pdp):
    pdp.assert_epsilon(count, 1, [1, 2], [1, 2])

def test_apart(pdp):
    pdp.assert_epsilon(count, 100, [1, 2, 3], [1])

def test_add_dp(pdp):
    pdp.assert_add_dp(count, 100, [1, 2], [3])

def test_memory(pdp):
    pdp.assert_epsilon(remembers, 1, [1, 2], [1])

def test_opaque(pdp):
    pdp.assert_epsilon(count, 1, Opaque(2), Opaque(1))

def test_stated(pdp):
    pdp.assert_epsilon(count, 1, Opaque(2), Opaque(1), neighboring="stated")

def test_blind(pdp):
    pdp.assert_epsilon(lambda dataset, rng, size: rng.laplace(0.0, 1.0, size), 1, [1, 2], [1])
"""


@pytest.mark.thorough
def test_pairs_that_are_none_and_what_nobody_looked_at(run):
    found = run(PAIRS, "--pdp-seed", "1", "--pdp-samples", "500")
    found.assert_outcomes(passed=3, failed=4)
    text = found.stdout.str()
    messages = re.findall(r"^E .*NotAudited: (.*)", text, re.MULTILINE)
    assert len(messages) == 4
    assert sum("not neighbors: " in message for message in messages) == 3
    assert sum("remembers earlier calls" in message for message in messages) == 1
    found.stdout.fnmatch_lines(["*test_same *1-DP * not neighbors", "*test_memory *1-DP * not audited", "*test_opaque * consistent"])
    table = text.partition("privacy claims")[2].partition("\n")[2].partition("\n=")[0]
    assert max(map(len, table.splitlines())) <= 80
    words = " ".join(table.split())
    assert "neighboring: not checked in 1 claim (test_it.py::test_opaque)" in words.replace(":: ", "::")
    assert "same outputs on both data sets in 1 claim (test_it.py::test_blind)" in words
    assert "test_stated)" not in words


@pytest.mark.parametrize(("dist", "times"), [("load", 1), ("each", 4), ("no", 1)])
def test_workers_get_the_seed_and_divide_where_each_runs_every_test(dist, times):
    state = plugin._State(12)
    config = SimpleNamespace(stash={plugin._STATE: state}, getoption=lambda *_: dist)
    node = SimpleNamespace(config=config, workerinput={"workercount": 4})
    plugin.pytest_configure_node(node)
    assert node.workerinput == {"workercount": 4, "pdp_seed": 12, "pdp_times": times}
    items = [SimpleNamespace(nodeid="a", fixturenames=["pdp"]), SimpleNamespace(nodeid="b", fixturenames=[]), SimpleNamespace(nodeid="c")]
    worker = SimpleNamespace(stash={plugin._STATE: plugin._State(12)}, workerinput=node.workerinput)
    plugin.pytest_collection_finish(SimpleNamespace(config=worker, items=items))
    assert worker.stash[plugin._STATE].tests == times
    assert worker.stash[plugin._STATE].counted == {"a"}


def test_the_group_of_a_worker_does_not_change_the_name():
    def item(nodeid, *marks):
        return SimpleNamespace(nodeid=nodeid, get_closest_marker=lambda _: marks[0] if marks else None)

    assert plugin._stable_name(item("t.py::test[a@b]")) == "t.py::test[a@b]"
    assert plugin._stable_name(item("t.py::test@slow", SimpleNamespace(args=("slow",), kwargs={}))) == "t.py::test"
    assert plugin._stable_name(item("t.py::test@slow", SimpleNamespace(args=(), kwargs={"name": "slow"}))) == "t.py::test"
