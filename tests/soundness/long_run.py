"""Soundness by sampling: random profiles of the grammar, verified, and every verdict confronted with points at 60 digits and more.

Run: ``make soundness SECONDS=3600 SEED=1`` (or ``python tests/soundness/long_run.py SECONDS SEED``). It prints counts and stops with exit
code 1 at the first contradiction. Nothing of the prover is used to judge: profiles are evaluated by mpmath from their text.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import mpmath
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from accountant.testing import profiles, unchecked_profiles
from profiles import PDPError, Profile
from proofs_check.verify import verify

DIGITS = 90
POINTS = 1000
#: Profiles between two looks at what was found; Hypothesis keeps what it tried, so its memory is bounded by this.
ROUND = 200
Function = Callable[[Mapping[str, Any]], Any]
NAMES = {
    "exp": mpmath.exp, "log": mpmath.log, "sqrt": mpmath.sqrt, "sin": mpmath.sin, "cos": mpmath.cos, "Abs": abs, "Max": max, "Min": min,
    "pi": mpmath.pi, "Piecewise": lambda *pairs: next(value for value, holds in pairs if holds),
}  # fmt: skip


def compile_text(epsilon: str) -> Function:
    """Return the profile as a function in mpmath; numbers of the text are made exact first."""
    import ast  # noqa: PLC0415

    class Exact(ast.NodeTransformer):
        def visit_Constant(self, node: ast.Constant) -> ast.AST:
            if isinstance(node.value, bool):
                return node
            return ast.copy_location(ast.Call(ast.Name("mpf", ast.Load()), [ast.Constant(str(node.value))], []), node)

    tree = ast.fix_missing_locations(Exact().visit(ast.parse(epsilon, mode="eval")))
    code = compile(tree, "profile", "eval")
    return lambda point: eval(code, {"__builtins__": {}, "mpf": mpmath.mpf, **NAMES}, dict(point))


def mpf(value: object) -> Any:
    """Return an exact number in mpmath."""
    fraction = Fraction(str(value)) if not isinstance(value, Fraction) else value
    return mpmath.mpf(fraction.numerator) / fraction.denominator


def needed(condition: str, f: Function, point: Mapping[str, Any], target: Any) -> Any:
    """Return what has to be ≥ 0 (> 0 for assumption-11 and proposition-16) at a point."""
    w, step = point["w"], mpmath.mpf(10) ** -28

    def at(v: Any) -> Any:
        return f({**point, "w": v})

    one = mpmath.mpf(1)
    if condition == "assumption-8":
        return target - at(one)
    if condition == "proposition-16":
        return 1 - mpmath.exp(-at(one)) - (at(one + step) - at(one)) / step
    first = (at(w + step) - at(w - step)) / (2 * step) if w > 1 else (at(w + step) - at(w)) / step
    if condition == "proposition-17":
        return w * first - at(w)
    second = (at(w + 2 * step) - 2 * at(w + step) + at(w)) / step**2
    return second + first**2


def draw(source: random.Random, record: Mapping[str, list[str]], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a random point of the domain, ends and extremes included."""

    def between(lo: Any, hi: Any) -> Any:
        share = source.choice([0, 1, source.random(), source.random()])
        return mpf(lo) + (mpf(hi) - mpf(lo)) * mpmath.mpf(share)

    point = {name: between(*ends) for name, ends in record.items()}
    for name, value in parameters.items():
        if value == "positive":
            point[name] = mpmath.mpf(10) ** source.uniform(-4, 4)
        else:
            point[name] = between(*value) if isinstance(value, list) else mpf(value)
    point["w"] = source.choice([mpmath.mpf(1), 1 + mpmath.mpf(source.random()) * 3, 1 + mpmath.mpf(10) ** source.uniform(-3, 3)])
    return point


