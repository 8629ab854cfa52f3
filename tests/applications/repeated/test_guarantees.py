"""The theorems on the repeated mechanisms against exact laws; which hypotheses are discharged by what; the versions on a sample."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from accountant.applications.repeated import SubsampledRepeated, declare_repeated, subsampled_exponential, subsampled_threshold
from accountant.calibration.rounds import calibrate_rounds
from accountant.guarantees import INDEPENDENT, ONE_ANALYSIS
from accountant.onesided import calibrate_one_sided
from profiles.errors import InvalidArgument, InvalidData, InvalidTarget
from profiles.hypotheses import DECLARED_LOSSES, SECURE_BITS, SEEDED_BITS
from profiles.mechanisms import EXACT_ARITHMETIC
from profiles.mechanisms.repeated import RepeatedExponential, RepeatedThreshold
from profiles.randomness.bits import open_bits
from proofs_check.exact import exact_epsilon, repeated_above_threshold_law, repeated_exponential_law
from proofs_check.exact.repeated import FiniteDomain, check_assumptions, compare_laws, mix_laws
from tests.hypotheses import say

ALARM = 1e-7
share = st.fractions(min_value=0, max_value=1, max_denominator=8)


def coverage(chosen):
    """Greedy coverage of sets a, b, c: a record counts for a set that has it unless a set before had it."""
    left = [c for c in "abc" if c not in chosen]
    return left, lambda data: [sum(c in x and not set(x) & set(chosen) for x in data) for c in left]


def monitor(answers):
    """A record counts until two of its letters were reported."""

    def count(data):
        reported = [letter for letter, answer in zip("abc", answers, strict=False) if answer]
        return sum("abc"[len(answers)] in x and sum(letter in x for letter in reported) < 2 for x in data)

    return count, 2


def made(kind=RepeatedExponential, **options):
    known = {"select": coverage, "rounds": 2, "epsilon0": 1, "sensitivity": 1}
    if kind is RepeatedThreshold:
        known = {"select": monitor, "rounds": 3, "epsilon0": 1, "sensitivity": 2}
    return kind(**{**known, **options})


DOMAIN = FiniteDomain(("a", "b", "ab", "bc", "abc"), 2)


# --- the theorems, on instances that are only what the assumptions say -----------------------------------------------------------


@pytest.mark.thorough
@settings(max_examples=40, deadline=None)
@given(st.data(), st.integers(1, 3), st.fractions(min_value=Fraction(1, 4), max_value=3, max_denominator=8))
def test_theorem_a_and_a_prime_on_random_scores(data, rounds: int, epsilon: Fraction) -> None:
    """Scores without D's record are arbitrary; with it they rise by parts of what is left of Δ = 3 on the way to the node."""
    nodes: dict[tuple, tuple] = {}

    def node(path):
        if path not in nodes:
            left = Fraction(3) if not path else node(path[:-1])[2][path[-1]]
            base = data.draw(st.lists(st.integers(-4, 4), min_size=2, max_size=3))
            rises = [left * data.draw(share) for _ in base]
            nodes[path] = (base, rises, [left - rise for rise in rises])
        return nodes[path]

    def select(path):
        base, rises, _ = node(path)
        return len(base), lambda present: [Fraction(b) + (rise if present else 0) for b, rise in zip(base, rises, strict=True)]

    mechanism = RepeatedExponential(select=select, rounds=rounds, epsilon0=epsilon, sensitivity=3)
    larger, smaller = mechanism.law(True, bits=192), mechanism.law(False, bits=192)
    tiny = Fraction(1, 10**30)
    sums = {path: sum(node(path[:i])[1][path[i]] for i in range(len(path))) for path in larger}
    assert compare_laws(larger, smaller)[1] <= epsilon * max(sums.values()) / 3 + tiny
    spread = max(sum(max(node(path[:i])[1]) - min(node(path[:i])[1]) for i in range(len(path))) for path in larger)
    assert compare_laws(smaller, larger)[1] <= epsilon * spread / 3 + tiny
    assert spread <= rounds * 3


