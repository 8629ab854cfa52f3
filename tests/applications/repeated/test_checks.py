"""The check of the assumptions: proved, refuted with a witness that is one, unknown; the search only refutes."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.applications.repeated import declare_repeated
from profiles.errors import InvalidArgument, Undecided
from profiles.mechanisms.repeated import RepeatedExponential, RepeatedThreshold
from proofs_check.exact.repeated import check_assumptions, compare_laws, search_violation
from proofs_check.results import Verdict

RECORDS = ("a", "b", "ab", "c")


def letters_of(chosen):
    return [c for c in "abc" if c not in chosen]


def coverage(chosen):
    left = letters_of(chosen)
    return left, lambda data: np.array([sum(c in x and not set(x) & set(chosen) for x in data) for c in left])


def recounted(chosen):
    """A record counts in every round: realised sums reach 2."""
    left = letters_of(chosen)
    return left, lambda data: [sum(c in x for x in data) for c in left]


def lowered(chosen):
    """The second round subtracts the records of other letters."""
    left = letters_of(chosen)
    return left, lambda data: [sum(c in x for x in data) - (len(data) if chosen else 0) for c in left]


def exponential(select, **options):
    return RepeatedExponential(**{"select": select, "rounds": 2, "epsilon0": 1, "sensitivity": 1, **options})


def replay(mechanism, violation) -> Fraction:
    """The differences on the witness, computed here."""
    total = Fraction(0)
    for i, output in enumerate(violation.outputs):
        candidates, score = mechanism.select(violation.outputs[:i])
        place = list(candidates).index(output)
        rise = Fraction(score(violation.dataset)[place]) - Fraction(score(violation.neighbor)[place])
        if violation.assumption == "4.1" and i == len(violation.outputs) - 1:
            return -rise
        total += rise
    return total


def test_coverage_is_proved_and_its_figures_are_exact() -> None:
    found = check_assumptions(exponential(coverage), RECORDS, 2)
    assert found.proved
    assert (found.largest_sum, found.spread) == (1, 2)
    assert found.sums == dict.fromkeys(RECORDS, Fraction(1))
    assert not found.violations
    # 4 + 16·2 − 4 pairs (a record twice gives one pair); 3·2 sequences.
    assert found.tried == "32 neighboring pairs and 6 complete output sequences"


@pytest.mark.parametrize(("select", "failing"), [(recounted, "4.2"), (lowered, "4.1")])
def test_what_is_false_is_refuted_with_a_witness(select, failing: str) -> None:
    mechanism = exponential(select)
    found = check_assumptions(mechanism, RECORDS, 2)
    assert found.refuted
    (violation,) = found.violations
    assert violation.assumption == failing
    assert sorted(violation.dataset) != sorted(violation.neighbor)
    assert any(violation.dataset[:i] + violation.dataset[i + 1 :] == violation.neighbor for i in range(len(violation.dataset)))
    assert replay(mechanism, violation) == violation.amount
    assert violation.amount == (2 if failing == "4.2" else 1)
    assert str(violation).startswith(f"Assumption {failing}")
    verdicts = (found.monotone, found.bounded)
    assert verdicts == ((Verdict.PROVED, Verdict.REFUTED) if failing == "4.2" else (Verdict.REFUTED, Verdict.PROVED))
    with pytest.raises(InvalidArgument, match="does not apply"):
        declare_repeated(mechanism, check=found)


def test_both_can_be_refuted() -> None:
    def select(chosen):
        return 2, lambda data: [5 * len(data), -len(data)]

    found = check_assumptions(exponential(select), ("x",), 1)
    assert (found.monotone, found.bounded) == (Verdict.REFUTED, Verdict.REFUTED)
    assert [violation.assumption for violation in found.violations] == ["4.1", "4.2"]
    assert found.largest_sum is None


def test_thresholds_count_what_is_above_only() -> None:
    def select(answers):
        return (lambda data: len(data) if sum(answers) < 2 else 0), 1

    mechanism = RepeatedThreshold(select=select, rounds=4, epsilon0=1, sensitivity=2)
    found = check_assumptions(mechanism, ("x",), 3)
    assert found.proved
    assert (found.largest_sum, found.spread) == (2, None)
    tighter = RepeatedThreshold(select=select, rounds=4, epsilon0=1, sensitivity="1.5")
    (violation,) = check_assumptions(tighter, ("x",), 3).violations
    assert violation.assumption == "5.2"
    assert violation.amount == 2 == sum(violation.outputs)
    falling = RepeatedThreshold(select=lambda _: (lambda data: -len(data), 0), rounds=1, epsilon0=1, sensitivity=1)
    assert check_assumptions(falling, ("x",), 1).violations[0].assumption == "5.1"


def test_an_early_stop_ends_the_sum() -> None:
    def select(chosen):
        return None if len(chosen) == 1 else recounted(chosen)

    assert check_assumptions(exponential(select, rounds=3), RECORDS, 1).proved


def test_sensitivity_is_compared_exactly() -> None:
    def select(_chosen):
        return 1, lambda data: [0.1 * len(data)]

    assert check_assumptions(exponential(select, rounds=1, sensitivity=0.1), ("x",), 1).proved
    assert check_assumptions(exponential(select, rounds=1, sensitivity="0.1"), ("x",), 1).refuted  # binary 0.1 is more than one tenth
    assert check_assumptions(exponential(select, rounds=1, sensitivity=0.1), ("x",), 3).refuted  # 0.1·3 − 0.1·2 is more than 0.1


def test_personal_sensitivities() -> None:
    def select(_chosen):
        return 2, lambda data: [sum(data), 0]

    mechanism = exponential(select, sensitivity=6)
    found = check_assumptions(mechanism, (1, 3), 2)
    assert found.sums == {1: 2, 3: 6}
    assert mechanism.spend(found.sums[1]) == Fraction(1, 3)
    for data in itertools.product((1, 3), repeat=2):
        lower, upper = compare_laws(mechanism.law(data), mechanism.law(data[1:]))
        assert lower <= upper <= mechanism.spend(found.sums[data[0]]) + Fraction(1, 10**30)


def test_order_matters_only_for_sequences() -> None:
    """The score looks at the last record: as multisets, in sorted order, it never falls; as sequences it does."""

    def select(_chosen):
        return 1, lambda data: [data[-1] if data else 0]

    mechanism = exponential(select, rounds=1, sensitivity=5)
    assert check_assumptions(mechanism, (1, 2), 2).refuted
    found = check_assumptions(mechanism, (1, 2), 2, ordered=False)
    assert found.proved
    assert found.domain is not None
    assert found.domain.order_statement is not None


def test_what_is_too_large_is_unknown() -> None:
    for found in (
        check_assumptions(exponential(coverage), RECORDS, 2, most_steps=50),
        check_assumptions(exponential(coverage), range(100), 4),
    ):
        assert (found.monotone, found.bounded) == (Verdict.UNKNOWN, Verdict.UNKNOWN)
        assert found.reason
        assert not found.proved
    large = exponential(coverage)
    check = check_assumptions(large, RECORDS, 2, most_steps=50)
    assert check.domain is not None
    assert set(large.assumptions) <= set(declare_repeated(large, check=check, domain=check.domain).hypotheses)


def test_functions_that_are_none_are_refused() -> None:
    rng = np.random.default_rng(1)
    with pytest.raises(InvalidArgument, match="function"):
        check_assumptions(exponential(lambda _: (2, lambda _: rng.random(2))), ("x",), 1)
    with pytest.raises(InvalidArgument, match="select gave two answers"):
        check_assumptions(exponential(lambda _: ([float(rng.random())], lambda _: [0])), ("x",), 1)


@pytest.mark.parametrize(("records", "size"), [((), 1), (("a", "a"), 1), (("a",), 0), (("a",), True), (("a",), None)])
def test_unusable_universes_are_refused(records, size) -> None:
    with pytest.raises(InvalidArgument):
        check_assumptions(exponential(coverage), records, size)
    with pytest.raises(InvalidArgument):
        check_assumptions("mechanism", ("a",), 1)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_check_agrees_with_a_plain_one(data) -> None:
    """Random tables of scores for data sets over two records; the plain check goes through pairs and sequences in loops."""
    sets = [s for n in range(3) for s in itertools.product("xy", repeat=n)]
    table = {(s, c): data.draw(st.integers(0, 2)) + len(s) for s in sets for c in range(4)}

    def select(chosen):
        first = 0 if not chosen else 1 + chosen[0]
        return 2, lambda s: [table[s, first % 4], Fraction(table[s, (first + 1) % 4], 2)]

    mechanism = exponential(select, sensitivity=2)
    pairs = {(s, s[:i] + s[i + 1 :]) for s in sets for i in range(len(s))}
    rises = {
        (pair, c): [a - b for a, b in zip(select(c)[1](pair[0]), select(c)[1](pair[1]), strict=True)]
        for pair in pairs
        for c in ((), (0,), (1,))
    }
    monotone = all(rise >= 0 for found in rises.values() for rise in found)
    bounded = all(rises[pair, ()][i] + rises[pair, (i,)][j] <= 2 for pair in pairs for i in (0, 1) for j in (0, 1))
    found = check_assumptions(mechanism, ("x", "y"), 2)
    assert (found.monotone is Verdict.PROVED, found.bounded is Verdict.PROVED) == (monotone, bounded)
    if found.proved:
        largest = max(compare_laws(mechanism.law(larger), mechanism.law(smaller))[0] for larger, smaller in pairs)
        assert largest <= 1


def draw_pair(rng: np.random.Generator):
    return [RECORDS[i] for i in rng.integers(0, 4, size=rng.integers(0, 4))], RECORDS[rng.integers(0, 4)]


def test_the_search_refutes_or_stays_open() -> None:
    rng = np.random.default_rng(2)
    for select, failing in ((recounted, "4.2"), (lowered, "4.1")):
        mechanism = exponential(select)
        found = search_violation(mechanism, draw_pair, rng, 60)
        (violation,) = found.violations
        assert violation.assumption == failing
        assert replay(mechanism, violation) == violation.amount
    found = search_violation(exponential(coverage), draw_pair, rng, 40)
    assert (found.monotone, found.bounded, found.domain) == (Verdict.UNKNOWN, Verdict.UNKNOWN, None)
    open_still = declare_repeated(exponential(coverage), check=search_violation(exponential(coverage), draw_pair, rng, 5))
    assert set(exponential(coverage).assumptions) <= set(open_still.hypotheses)
    counter = RepeatedThreshold(select=lambda _: (len, 1), rounds=3, epsilon0=1, sensitivity=2)
    assert search_violation(counter, draw_pair, rng, 4).violations[0].amount == 3


def test_laws_whose_probabilities_cannot_be_told_from_zero_are_undecided() -> None:
    tiny = {(0,): (Fraction(0), Fraction(1, 10**9))}
    with pytest.raises(Undecided):
        compare_laws(tiny, tiny)
