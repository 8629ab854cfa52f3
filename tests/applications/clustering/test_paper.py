"""What Appendix G says, where it fails: the printed algorithms, enumerated."""

from __future__ import annotations

import itertools
import math

import mpmath
import pytest

from accountant.applications.clustering.private import rounds_for


def printed_rounds(k: int, n: int, m: int) -> int:
    """The proof of Theorem G.1: [m] where 2k ln n ≥ m, else ⌈2k ln n⌉ rounds, on |D| = n records."""
    return m if n and 2 * k * math.log(n) >= m else math.ceil(2 * k * math.log(n))


def test_the_printed_number_of_rounds_tells_n():
    """k = 1: the output of Theorem G.1 has 2 candidates for n = 2 and 3 for n = 3, so that the supports are disjoint: no finite ε, in
    either direction. The branch "output [m]" does the same at n = e^{m/2k}.
    """
    m = 5
    lengths = [printed_rounds(1, n, m) for n in range(1, 14)]
    assert lengths == [0, 2, 3, 3, 4, 4, 4, 5, 5, 5, 5, 5, 5]
    changes = [n for n in range(1, 13) if lengths[n] != lengths[n - 1]]
    assert changes == [1, 2, 4, 7]


def test_sampling_does_not_help():
    """After Poisson sampling: D has n = 3 records, D' two. Three candidates come out of D with probability p³ > 0, of D' never."""
    p = 1 - math.exp(-1)

    def length_law(n):
        law: dict[int, float] = {}
        for kept in itertools.product((0, 1), repeat=n):
            length = printed_rounds(1, sum(kept), 5) if sum(kept) else 0
            law[length] = law.get(length, 0.0) + p ** sum(kept) * (1 - p) ** (n - sum(kept))
        return law

    assert length_law(3)[3] == pytest.approx(p**3)
    assert 3 not in length_law(2)


def star_probabilities(m: int, epsilon: mpmath.mpf, n: int) -> tuple[mpmath.mpf, mpmath.mpf]:
    """Bounds of P[S = {centre}] of Theorem G.2's algorithm with an exact 1-median, n records at z.

    Candidates: a centre c, m − 2 leaves at distance 1/2 from c and 1 from each other, and z at distance 1 from all. The exponential
    mechanism (ε/2) gives z the weight e^{nε/2} and all others 1, until z is drawn. Returns (lower, upper): lower counts three leaves only,
    upper is P[c ∈ T]; c is optimal for T without c only if three weighted points balance.
    """
    heavy = mpmath.exp(n * epsilon / 2)
    if n == 2:  # two rounds: S = {c} needs c in T, because for two points one of them is strictly better
        first = 1 / (heavy + m - 1)
        upper = first + heavy / (heavy + m - 1) / (m - 1) + (m - 2) / (heavy + m - 1) / (heavy + m - 2)
        return mpmath.mpf(0), upper
    leaves = mpmath.fprod((m - 2 - i) / (heavy + m - 1 - i) for i in range(3))
    b = epsilon / 2
    balanced = mpmath.exp(-3 * b) * (mpmath.mpf(1) / 4 + 3 * b / 2)  # no weight of 3 + E_1, E_2, E_3 is half of the sum or more
    return leaves * balanced, mpmath.mpf(1)


def test_the_balance_of_three_noisy_weights():
    """P[no w_i ≥ half the sum] for w = (3 + E_1, E_2, E_3), E_i of rate b, against an integral."""
    b = mpmath.mpf("0.4")

    def given(e1):  # P[E_2 + E_3 > s and |E_2 − E_3| < s], s = 3 + e1
        s = 3 + e1
        below = mpmath.exp(-b * s) * (1 + b * s)  # P[E_2 + E_3 > s]
        return b * mpmath.exp(-b * e1) * (below - mpmath.exp(-b * s))  # minus P[|E_2 − E_3| ≥ s], a subset

    found = mpmath.quad(given, [0, 5, 20, mpmath.inf])
    assert found == pytest.approx(float(mpmath.exp(-3 * b) * (mpmath.mpf(1) / 4 + 3 * b / 2)), rel=1e-10)


@pytest.mark.parametrize(("m", "least"), [(100, 2.2), (1000, 4.5), (10**6, 11.4)])
def test_the_final_centres_of_theorem_g2_violate_epsilon_1(m, least):
    """The loss of the printed, unsampled algorithm at ε = 1 grows like ln m: its output tells whether there are 2 or 3 records."""
    lower, _ = star_probabilities(m, mpmath.mpf(1), 3)
    _, upper = star_probabilities(m, mpmath.mpf(1), 2)
    assert mpmath.log(lower / upper) > least > 1


def test_the_sampled_algorithm_of_theorem_1_5_violates_epsilon_1_too():
    """ε₀ = ln 2, p = 1 − 1/e, m = 1000: a sample of D' has at most 2 records. (With none or one the printed L is undefined or 0.)"""
    p, m = 1 - mpmath.exp(-1), 1000
    lower, _ = star_probabilities(m, mpmath.log(2), 3)
    _, upper = star_probabilities(m, mpmath.log(2), 2)
    loss = mpmath.log(p**3 * lower / (p**2 * upper))
    assert loss > 4


def test_constants_of_appendix_g():
    """(1 − 1/k)^L n ≤ 1 for L = ⌈k ln n⌉: half of the printed rounds suffice; the power triangle inequality holds with 2^{q−1}."""
    for k, n in itertools.product((1, 2, 5, 40), (2, 3, 10, 10**6)):
        rounds = rounds_for(n, k, 10**9)
        assert (1 - 1 / k) ** rounds * n <= 1 + 1e-12
        assert rounds <= printed_rounds(k, n, 10**9) or rounds == k
    for q in (1, 2, 3):  # equality at a = b
        assert (1 + 1) ** q == 2 ** (q - 1) * (1**q + 1**q)