@pytest.mark.thorough
@settings(max_examples=40, deadline=None)
@given(st.data(), st.integers(1, 4), st.fractions(min_value=Fraction(1, 4), max_value=3, max_denominator=8))
def test_theorem_b_on_random_values(data, rounds: int, epsilon: Fraction) -> None:
    """The rise is a part of what is left of Δ = 3 after the rounds that were above; after ⊥ nothing is used up."""
    nodes: dict[tuple, tuple] = {}

    def node(path):
        if path not in nodes:
            left = Fraction(3)
            for i, answer in enumerate(path):
                left -= node(path[:i])[1] if answer else 0
            nodes[path] = (data.draw(st.integers(-3, 3)), left * data.draw(share), data.draw(st.integers(-3, 5)))
        return nodes[path]

    def select(path):
        value, rise, threshold = node(path)
        return (lambda present: value + (rise if present else 0)), threshold

    mechanism = RepeatedThreshold(select=select, rounds=rounds, epsilon0=epsilon, sensitivity=3)
    larger, smaller = mechanism.law(True, bits=192), mechanism.law(False, bits=192)
    assert compare_laws(larger, smaller)[1] <= epsilon + Fraction(1, 10**30)


@pytest.mark.thorough
def test_the_theorem_needs_monotone_scores() -> None:
    """The record lowers every score but that of the output: realised sums are 0, the loss is nearly 2ε₀ for two rounds."""

    def select(chosen):
        return 40, lambda present: [0] + [-1 if present else 0] * 39

    mechanism = RepeatedExponential(select=select, rounds=2, epsilon0=1, sensitivity=1)
    lower, _ = compare_laws(mechanism.law(True), mechanism.law(False))
    assert lower > Fraction(19, 10)


def test_appendix_c_attains_l_epsilon0_when_a_record_comes() -> None:
    """f_x(S) = min{1, |S ∩ [m − L]|}, output (m − L + 1, ..., m): the loss is the sum of log((e^ε(m − L) + L − i + 1)/(m − i + 1))."""
    m, rounds = 40, 2

    def select(chosen):
        left = [c for c in range(m) if c not in chosen]
        covered = any(c < m - rounds for c in chosen)
        return left, lambda present: [int(present and not covered and c < m - rounds) for c in left]

    mechanism = RepeatedExponential(select=select, rounds=rounds, epsilon0=1, sensitivity=1)
    larger, smaller = mechanism.law(True), mechanism.law(False)
    lower, upper = compare_laws(smaller, larger)
    with mpmath.workdps(50):
        factors = [(mpmath.e * (m - rounds) + rounds - i + 1) / (m - i + 1) for i in (1, 2)]
        assert abs(mpmath.mpf(lower.numerator) / lower.denominator - mpmath.log(factors[0] * factors[1])) < mpmath.mpf(10) ** -20
    assert Fraction(19, 10) < lower <= upper <= 2
    assert compare_laws(larger, smaller)[1] <= 1


def test_a_threshold_has_no_finite_loss_when_a_record_comes_and_attains_epsilon0_when_one_goes() -> None:
    mechanism = made(RepeatedThreshold, select=lambda answers: (len, 4), rounds=2)
    larger, smaller = mechanism.law(("a",)), mechanism.law(())
    lower, upper = compare_laws(larger, smaller)
    assert 1 - Fraction(1, 10**30) < lower <= upper < 1 + Fraction(1, 10**30)
    at_the_threshold = made(RepeatedThreshold, select=lambda answers: (len, 1), rounds=1)
    assert compare_laws(at_the_threshold.law(()), at_the_threshold.law(("a",)))[1] == float("inf")


# --- exact worst cases against the certified numbers -----------------------------------------------------------------------------


def sampled_law(mechanism, data, p: Fraction):
    """The law on a Poisson sample, record by record."""

    def law(decided, rest):
        if not rest:
            return mechanism.law(tuple(decided), bits=160)
        return mix_laws(law([*decided, rest[0]], rest[1:]), p, law(decided, rest[1:]))

    return law([], list(data))


@pytest.mark.parametrize("calibration", ["optimal", "corollary", "rounds"])
def test_on_a_sample_the_exact_worst_case_is_below_the_target(calibration: str) -> None:
    versions = [subsampled_exponential(select=coverage, rounds=2, sensitivity=1, epsilon=1, calibration=calibration)]
    if calibration != "rounds":
        versions.append(subsampled_threshold(select=monitor, rounds=3, sensitivity=2, epsilon=1, calibration=calibration))
    for version in versions:
        p, worst, bound = Fraction(version.plan.p), Fraction(0), version.guarantee.bound
        data_sets = [data for n in range(3) for data in itertools.product(("a", "abc"), repeat=n)]
        laws = {data: sampled_law(version.mechanism, data, p) for data in data_sets}
        for data, law in laws.items():
            for place in range(len(data)):
                other = laws[data[:place] + data[place + 1 :]]
                for pair, most in (((law, other), bound.remove), ((other, law), bound.add)):
                    lower, upper = compare_laws(*pair)
                    assert lower <= most  # the bound is attained by the threshold, so that upper ends are compared with some slack
                    assert upper <= most + Fraction(1, 10**30)
                    worst = max(worst, lower)
        assert version.guarantee.bound.epsilon <= 1
        assert calibration == "corollary" or worst > Fraction(1, 2)


