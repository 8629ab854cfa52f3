"""Each proved claim at random points, evaluated by mpmath from the claim's text and not through our parser or prover."""

import math
import random
import re

import mpmath
import pytest

from proofs_check.papers import all_claims

#: test_claims.py shows that these are proved, and no others; judged here, all workers would do it while they collect.
PROVED = [claim for claim in all_claims() if claim.consequence is None and not claim.argument]
NAMES = {"exp": mpmath.exp, "log": mpmath.log, "sqrt": mpmath.sqrt, "Abs": abs, "Min": min, "Max": max, "mpf": mpmath.mpf}
SLACK = mpmath.mpf(10) ** -40


def draw(rng, box):
    point = {}
    for part in filter(None, box.split(";")):
        name, _, span = part.strip().partition(" in ")
        if span == "R":
            point[name] = mpmath.mpf(rng.gauss(0, 3))
            continue
        lo, hi = span.strip("[]() ").split(",")
        lo = mpmath.mpf(float(lo.split("/")[0]) / float(([*lo.split("/"), "1"])[1]))
        top = None if hi.strip() == "oo" else mpmath.mpf(float(hi.split("/")[0]) / float(([*hi.split("/"), "1"])[1]))
        share = mpmath.mpf(rng.random())
        point[name] = lo + (mpmath.mpf(math.exp(rng.uniform(-5, 2))) if top is None else (top - lo) * (share if lo else 1 - share))
    return point


def evaluate(text, point):
    exact = re.sub(r"(?<![\w.])(\d+\.?\d*)", r"mpf('\1')", text)
    return eval(exact, {"__builtins__": {}}, {**NAMES, **point})


def sides(goals, point):
    match = next(
        m
        for m in re.finditer(r">=|<=|==|>|<", goals.relation)
        if goals.relation[: m.start()].count("(") == goals.relation[: m.start()].count(")")
    )
    left, right = goals.relation[: match.start()].strip(), goals.relation[match.end() :].strip()
    value = evaluate(left, point)
    if goals.derive:
        name = goals.derive[0]
        value = mpmath.diff(lambda v: evaluate(left, {**point, name: v}), point[name], len(goals.derive), direction=0)
    return value, match[0], evaluate(right, point)


@pytest.mark.thorough(quick=38)
@pytest.mark.parametrize("claim", PROVED, ids=lambda claim: claim.id)
def test_a_proved_claim_holds_at_random_points(claim):
    rng = random.Random(claim.id)
    for goals in claim.goals:
        for _ in range(12 if goals.derive else 40):
            point = draw(rng, goals.box)
            with mpmath.workdps(60 if not goals.derive else 90):
                left, relation, right = sides(goals, point)
                slack = SLACK * (1 + abs(left) + abs(right)) if not goals.derive else mpmath.mpf(10) ** -20 * (1 + abs(left))
                gap = left - right if relation.startswith(">") else right - left
                assert abs(gap) <= slack if relation == "==" else gap >= -slack, (goals.relation, point)
