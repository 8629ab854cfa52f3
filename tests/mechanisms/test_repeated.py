"""The repeated mechanisms against an enumeration of their own, written out here, on tiny instances; stops, refusals, bit sources."""

from __future__ import annotations

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.stats import chisquare

from profiles.errors import InvalidArgument, InvalidData, InvalidNumber, PDPError
from profiles.hypotheses import PURE_SELECT
from profiles.mechanisms import EXACT_ARITHMETIC
from profiles.mechanisms.repeated import PUBLIC_CONSTANTS, RepeatedExponential, RepeatedThreshold, rounds
from profiles.mechanisms.repeated.interface import read_exact, to_scores
from profiles.randomness.bits import BLOCK

ALARM = 1e-7
DATA = ["ab", "b", "bc", "c", "b"]
KINDS = ("exact", "binary64")


def greedy(chosen: tuple[str, ...]):
    """Greedy coverage: letters; a row counts for a letter if it has it and none that was chosen before. It stops after "c"."""
    if "c" in chosen:
        return None
    left = [letter for letter in "abc" if letter not in chosen]
    return left, lambda data: np.array([sum(letter in row and not set(row) & set(chosen) for row in data) for letter in left])


def watch(answers: tuple[bool, ...]):
    """Rows that have the letter of the round, unless two answers were above already; thresholds between the values."""
    if sum(answers) == 2:
        return None
    letter = "abc"[len(answers)]
    return (lambda data: sum(letter in row for row in data)), ("2.5", 1, Fraction(10, 3))[len(answers)]


EXPONENTIAL = {kind: RepeatedExponential(select=greedy, rounds=3, epsilon0="1.5", sensitivity=2, arithmetic=kind) for kind in KINDS}
THRESHOLD = {kind: RepeatedThreshold(select=watch, rounds=3, epsilon0=1, sensitivity=2, arithmetic=kind) for kind in KINDS}


def enumerate_exponential() -> dict[tuple[str, ...], mpmath.mpf]:
    """All permutations of abc, cut off after c; probabilities by the definition of the exponential mechanism, exponent 3/4 for a unit."""
    found: dict[tuple[str, ...], mpmath.mpf] = {}
    for order in itertools.permutations("abc"):
        probability = mpmath.mpf(1)
        for place, letter in enumerate(order):
            if "c" in order[:place]:
                break
            weights = {}
            for other in order[place:]:
                covered = [row for row in DATA if other in row and not any(before in row for before in order[:place])]
                weights[other] = mpmath.exp(mpmath.mpf(3) / 4 * len(covered))
            probability *= weights[letter] / sum(weights.values())
        found[order[: order.index("c") + 1]] = probability
    return found


def enumerate_threshold() -> dict[tuple[int, ...], mpmath.mpf]:
    """Counts of a, b, c are 1, 4, 2; P(⊤) = min(1, exp(−(τ − h)/2))."""
    above = [mpmath.exp(-mpmath.mpf("1.5") / 2), mpmath.mpf(1), mpmath.exp(-mpmath.mpf(4) / 3 / 2)]
    found = {}
    for answers in itertools.product((0, 1), repeat=3):
        kept = answers[:2] if sum(answers[:2]) == 2 else answers
        probability = mpmath.mpf(1)
        for place, answer in enumerate(kept):
            probability *= above[place] if answer else 1 - above[place]
        found[kept] = probability
    return found


def spell(path) -> tuple[str, ...]:
    """Letters for positions among those that are left."""
    left = list("abc")
    return tuple(left.pop(index) for index in path if index >= 0)


