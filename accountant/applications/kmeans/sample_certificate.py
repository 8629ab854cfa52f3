"""The part of the certificate of a private fit that is about its one sample, and the check of it.

Accepted means: the rule is the one that arguments and released numbers make; the releases about the sample cost no more per unit of weight
than A for counts and B for sums, with the noise that this buys; and the kernel accepts, for the profile w (A + B t) and that rule, that the
loss of every record is within what the statistics left of the budget. That number is a term of the profile of everything together.
docs/private-kmeans.md, Theorem 3.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from accountant.applications.budget.certificates import check_claims, check_worst_case
from accountant.applications.budget.spending import Payment, Purpose, round_cost
from accountant.applications.kmeans.sampling import SampleChoice, SampledRecords, describe_sample, make_constants, make_sample_rule
from accountant.rules import SamplingRule
from accountant.samples.plan import find_proof
from accountant.selection.select import CERTIFIED, METHODS, ROUNDED
from profiles import InvalidArgument, Profile, exact_text, to_exact
from profiles.mechanisms.ball import widen
from profiles.strict_json import read_exact, read_fields, read_list, write_exact
from profiles.terms import to_text
from proofs_check.certificates import check_text, profile_json, require
from proofs_check.kernel import Report

_KEYS = {"radius", "budget", "constants", "counts", "sums", "releases", "expected_size", "pairs", "profile", "proof"}
#: The largest float is below this.
_LARGEST = Fraction(10) ** 308


def write_choice(choice: SampleChoice | None) -> dict[str, Any] | None:
    """Return the argument of a fit as JSON types."""
    return None if choice is None else {"rule": choice.rule, "size": None if choice.size is None else exact_text(choice.size)}


def read_choice(value: object) -> SampleChoice | None:
    """Return what :func:`write_choice` wrote. Raises :class:`profiles.UnreadableFile`, :class:`profiles.InvalidArgument`."""
    if value is None:
        return None
    fields = read_fields(value, "the sample", {"rule", "size"})
    choice = SampleChoice.of(fields["rule"], None if fields["size"] is None else read_exact(fields["size"], "the size of the sample"))
    require(write_choice(choice) == value, "arguments", "the size of the sample is written in another way")
    return choice


def to_json(sampled: SampledRecords, write_release: Callable[[Payment], Mapping[str, Any]]) -> dict[str, Any]:
    """Return what is certified about a sample. Raises :class:`InvalidArgument` where the kernel does not accept the proof."""
    plan = sampled.plan
    proof = find_proof(plan.derived, plan.selector)
    if proof is None or not check_text(json.dumps(proof)).accepted:
        raise InvalidArgument("a certificate of the sample was asked for, but its worst case has no proof; please report it")
    return {
        "radius": repr(plan.radius),
        "budget": write_exact(plan.budget),
        "constants": {name: write_exact(value) for name, value in plan.constants.items()},
        "counts": write_exact(plan.counts),
        "sums": write_exact(plan.sums),
        "releases": [dict(write_release(charge)) for charge in sampled.charges],
        "expected_size": repr(float(plan.expected)),
        "pairs": METHODS[plan.selector.method],
        "profile": profile_json(plan.derived.profile),
        "proof": json.loads(json.dumps(proof)),
    }


def check_sample(
    value: object, choice: SampleChoice, released: Mapping[str, Any], read_release: Callable[[object, str], Payment]
) -> tuple[Report, Fraction]:
    """Return the kernel's report on the proof, and what all releases about the sample cost a record at most: ``budget``.

    ``released``: the numbers of the certificate; ``read_release``: from JSON and a step's name to a charge whose noise is what it buys.
    """
    fields = read_fields(value, "the sample", _KEYS)
    radius, budget = _read_float(fields["radius"], "the radius of the sample"), read_exact(fields["budget"], "the budget of the sample")
    require(budget > 0 and round_cost(budget) == budget, "sample.budget", "it is not positive with at most 24 decimal places")
    counts, sums = (read_exact(fields[name], f"the {name} of the sample") for name in ("counts", "sums"))
    require(counts > 0 and sums > 0, "sample", "a cost per unit of weight is positive")
    _read_float(fields["expected_size"], "the expected size of the sample")
    _check_releases(fields["releases"], {Purpose.CELL_COUNTS: counts, Purpose.CELL_SUMS: sums}, widen(Fraction(radius)), read_release)
    count, rms = _read_float(released["records"], "the number of records"), _read_float(released["rms"], "the spread")
    constants = make_constants(choice, count=count, rms=rms, radius=radius)
    written = {name: write_exact(number) for name, number in constants.items()}
    require(fields["constants"] == written, "sample.constants", "they are not those that arguments and released numbers make")
    profile = describe_sample(counts, sums)
    require(fields["profile"] == profile_json(profile), "sample.profile", "it is not that of the costs per unit of weight")
    rule = make_sample_rule(choice.rule, profile, constants, budget)
    require(fields["pairs"] == METHODS[CERTIFIED if rule.q is None else ROUNDED], "sample.pairs", "they are not chosen in a known way")
    return _check_proof(fields["proof"], profile, rule, budget), budget


def _read_float(value: object, what: str) -> float:
    """Return a positive binary64 number from its shortest text."""
    exact = read_exact(value, what)
    require(0 < exact < _LARGEST and float(exact) > 0 and repr(float(exact)) == value, what, "a positive binary64 number was expected")
    return float(exact)


def _check_releases(
    value: object, allowed: Mapping[Purpose, Fraction], reach: Fraction, read_release: Callable[[object, str], Payment]
) -> None:
    charges: Sequence[Payment] = [
        read_release(item, f"sample.releases[{place}]") for place, item in enumerate(read_list(value, "the releases of the sample"))
    ]
    for place, charge in enumerate(charges):
        require(charge.part in allowed, f"sample.releases[{place}]", "it is not about cells")
        right = charge.part is Purpose.CELL_COUNTS or charge.reach == reach
        require(right, f"sample.releases[{place}]", "a record adds another length to a sum than the radius of the sample allows")
    for part, most in allowed.items():
        spent = sum((charge.cost for charge in charges if charge.part is part), Fraction(0))
        require(spent <= most, "sample.releases", f"{part.value} cost more than they may")


def _check_proof(proof: Any, profile: Profile, rule: SamplingRule, budget: Fraction) -> Report:
    """Put the proof to the kernel: the loss of every record of the sample by ``rule`` is at most ``budget``."""
    about = profile_json(profile)
    if rule.q is not None:
        return check_worst_case(proof, about, budget, "sample.proof", q=to_text(rule.q), besides=("proposition-17",))
    require(isinstance(proof, dict) and proof.get("profile") == about, "sample.proof", "it is about another profile")
    require(to_exact(str(proof.get("target_epsilon"))) == budget, "sample.proof", "it is about another target")
    return check_claims(proof, ("well-defined", "assumption-8"), "sample.proof")
