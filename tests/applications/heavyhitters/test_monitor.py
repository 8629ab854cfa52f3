"""The monitor against a plain reference without noise and the exact law with it; sessions, memory of users, refusals."""

import contextlib
import copy
import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from accountant.applications.heavyhitters import HeavyHitterMonitor, StreamBatch, Watch
from accountant.applications.heavyhitters.draws import LONGEST_RUN
from accountant.applications.heavyhitters.monitor import REFUSED
from accountant.applications.heavyhitters.state import _read as read_state
from accountant.applications.heavyhitters.users import NOBODY, DrawnDecision, KeyedDecision, UserTable
from accountant.guarantees import render
from profiles import InvalidArgument, InvalidData, InvalidTarget, UnreadableFile
from profiles.randomness.bits import open_bits
from tests.applications.heavyhitters.doubles import Everyone, NoNoise
from tests.targets.laws.heavyhitters import report_law, sampled_report_law


def reference(records, *, k, threshold, domain_size, steps):
    """THRESHMONITOR without noise or sampling, as it stands in the paper, for any number of items at a time."""
    used, reports = Counter(), []
    for time in range(steps):
        found = []
        for item in range(domain_size):
            users = {user for user, when, what in records if when == time and what == item and used[user] < k}
            if len(users) >= threshold:
                found.append(item)
                used.update(users)
        reports.append(tuple(found))
    return reports


RECORDS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(-1, 3)), max_size=40)


@settings(max_examples=40, deadline=None)
@given(RECORDS, st.integers(1, 3), st.integers(1, 3), st.integers(1, 7), st.booleans())
def test_the_algorithm_without_noise(records, k, threshold, size, texts):
    """Duplicates, several items at a time, none at a time, items outside the domain, batches cut anywhere, users as integers or texts."""
    records = sorted(records, key=lambda record: record[1])
    monitor = HeavyHitterMonitor(k=k, epsilon=1, threshold=threshold, domain=range(3), times=range(4))
    watch = monitor.start(bits=1)
    watch._draws, watch._users = NoNoise(), UserTable(k, Everyone())
    reports = []
    for start in range(0, len(records), size):
        users, times, items = zip(*records[start : start + size], strict=True)
        reports.extend(watch.push(np.array(times), [f"u{user}" for user in users] if texts else np.array(users), list(items)))
    reports.extend(watch.finish())
    assert [report.items for report in reports] == reference(records, k=k, threshold=threshold, domain_size=3, steps=4)
    assert [report.time for report in reports] == [0, 1, 2, 3]


class Replay:
    """Draws that follow a script of answers, and multiply up their exact probability; ``counts`` says how many answers each draw has."""

    def __init__(self, tail, trials, script):
        self.tail, self.trials, self.script, self.counts, self.chance = tail, trials, script, [], Fraction(1)

    def ask(self, chances):
        at = len(self.counts)
        answer = self.script[at] if at < len(self.script) else 0
        self.counts.append(len(chances))
        self.chance *= chances[answer]
        return answer

    def passes(self, gaps):
        return np.array([self.passes_one(int(gap)) for gap in gaps], dtype=np.bool_)

    def passes_one(self, gap):
        return self.ask([self.tail**gap, 1 - self.tail**gap]) == 0

    def failures(self, gap):
        """0, ..., trials − 1 exactly, or at least ``trials``, which is as many trials as there can be."""
        miss = 1 - self.tail**gap
        answer = self.ask([miss**count * (1 - miss) for count in range(self.trials)] + [miss**self.trials])
        return answer if answer < self.trials else LONGEST_RUN


