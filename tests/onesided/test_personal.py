"""Losses per record with weights: certified suprema in both directions, and the interval of feasible weights."""

from __future__ import annotations

import json
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from accountant.onesided import Losses, amplify_add, amplify_remove, feasible_weights, worst_case_directions
from accountant.rules import make_rule
from profiles import Infeasible, InvalidProfile, InvalidSampling, Undecided, declare
from proofs_check.certificates import check_text

NOISE = declare("exponential noise", "w*z/b", record={"z": [0, 4]}, parameters={"b": 2})


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("add", [None, "w*z/4", "1 + 0*w"])
@pytest.mark.parametrize("q", ["1/4", "1/4 + z/8", "1/2 - z**2/64"])
def test_no_record_is_above_and_one_comes_close(add: str | None, q: str) -> None:
    coming = None if add is None else declare("coming", add, record={"z": [0, 4]})
    bound = worst_case_directions(NOISE, coming, q).bound
    assert isinstance(bound, Losses)
    assert bound.remove is not None
    assert bound.add is not None
    rate = {"1/4": lambda z: mpmath.mpf("0.25"), "1/4 + z/8": lambda z: 0.25 + z / 8, "1/2 - z**2/64": lambda z: 0.5 - z**2 / 64}[q]
    losses = {None: lambda w, z: mpmath.inf, "w*z/4": lambda w, z: w * z / 4, "1 + 0*w": lambda w, z: mpmath.mpf(1)}[add]
    remove, less = [], []
    for z in map(mpmath.mpf, np.linspace(0, 4, 401)):
        p = rate(z)
        remove.append(mpmath.log1p(p * mpmath.expm1(z / 2 / p)))
        less.append(-mpmath.log1p(-p * -mpmath.expm1(-losses(1 / p, z))))
    assert max(remove) <= float(bound.remove) * (1 + 1e-15)
    assert max(less) <= float(bound.add) * (1 + 1e-15)
    assert max(remove) >= float(bound.remove) * (1 - 1e-3)
    assert max(less) >= float(bound.add) * (1 - 1e-3)
    for evidence in bound.proofs:
        assert evidence.checked_by_kernel
        assert check_text(json.dumps(evidence.certificate)).accepted


def test_rules_by_name_and_what_is_refused() -> None:
    uniform = make_rule("uniform", NOISE, {"rate": "1/2"})
    bound = worst_case_directions(NOISE, None, uniform).bound
    assert isinstance(bound, Losses)
    assert bound.add is not None
    assert amplify_add(None, "1/2") == pytest.approx(bound.add, rel=1e-8)
    with pytest.raises(InvalidSampling, match="not bounded"):
        worst_case_directions(NOISE, None, "1/2 + z/8")
    with pytest.raises(InvalidSampling, match="explicit q"):
        worst_case_directions(NOISE, None, make_rule("privacy-constrained", NOISE, {}, 3))
    with pytest.raises(InvalidProfile, match="different statistics"):
        worst_case_directions(NOISE, declare("other", "w*z", record={"z": [0, 5]}), "1/2")


def test_a_finite_loss_allows_q_equal_to_one() -> None:
    both = worst_case_directions(NOISE, NOISE, "1/2 + z/8").bound
    assert isinstance(both, Losses)
    assert both.remove is not None
    assert both.add is not None
    assert both.add <= both.remove * (1 + Fraction(1, 10**8))


@pytest.mark.thorough(quick=6)
@pytest.mark.parametrize("target", ["1.5", "2", "5"])
@pytest.mark.parametrize("add", [None, "w*z/2", "3*w*z", "z + 0*w"])
def test_feasible_weights_are_feasible_and_their_ends_cannot_move(target: str, add: str | None) -> None:
    record = {"z": "1"}
    coming = None if add is None else declare("coming", add, record={"z": [0, 4]})
    found = feasible_weights(NOISE, coming, target, record)
    assert found.most is not None
    goal = Fraction(target)

    def losses(w: Fraction) -> tuple[Fraction, Fraction | None]:
        less = {None: None, "w*z/2": w / 2, "3*w*z": 3 * w, "z + 0*w": Fraction(1)}[add]
        return amplify_remove(w / 2, 1 / w), amplify_add(less, 1 / w)

    for share in (0, Fraction(1, 3), 1):
        remove, less = losses(found.least + share * (found.most - found.least))
        assert remove <= goal
        assert less is not None
        assert less <= goal * (1 + Fraction(1, 10**70))
    assert losses(found.most * (1 + Fraction(1, 10**20)))[0] > goal
    if found.least > 1:
        below = losses(found.least * (1 - Fraction(1, 2**58)))[1]
        assert below is None or below > goal


def test_least_weight_of_one_sided_noise() -> None:
    """w ≥ 1/(1 − e^−3) = 1.05239569649125..."""
    found = feasible_weights(NOISE, None, 3, {"z": 2})
    assert found.least_text() == "1.0523956965"
    assert float(found.least) == pytest.approx(1.0523956964912559, abs=1e-15)


def test_border_records() -> None:
    assert feasible_weights(NOISE, None, 1, {"z": 0}).most is None
    assert feasible_weights(NOISE, None, 1, {"z": 0}).most_text() == "inf"
    with pytest.raises(Infeasible, match="no weight"):
        feasible_weights(NOISE, None, "1.0000001", {"z": 2})
    with pytest.raises(Undecided, match="not to increase"):
        feasible_weights(NOISE, declare("square", "w**2*z", record={"z": [0, 4]}), 3, {"z": 1})
