"""The rules of profiles in the notion ``gaussian``: from μ(w, x) to a privacy curve, or to a point of one after sampling.

Each docstring is the statement that it applies; proofs: docs/gaussian-weights.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from accountant.compositions.certificates import make_certificate
from accountant.compositions.events import Composition, Direction, MechanismKind, make_event
from accountant.compositions.queries import to_delta, to_epsilon
from accountant.guarantees.bounds import bound_epsilon, recheck_epsilon
from accountant.guarantees.calls import Signature
from accountant.guarantees.curves import shorten_subject
from accountant.guarantees.measures import CurveBound, Losses, describe_events, describe_losses
from accountant.guarantees.statements import READS_NOTHING
from accountant.guarantees.stored import HYPOTHESES, NUMBER, PROFILE, PROOFS, WEIGHT_PAIRS
from accountant.guarantees.theorem import Guarantee, Inference, conclude
from accountant.rules import make_rule
from accountant.weights.gaussian.proved import require_homogeneous
from accountant.weights.gaussian.weight import compose_record, state_claims
from profiles import InvalidArgument, InvalidProfile, OtherNotion, Profile, Undecided, decimal_text
from profiles.hypotheses import EXACT_REALS, Hypothesis, as_hypotheses, name_declaration, name_range, name_statistics
from profiles.notions import ProfileNotion
from profiles.numbers import decimal_below
from profiles.presenting.describing import describe_wholly
from profiles.protection import RECORDS
from proofs_check.certificates import check_text
from proofs_check.suprema.bound import EpsilonBound

_PAGE = "docs/gaussian-weights.md"
#: Digits of a noise multiplier, which is rounded down.
_DIGITS = 40
_LARGEST_NOISE = Fraction(10**12)
_KEPT = 64
#: Pairs (ζ, w): a record whose μ(1, x) is at most ζ is selected with probability at most 1/w, and then counts w times.
WeightPairs = Sequence[tuple[Fraction, Fraction]]

_CURVE = Signature(
    "curve_of_profile",
    {"profile": PROFILE, "hypotheses": HYPOTHESES, "evidence": PROOFS},
    premises=0,
    word=lambda _, given: f"the profile {describe_wholly(given['profile'])}",
)


@_CURVE.of
def curve_of_profile(
    profile: Profile, hypotheses: Sequence[Hypothesis | str] = (EXACT_REALS,), *, certificate: Mapping[str, Any] | None = None
) -> Guarantee:
    """If a mechanism has the profile μ(w, x) in the notion ``gaussian``, every record is used with weight 1, and μ(1, x) ≤ U for all
    records of the declared ranges, then the pair (N(U, 1), N(0, 1)) dominates it: one Gaussian event of noise multiplier 1/U.

    U is computed and proved here; with a ``certificate`` it is the bound that the kernel accepts there for exactly this profile. That the
    mechanism has the profile is a hypothesis: :func:`derive_mechanism` closes it for mechanisms of the catalogue. Source:
    docs/gaussian-weights.md, Theorem 15. Raises :class:`profiles.OtherNotion`, :class:`profiles.InvalidProfile` (a parameter without a
    number), :class:`profiles.Undecided`, :class:`profiles.NotReplayed`.
    """
    evidence = bound_mu(profile) if certificate is None else recheck_epsilon(*_stand_in(profile), certificate)
    composition = Composition(
        shorten_subject(profile.name), (make_event(MechanismKind.GAUSSIAN, {"noise_multiplier": _noise(evidence.upper)}),)
    )
    given = as_hypotheses(hypotheses, repr(profile.name))
    return conclude(
        Inference(
            "Gaussian profile, worst case over records",
            profile.name,
            source=_name_source(profile, "Theorem 15"),
            conclusion=f"mu(1, x) <= {evidence.upper_text()} at every record: {describe_events(composition)}",
            claims=("well-defined", "epsilon-upper (of mu)", "epsilon-lower (of mu)"),
            call=_CURVE.record(profile=profile, hypotheses=given, evidence=evidence),
            profile=profile,
            protection=RECORDS,
        ),
        CurveBound(composition),
        supposes=_suppose(profile, given, evidence),
        discharges=_drop_unread(profile),
    )


_WEIGHED = Signature(
    "point_of_weights",
    {
        "profile": PROFILE,
        "hypotheses": HYPOTHESES,
        "at_epsilon": NUMBER,
        "at_delta": NUMBER,
        "weight_pairs": WEIGHT_PAIRS,
        "evidence": PROOFS,
    },
    premises=0,
    word=lambda _, given: f"the profile {describe_wholly(given['profile'])}",
)


@_WEIGHED.of
def point_of_weights(
    profile: Profile,
    hypotheses: Sequence[Hypothesis | str] = (EXACT_REALS,),
    *,
    at_epsilon: object,
    at_delta: object,
    weight_pairs: WeightPairs,
    certificate: Mapping[str, Any] | None = None,
) -> Guarantee:
    """Let a mechanism have the profile μ(w, x) = w μ(1, x) in the notion ``gaussian``, and let (ζ_i, w_i) be pairs for which a Gaussian
    event of noise multiplier 1/(w_i ζ_i), Poisson sampled with probability 1/w_i, has δ(ε) ≤ δ in both directions. If every record with
    μ(1, x) ≤ ζ_i for some i may be given such a w_i, is selected with a probability of at most 1/w_i and then counts w_i times, one run
    on the sample is (ε, δ)-differentially private.

    The kernel checks each pair here, and that the largest ζ_i is at or above μ(1, x) for all records (or a ``certificate`` of that).
    Source: docs/gaussian-weights.md, Theorem 16. Raises :class:`InvalidArgument` (no pairs, or one that the kernel rejects, or records
    without one), :class:`profiles.OtherNotion`, :class:`profiles.InvalidProfile` (μ is not homogeneous), :class:`profiles.Undecided`.
    """
    epsilon, delta = to_epsilon(at_epsilon), to_delta(at_delta)
    pairs = tuple(weight_pairs)
    made, rule = _stand_in(profile)
    require_homogeneous(profile)
    evidence = bound_mu(profile) if certificate is None else recheck_epsilon(made, rule, certificate)
    if not pairs or max(zeta for zeta, _ in pairs) < evidence.upper:
        raise InvalidArgument(
            f"pairs of zeta and weight for all records were expected, but some record of {profile.name[:60]!r} has a larger mu(1, x) than "
            f"every zeta; add a pair for {evidence.upper_text()}"
        )
    for zeta, weight in dict.fromkeys(pairs):
        _require_pair(epsilon, delta, zeta, weight)
    given = as_hypotheses(hypotheses, repr(profile.name))
    bound = Losses(epsilon, epsilon, delta, delta)
    return conclude(
        Inference(
            "Gaussian profile after privacy-constrained sampling",
            f"{profile.name} after privacy-constrained sampling",
            source=_name_source(profile, "Theorem 16"),
            conclusion=f"{describe_losses(bound)}, of each of {len(pairs)} pairs of zeta and weight",
            claims=(f"delta-upper of {len(pairs)} pairs in both directions, homogeneous", "well-defined", "epsilon-upper (of mu)"),
            call=_WEIGHED.record(
                profile=profile, hypotheses=given, at_epsilon=epsilon, at_delta=delta, weight_pairs=pairs, evidence=evidence
            ),
            profile=profile,
            protection=RECORDS,
        ),
        bound,
        supposes=_suppose(profile, given, evidence),
        discharges=_drop_unread(profile),
    )


@lru_cache(maxsize=_KEPT)
def bound_mu(profile: Profile) -> EpsilonBound:
    """Return bounds of sup over records of μ(1, x) that the kernel accepts. Raises as :func:`curve_of_profile`.

    >>> from profiles import declare
    >>> bound_mu(declare("noisy sum", notion="gaussian", mu="w*z/sigma", record={"z": [0, 4]}, parameters={"sigma": 30})).upper_text(6)
    '0.133334'
    """
    bound = bound_epsilon(*_stand_in(profile))
    if not bound.checked_by_kernel:
        raise Undecided(
            f"the largest mu(1, x) of {profile.name[:60]!r} was asked for, but the kernel does not accept the proof of a bound; write mu "
            "more simply, or narrow the ranges without looking at the data"
        )
    return bound


def _stand_in(profile: Profile) -> tuple[Profile, Any]:
    """Return a pure profile with μ in the place of ε, and the rule q = 1, for which ψ(x) = μ(1, x)."""
    if profile.notion is not ProfileNotion.GAUSSIAN:
        raise OtherNotion(
            f'a profile in the notion "gaussian" was expected, but {profile.name[:60]!r} declares {profile.notion.number} in the notion '
            f'"{profile.notion.value}"; declare mu'
        )
    if profile.free_parameters:
        raise InvalidProfile(
            f"a privacy curve of {profile.name[:60]!r} needs numbers, but {profile.free_parameters[0].name} has none; give it one"
        )
    made = profile.stand_in()
    return made, make_rule("uniform", made, {"rate": 1})


def _noise(largest: Fraction) -> Fraction:
    """Return a noise multiplier at or below 1/``largest``."""
    if largest * _LARGEST_NOISE <= 1:
        return _LARGEST_NOISE
    return decimal_below(1 / largest, _DIGITS)


@lru_cache(maxsize=2**12)
def _require_pair(epsilon: Fraction, delta: Fraction, zeta: Fraction, weight: Fraction) -> None:
    """Refuse a pair that the kernel does not accept. Raises :class:`InvalidArgument`."""
    if zeta <= 0 or weight < 1:
        raise InvalidArgument("a pair of zeta > 0 and a weight of at least 1 was expected, but another one was found; correct it")
    claims = state_claims(epsilon, dict.fromkeys(Direction, delta))
    report = check_text(json.dumps(make_certificate(compose_record(weight, zeta, 1, "one pair"), claims)))
    if not report.accepted:
        low, high = (decimal_text(number, 6, round_up=up) for number, up in ((weight, False), (zeta, True)))
        target = f"delta({decimal_text(epsilon, 6, round_up=False)}) <= {decimal_text(delta, 6, round_up=False)}"
        raise InvalidArgument(f"{target} was expected of the weight {low} at zeta = {high}, but the kernel rejects it; lower the weight")


def _suppose(profile: Profile, given: Sequence[Hypothesis], evidence: EpsilonBound) -> tuple[Hypothesis, ...]:
    supposed = (name_declaration(profile), *given, name_range(profile), name_statistics(profile), *evidence.hypotheses)
    return tuple(dict.fromkeys(supposed))


def _drop_unread(profile: Profile) -> dict[Hypothesis, str]:
    return {} if profile.record else dict.fromkeys((name_range(profile), name_statistics(profile)), READS_NOTHING)


def _name_source(profile: Profile, theorem: str) -> str:
    own = f"{_PAGE}, {theorem}"
    return f"{own}; the profile: {profile.source}" if profile.source else own
