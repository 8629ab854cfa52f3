"""The certificate of a private fit: what was released at which cost, the proof of their worst case, and the check of all of it.

Accepted means: what is stated of the run fits together (:mod:`stated`): the statistics were paid for unless the arguments call them public,
with noise for the ball of the arguments; the noise of every release is what its cost buys; the costs are within the budget; the profile in
the proof is the one of these releases, and the kernel accepts that its supremum over all records is within ε (under normal noise within the
μ whose δ at ε the kernel computes, at most δ); what is released about a sample is within what the statistics left
(:mod:`sample_certificate`); and the open hypotheses are listed, what is taken to be public word for word. That the run made these releases
and no others is Theorem 2 of docs/private-kmeans.md, and no file can show it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from accountant.applications.budget.certificates import check_worst_case, read_open, read_release, write_open, write_release
from accountant.applications.budget.spending import NormalNoise, Payment, PricedNoise, PureNoise, Purpose
from accountant.applications.kmeans.certificate_checks import check_released, check_statistics, read_arguments, read_clip, read_settings
from accountant.applications.kmeans.composed_guarantee import describe_path
from accountant.applications.kmeans.fitting import Fit, FitSettings, name_fit, to_plain
from accountant.applications.kmeans.sample_certificate import check_sample, write_choice
from accountant.applications.kmeans.sample_certificate import to_json as sample_json
from accountant.guarantees.rules import GIVEN_ROW
from accountant.guarantees.stored import read_hypotheses
from profiles import InvalidArgument, Profile, exact_text, to_exact
from profiles.hypotheses import ARITHMETIC, FIXED_IN_ADVANCE, ONE_RECORD_EACH, PUBLIC_CONSTANTS, Hypothesis
from profiles.strict_json import read_exact, read_fields, read_list, write_exact
from proofs_check.certificates import check_text, judge_file, profile_json, require
from proofs_check.kernel import Report

#: What is true of the data or not, and no run sees: certificates of version 1 said nothing of it, and what reads them adds it.
ABOUT_DATA = (FIXED_IN_ADVANCE, ONE_RECORD_EACH, GIVEN_ROW)
FORMAT, VERSION = "pdp-kmeans-certificate", 2
_STEP = "kmeans-certificate"
_KEYS = {
    "format",
    "version",
    "arguments",
    "released",
    "releases",
    "epsilon",
    "budget",
    "profile",
    "proof",
    "unit",
    "hypotheses",
    "premises",
}
_STATISTICS = frozenset({Purpose.RECORDS, Purpose.SUM, Purpose.SQUARES})
_BITS = frozenset({"secure-bits", "seeded-bits", "randomness"})


def to_certificate(fit: Fit, settings: FitSettings, *, columns: Sequence[str], method: str) -> dict[str, Any]:
    """Return the certificate of a fit as JSON types; all of it may be published.

    Raises :class:`InvalidArgument` for a bound without proof.
    """
    guarantee, law = fit.certified.guarantee, settings.law
    proof = fit.certified.worst.certificate
    if proof is None:
        raise InvalidArgument("a certificate of the fit was asked for, but its worst case has no proof; please report it")
    statistics = fit.statistics
    made: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "arguments": {
            "clusters": settings.clusters,
            "epsilon": exact_text(settings.epsilon),
            "delta": None if settings.delta is None else exact_text(settings.delta),
            "radius": None if settings.radius is None else exact_text(settings.radius),
            "center": None if settings.center is None else [_number(value) for value in statistics.center],
            "columns": list(columns),
            "public": sorted(settings.public.names),
            "method": method,
            "sample": write_choice(settings.sample),
            **({} if settings.bounds is None else {"bounds": [list(map(exact_text, pair)) for pair in settings.bounds.ends]}),
        },
        "released": {
            "records": _number(statistics.count),
            "mean": [_number(value) for value in statistics.mean],
            "rms": _number(statistics.rms),
            "centres": [[_number(value) for value in row] for row in fit.centres],
            "counts": [_number(value) for value in fit.clustering.counts],
            "choices": {name: str(value) for name, value in to_plain(fit.clustering.choices).items()},
        },
        "releases": [write_release(charge, law) for charge in fit.charges],
        "epsilon": {"upper": exact_text(settings.epsilon), "delta": None if settings.delta is None else exact_text(settings.delta)},
        "budget": write_exact(law.budget),
        "profile": profile_json(fit.certified.profile),
        "proof": json.loads(json.dumps(proof)),
        **write_open(guarantee),
    }
    if fit.sample is not None:
        made["sample"] = sample_json(fit.sample, lambda charge: write_release(charge, law))
    if isinstance(law, NormalNoise):
        made["curve"] = {"mu": write_exact(law.mu), "proof": _curve_proof(law.mu, settings.epsilon, to_exact(settings.delta or 0))}
    return made


def _number(value: float) -> str:
    return repr(float(value))


def _curve_proof(mu: Fraction, epsilon: Fraction, delta: Fraction) -> dict[str, Any]:
    """Return a certificate that one Gaussian release of noise multiplier 1/μ has at most δ at ε, in both directions."""
    from accountant.compositions.certificates import make_certificate  # noqa: PLC0415 - pure noise does not need it
    from accountant.compositions.events import Composition, Direction, MechanismKind, make_event  # noqa: PLC0415
    from accountant.weights.gaussian.weight import state_claims  # noqa: PLC0415

    event = make_event(MechanismKind.GAUSSIAN, {"noise_multiplier": 1 / mu})
    return make_certificate(Composition("all releases together", (event,)), state_claims(epsilon, dict.fromkeys(Direction, delta)))


def check_certificate(fields: Mapping[str, Any]) -> Report:
    """Return the report on a certificate; see the page above for what accepted means."""
    return judge_file(_STEP, lambda: _check(fields))


def _check(given: Mapping[str, Any]) -> Report:
    fields = read_fields(given, "a certificate of private k-means", _KEYS, frozenset({"curve", "sample"}))
    require(type(fields["version"]) is int and fields["version"] in (1, VERSION), "version", f"version {VERSION} was expected")
    arguments = read_arguments(fields["arguments"])
    bound = read_fields(fields["epsilon"], "the bound", {"upper", "delta"})
    epsilon = read_exact(bound["upper"], "epsilon")
    delta = None if bound["delta"] is None else read_exact(bound["delta"], "delta")
    require(epsilon > 0 and (delta is None or 0 < delta < 1), "epsilon", "epsilon is positive, and delta between 0 and 1")
    require(
        arguments["epsilon"] == bound["upper"] and arguments["delta"] == bound["delta"],
        "arguments",
        "they are about another epsilon or delta",
    )
    require((delta is None) == ("curve" not in fields), "curve", "it goes with a delta")
    law: PricedNoise = PureNoise(epsilon)
    if delta is not None:
        law = NormalNoise(_check_curve(fields["curve"], epsilon, delta))
    listed = enumerate(read_list(fields["releases"], "the releases"))
    charges = [read_release(item, f"releases[{place}]", law) for place, item in listed]
    settings, dimension = read_settings(arguments, epsilon, delta, law)
    check_statistics(charges, settings)
    released = check_released(fields["released"], settings, dimension, charges)
    of_sample, sampled = _check_sample(fields, settings, charges, released)
    if not of_sample.accepted:
        return Report(accepted=False, step=f"{_STEP}.sample.proof.{of_sample.step}", reason=of_sample.reason)
    budget = read_exact(fields["budget"], "the budget")
    require(budget == law.budget, "budget", "it is not what epsilon (or mu) leaves after the margin of the proof")
    spent = sum((charge.cost for charge in charges), Fraction(0))
    require(spent <= budget, "releases", "they cost more than the budget")
    require(sampled is None or spent + sampled == budget, "sample.budget", "it is not what the statistics leave")
    profile = describe_path(charges, law, name_fit(settings), sampled=sampled is not None)
    report = _check_proof(fields, profile, law, epsilon)
    if not report.accepted:
        return report
    _check_hypotheses(fields, settings)
    named = (claim._replace(claim=f"{claim.claim} (sample)") for claim in of_sample.claims)
    return replace(report, claims=(*report.claims, *named))


def _check_sample(
    fields: Mapping[str, Any], settings: FitSettings, charges: Sequence[Payment], released: Mapping[str, Any]
) -> tuple[Report, Fraction | None]:
    """Return the report on what is released about a sample, and its largest cost; no claims and None where there is none."""
    choice, law = settings.sample, settings.law
    require((choice is None) == ("sample" not in fields), "sample", "it goes with one that was asked for")
    if choice is None:
        return Report(accepted=True), None
    require(isinstance(law, PureNoise), "sample", "one is drawn under pure epsilon alone")
    statistics = all(charge.part in _STATISTICS for charge in charges)
    require(statistics, "releases", "cells are released of the sample alone")
    made = check_sample(fields["sample"], choice, released, lambda item, step: read_release(item, step, law))
    clipped = Fraction(float(fields["sample"]["radius"])) == read_clip(released["choices"])
    require(clipped, "sample.radius", "records are clipped to another one")
    return made


def _check_curve(value: object, epsilon: Fraction, delta: Fraction) -> Fraction:
    fields = read_fields(value, "the curve", {"mu", "proof"})
    mu = read_exact(fields["mu"], "mu")
    require(mu > 0, "curve", "mu is positive")
    require(fields["proof"] == _curve_proof(mu, epsilon, delta), "curve", "its proof is about something else")
    report = check_text(json.dumps(fields["proof"]))
    require(report.accepted, f"curve.{report.step}", str(report.reason))
    return mu


def _check_proof(fields: Mapping[str, Any], profile: Profile, law: PricedNoise, epsilon: Fraction) -> Report:
    """Put the proof of the worst case to the kernel, and compare what it is about with ``profile``, which was made of the releases."""
    require(fields["profile"] == profile_json(profile), "profile", "it is not that of the releases")
    about = profile_json(profile.stand_in() if isinstance(law, NormalNoise) else profile)
    largest = epsilon if isinstance(law, PureNoise) else law.mu if isinstance(law, NormalNoise) else Fraction(0)
    report = check_worst_case(fields["proof"], about, largest, "proof")
    return report if report.accepted else Report(accepted=False, step=f"{_STEP}.proof.{report.step}", reason=report.reason)


def _check_hypotheses(fields: Mapping[str, Any], settings: FitSettings) -> None:
    stated = read_open(fields)
    told_of_data = fields["version"] == 1 or set(ABOUT_DATA) <= set(stated)
    require(told_of_data, "hypotheses", "one about the data is left out that every such guarantee has")
    known = {item.id for item in stated}
    require(settings.sample is None or ARITHMETIC.id in known, "hypotheses", "one is left out that every sample has")
    require(known & _BITS, "hypotheses", "they do not say where the random bits come from")
    names = settings.public.sentence
    taken = [PUBLIC_CONSTANTS.about(names=names)] if names else []
    told = [item for item in stated if item.id == PUBLIC_CONSTANTS.id]
    require(told == taken, "hypotheses", "they do not say what is taken to be public")


def read_stated_hypotheses(fields: Mapping[str, Any]) -> tuple[Hypothesis, ...]:
    """Return the open hypotheses of a certificate that was accepted, with those that the first version left out."""
    return tuple(dict.fromkeys((*(ABOUT_DATA if fields["version"] == 1 else ()), *read_hypotheses(fields["premises"], "the premises"))))
