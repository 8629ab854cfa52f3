"""The printed algorithms that pdp claims --run runs: their numbers against sums made by hand, and every refuted statement by its id."""

import json
import math
from fractions import Fraction

import mpmath
import pytest

from accountant.cli.main import invoke
from profiles import InvalidArgument
from proofs_check.exact import Enclosed
from proofs_check.papers import Status, all_claims, find_claim, judge
from proofs_check.printed import RUNNABLE, bisection, continuous_greedy, greedy_scaling, run_again

#: Refuted by a proof about a family of points.
FAMILIES = {
    "fay-2024-section-3-3-assumption-9",
    "fay-2024-equation-5-bounded",
    "fay-2023-theorem-3-bounded",
    "fay-2023-proposition-6-bounded",
}


def by_name(claim_id, beginning):
    return next(found.value for found in run_again(claim_id).found if found.what.startswith(beginning))


def test_algorithm_4_by_hand():
    """P[(2, 1) | n~] = 2^-t (2^1 with probability p, else 2^0) (1 - 2^-t), t = 500 p n~; the density of n~ has e^(2 eps)."""
    root, p = Fraction(10, 9), Fraction(1, 10)
    algorithm = greedy_scaling.GreedyScaling(root)
    for noisy in (Fraction(200), Fraction(301)):
        passes = Fraction(1, 2 ** int(500 * p * noisy))
        law = algorithm.law([frozenset({1})], noisy)
        assert law[1, 0] == (1 - passes) * passes * (1 + p)
        assert sum(law.values()) == 1
        assert algorithm.law([], noisy)[1, 0] == (1 - passes) * passes
    assert by_name("ghazi-2024-algorithm-4-epsilon", "e^loss of the permutation (2, 1) with") == root**8 * (1 + p) > root**4
    assert by_name("ghazi-2024-algorithm-4-count", "factor") == root**8 > root**2
    assert algorithm.count_rounds(Fraction(199)) == 0
    assert algorithm.count_rounds(Fraction(800)) == 3


def test_algorithm_4_takes_two_rounds_where_the_count_says_so():
    """Two rounds on one element in both sets: rates 1 - 1/c and 1 - 1/c^2, thresholds 200000 p_1 and 100000 p_2."""
    root = Fraction(10, 9)
    law = greedy_scaling.GreedyScaling(root).law([frozenset({0, 1})], Fraction(400))
    assert sum(law.values()) == 1
    first, second = Fraction(1, 10), Fraction(19, 100)
    t1, t2 = int(first * 200_000), int(second * 100_000)
    low, high = law[1, 0], first * Fraction(1, 2 ** (t1 - 1)) + second * Fraction(1, 2 ** (t2 - 1))
    assert low < 4 * high  # set 2 before set 1 needs one of two rare passes
    with pytest.raises(InvalidArgument, match="not whole"):
        greedy_scaling.GreedyScaling(Fraction(3, 2)).law([], Fraction(1001, 5))


def test_empty_sets_pass_the_printed_thresholds():
    found = by_name("ghazi-2024-algorithm-4-threshold", "expected")
    assert isinstance(found, Enclosed)
    with mpmath.workdps(40):
        p = -mpmath.expm1(-(mpmath.mpf(10) ** -5) / 4)
        truth = 10**6 * mpmath.mpf(2) ** (-p * 500 * 200 * mpmath.log(10**6, 2))
        assert mpmath.mpf(found.lower.numerator) / found.lower.denominator <= truth
        assert truth <= mpmath.mpf(found.upper.numerator) / found.upper.denominator