def law_of_the_program(streams, *, k, threshold, steps, domain_size, tail):
    """The law of the program's reports: it is run for every possible sequence of answers of its draws."""
    monitor = HeavyHitterMonitor(k=k, epsilon=1, threshold=threshold, domain=range(domain_size), times=range(steps))
    setting = monitor.start(bits=1)._setting
    script, law, watch = [], Counter(), Watch(setting, open_bits(1), monitor.guarantee)
    while script is not None:
        watch._users, watch._step, watch._run, watch._endless, watch._closed = UserTable(k, Everyone()), 0, 0, True, False
        watch._draws = Replay(tail, steps * domain_size, script)
        reports = []
        for time in range(steps):
            records = [(user, item) for user, stream in enumerate(streams) for item in stream[time]]
            reports.extend(watch.push(time, *zip(*records, strict=True)) if records else watch.push(time, [], []))
        reports.extend(watch.finish())
        law[tuple(report.items for report in reports)] += watch._draws.chance
        counts = watch._draws.counts
        taken = [*script, *[0] * len(counts)][: len(counts)]
        while taken and taken[-1] + 1 >= counts[len(taken) - 1]:
            taken.pop()
        script = [*taken[:-1], taken[-1] + 1] if taken else None
    return {outcome: chance for outcome, chance in law.items() if chance}


STREAMS = st.lists(st.tuples(*[st.frozensets(st.integers(0, 1))] * 2), max_size=3)


@pytest.mark.thorough
@settings(max_examples=12, deadline=None)
@given(STREAMS, st.integers(1, 2), st.integers(1, 3))
def test_the_program_has_exactly_the_stated_law(streams, k, threshold):
    """All branches of the program itself, in rational numbers: thinning within a step, runs over steps, drops."""
    shape = {"k": k, "threshold": threshold, "steps": 2, "domain_size": 2, "tail": Fraction(1, 2)}
    law = law_of_the_program(streams, **shape)
    assert sum(law.values()) == 1
    assert law == dict(report_law(streams, **shape))


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("membership", ["stored", "keyed"])
def test_frequencies_are_those_of_the_exact_law(membership):
    """Two steps, two items, users with two items at a time: all outcomes, by chi-squared; a false alarm has probability below 1e-7."""
    streams = [[{0, 1}, {1}], [{0}, {0, 1}], [{0, 1}, set()], [{1}, {1}]]
    monitor = HeavyHitterMonitor(k=1, epsilon=1, threshold=2, domain=["a", "b"], times=range(2), membership=membership)
    records = [(user, time, "ab"[item]) for time in range(2) for user, stream in enumerate(streams) for item in sorted(stream[time])]
    runs, source = 400, open_bits(5)
    seen = Counter(tuple(report.items for report in monitor.watch(records, bits=source)) for _ in range(runs))
    tail = Fraction(float(np.exp(-float(monitor.rate))))
    law = sampled_report_law(streams, p=monitor.plan.p, k=1, threshold=2, steps=2, domain_size=2, tail=tail)
    named = {tuple(tuple("ab"[item] for item in step) for step in outcome): float(chance) for outcome, chance in law.items()}
    assert set(seen) <= set(named)
    statistic = sum((seen[outcome] - runs * chance) ** 2 / (runs * chance) for outcome, chance in named.items())
    assert statistic < chi2.isf(1e-7, len(named) - 1)


def test_items_that_nobody_has_are_part_of_the_law():
    """With threshold 1 each of them is reported with probability e^(−ε₀) at each step, also where no record is at all."""
    monitor = HeavyHitterMonitor(k=1, epsilon=1, threshold=1, domain=range(100), times=range(200))
    reports = monitor.run([], bits=3).reports
    chance, count = float(np.exp(-float(monitor.rate))), sum(len(report.items) for report in reports)
    assert len(reports) == 200
    assert abs(count - 20_000 * chance) < 6 * (20_000 * chance * (1 - chance)) ** 0.5
    each = np.bincount([item for report in reports for item in report.items], minlength=100)
    assert ((each - 200 * chance) ** 2 / (200 * chance * (1 - chance))).sum() < chi2.isf(1e-7, 100)
    assert float(monitor.expected_noise_reports) == pytest.approx(20_000 * chance)