def test_the_laws_are_those_of_the_enumeration() -> None:
    with mpmath.workdps(60):
        law, expected = EXPONENTIAL["exact"].law(DATA), enumerate_exponential()
        letters = {}
        for path, ends in law.items():
            letters[spell(path)] = ends
        assert letters.keys() == expected.keys()
        for outputs, (lo, hi) in letters.items():
            assert mpmath.mpf(lo.numerator) / lo.denominator <= expected[outputs] <= mpmath.mpf(hi.numerator) / hi.denominator
            assert hi - lo < Fraction(1, 10**35)
        law, expected = THRESHOLD["exact"].law(DATA), enumerate_threshold()
        assert law.keys() == expected.keys()
        for answers, (lo, hi) in law.items():
            assert mpmath.mpf(lo.numerator) / lo.denominator <= expected[answers] <= mpmath.mpf(hi.numerator) / hi.denominator


def judge(counts: dict, law: dict, size: int) -> None:
    assert set(counts) <= {outputs for outputs, share in law.items() if share}
    likely = [outputs for outputs, share in law.items() if share]
    assert chisquare([counts.get(item, 0) for item in likely], [size * float(law[item]) for item in likely]).pvalue > ALARM


def count(rows) -> dict:
    found: dict = {}
    for row in rows:
        found[row] = found.get(row, 0) + 1
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_outputs_have_the_law_of_the_enumeration(kind: str) -> None:
    rng = np.random.default_rng(11)
    mechanism, size = EXPONENTIAL[kind], 3000
    law = enumerate_exponential()
    judge(count(mechanism.run(DATA, rng) for _ in range(400)), law, 400)
    names = {}
    for row in mechanism(DATA, rng, size).tolist():
        names.setdefault(spell(row), []).append(row)
    judge({outputs: len(rows) for outputs, rows in names.items()}, law, size)
    threshold = THRESHOLD[kind]
    answers = enumerate_threshold()
    judge(count(tuple(map(int, threshold.run(DATA, rng))) for _ in range(400)), answers, 400)
    judge(count(tuple(entry for entry in row if entry >= 0) for row in threshold(DATA, rng, size).tolist()), answers, size)


def test_exact_draws_take_any_source_of_bits_and_floating_point_needs_a_generator() -> None:
    class Zeros:
        name, hypothesis, seed = "zeros", "all digits are 0", None

        def block(self) -> np.ndarray:
            return np.zeros(BLOCK, dtype=np.uint16)

        def digit(self) -> int:
            return 0

        def words(self, count: int) -> np.ndarray:
            return np.zeros(count, dtype=np.uint64)

    assert EXPONENTIAL["exact"].run(DATA, Zeros()) == ("a", "b", "c")  # U = 0: the first candidate
    assert THRESHOLD["exact"].run(DATA, Zeros()) == (True, True)
    for mechanism in (EXPONENTIAL["binary64"], THRESHOLD["binary64"]):
        with pytest.raises(InvalidArgument, match="Generator"):
            mechanism.run(DATA, Zeros())
    assert EXPONENTIAL["exact"].run(DATA, 5) == EXPONENTIAL["exact"].run(DATA, np.random.default_rng(5))
    with pytest.raises(InvalidArgument, match="Generator"):
        EXPONENTIAL["exact"].run(DATA, "5")


def test_hypotheses_name_the_assumptions_and_the_arithmetic() -> None:
    for family, numbers in ((EXPONENTIAL, ("4.1", "4.2")), (THRESHOLD, ("5.1", "5.2"))):
        exact = family["exact"].hypotheses
        assert all(any(f"Assumption {number}" in text for text in exact) for number in numbers)
        assert PURE_SELECT in exact
        assert PUBLIC_CONSTANTS in exact
        assert EXACT_ARITHMETIC not in exact
        assert EXACT_ARITHMETIC in family["binary64"].hypotheses
        assert "at most 2 in total" in exact[1]


def test_a_record_of_smaller_sensitivity_spends_less() -> None:
    assert EXPONENTIAL["exact"].spend("0.5") == Fraction(3, 8)
    assert THRESHOLD["exact"].spend(2) == 1