# --- hypotheses and their discharge ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [RepeatedExponential, RepeatedThreshold])
def test_the_assumptions_stay_open_without_a_proof_for_all_data_sets(kind) -> None:
    mechanism = made(kind)
    check = check_assumptions(mechanism, DOMAIN)
    assert check.proved
    for found in (declare_repeated(mechanism), declare_repeated(mechanism, check=check)):
        assert set(mechanism.hypotheses) <= set(found.hypotheses)
        assert [item.hypothesis.id for item in found.discharged] == [DECLARED_LOSSES.id]  # by the theorem, under the assumptions
        assert found.bound.remove == 1
        assert found.bound.add == (2 if kind is RepeatedExponential else None)
    assert "neighboring pairs" in declare_repeated(mechanism, check=check).derivation.statement


@pytest.mark.parametrize("kind", [RepeatedExponential, RepeatedThreshold])
def test_a_declared_universe_that_was_checked_discharges_them(kind) -> None:
    mechanism = made(kind)
    check = check_assumptions(mechanism, DOMAIN)
    found = declare_repeated(mechanism, check=check, domain=DOMAIN)
    assert not set(mechanism.assumptions) & set(found.hypotheses)
    losses, *rest = [item.hypothesis for item in found.discharged]
    assert losses.id == DECLARED_LOSSES.id
    assert set(rest) == set(mechanism.assumptions)
    assert DOMAIN.statement in say(found.hypotheses)
    if kind is RepeatedExponential:
        assert check.spread is not None
        assert found.bound.add == check.spread


def test_multisets_add_a_hypothesis_about_order() -> None:
    domain = FiniteDomain(DOMAIN.records, 2, ordered=False)
    mechanism = made()
    found = declare_repeated(mechanism, check=check_assumptions(mechanism, domain), domain=domain)
    assert any("order of the records" in text for text in found.hypotheses)


def test_a_check_in_another_form_of_the_data_leaves_that_as_a_hypothesis() -> None:
    """Found as a proved epsilon of 1 for a mechanism whose exact epsilon is 9.98: the check had seen empty data sets only."""

    def select(_chosen):
        return 2, lambda rows: [sum(rows), 0]

    def forget(_records):
        return ()

    mechanism, domain = made(select=select), FiniteDomain((1, 5), 2)
    blind = check_assumptions(mechanism, domain, assemble=forget)
    assert blind.proved
    assert exact_epsilon(mechanism.law, [1, 5], max_size=2).add.epsilon.lower > 9.98
    found = declare_repeated(mechanism, check=blind, domain=domain)
    assert any("forget" in text for text in found.hypotheses)
    usual = made()
    closed = declare_repeated(usual, check=check_assumptions(usual, DOMAIN), domain=DOMAIN)
    assert any(text.endswith("as: tuple") for text in say(closed.hypotheses))


def test_a_subclass_gets_no_guarantee() -> None:
    class Other(RepeatedExponential):
        def run(self, data, rng):
            return tuple(data)

    with pytest.raises(InvalidArgument, match="Other was found"):
        declare_repeated(Other(select=coverage, rounds=2, epsilon0=1, sensitivity=1))


def test_checks_of_something_else_discharge_nothing() -> None:
    mechanism = made()
    check = check_assumptions(mechanism, DOMAIN)
    refused = [
        (made(select=functools.partial(coverage)), {"check": check}),
        (made(rounds=3), {"check": check}),
        (made(sensitivity="0.5"), {"check": check}),
        (made(RepeatedThreshold), {"check": check}),
        (mechanism, {"check": check, "domain": FiniteDomain(DOMAIN.records, 3)}),
        (mechanism, {"domain": DOMAIN}),
        (made(sensitivity="0.5"), {"check": check_assumptions(made(sensitivity="0.5"), DOMAIN)}),
    ]
    for other, options in refused:
        with pytest.raises(InvalidArgument):
            declare_repeated(other, **options)
    assert declare_repeated(made(sensitivity=2, rounds=1), check=check, domain=DOMAIN).bound.remove == 1
    with pytest.raises(InvalidArgument):
        declare_repeated("mechanism")  # type: ignore[arg-type]


