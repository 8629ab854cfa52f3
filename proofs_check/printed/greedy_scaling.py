"""FAULTY. Algorithm 4 of Ghazi et al. 2024 (set cover by greedy scaling) as it is printed, by its exact law. Logarithms to the base 2.

The number of elements gets noise Lap(0.5/ε), which costs 2ε and not ε/2. What works: ``accountant.applications.setcover``.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from profiles.balls import ball, working_precision
from profiles.errors import InvalidArgument
from proofs_check.exact import Enclosed
from proofs_check.exact.enclosed import enclose_ball
from proofs_check.printed.results import Found, Rerun

Rows = Sequence[frozenset[int]]
Law = dict[tuple[int, ...], Fraction]

_EPSILON = "epsilon = 4 log(10/9), about 0.42"
_ROOT = Fraction(10, 9)
_INSTANCE = f"two sets, the first of them empty; D has one element, which is in the second, D' has none; {_EPSILON}"


@dataclass(frozen=True, slots=True)
class GreedyScaling:
    """The printed constants for 2^``doublings`` sets and ε = 4·2^(R − 1)·log(``root``), R the number of rounds of a noisy count.

    So every e^−ε_r = root^−(2^(r − 1)) is a fraction.
    """

    root: Fraction
    doublings: int = 1

    @property
    def sets(self) -> int:
        return 1 << self.doublings

    @property
    def smallest(self) -> Fraction:
        """n_min = 100 log m."""
        return Fraction(100 * self.doublings)

    def count_rounds(self, noisy: Fraction) -> int:
        """R = ⌊log(ñ/n_min)⌋."""
        rounds, ratio = 0, max(noisy, self.smallest) / self.smallest
        while 2 ** (rounds + 1) <= ratio:
            rounds += 1
        return rounds

    def ratio_of_counts(self, rounds: int) -> Fraction:
        """Return the ratio of the densities of ñ > n for n and n − 1 elements: e^(2ε), the loss of a scale of 0.5/ε."""
        return Fraction(self.root ** (8 << (rounds - 1)))

    def law(self, rows: Rows, noisy: Fraction) -> Law:
        """Return P[permutation | ñ = noisy], by all samples and all answers.

        Raises :class:`InvalidArgument` where p_r·τ_r is not whole, so that 2^−(threshold − count) would be no fraction.
        """
        rounds, output_law = self.count_rounds(noisy), Law()
        law: Law = {(): Fraction(1)}
        for r in range(1, rounds + 1):
            p = 1 - self.root ** -(2 ** (r - 1))
            threshold = p * 1000 * noisy / 2**r
            if threshold.denominator != 1:
                raise InvalidArgument(f"the threshold of round {r} is {threshold}, which is not whole; choose another noisy count")
            law = self._round(law, rows, p, threshold)
        for taken, chance in law.items():
            whole = (*taken, *(number for number in range(self.sets) if number not in taken))
            output_law[whole] = output_law.get(whole, Fraction(0)) + chance
        return output_law

    def _round(self, law: Law, rows: Rows, p: Fraction, threshold: Fraction) -> Law:
        following: Law = {}
        for kept in itertools.product((True, False), repeat=len(rows)):
            mass = p ** sum(kept) * (1 - p) ** (len(rows) - sum(kept))
            sample = [row for row, keep in zip(rows, kept, strict=True) if keep]
            answers = {taken: chance * mass for taken, chance in law.items()}
            for number in range(self.sets):
                answers = _ask(answers, number, sample, threshold)
            for taken, chance in answers.items():
                following[taken] = following.get(taken, Fraction(0)) + chance
        return following


def _ask(law: Law, number: int, sample: Rows, threshold: Fraction) -> Law:
    """Take the set ``number`` where its count of uncovered elements plus Exp(log 2) exceeds the threshold."""
    following: Law = {}
    for taken, chance in law.items():
        if number in taken:
            following[taken] = following.get(taken, Fraction(0)) + chance
            continue
        count = sum(number in row and not row.intersection(taken) for row in sample)
        passes = Fraction(1, 2 ** max(0, int(threshold) - count))
        for after, share in (((*taken, number), passes), (taken, 1 - passes)):
            following[after] = following.get(after, Fraction(0)) + chance * share
    return following


def run_count() -> Rerun:
    """The noisy count alone."""
    ratio = GreedyScaling(_ROOT).ratio_of_counts(1)
    return Rerun(
        "ghazi-2024-algorithm-4-count",
        "Algorithm 4, the line n~ <- max(n + Lap(0.5/eps), n_min)",
        f"D has one element more than D'; {_EPSILON}",
        f"the count is (eps/2)-DP: its densities differ by a factor of at most e^(eps/2) = {_ROOT**2}",
        (Found("factor e^loss on every n~ above n and n_min", ratio, loss=True),),
    )


def run_whole() -> Rerun:
    """The permutation, with the noisy count and alone."""
    algorithm = GreedyScaling(_ROOT)
    larger, smaller, event = [frozenset({1})], list[frozenset[int]](), (1, 0)
    ratios = {
        noisy: algorithm.ratio_of_counts(1) * algorithm.law(larger, noisy)[event] / algorithm.law(smaller, noisy)[event]
        for noisy in (Fraction(200), Fraction(300), Fraction(399))
    }
    alone = algorithm.ratio_of_counts(1)
    return Rerun(
        "ghazi-2024-algorithm-4-epsilon",
        "Algorithm 4",
        _INSTANCE,
        f"eps-DP: no event has more than e^eps = {_ROOT**4} times its probability on D'",
        (
            Found("e^loss of the permutation (2, 1) with n~ = 200, by enumeration", ratios[Fraction(200)], loss=True),
            Found("the same with n~ = 399", ratios[Fraction(399)], loss=True),
            Found(
                "e^loss of the permutation (2, 1) alone, at least (it needs n~ >= 200, where the density of n~ has this ratio, and one "
                "element more makes it more likely)",
                alone,
                loss=True,
            ),
        ),
    )


def run_thresholds() -> Rerun:
    """Empty sets that pass the last threshold by noise alone."""
    epsilon, sets = Fraction(1, 10**5), 10**6
    with working_precision(128):
        p = -((-ball(epsilon) / 4).expm1())
        smallest = 100 * ball(Fraction(sets)).log() / ball(Fraction(2)).log()
        passing: Enclosed = enclose_ball(sets * (-(p * 500 * 2 * smallest) * ball(Fraction(2)).log()).exp())
    return Rerun(
        "ghazi-2024-algorithm-4-threshold",
        "Algorithm 4, its last threshold p_R 1000 n~/2^R",
        "m = 10^6 empty sets, eps = 10^-5, n~/2^R at the upper end of its range, 2 n_min",
        "by (19) no noise exceeds 0.005 tau, so that no set without elements passes",
        (Found("expected number of empty sets that pass by noise alone", passing),),
    )


def run_one_set() -> Rerun:
    """A single set."""
    return Rerun(
        "ghazi-2024-algorithm-4-sets",
        "Algorithm 4, n_min <- 100 log m",
        "m = 1",
        "R <- floor(log(n~/n_min)) is a number of rounds",
        (Found("n_min, by which n~ is divided", GreedyScaling(_ROOT, doublings=0).smallest),),
    )
