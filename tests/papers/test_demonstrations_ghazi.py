"""What happens to whoever implements the printed text of Ghazi et al. 2024: the printed lines beside the corrected ones."""

import math
from fractions import Fraction

import mpmath
import pytest
from mpmath import exp, log, mpf

from proofs_check.exact import exact_epsilon, sample_first
from proofs_check.printed.bicriteria import count_printed_rounds, select_by_reduction


def laplace_tail(mean, scale, t):
    """P[mean + Lap(scale) >= t] for t >= mean."""
    return exp(-(t - mean) / scale) / 2


def scaling_in_one_round(epsilon, count, *, scale, noisy_count):
    """Algorithm 4, m = 2, in its branch R = 1: density of n~ times the probability of the permutation (2, 1); all elements are in S_2."""
    budget = epsilon / 4  # eps_1 for R = 1
    p = 1 - exp(-budget)
    threshold = p * 1000 * noisy_count / 2
    passes = [mpf(2) ** -(threshold - covered) for covered in range(count + 1)]
    chosen = sum(mpmath.binomial(count, j) * p**j * (1 - p) ** (count - j) * passes[j] for j in range(count + 1))
    refused = 1 - passes[0]  # S_1 is empty
    return exp(-abs(noisy_count - count) / scale) / (2 * scale) * refused * chosen


@pytest.mark.parametrize("epsilon", [mpf(1) / 10, mpf(1) / 2, mpf(1)])
def test_the_printed_laplace_scale_of_algorithm_4_costs_two_epsilon(epsilon):
    smallest = 100 * mpmath.log(2, 2)  # n_min for m = 2
    for scale, spent in ((mpf("0.5") / epsilon, 2 * epsilon), (2 / epsilon, epsilon / 2)):
        # R >= 1 if n + Lap >= 2 n_min; the number of rounds shows in the permutation
        loss = log(laplace_tail(1, scale, 2 * smallest) / laplace_tail(0, scale, 2 * smallest))
        assert abs(loss - spent) < mpf(10) ** -12
        for noisy_count in (2 * smallest, 3 * smallest):
            pair = [scaling_in_one_round(epsilon, count, scale=scale, noisy_count=noisy_count) for count in (1, 0)]
            whole = log(pair[0] / pair[1])
            assert abs(whole - (spent + log(2 - exp(-epsilon / 4)))) < mpf(10) ** -12
            assert (whole > epsilon) == (spent > epsilon)


def test_the_printed_thresholds_of_algorithm_4_let_empty_sets_pass():
    epsilon, sets = 1e-5, 10**6
    smallest = 100 * math.log2(sets)
    for ratio in (1.0, 1.5, 1.999):  # n~/(2^R n_min), in [1, 2)
        threshold = (1 - math.exp(-epsilon / 4)) * 1000 * ratio * smallest
        assert sets * 2**-threshold > 900  # by noise alone, in the last round; (19) says that noise is at most 0.005 tau
        corrected = ratio * 800 * math.log2(sets / 0.05)
        assert math.log2(6 * sets / 0.05) <= 0.005 * corrected
        assert sets * 2**-corrected < 1e-100


def test_the_rounds_of_theorem_g_1_publish_the_number_of_records():
    law = select_by_reduction(count_printed_rounds)
    lengths = {n: {len(output) for output in law((0, 2, 4)[:n])} for n in (1, 2, 3)}
    assert lengths == {1: {0}, 2: {2}, 3: {3}}
    found = exact_epsilon(law, (0, 4), max_size=3)
    assert math.isinf(found.remove.epsilon.lower)
    assert math.isinf(found.add.epsilon.lower)
    public = exact_epsilon(select_by_reduction(lambda data: 2), (0, 4), max_size=3)  # k ln N for N = 7 is 1.9
    assert public.remove.ratio <= 16
    assert public.add.ratio < 16**2


def test_sampling_does_not_repair_the_rounds_and_a_public_number_does():
    p = Fraction(63, 100)  # 1 - e^-1, rounded down
    printed = sample_first(select_by_reduction(count_printed_rounds), p)
    three = sum(weight for output, weight in printed((0, 0, 4)).items() if len(output) == 3)
    assert three == p**3
    assert not any(len(output) == 3 for output in printed((0, 4)))
    assert math.isinf(exact_epsilon(printed, (0, 4), max_size=3).remove.epsilon.lower)
    public = exact_epsilon(sample_first(select_by_reduction(lambda data: 2), p), (0, 4), max_size=3)
    assert public.remove.ratio <= 1 + p * 15
    assert public.add.ratio <= 1 / (1 - p)


def test_half_of_the_count_printed_rounds_are_enough():
    for k in range(1, 8):
        for n in (2, 10, 1000):
            assert (1 - 1 / k) ** math.ceil(k * math.log(n)) * n <= 1


def continuous_greedy(step, rounds, rank, elements):
    """Algorithm 5 for the uniform matroid, with a function that always prefers the first elements."""
    y = [Fraction(0)] * elements
    for _ in range(rounds):
        for u in range(rank):
            y[u] += step
    return y


def test_steps_of_size_eta_leave_the_matroid_polytope():
    eta = Fraction(2, 5)
    rounds = math.ceil(1 / eta)
    printed = continuous_greedy(eta, rounds, 2, 4)
    assert max(printed) == Fraction(6, 5)
    assert sum(printed) == Fraction(12, 5) > 2
    # the multilinear extension "at" this point is no mean: the weights of the two-element sets alone are above 1
    assert printed[0] * printed[1] > 1
    corrected = continuous_greedy(Fraction(1, rounds), rounds, 2, 4)
    assert max(corrected) == 1
    assert sum(corrected) == 2
    assert Fraction(1, rounds) <= eta


def test_with_one_set_algorithm_4_divides_by_zero():
    with pytest.raises(ZeroDivisionError):
        math.floor(math.log2(5 / (100 * math.log2(1))))


def is_submodular(value, ground, *, outside):
    """Footnote 1 for all S, T and v: v anywhere, as printed, or outside T."""
    subsets = [frozenset(u for u in ground if code >> u & 1) for code in range(2 ** len(ground))]
    return all(
        value(small | {v}) - value(small) >= value(large | {v}) - value(large)
        for large in subsets
        for small in subsets
        if small <= large
        for v in ground
        if not (outside and v in large)
    )


def test_a_check_of_footnote_1_as_printed_refuses_submodular_functions():
    ground, edges = range(3), ((0, 1), (1, 2))

    def cut(chosen):
        return sum((a in chosen) != (b in chosen) for a, b in edges)

    def coverage(chosen):
        return sum(a in chosen or b in chosen for a, b in edges)

    assert not is_submodular(cut, ground, outside=False)
    assert is_submodular(cut, ground, outside=True)
    assert is_submodular(coverage, ground, outside=False)