def test_the_run_of_failures_steps_over_items_that_someone_has():
    """Every absent item is reported where p0 is near 1, and none twice."""
    monitor = HeavyHitterMonitor(k=2**20, epsilon="0.01", threshold=1, domain=range(50), times=range(3))
    for report in monitor.run([(user, 1, item) for user in range(3) for item in (0, 7, 49)], bits=1).reports:
        assert report.items == tuple(range(50))


def test_a_huge_domain_costs_nothing():
    monitor = HeavyHitterMonitor(k=1, epsilon=1, threshold=40, domain=range(10**15), times=range(10**15))
    watch = monitor.start(bits=1)
    watch.push(5, range(200), [123_456_789_012] * 200)
    reports = watch.finish(until=6)
    assert {report.time: report.items for report in reports if report.items} == {5: (123_456_789_012,)}


def test_guarantee_is_that_of_the_target_and_names_what_it_supposes():
    monitor = HeavyHitterMonitor(k=3, epsilon="0.5", threshold=10, domain=["a"], times=[1, 5, 9])
    bound = monitor.guarantee.bound
    assert bound.epsilon <= Fraction(1, 2)
    assert not any("real arithmetic" in text for text in monitor.guarantee.hypotheses)
    assert "pseudorandom" not in render(monitor.guarantee)
    keyed = HeavyHitterMonitor(k=3, epsilon="0.5", threshold=10, domain=["a"], times=range(3), membership="keyed")
    assert any("BLAKE2b" in text for text in keyed.guarantee.hypotheses)
    seeded = monitor.run([], bits=4)
    assert any("seed" in text for text in seeded.guarantee.hypotheses)
    assert seeded.guarantee.bound == bound
    assert [report.time for report in seeded.reports] == [1, 5, 9]


def test_reports_come_when_a_later_time_is_seen():
    monitor = HeavyHitterMonitor(k=1, epsilon=1, threshold=30, domain=["a"], times=range(5))
    asked = []

    def stream():
        for user, time in itertools.product(range(90), (0, 2)):
            asked.append(time)
            yield user, time, "a"

    ordered = sorted(stream(), key=lambda record: record[1])
    watch = monitor.watch(iter(ordered), bits=2)
    assert next(watch).time == 0
    assert [report.time for report in watch] == [1, 2, 3, 4]


def test_the_clock_may_be_told_without_records():
    watch = HeavyHitterMonitor(k=1, epsilon=1, threshold=30, domain=["a"], times=range(5)).start(bits=2)
    assert [report.time for report in watch.push(3, [], [])] == [0, 1, 2]
    assert [report.time for report in watch.finish(until=3)] == [3]
    with pytest.raises(InvalidArgument, match="after its end"):
        watch.push(4, [], [])


@pytest.mark.parametrize(
    ("times", "users", "items", "message"),
    [
        ([1, 0], [1, 2], ["a", "a"], "sorted by time"),
        ([0, float("nan")], [1, 2], ["a", "a"], "a time was expected to be an integer"),
        ([0, 0], [1, None], ["a", "a"], "a user was expected"),
        ([0, 0], ["x", 2], ["a", "a"], "a user was expected to be a text"),
        ([0, 0], [1.5, 2], ["a", "a"], "a user was expected to be an integer"),
        ([0, 0], [1, 2], ["a", None], "an item was expected to be a text"),
        ([0, 0], [1, 2], ["a"], "as many items"),
        ([0], [1, 2], ["a", "a"], "as many times"),
        ([0, 0], [2**70, 2], ["a", "a"], "a user was expected"),
        ([0, 0], [2**62, 2], ["a", "a"], "between"),
    ],
)
def test_malformed_records_are_refused_and_end_the_pass(times, users, items, message):
    watch = HeavyHitterMonitor(k=1, epsilon=1, threshold=30, domain=["a"], times=range(5)).start(bits=2)
    with pytest.raises(InvalidData, match=message):
        watch.push(times, users, items)
    with pytest.raises(InvalidArgument, match="after an error"):
        watch.push(0, [1], ["a"])