def contradiction(
    condition: str, decision: Any, f: Function, source: random.Random, profile: tuple[Any, ...], counts: Counter[str]
) -> str | None:
    """Return what contradicts a decision, None if nothing was found."""
    _, record, parameters, target = profile
    verdict, slack = decision.verdict.value, mpmath.mpf(10) ** -15
    growth = mpmath.expm1(mpf(target))
    if condition == "assumption-9-nonzero" and (verdict == "refuted" or "threshold" not in decision.details):
        return None  # what it adds to assumption-9 is about records at which ε vanishes
    if verdict == "proved" and condition in ("assumption-9", "assumption-9-nonzero"):
        for _ in range(20):
            point = draw(source, record, parameters)
            threshold = compile_text(str(decision.details["threshold"]))(point)
            for factor in (1, 1 + mpmath.mpf(source.random()), mpmath.mpf(10) ** source.uniform(0, 2)):
                here = {**point, "w": threshold * factor}
                counts["points"] += 1
                if f(here) <= mpmath.log1p(growth * here["w"]) * (1 - slack):
                    return f"{here}"
    elif verdict == "proved":
        for _ in range(POINTS):
            point = draw(source, record, parameters)
            counts["points"] += 1
            value = needed(condition, f, point, mpf(target))
            scale = 1 + abs(f({**point, "w": point["w"] if condition == "proposition-17" else mpmath.mpf(1)}))
            if value < -slack * scale:
                return f"{point} gives {mpmath.nstr(value, 10)}"
    elif verdict == "refuted":
        counts["witnesses"] += 1
        if not decision.checked:
            return "the kernel did not check the refutation"
        point = {name: mpf(value) for name, value in parameters.items() if not isinstance(value, list) and value != "positive"}
        point |= {name: mpf(value) for name, value in decision.witness.items()}
        if condition == "assumption-9":
            point["w"] = mpmath.mpf(10) ** 60
            return None if f(point) <= mpmath.log1p(growth * point["w"]) + slack else f"{point}"
        if decision.method in ("kink", "limit at one record"):
            return None
        point.setdefault("w", mpmath.mpf(1))
        value = needed(condition, f, point, mpf(target))
        return None if value <= slack * (1 + abs(f(point))) else f"the witness {decision.witness} gives {mpmath.nstr(value, 10)}"
    return None


class Contradiction(Exception):
    """A verdict is false."""


def examine(profile: Profile, target: str, counts: Counter[str]) -> None:
    """Verify a profile and confront every verdict with points. Raises :class:`Contradiction`."""
    try:
        found = verify(profile, target)
    except PDPError as refusal:
        counts[type(refusal).__name__] += 1
        return
    record = {s.name: [str(s.lo), str(s.hi)] for s in profile.record}
    parameters = {
        p.name: p.value if p.value is not None else "positive" if p.bounds is None else [str(end) for end in p.bounds]
        for p in profile.parameters
    }
    described = (profile.text, record, parameters, target)
    source, f = random.Random(str(described)), compile_text(profile.text)
    with mpmath.workdps(DIGITS):
        for condition, decision in found.decisions.items():
            counts[decision.verdict.value] += 1
            if decision.verdict.value == "unknown":
                sys.stderr.write(f"unknown {condition} {described}\n")
            problem = contradiction(condition, decision, f, source, described, counts)
            if problem is not None:
                raise Contradiction(f"{condition} {decision.verdict.value} {described}: {problem}")
    counts["profiles"] += 1


def main(seconds: float, number: int) -> int:
    """Run for some time; print the counts; return 1 at a contradiction, which is made as small as Hypothesis can."""
    counts, stop = Counter[str](), time.monotonic() + seconds

    @settings(max_examples=ROUND, database=None, deadline=None, suppress_health_check=list(HealthCheck), print_blob=False)
    @given(profiles() | unchecked_profiles(), st.sampled_from(["1", "1/10", "3", "20"]))
    def run(profile: Profile, target: str) -> None:
        if time.monotonic() < stop:
            examine(profile, target, counts)

    rounds = 0
    while time.monotonic() < stop:
        try:
            seed(f"{number}, {rounds}")(run)()
        except Contradiction as found:
            sys.stdout.write(f"CONTRADICTION {found}\n")
            return 1
        rounds += 1
    sys.stdout.write(f"seed {number}, {seconds:.0f} s: {dict(counts)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), int(sys.argv[2])))