def test_a_huge_number_of_rounds_is_one_sided() -> None:
    assert declare_repeated(made(rounds=10**6)).bound.add is None


def test_floating_point_keeps_its_hypothesis() -> None:
    version = subsampled_exponential(select=coverage, rounds=2, sensitivity=1, epsilon=1, arithmetic="binary64")
    assert EXACT_ARITHMETIC in version.run(["a"], np.random.default_rng(1), bits=2).guarantee.hypotheses
    with pytest.raises(InvalidArgument, match="Generator"):
        version.run(["a"])


# --- running on a sample ---------------------------------------------------------------------------------------------------------


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("kind", ["exponential", "threshold"])
def test_outputs_on_a_sample_have_the_mixed_law(kind: str) -> None:
    if kind == "exponential":
        version = subsampled_exponential(select=coverage, rounds=2, sensitivity=1, epsilon=1)
    else:
        version = subsampled_threshold(select=monitor, rounds=3, sensitivity=2, epsilon=1)
    data = ("a", "ab", "abc")
    law = {path: float(ends[0]) for path, ends in sampled_law(version.mechanism, data, Fraction(version.plan.p)).items()}
    rng = np.random.default_rng(8)

    def path_of(outputs):
        if kind == "threshold":
            return tuple(int(answer) for answer in outputs)
        left = list("abc")
        return tuple((left.index(c), left.remove(c))[0] for c in outputs)

    single = [path_of(version.run(data, rng, bits=rng).outputs) for _ in range(300)]
    for rows in (single, [tuple(row) for row in version(data, rng, 3000).tolist()]):
        counts = {path: rows.count(path) for path in law}
        assert sum(counts.values()) == len(rows)
        likely = [path for path in law if law[path] > 0]
        assert chisquare([counts[path] for path in likely], [len(rows) * law[path] for path in likely]).pvalue > ALARM


def test_the_answer_names_the_bits_and_does_not_depend_on_the_data() -> None:
    version = subsampled_exponential(select=coverage, rounds=2, sensitivity=1, epsilon=1)
    secure = version.run(["a", "b"])
    assert SECURE_BITS in secure.guarantee.hypotheses
    assert SEEDED_BITS not in secure.guarantee.hypotheses
    assert secure.guarantee == version.run([]).guarantee
    seeded = version.run(["a", "b"], np.random.default_rng(1), bits=5)
    assert SEEDED_BITS in seeded.guarantee.hypotheses
    assert seeded.outputs == version.run(["a", "b"], np.random.default_rng(1), bits=5).outputs
    assert {item.hypothesis for item in secure.guarantee.discharged} >= {INDEPENDENT, ONE_ANALYSIS}
    assert secure.guarantee.bound.epsilon <= 1


def test_kinds_of_data_and_unusable_ones() -> None:
    seen = []

    def select(_chosen):
        return 2, lambda data: (seen.append(data), [len(data), 0])[1]

    version = subsampled_exponential(select=select, rounds=1, sensitivity=1, epsilon=3, calibration="rounds")
    assert version.plan.p == 1
    for data in (["a"], ("a",), np.array([[1.0, 2.0]])):
        version.run(data)
        assert type(seen[-1]) is type(data)
        assert len(seen[-1]) == 1
    for data in ("abc", {"a"}, 5, None):
        with pytest.raises(InvalidData):
            version.run(data)
    for rng, bits in ((np.random.default_rng(4), 4), (4, 4), (4, np.random.default_rng(4)), (open_bits(4), 4)):
        with pytest.raises(InvalidArgument, match="same seed"):
            version.run(["a"], rng, bits=bits)
    assert version.run(["a"], 4, bits=5).outputs
    with pytest.raises(InvalidArgument, match="about this mechanism"):
        SubsampledRepeated(made(epsilon0=5), version.plan)


