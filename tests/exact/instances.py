"""Instances of the assumptions of Ghazi et al. 2024: the greedy one of Appendix C, and random ones."""

from __future__ import annotations

import random
from fractions import Fraction

from proofs_check.exact import Log


def appendix_c(m, rounds):
    """The chooser of DPSUBMODGREEDY for f(S) = min(1, |S ∩ {0, ..., m − rounds − 1}|), the same for every record."""

    def gain(outputs, candidate):
        return candidate < m - rounds and all(output >= m - rounds for output in outputs)

    def select(outputs):
        if len(outputs) == rounds:
            return None
        return [c for c in range(m) if c not in outputs], lambda c, data: len(data) * gain(outputs, c)

    return select


def coverage(sets, rounds):
    """The chooser of greedy coverage; a record is a point, ``sets`` maps candidates to the points they cover."""

    def select(outputs):
        covered = set().union(*(sets[output] for output in outputs))
        left = [c for c in sets if c not in outputs]
        if len(outputs) == rounds or not left:
            return None
        return left, lambda c, data: sum(x in sets[c] and x not in covered for x in data)

    return select


class RandomInstance:
    """Random monotone scores whose realised sensitivity is at most ``budget``, in each of at most ``rounds`` rounds.

    A record x raises the score of c after the outputs ys by g_x(ys, c) at most, where g_x(ys, c) is at most what is left of the budget
    after Σ g_x along ys. Scores combine the g_x by a sum, a capped sum or a maximum: each is monotone, and grows by at most g_x when x
    comes.
    """

    def __init__(self, seed, rounds, budget, candidates=3):
        self._rng = random.Random(seed)
        self._kept = {}
        self.rounds, self.budget, self.candidates = rounds, budget, candidates

    def _keep(self, key, make):
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def _share(self, record, outputs, candidate):
        left = self.budget - sum(self._share(record, outputs[:i], y) for i, y in enumerate(outputs))
        return self._keep((record, outputs, candidate), lambda: self._rng.choice([0, left, self._rng.randint(0, left)]))

    def _combine(self, outputs, candidate, shares):
        kind, cap = self._keep(("kind", outputs, candidate), lambda: (self._rng.randrange(3), self._rng.randint(0, 2 * self.budget)))
        return [sum(shares), min(sum(shares), cap), max(shares, default=0)][kind]

    def select(self, outputs):
        """The chooser of a repeated exponential mechanism; the number of rounds and the candidates depend on the outputs."""
        ends = len(outputs) >= self.rounds or (outputs and self._keep(("end", outputs), lambda: self._rng.random() < 0.2))
        if ends:
            return None
        count = self._keep(("count", outputs), lambda: self._rng.randint(1, self.candidates))
        return range(count), lambda c, data: self._combine(outputs, c, [self._share(x, outputs, c) for x in data])

    def query(self, answers):
        """The chooser of a repeated above-threshold mechanism: only answers ⊤ use up the budget."""
        if len(answers) >= self.rounds:
            return None
        threshold = self._keep(("threshold", answers), lambda: self._rng.randint(-1, 3 * self.budget))
        return lambda data: self._combine(answers, None, [self._spend(x, answers) for x in data]), threshold

    def _spend(self, record, answers):
        spent = sum(self._spend(record, answers[:i]) for i, above in enumerate(answers) if above)
        left = self.budget - spent
        return self._keep((record, answers), lambda: self._rng.choice([0, left, self._rng.randint(0, left)]))

    def epsilon0(self):
        """(e^ε₀, ε₀) with a rational e^(ε₀/Δ), so that all probabilities are rational; e^ε₀ > 2."""
        step = self._rng.choice([Fraction(5, 4), Fraction(3, 2), Fraction(2), Fraction(7, 3), Fraction(3)])
        while step**self.budget <= 2:
            step = step + Fraction(1, 2)
        return step**self.budget, Log(step**self.budget)

    def probability(self):
        """A sampling probability in (0, 1)."""
        return Fraction(self._rng.randint(1, 19), 20)
