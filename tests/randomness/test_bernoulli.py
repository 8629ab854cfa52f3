"""Exact Bernoulli draws: every digit sequence of short sources, thresholds against fractions, borders, statistics with fixed seeds."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from profiles import InvalidArgument
from profiles.hypotheses import SECURE_BITS, SEEDED_BITS
from profiles.randomness.bernoulli import PoissonSampler, decide, subtract_digits
from profiles.randomness.bits import BLOCK, FIRST_BITS, NEXT_BITS, open_bits, repeats

SMALLEST = 2.0**-1074
BORDERS = [0.0, SMALLEST, 3 * SMALLEST, 2.0**-1022, 2.0**-1022 - SMALLEST, 2.0**-65, 2.0**-16, 0.1, 1 / 3, 0.5, 2 / 3, 1 - 2.0**-53, 1.0]
ANY_Q = st.one_of(st.sampled_from(BORDERS), st.floats(0, 1), st.integers(0, 2**53).map(lambda m: m * 2.0**-53))


class Exhausted(Exception):
    pass


class Script:
    """A bit source that plays given digits; a block holds the same first digit everywhere."""

    name, hypothesis, seed = "script", "none", None

    def __init__(self, first: int, later: Sequence[int] = ()) -> None:
        self.first, self.later, self.used = first, list(later), 0

    def block(self) -> np.ndarray:
        return np.full(BLOCK, self.first, dtype=np.uint16)

    def digit(self) -> int:
        if self.used == len(self.later):
            raise Exhausted
        self.used += 1
        return self.later[self.used - 1]

    def words(self, count: int) -> np.ndarray:
        raise Exhausted  # a sampler takes none


def chance_of(remaining: float, bits: int) -> Fraction:
    """P(decide), by running it over every sequence of digits of ``bits`` bits."""
    total, pending = Fraction(0), [()]
    while pending:
        script = pending.pop()
        source = Script(0, script)
        try:
            total += Fraction(decide(remaining, source.digit, bits), 2 ** (bits * len(script)))
            assert source.used == len(script)
        except Exhausted:
            pending += [(*script, digit) for digit in range(2**bits)]
    return total


@pytest.mark.parametrize("bits", [1, 2, 3, 5])
def test_every_sequence_of_short_digits_adds_up_to_q(bits: int) -> None:
    for numerator in range(1, 2**7):
        assert chance_of(numerator / 2**7, bits) == Fraction(numerator, 2**7)


@given(ANY_Q)
@settings(deadline=None, max_examples=150)
def test_all_first_digits_leave_exactly_q(q: float) -> None:
    """Σ_D clip(2^16 q − D, 0, 1) = 2^16 q: the selected digits and the remainder of the only open one, exactly."""
    remaining = subtract_digits(np.full(2**FIRST_BITS, q), np.arange(2**FIRST_BITS, dtype=np.uint16))
    ties = remaining[(remaining > 0) & (remaining < 1)]
    assert ties.size <= 1
    assert int((remaining >= 1).sum()) + sum(map(Fraction, ties.tolist())) == Fraction(q) * 2**FIRST_BITS


def digits_of(u: Fraction) -> Iterator[int]:
    """The first 16-bit digit of u in [0, 1), then its 32-bit digits."""
    bits = FIRST_BITS
    while True:
        u *= 2**bits
        digit = u.numerator // u.denominator
        yield digit
        u, bits = u - digit, NEXT_BITS


def is_selected(q: float, u: Fraction) -> tuple[bool, int]:
    digits = digits_of(u)
    source = Script(next(digits), [next(digits) for _ in range(36)])
    return bool(PoissonSampler(source).select(np.array([q]))[0]), source.used


@pytest.mark.thorough
@given(ANY_Q, st.integers(-3, 3), st.sampled_from([53, 64, 80, 1074, 1100]), st.integers(0, 2**1100 - 1))
@settings(deadline=None, max_examples=300)
def test_a_record_is_selected_iff_the_uniform_number_of_the_digits_is_below_q(q: float, offset: int, place: int, anything: int) -> None:
    near = Fraction(q) + Fraction(offset, 2**place)
    for u in (near, Fraction(anything, 2**1100)):
        if 0 <= u < 1:
            assert is_selected(q, u)[0] == (u < Fraction(q))


def test_borders() -> None:
    largest = 1 - Fraction(1, 2**1100)
    assert is_selected(1.0, largest) == (True, 0)
    assert is_selected(0.0, Fraction(0)) == (False, 0)
    assert is_selected(1 - 2.0**-53, largest)[0] is False
    assert is_selected(1 - 2.0**-53, 1 - Fraction(1, 2**53) - Fraction(1, 2**90))[0] is True
    # the smallest number takes all of its 1074 bits: 16 and 34 times 32
    assert is_selected(SMALLEST, Fraction(0)) == (True, 34)
    assert is_selected(SMALLEST, Fraction(1, 2**1074)) == (False, 34)
    assert is_selected(SMALLEST, Fraction(1, 2**1075))[0] is True


@pytest.mark.parametrize("source", [20_261_101, None], ids=["seeded", "secure"])
def test_frequencies(source: int | None) -> None:
    sampler, n = PoissonSampler(source), 200_000
    for q in (2.0**-14, 0.001, 0.1, 1 / 3, 0.5, 1 - 1e-3):
        found = sampler.select(np.full(n, q))
        # 30 exact tests, also where few are expected: with the secure source a false alarm in all of them has chance 6e-10 at most
        assert stats.binomtest(int(found.sum()), n, q).pvalue > 2e-11
        pairs = np.bincount(found[: n // 2] * 2 + found[n // 2 :], minlength=4)  # independence of entries of different calls and blocks
        for count, chance in zip(pairs, [(1 - q) ** 2, q * (1 - q), q * (1 - q), q**2], strict=True):
            assert stats.binomtest(int(count), n // 2, chance).pvalue > 2e-11


def test_ties_are_decided_with_the_right_frequency() -> None:
    """With q = 1/3 the first digit 21845 leaves the remainder 1/3: draws that get this digit must select one third of them."""
    sampler = PoissonSampler(open_bits(3))
    chosen = [decide(1 / 3, sampler.source.digit) for _ in range(30_000)]
    assert stats.binomtest(sum(chosen), len(chosen), 1 / 3).pvalue > 1e-9


def test_what_is_selected_does_not_depend_on_the_batches() -> None:
    q = np.random.default_rng(5).random(3 * BLOCK + 17) ** 3
    expected = PoissonSampler(11).select(q)
    for cuts in ([1, 2, 3], [BLOCK - 1, BLOCK, BLOCK + 1], [70_000], list(range(0, q.size, 999))):
        sampler = PoissonSampler(np.random.default_rng(11))
        found = np.concatenate([sampler.select(part) for part in np.split(q, cuts)])
        assert np.array_equal(found, expected)


def test_sources_say_what_they_suppose() -> None:
    assert (open_bits().hypothesis, open_bits().seed) == (SECURE_BITS, None)
    assert (open_bits(4).hypothesis, open_bits(4).seed) == (SEEDED_BITS, 4)
    assert open_bits(np.random.default_rng(1)).seed is None
    script = Script(1)
    assert open_bits(script) is script
    for bad in (-1, True, 1.5, "secure", object()):
        with pytest.raises(InvalidArgument):
            open_bits(bad)


@pytest.mark.parametrize("q", [[-1e-300], [1.0000000000000002], [math.nan], [math.inf], [[0.5]], [1]])
def test_what_is_no_probability_is_refused(q: list[object]) -> None:
    with pytest.raises(InvalidArgument):
        PoissonSampler(1).select(np.array(q))
    with pytest.raises(InvalidArgument):
        PoissonSampler(1).select(np.array([0.5], dtype=np.float32))


def test_a_forked_process_does_not_use_the_bits_of_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    sampler = PoissonSampler()
    sampler.select(np.array([0.5]))
    left = sampler._digits
    monkeypatch.setattr(os, "getpid", lambda: -1)
    sampler.select(np.array([0.5]))
    assert sampler._digits is not left
    assert sampler._next == 1


def test_generators_of_one_state_repeat_each_other():
    """Found: generators that were made of a key, or set to a state, have no seed in common that could be compared."""
    keyed = [np.random.Generator(np.random.Philox(key=5)) for _ in range(2)]
    moved = [np.random.default_rng(seed) for seed in (1, 2)]
    moved[1].bit_generator.state = moved[0].bit_generator.state
    twisted = [np.random.Generator(np.random.MT19937()) for _ in range(2)]
    twisted[1].bit_generator.state = twisted[0].bit_generator.state
    for one, other in (keyed, moved, twisted):
        assert repeats(open_bits(one), other)
        assert not repeats(open_bits(one), one)
    assert not repeats(open_bits(np.random.default_rng(1)), np.random.default_rng(2))
    assert not repeats(open_bits(np.random.default_rng(1)), keyed[0])