def test_algorithm_5_by_hand():
    """One element only: the three steps take it, y = 6/5. Two elements, no user that tells them apart: y_1 is 2/5 of Bin(3, 1/2)."""
    algorithm = continuous_greedy.ContinuousGreedy(Fraction(2, 5), 2)
    assert algorithm.law([frozenset({0})], 1) == {(Fraction(6, 5),): 1}
    law = algorithm.law([], 2)
    assert {point[0] / Fraction(2, 5): chance for point, chance in law.items()} == {j: Fraction(math.comb(3, j), 8) for j in range(4)}
    assert algorithm.steps == 3
    corrected = continuous_greedy.ContinuousGreedy(Fraction(1, 3), 2).law([frozenset({0}), frozenset({1})], 2)
    assert max(sum(point) for point in corrected) == 1
    # one user of element 1: a step gains 1 in the cell of z_1, which the first two steps reach with probability 4/5
    one = algorithm.law([frozenset({0})], 2)
    assert sum(one.values()) == 1
    whole = sum(
        share * chance
        for share, gains in ((Fraction(2, 5), (1, 0, 0)), (Fraction(2, 5), (0, 1, 0)), (Fraction(1, 5), (0, 0, 1)))
        for chance in [math.prod(Fraction(2**gain, 2**gain + 1) for gain in gains)]
    )
    assert one[Fraction(6, 5), Fraction(0)] == whole == Fraction(1, 6)


def test_bisection_returns_what_bisection_returns():
    run = {found.what: found.value for found in run_again("fay-2024-proposition-12-feasible-output").found}
    assert run["the weight that is returned"] > Fraction(7, 2)
    assert run["e^psi of this weight"] > Fraction(9, 2)
    assert abs(run["the weight that is returned"] - Fraction(7, 2)) <= Fraction(1, 100)
    assert bisection.Bisection(Fraction(4), Fraction(2), Fraction(1, 1000)).end == 2


@pytest.mark.thorough(quick=12)
@pytest.mark.parametrize("claim", [claim.id for claim in all_claims() if claim.consequence is not None])
def test_every_refuted_statement_runs_or_says_why_not(claim):
    assert judge(claim).status is Status.REFUTED
    if claim in FAMILIES:
        with pytest.raises(InvalidArgument, match="family of points"):
            run_again(claim)
        return
    run = run_again(claim)
    assert run.found
    assert ("FAULTY" in run.algorithm) == (claim in RUNNABLE)
    json.dumps(run.to_json())
    failing = [finding for finding in judge(claim).findings if finding.status is Status.REFUTED]
    if claim not in RUNNABLE and failing and len(run.found) == 2:
        left, right = (value if isinstance(value, Enclosed) else Enclosed(value, value) for value in (found.value for found in run.found))
        holds = {
            ">=": left.upper >= right.lower,
            ">": left.upper > right.lower,
            "<=": left.lower <= right.upper,
            "<": left.lower < right.upper,
            "==": left.lower <= right.upper and right.lower <= left.upper,
        }
        relation = next(sign for sign in (">=", "<=", "==", ">", "<") if f" {sign} " in failing[0].relation)
        assert not holds[relation]


def test_only_refuted_statements_are_run():
    assert {claim for claim in RUNNABLE if judge(claim).status is not Status.REFUTED} == set()
    assert all(find_claim(claim).correction for claim in RUNNABLE)


def test_the_command(capsys):
    assert invoke(["claims", "--run", "ghazi-2024-theorem-g.1-rounds"]) == 0
    text = capsys.readouterr().out
    assert "FAULTY" in text
    assert "infinite" in text
    assert "correction:" in text
    assert max(map(len, text.splitlines())) <= 100
    assert invoke(["claims", "--run", "ghazi-2024-theorem-1.5-privacy", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert tuple(found) == ("id", "algorithm", "instance", "claimed", "found")
    assert found["found"][0]["value"] == "0.250047"  # 0.63^3
    assert found["found"][2]["value"] == found["found"][2]["nats"] == "infinite"


@pytest.mark.parametrize(
    "options",
    [["--run", "nobody"], ["--run", "fay-2024-equation-4-corrected"], ["--run", "fay-2024-equation-5-bounded"],
     ["--run", "fay-2024-equation-4", "--refuted"], ["--run", ""], ["--run", "\x1b[31m"]],
)  # fmt: skip
def test_what_cannot_be_run_is_one_sentence(capsys, options):
    assert invoke(["claims", *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.strip().splitlines()) == 1
