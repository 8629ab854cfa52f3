"""The certificate beside a sample: what is proved about one analysis of it, and nothing about the data. Format: docs/sampling.md."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from accountant.guarantees import Guarantee, to_json
from accountant.samples.plan import SamplingPlan
from accountant.selection.select import METHODS
from profiles import Profile, exact_text
from profiles.terms import to_text
from proofs_check.certificates import profile_json

#: The last version is of weights under Gaussian noise: its proof is their table, its epsilon has a delta.
FORMAT, VERSION, WEIGHTED = "pdp-sample-certificate", 2, 3
USES = (
    "Good for one analysis: one run of a mechanism with this profile on this sample. A second run, also of another mechanism, is not "
    "covered: compose the mechanisms first and amplify once, or draw a fresh sample. No program can prevent that a file is copied and used "
    "again."
)
SECRET = (
    "the sample itself (rows, weights, probabilities) and which rows were selected",
    "the number of rows of the data set and of the sample, and the expected sample size",
    "the seed, where there is one",
)
DRAWS = "exact Bernoulli(q) for binary64 q"
PRIVATE = "These figures depend on the data set and are covered by no guarantee: do not publish this file."


@dataclass(frozen=True, slots=True)
class PrivateFigures:
    """What depends on the data set: its rows n, the realised sample size k, the expected one Σ q, and the seed."""

    records: int
    sample_size: int
    expected_sample_size: float
    seed: int | None

    def to_json(self) -> dict[str, Any]:
        return {
            "records": self.records,
            "sample_size": self.sample_size,
            "expected_sample_size": self.expected_sample_size,
            "seed": self.seed,
        }


def describe_parts(profile: Profile) -> dict[str, Any]:
    """Return the mechanisms behind a profile: each runs the parts below it, or is declared, with its source."""
    if not profile.parts:
        return {"name": profile.name, "source": profile.source}
    return {"name": profile.name, "parts": [describe_parts(part.profile) for part in profile.parts]}


def to_certificate(
    plan: SamplingPlan, guarantee: Guarantee, source: str, *, private: PrivateFigures | None = None, publishable: bool = True
) -> dict[str, Any]:
    """Return the certificate of one analysis of a sample, as a JSON object."""
    rule, stated = plan.rule, to_json(guarantee)
    made: dict[str, Any] = {
        "format": FORMAT,
        "version": WEIGHTED if plan.delta else VERSION,
        "uses": USES,
        "publishable": publishable,
        "profile": profile_json(plan.profile),
        "runs": [profile.name for profile in plan.profiles],
        "parts": [describe_parts(profile) for profile in plan.profiles],
        "rule": {
            "name": rule.name,
            "q": None if rule.q is None else to_text(rule.q),
            "constants": {name: exact_text(value) for name, value in rule.constants},
            "target_epsilon": None if rule.target_epsilon is None else exact_text(rule.target_epsilon),
        },
        **{key: stated[key] for key in ("notion", "unit", "epsilon", "conditional", "hypotheses", "premises", "discharged", "derivation")},
        "sampler": {"draws": DRAWS, "pairs": METHODS[plan.method], "randomness": source},
        "not_covered": list(SECRET),
        "checked_by_kernel": plan.checked,
        "proof": plan.proof,
    }
    if private is not None:
        made["private"] = {"warning": PRIVATE, **private.to_json()}
    return made


def to_certificate_text(*arguments: Any, **options: Any) -> str:
    """Return the text of the file that :func:`to_certificate` describes."""
    return json.dumps(to_certificate(*arguments, **options), indent=1, ensure_ascii=True) + "\n"