def test_the_guarantee_is_of_the_mechanism_that_runs() -> None:
    """Found as an epsilon of 1 for fifty rounds without a sample: the guarantee was that of the one round it had been made for."""
    version = subsampled_exponential(select=coverage, rounds=1, sensitivity=1, epsilon=1, calibration="rounds")
    with pytest.raises(InvalidArgument, match="about this mechanism"):
        dataclasses.replace(version, mechanism=dataclasses.replace(version.mechanism, rounds=50))
    finer = dataclasses.replace(version, mechanism=dataclasses.replace(version.mechanism, sensitivity="0.01"))
    assert any("at most 0.01 in total" in text for text in finer.guarantee.hypotheses)
    mechanism = made()
    check = check_assumptions(mechanism, DOMAIN)
    plan = calibrate_rounds("2", 2)
    closed = SubsampledRepeated(dataclasses.replace(mechanism, epsilon0=plan.epsilon0), plan, check, DOMAIN)
    assert not set(mechanism.assumptions) & set(closed.guarantee.hypotheses)
    other = dataclasses.replace(closed.mechanism, select=functools.partial(coverage))
    with pytest.raises(InvalidArgument, match="another select"):
        dataclasses.replace(closed, mechanism=other)


# --- calibration for a number of rounds ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["0.01", "0.5", "1", "4"])
@pytest.mark.parametrize("rounds", [1, 2, 3, 10, 1000])
def test_calibration_solves_its_equation_and_is_certified(target: str, rounds: int) -> None:
    plan, other = calibrate_rounds(target, rounds), calibrate_one_sided(target)
    assert plan.remove <= Fraction(target)
    assert plan.add <= Fraction(target)
    assert plan.p * float(plan.epsilon0) >= other.p * float(other.epsilon0) * (1 - 1e-14)
    with mpmath.workdps(50):
        y = mpmath.findroot(
            lambda y: (1 + mpmath.exp(mpmath.mpf(target)) * (1 - y**-rounds) - y) / (y - 1),
            1 + mpmath.exp(mpmath.mpf(target)),
            solver="newton",
        )
        assert abs(mpmath.mpf(float(plan.epsilon0)) / mpmath.log(y) - 1) < 1e-13
        assert abs(plan.p / (mpmath.expm1(mpmath.mpf(target)) / (y - 1)) - 1) < 1e-13
        for factor in ("0.9", "0.99", "1.01", "1.1"):  # no other rate does better
            p = min(mpmath.mpf(1), mpmath.mpf(plan.p) * mpmath.mpf(factor))
            if p < 1:
                first = mpmath.log1p(mpmath.expm1(mpmath.mpf(target)) / p)
                inside = 1 - (1 - mpmath.exp(-mpmath.mpf(target))) / p
                second = -mpmath.log(inside) / rounds if inside > 0 else mpmath.inf
                assert p * min(first, second) <= plan.p * mpmath.log(y) * (1 + mpmath.mpf(10) ** -12)


def test_one_round_needs_no_sample_and_bad_targets_are_refused() -> None:
    plan = calibrate_rounds("0.5", 1)
    assert (plan.p, plan.epsilon0) == (1.0, Fraction(1, 2))
    for target in (0, -1, "nan", 10**5):
        with pytest.raises(InvalidTarget):
            calibrate_rounds(target, 2)
    with pytest.raises(InvalidArgument):
        calibrate_rounds(1, 0)


# --- against the exact laws of proofs_check.exact --------------------------------------------------------------------------------


def test_laws_agree_with_the_exact_ones() -> None:
    data = ("a", "ab", "abc")

    def of_candidate(outputs):
        if len(outputs) == 2:
            return None
        left, scores = coverage(outputs)
        return left, lambda candidate, rows: scores(rows)[left.index(candidate)]

    exact = repeated_exponential_law(of_candidate, data, Fraction(3, 2), 1)
    found = made(epsilon0="1.5").law(data)
    assert len(found) == len(exact)
    for path, (lo, hi) in found.items():
        left = list("abc")
        assert lo <= exact[tuple(left.pop(index) for index in path)] <= hi
    answers = repeated_above_threshold_law(lambda previous: monitor(previous) if len(previous) < 3 else None, data, 1, 2)
    for path, (lo, hi) in made(RepeatedThreshold).law(data).items():
        assert lo <= answers.get(tuple(bool(entry) for entry in path), 0) <= hi


def test_the_exact_worst_case_over_a_universe_takes_the_law_as_it_is() -> None:
    worst = exact_epsilon(made().law, DOMAIN.records, max_size=2)
    bound = declare_repeated(made(), check=check_assumptions(made(), DOMAIN)).bound
    assert 0.76 < worst.remove.epsilon.lower <= worst.remove.epsilon.upper <= bound.remove
    assert 1.5 < worst.add.epsilon.lower <= worst.add.epsilon.upper <= bound.add