@pytest.mark.parametrize("bad", [[1.0, -np.inf], [np.nan, 0.0], [1.0, np.inf], [1.0], [[1.0, 2.0]], ["1", "2"], [True, False], 3.0])
def test_unusable_scores_are_refused(bad) -> None:
    mechanism = RepeatedExponential(select=lambda _: (2, lambda _: bad), rounds=1, epsilon0=1, sensitivity=1)
    with pytest.raises(InvalidData, match="scores"):
        mechanism.run([], np.random.default_rng(1))


@pytest.mark.parametrize(
    "select",
    [lambda _: ([], len), lambda _: (0, len), lambda _: ("ab", len), lambda _: [1, len], lambda _: (2, 5), lambda _: (None, len), 7],
)
def test_unusable_selections_are_refused(select) -> None:
    with pytest.raises(InvalidArgument):
        RepeatedExponential(select=select, rounds=1, epsilon0=1, sensitivity=1).run([], np.random.default_rng(1))


@pytest.mark.parametrize("threshold", [np.inf, -np.inf, np.nan, "x", None])
def test_unusable_thresholds_and_values_are_refused(threshold) -> None:
    mechanism = RepeatedThreshold(select=lambda _: (len, threshold), rounds=1, epsilon0=1, sensitivity=1)
    with pytest.raises(InvalidNumber):
        mechanism.run([], np.random.default_rng(1))
    mechanism = RepeatedThreshold(select=lambda _: (lambda _: threshold, 1), rounds=1, epsilon0=1, sensitivity=1)
    with pytest.raises(PDPError):
        mechanism.run([], np.random.default_rng(1))


@pytest.mark.parametrize("family", [RepeatedExponential, RepeatedThreshold])
@pytest.mark.parametrize(
    "change",
    [
        {"rounds": 0},
        {"rounds": True},
        {"rounds": 1.0},
        {"epsilon0": 0},
        {"epsilon0": -1},
        {"sensitivity": 0},
        {"sensitivity": "nan"},
        {"arithmetic": "fast"},
        {"epsilon0": Fraction(1, 2**1000)},
        {"select": None},
    ],
)
def test_unusable_constants_are_refused(family, change) -> None:
    with pytest.raises(PDPError):
        family(**{"select": greedy, "rounds": 2, "epsilon0": 1, "sensitivity": 1, **change})


def test_a_law_of_too_many_outputs_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "MOST_OUTPUTS", 15)
    mechanism = RepeatedExponential(select=lambda _: (4, lambda _: [0] * 4), rounds=2, epsilon0=1, sensitivity=1)
    with pytest.raises(InvalidArgument, match="more than 15"):
        mechanism.law([], bits=8)


def test_extreme_scores_neither_overflow_nor_warn() -> None:
    for kind in KINDS:
        mechanism = RepeatedExponential(
            select=lambda _: (3, lambda _: [1e308, -1e308, 1e308]), rounds=1, epsilon0=2**60, sensitivity="1e-200", arithmetic=kind
        )
        found = np.bincount(mechanism(None, np.random.default_rng(3), 2000)[:, 0], minlength=3)
        assert found[1] == 0
        assert chisquare(found[[0, 2]]).pvalue > ALARM
        threshold = RepeatedThreshold(select=lambda _: (lambda _: -1e308, 1e308), rounds=1, epsilon0=1, sensitivity=1, arithmetic=kind)
        assert not threshold(None, np.random.default_rng(3), 100).any()


def test_integers_among_floats_are_not_rounded() -> None:
    """Found: NumPy makes binary64 numbers of both lists, which moved 2^53 + 1 by one, a whole sensitivity."""
    for scores in ([2**53 + 1, 0.5], (2**63, -1), [np.uint64(2**63 + 1), 0.5], [0.5, -(2**60) - 1]):
        assert [read_exact(score) for score in to_scores(scores, 2)] == [
            Fraction(score if isinstance(score, float) else int(score)) for score in scores
        ]
    with pytest.raises(InvalidData, match="shape"):
        to_scores(0.5, 2)
    with pytest.raises(InvalidData, match="shape"):
        to_scores([[2**53 + 1, 0.5]], 2)