def test_time_must_not_go_back_between_pushes():
    watch = HeavyHitterMonitor(k=1, epsilon=1, threshold=30, domain=["a"], times=range(5)).start(bits=2)
    watch.push(3, [1], ["a"])
    with pytest.raises(InvalidData, match="sorted by time, but row"):
        watch.push(2, [1], ["a"])


def test_records_outside_are_ignored_or_refused():
    public = {"k": 1, "epsilon": 1, "threshold": 5, "domain": range(3), "times": [10, 20]}
    stream = [(user, time, item) for time in (9, 10, 15, 20, 99) for user in range(60) for item in (1, 77)]
    ignoring = HeavyHitterMonitor(**public).run(stream, bits=4)
    assert 1 in ignoring.reports[0].items
    for record, message in (((1, 10, 77), "outside the public domain"), ((1, 11, 1), "not a public time step")):
        with pytest.raises(InvalidData, match=message):
            HeavyHitterMonitor(**public, outside="refuse").run([record], bits=4)
    stated = [HeavyHitterMonitor(**public, outside=way).guarantee.hypotheses for way in ("ignore", "refuse")]
    assert [REFUSED in hypotheses for hypotheses in stated] == [False, True]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"k": 0}, InvalidArgument, "k must be an integer"),
        ({"threshold": 1.5}, InvalidArgument, "threshold must be an integer"),
        ({"epsilon": 0}, InvalidTarget, "target epsilon"),
        ({"domain": []}, InvalidArgument, "all integers or all texts"),
        ({"domain": ["a", "a"]}, InvalidArgument, "twice"),
        ({"domain": ["a", 1]}, InvalidArgument, "all integers or all texts"),
        ({"domain": "ab"}, InvalidArgument, "range or a list"),
        ({"domain": range(0)}, InvalidArgument, "between 1"),
        ({"times": [2, 1]}, InvalidArgument, "increasing"),
        ({"times": ["a"]}, InvalidArgument, "increasing"),
        ({"membership": "hash"}, InvalidArgument, "stored, keyed"),
        ({"outside": "x"}, InvalidArgument, "ignore or refuse"),
        ({"calibration": "x"}, InvalidArgument, "calibration"),
    ],
)
def test_constants_are_checked(change, error, message):
    with pytest.raises(error, match=message):
        HeavyHitterMonitor(**{"k": 1, "epsilon": 1, "threshold": 5, "domain": ["a"], "times": range(3), **change})


def test_a_pass_cannot_be_copied_or_used_while_at_work():
    watch = HeavyHitterMonitor(k=1, epsilon=1, threshold=5, domain=["a"], times=range(3)).start(bits=1)
    with pytest.raises(InvalidArgument, match="copied"):
        copy.deepcopy(watch)
    reports = watch.iterate_rest()
    next(reports)
    with pytest.raises(InvalidArgument, match="at work"):
        watch.push(1, [1], ["a"])


@pytest.mark.parametrize("texts", [False, True])
def test_users_keep_their_slots(texts):
    """Against a dictionary, over merges of the index."""
    rng, table, known = np.random.default_rng(1), UserTable(2, Everyone()), {}
    for _ in range(60):
        users = rng.integers(-(2**61), 2**61, size=300) if rng.random() < 0.5 else rng.integers(0, 500, size=300)
        slots = table.slots([str(user) for user in users] if texts else users)
        for user, slot in zip(users.tolist(), slots.tolist(), strict=True):
            assert known.setdefault(user, slot) == slot
    assert sorted(known.values()) == list(range(len(table)))


def test_a_keyed_table_forgets_who_did_not_contribute():
    """Users outside the sample are not kept; those of the sample are found again; contributions are remembered."""
    table = UserTable(3, KeyedDecision(0.5, open_bits(8)))
    first = table.slots(np.arange(20_000))
    inside = np.flatnonzero(first != NOBODY)
    assert abs(inside.size - 10_000) < 6 * 71
    table.left[first[inside[:10]]] -= 1
    table._settled = 1
    pending = first[inside[10:15]]
    moved = table.forget(pending)
    assert len(table) == 15
    assert table.left[moved[pending]].tolist() == [3] * 5
    again = table.slots(np.arange(20_000))
    assert np.array_equal(again != NOBODY, first != NOBODY)
    assert table.left[again[inside[:10]]].tolist() == [2] * 10
    assert set(table.left[again[inside[10:]]].tolist()) == {3}


