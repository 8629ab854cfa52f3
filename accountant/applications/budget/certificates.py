"""What certificates of releases within one budget have in common: each release with its noise, the worst case, and what is open."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from accountant.applications.budget.spending import Payment, PricedNoise, PureNoise, Purpose, round_cost
from accountant.guarantees import Guarantee, hypotheses_json
from accountant.guarantees.stored import read_hypotheses
from profiles import to_exact
from profiles.hypotheses import ONLY_OUTPUT, ONLY_RELEASE, Hypothesis
from profiles.mechanisms.interface import EXACT_MODE
from profiles.protection import Unit
from profiles.strict_json import read_exact, read_fields, write_exact
from proofs_check.certificates import check_text, require
from proofs_check.kernel import Report

#: What every such guarantee leaves open, beside the source of its random bits.
_OPEN = frozenset(item.id for item in (ONLY_RELEASE, ONLY_OUTPUT, *EXACT_MODE))
#: How certificates call what is released.
NAMES: Mapping[Purpose, str] = {part: part.value for part in Purpose}


def write_release(charge: Payment, law: PricedNoise, names: Mapping[Purpose, str] = NAMES) -> dict[str, Any]:
    """Return a release as JSON types: what it is, its cost, what a record adds at most, and the scale of its noise."""
    numbers = {"cost": charge.cost, "reach": charge.reach, "scale": law.scale(charge)}
    return {"what": names[charge.part], **{name: write_exact(value) for name, value in numbers.items()}}


def read_release(value: object, step: str, law: PricedNoise, names: Mapping[Purpose, str] = NAMES) -> Payment:
    """Return the charge of a release whose noise is what its cost buys. Raises what reading raises, and the fault at ``step``."""
    fields = read_fields(value, "a release", {"what", "cost", "reach", "scale"})
    cost, reach, scale = (read_exact(fields[name], name) for name in ("cost", "reach", "scale"))
    parts = {name: part for part, name in names.items()}
    require(fields["what"] in parts, step, "what is released is not known")
    require(cost > 0 and reach > 0, step, "a cost and a reach are positive")
    require(round_cost(cost) == cost, step, "a cost has at most 24 decimal places")
    part = parts[fields["what"]]
    if part in (Purpose.RECORDS, Purpose.CELL_COUNTS):
        require(reach == 1, step, "a record adds 1 to a count")
    enough = scale * cost >= reach if isinstance(law, PureNoise) else scale > 0 and scale**2 * cost >= reach**2
    require(enough, step, "its noise is smaller than its cost buys")
    return Payment(part, cost, reach)


def check_worst_case(
    proof: Any, profile: Mapping[str, Any], largest: Fraction, step: str, *, q: str = "1", besides: Iterable[str] = ()
) -> Report:
    """Put a proof to the kernel that the worst case of ``profile`` under the sampling ``q`` is at most ``largest``, with the claims
    ``besides``; return its report. Raises the fault at ``step``.
    """
    require(isinstance(proof, dict), step, "it is not an object")
    require(proof.get("profile") == profile, step, "it is about another profile")
    require(proof.get("sampling") == {"q": q}, step, "it is about another sampling rule")
    report = check_claims(proof, ("well-defined", "epsilon-upper", *besides), step)
    if report.accepted:
        (bound,) = (claim.bound for claim in report.claims if claim.claim == "epsilon-upper")
        require(to_exact(str(bound)) <= largest, step, "the worst case is larger than what is stated")
    return report


def check_claims(proof: Any, needed: Iterable[str], step: str) -> Report:
    """Return the kernel's report on a proof, which proves the claims that are ``needed`` where it is accepted."""
    report = check_text(json.dumps(proof))
    missing = sorted(set(needed) - {claim.claim for claim in report.claims if claim.verdict == "proved"})
    require(not report.accepted or not missing, step, f"the claim {''.join(missing[:1])} is missing")
    return report


def write_open(guarantee: Guarantee) -> dict[str, Any]:
    """Return the unit and the open hypotheses of a guarantee as fields of a certificate."""
    return {
        "unit": guarantee.unit.value,
        "hypotheses": [item.sentence for item in guarantee.hypotheses],
        "premises": hypotheses_json(guarantee.hypotheses),
    }


def read_open(fields: Mapping[str, Any]) -> tuple[Hypothesis, ...]:
    """Return the open hypotheses that a certificate names in two ways, with those that every such guarantee has."""
    require(fields["unit"] == Unit.RECORD.value, "unit", "the bound is about one record")
    stated = read_hypotheses(fields["premises"], "the premises")
    written = [item["sentence"] for item in fields["premises"]]  # which an earlier release may have worded otherwise
    require(fields["hypotheses"] == written, "hypotheses", "they differ from the sentences of 'premises'")
    require({item.id for item in stated} >= _OPEN, "hypotheses", "one is left out that every such guarantee has")
    return stated
