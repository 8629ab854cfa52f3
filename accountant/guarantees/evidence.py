"""Certificates of the two directions: each is the worst case of a profile without statistics, so that `pdp check` reads them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from profiles import Profile, Undecided, declare, exact_text
from profiles.terms import Term, number
from proofs_check.suprema.certify import MANIFEST, Candidates, Claim, boxes, certify, premise

_POINT = boxes(1, 256)


def certify_pair(plus: Fraction, q: Fraction, target: Fraction) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return certificates of log(1 + q (e^plus − 1)) ≤ target and −log(1 − q) ≤ target, accepted by the kernel.

    The first is ψ of the constant profile ε = plus under the uniform rule q; the second is ψ of the constant profile ε = −log(1 − q) under
    the rule 1, which is ψ⁻ by Theorem 1 of docs/one-sided.md. Raises :class:`Undecided` where the kernel does not accept one.
    """
    first = declare("epsilon_plus of a one-sided mechanism", f"{exact_text(plus)} + 0*w")
    second = declare("the loss when a record comes", f"-log(1 - {exact_text(q)}) + 0*w")
    return _accepted(first, number(q), target), _accepted(second, number(1), target)


def _accepted(profile: Profile, q: Term, target: Fraction) -> Mapping[str, Any]:
    claim = Claim(Fraction(0), target, {})
    trees = Candidates([MANIFEST], [MANIFEST, _POINT], [("exp", _POINT), ("log", _POINT)], [MANIFEST, _POINT])
    checked = certify(profile, q, claim, trees, premise(profile, None))
    if not checked.accepted or checked.certificate is None:
        raise Undecided(
            f"the kernel did not accept the bound {exact_text(target)} of {profile.name!r}: {checked.reason}; use a rounder target"
        )
    return checked.certificate
