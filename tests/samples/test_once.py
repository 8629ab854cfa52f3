"""One sample, several mechanisms: composing first is exact here, amplifying first is too small. Enumerated in fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from accountant.guarantees.derive import derive_epsilon
from accountant.samples import amplify_once, compose_on_one_sample, plan_sample
from profiles import InvalidArgument, InvalidProfile, compose_adaptively, declare
from profiles.hypotheses import PUBLIC_CENTRES, SAME_STATISTICS
from profiles.mechanisms import LaplaceSum, WeightedCount, WeightedLloyd
from profiles.variables import Parameter
from proofs_check.exact import enumerate_outputs, epsilon_of_tables
from tests.targets.suite.amplification import CASES

#: A mechanism on weighted data sets of at most one record: "yes" with probability 3/4 if the record (of weight 2) is there, 1/4 if not.
ANSWER = declare("answer", "w*log(3)/2")


def answer(sample, choose):
    return choose.coin("3/4" if sample else "1/4")


def draw(dataset, choose, q):
    return [record for record in dataset if choose.coin(q)]


def same_sample_twice(dataset, choose):
    sample = draw(dataset, choose, "1/2")
    return answer(sample, choose), answer(sample, choose)


def fresh_samples(dataset, choose):
    return answer(draw(dataset, choose, "1/2"), choose), answer(draw(dataset, choose, "1/2"), choose)


def ratio(program):
    """The largest ratio of probabilities, either way, as a fraction."""
    exact = epsilon_of_tables(*(enumerate_outputs(program, dataset) for dataset in (("x",), ())))
    return max(exact.removing.ratio, exact.adding.ratio)


def test_adding_up_amplified_epsilons_is_false_for_one_sample():
    # by hand: Pr[yes, yes] is (1/16 + 9/16)/2 = 5/16 with the record and 1/16 without
    assert ratio(same_sample_twice) == 5
    # one release: (1/4 + 3/4)/2 over 1/4 = 2; two fresh ones: 4
    assert ratio(fresh_samples) == 4
    once = derive_epsilon(ANSWER, q="1/2").bound
    naive = 2 * once.upper
    assert abs(float(naive) - math.log(4)) < 1e-8
    assert float(naive) < math.log(5) - 0.2, "two amplified bounds, added up, are below the exact epsilon: false"


def test_composed_first_and_amplified_once_is_exact_here():
    found = amplify_once([ANSWER, ANSWER], q="1/2")
    assert found.bound.lower <= Fraction(math.log(5)) * (1 + Fraction(1, 10**15))
    assert float(found.bound.upper) >= math.log(5)
    assert float(found.bound.upper) < math.log(5) * (1 + 1e-8)
    assert SAME_STATISTICS in found.guarantee.hypotheses
    derivation = found.guarantee.derivation
    assert (derivation.rule, derivation.children[0].rule) == ("worst case over records", "amplification by importance sampling")
    assert derivation.children[0].children[0].rule == "adaptive composition"


def test_it_is_the_truth_of_the_suite_case_with_one_sample():
    """Two Laplace sums of one sample, q = 1/10, weight 10, scale 10: the suite's exact epsilon, and the false claim that it refutes."""
    cases = {case.name: case for case in CASES}
    release = declare("sum", "w*z/10", record={"z": [1, 1]})
    once = amplify_once([release, release], q="1/10").bound
    truth = cases["same-sample-twice"].truth
    assert abs(float(once.upper) - float(truth.lower)) < 1e-8
    assert once.upper >= truth.lower
    naive = 2 * derive_epsilon(release, q="1/10").bound.upper
    assert abs(float(naive) - float(cases["same-sample-twice"].claimed)) < 1e-8
    assert naive < truth.lower


@pytest.mark.parametrize("times", [2, 3, 4])
@pytest.mark.parametrize("q", ["1/10", "1/2", "9/10"])
def test_it_is_exact_for_more_releases_and_other_probabilities(times, q):
    def program(dataset, choose):
        sample = draw(dataset, choose, q)
        return tuple(choose.coin("2/3" if sample else "1/3") for _ in range(times))

    profile = declare("answer", f"w*log(2)*{q}")
    found = amplify_once([profile] * times, q=q).bound
    exact = ratio(program)
    assert exact == 1 + Fraction(q) * (2**times - 1)
    assert math.isclose(float(found.upper), math.log(exact), rel_tol=1e-8)
    assert float(found.upper) >= math.log(exact)
    assert times * math.log(1 + Fraction(q)) < math.log(exact)


def test_parameters_that_differ_get_names_of_their_own():
    first, second = LaplaceSum(b=1, radius=1), LaplaceSum(b=2, radius=1)
    profile = compose_on_one_sample([first.profile, second.profile, first.profile, WeightedCount(beta_count=5).profile])
    assert profile.text == "w*z/b + w*z/b_2 + w*z/b + w/beta_count"
    assert [(p.name, p.value) for p in profile.parameters] == [("b", 1), ("b_2", 2), ("beta_count", 5)]
    free = compose_on_one_sample([LaplaceSum(radius=1).profile, LaplaceSum(radius=1).profile])
    assert free.parameters == (Parameter("b"), Parameter("b_2")), "two scales that may be anything need not be the same"
    crowded = declare("c", "w*z*b_2/b", record={"z": [0, 1]}, parameters={"b": 3, "b_2": 4})
    assert compose_on_one_sample([first.profile, crowded]).text == "w*z/b + w*z*b_2/b_3"


def test_composed_profiles_can_be_composed_again():
    lloyd = compose_adaptively("rounds", [declare("s", "w*z/b", record={"z": [0, 1]}, parameters={"b": 7})], times="T", times_value=3)
    other = declare("other", "w*z*T/b", record={"z": [0, 1]}, parameters={"T": 2, "b": 9})
    both = compose_on_one_sample([other, lloyd])
    assert both.text == "w*z*T/b + T_2*(w*z/b_2)"
    assert amplify_once([other, lloyd], rule="uniform", constants={"rate": "1/3"}).bound.evidence.checked_by_kernel


def test_what_does_not_go_together_is_refused():
    with pytest.raises(InvalidProfile, match="different ranges"):
        amplify_once([LaplaceSum(b=1, radius=1), LaplaceSum(b=1, radius=2)], q="1/2")
    for bad in ([], [3], "text", None):
        with pytest.raises(InvalidArgument):
            amplify_once(bad, q="1/2")
    assert amplify_once(LaplaceSum(b=1, radius=1), q="1/2").bound.upper == plan_sample(LaplaceSum(b=1, radius=1), q="1/2").epsilon


def test_the_hypotheses_of_the_mechanisms_are_carried():
    lloyd = WeightedLloyd(initial_centres=[[-1.0], [1.0]], iterations=1, beta_count=10, beta_sum=10, p=2, radius=4)
    assert PUBLIC_CENTRES in amplify_once(lloyd, q="1/2").guarantee.hypotheses
    several = amplify_once([lloyd, lloyd], q="1/2").guarantee.hypotheses
    assert {PUBLIC_CENTRES, SAME_STATISTICS} <= set(several)