def test_batches_and_triples_cannot_be_mixed():
    monitor = HeavyHitterMonitor(k=1, epsilon=1, threshold=5, domain=["a"], times=range(3))
    with pytest.raises(InvalidData, match="both were found"):
        monitor.run([(1, 0, "a"), StreamBatch([1], 0, ["a"])], bits=1)
    with pytest.raises(InvalidData, match="triple"):
        monitor.run([(1, 0)], bits=1)
    with pytest.raises(InvalidData, match="a time must be an integer"):
        monitor.run([(1, None, "a")], bits=1)


def test_a_kept_pass_of_texts_writes_new_users_only_and_goes_on(tmp_path):
    rng = np.random.default_rng(3)
    monitor = HeavyHitterMonitor(k=2, epsilon=50, threshold=5, domain=range(4), times=range(6))
    records = [([f'u"{user},é' for user in rng.integers(0, 60, 40)], rng.integers(0, 4, 40)) for _ in range(6)]
    reports = []
    with monitor.start_kept(tmp_path / "state") as kept:
        for step in range(3):
            reports += kept.push(np.full(40, step), *records[step])
        kept.save()
        known = kept._watch.export()
    with monitor.start_kept(tmp_path / "state") as kept:
        again = kept._watch.export()
        assert (again.users, again.left.tolist(), again.slots.tolist()) == (known.users, known.left.tolist(), known.slots.tolist())
        assert len(set(known.users)) == len(known.users) == len({user for users, _ in records[:3] for user in users})
        for step in range(6):  # given again from the start: what is over is skipped
            reports += kept.push(np.full(40, step), *records[step])
        reports += kept.finish()
        assert kept.spent > 0
    assert [report.time for report in reports] == list(range(6))


@pytest.mark.thorough
def test_a_damaged_state_is_refused_or_says_what_it_said(tmp_path):
    monitor = HeavyHitterMonitor(k=2, epsilon=1, threshold=1, domain=range(5), times=range(6))
    with monitor.start_kept(tmp_path / "state") as kept:
        kept.push(np.array([0, 0, 1, 1, 2]), np.array([5, 9, 5, 7, 100]), np.array([0, 1, 2, 3, 4]))
        kept.save()
    whole = (tmp_path / "state").read_bytes()

    def read(content):
        (tmp_path / "damaged").write_bytes(content)
        header, state = read_state(tmp_path / "damaged")
        return header, state.step, state.last, *(list(getattr(state, name)) for name in ("users", "slots", "left", "pending_slots"))

    sound, directory = read(whole), whole.index(b"PK\x01\x02")  # whose flags and methods a reader of archives may not know
    for place in range(len(whole)):
        for bit in range(8) if 0 <= place - directory < 46 else (place % 8,):
            damaged = bytearray(whole)
            damaged[place] ^= 1 << bit
            with contextlib.suppress(UnreadableFile):
                assert read(damaged) == sound


@pytest.mark.parametrize("kind", [int, str])
def test_users_have_one_slot_each_in_whatever_parts_they_come(kind):
    rng = np.random.default_rng(4)
    table, slots_of = UserTable(3, DrawnDecision(0.5, open_bits(1))), {}
    for size in (1, 5, 0, 200, 3, 200):
        users = [kind(user) for user in rng.integers(0, 90, size)]
        for user, slot in zip(users, table.slots(users).tolist(), strict=True):
            assert slots_of.setdefault(user, slot) == slot
    assert sorted(slots_of.values()) == list(range(len(table))) == list(range(len(slots_of)))
