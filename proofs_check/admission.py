"""Admission: a profile is used only after ε is proved real, finite and not negative on its whole domain; so are μ, rdp and ρ.

Statement: for all records, all values of the unspecified parameters and all w ≥ 1, every operation of ε as it was written is
defined, and ε ≥ 0. It is proved by the kernel, or refused with a witness; where neither succeeds the profile is undecided and
nothing is derived from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import sympy

from profiles.errors import InvalidExpression, InvalidProfile, Undecided
from profiles.notions import ABOVE_ONE, ORDER, ProfileNotion
from profiles.numbers import exact_text
from profiles.profile import Profile
from profiles.terms import Term, applications, free_symbols, number, to_text
from profiles.variables import Variable
from proofs_check.certificates import assemble, check_text, make_certificate, profile_json
from proofs_check.kernel import Report
from proofs_check.prover import trees
from proofs_check.prover.definedness import obligations
from proofs_check.prover.effort import apart, spend, until_failure
from proofs_check.prover.explore import candidates, explore
from proofs_check.prover.goals import Goal
from proofs_check.prover.pointwise import UndefinedAtPoint, as_ball, value_at
from proofs_check.prover.search import prove
from proofs_check.results import Tree

#: Work, in nominal seconds; a profile that is not proved well-defined with it is undecided.
SECONDS = 8.0
EPSILON = ProfileNotion.PURE.number
#: What it costs a search to have a certificate checked: at all, and for each character.
CHECK, CHARACTER = 5_000, 10


@dataclass(frozen=True, eq=False)
class AdmittedProfile:
    """A profile with the kernel's ``claim`` that what it promises is defined, and not negative, on the domain; made by :func:`admit` alone.

    The forms that proofs need of it are each made once: ``term``, ``expression`` and ``text``.
    """

    profile: Profile
    claim: Tree

    @cached_property
    def term(self) -> Term:
        """ε(w, x) as it was written, with numbers in place of parameters. Raises :class:`profiles.OtherNotion`, as ``Profile.epsilon``."""
        return self.profile.numeric_epsilon()

    @cached_property
    def expression(self) -> sympy.Expr:
        """The same for SymPy."""
        return self.profile.expression()

    @cached_property
    def text(self) -> dict[str, Any]:
        """The profile as certificates write it, which the kernel reads."""
        return profile_json(self.profile)

    def certificate(self, claims: Sequence[Tree], *, target: Fraction | None = None, q: Term | None = None) -> dict[str, Any]:
        """Return the certificate of claims about the profile, behind that of its admission."""
        return assemble(self.text, [self.claim, *claims], target=target, q=q)


def admit(profile: Profile) -> AdmittedProfile:
    """Return the profile as one whose ε (or μ, rdp, ρ) is proved real, finite and not negative on its domain.

    Raises :class:`InvalidProfile` with a witness where that is false, :class:`Undecided` where it could be neither proved nor refuted.
    """
    admitted = _admit(profile)
    return admitted if admitted.profile is profile else AdmittedProfile(profile, admitted.claim)


@lru_cache(maxsize=256)
def _admit(profile: Profile) -> AdmittedProfile:
    if profile.notion is ProfileNotion.PURE:
        return AdmittedProfile(profile, _prove_admissible(profile, profile.notion.number))
    claim = _prove_admissible(profile.stand_in(), profile.notion.number)
    if not check_text(json.dumps(make_certificate(profile, [claim]))).accepted:
        raise _undecided(profile, profile.notion.number, "")
    return AdmittedProfile(profile, claim)


def well_defined_claim(profile: Profile) -> Tree:
    """Return the kernel's claim of the admission of a profile, with its proof. Raises as :func:`admit`."""
    return admit(profile).claim


def _prove_admissible(profile: Profile, word: str) -> Tree:
    term = profile.numeric_epsilon()
    variables = profile.variables()
    _check_requirements(profile)
    for point in _points(term, variables):
        _refuse_bad_point(term, point, word)
    _refuse_vanishing(term, variables, word)
    reasons: list[str] = []
    claim = apart(SECONDS, lambda: _find_claim(profile, term, reasons, word))
    if claim is None:
        raise _undecided(profile, word, reasons[-1] if reasons else "")
    return claim


def _undecided(profile: Profile, word: str, reason: str) -> Undecided:
    return Undecided(
        f"the profile {profile.name!r} was to be proved real, finite and non-negative, but neither a proof nor a witness was found"
        f"{f' ({reason})' if reason else ''}; simplify {word}, or narrow its ranges and clip each record to them"
    )


def _check_requirements(profile: Profile) -> None:
    """Refuse a profile whose ranges run backwards for some parameters, or whose tables are used outside of their points."""
    for written in profile.shares:
        _require_nonnegative(
            profile, written.width, f"the range of {written.name} is {written.text}, whose upper end must not be below its lower one"
        )
    for table, argument in applications(profile.epsilon):
        if not table.continues:
            what = f"{to_text(argument)}, at which the table {table.name} is used, must lie in its range from {exact_text(table.lo)} to "
            what += exact_text(table.hi)
            _require_nonnegative(profile, ("add", argument, ("neg", number(table.lo))), what)
            _require_nonnegative(profile, ("add", number(table.hi), ("neg", argument)), what)


def _require_nonnegative(profile: Profile, term: Term, what: str) -> None:
    """Refuse a profile for which a term is negative somewhere on the domain: what the kernel proves is that of the term as a profile."""
    of_term = replace(profile, promise=term, parts=(), written=None)
    numeric, variables = of_term.numeric_epsilon(), of_term.variables()
    for point in _points(numeric, variables):
        try:
            negative = as_ball(value_at(numeric, point)) < 0
        except UndefinedAtPoint as error:
            raise InvalidProfile(f"{what}, but {error} at {_where(point)}; correct it or restrict the ranges") from None
        if negative:
            used = {name: value for name, value in point.items() if name in free_symbols(numeric)}
            raise InvalidProfile(f"{what}, but it is{f' at {_where(used)}' if used else ''}; correct it or restrict the ranges")
    if apart(SECONDS, lambda: _find_claim(of_term, numeric, [], EPSILON)) is None:
        raise Undecided(f"{what}, but that could be neither proved nor refuted; write it more simply")


def _find_claim(profile: Profile, term: Term, reasons: list[str], word: str) -> Tree | None:
    """Return the claim that the kernel accepts, and note why it rejected others."""
    for proof in until_failure(_proofs(profile, term, word)):
        claim: Tree = {"claim": "well-defined", "verdict": "proved", "proof": proof}
        report = check_text(json.dumps(make_certificate(profile, [claim])))
        if report.accepted:
            return claim
        reasons.append(report.reason or "")
    return None


def report_on(profile: Profile, claims: Sequence[Tree], *, target: Fraction | None = None, q: Term | None = None) -> Report:
    """Put claims, behind that of the admission of their profile, to the kernel. Raises as :func:`admit`."""
    text = json.dumps(admit(profile).certificate(claims, target=target, q=q))
    spend(CHECK + CHARACTER * len(text))
    return check_text(text)


def checks(profile: Profile, claims: Sequence[Tree], *, target: Fraction | None = None, q: Term | None = None) -> bool:
    """Tell whether the kernel accepts claims as :func:`report_on` puts them to it."""
    return report_on(profile, claims, target=target, q=q).accepted


def _points(term: Term, variables: tuple[Variable, ...]) -> Iterator[dict[str, Fraction]]:
    yield from candidates(variables, 400)
    for part in obligations(term):
        yield from part.critical_points(variables)


def _where(point: Mapping[str, Fraction]) -> str:
    shown = {ORDER if name == ABOVE_ONE else name: value + 1 if name == ABOVE_ONE else value for name, value in point.items()}
    return ", ".join(f"{name} = {exact_text(value)}" for name, value in shown.items())


def _refuse_vanishing(term: Term, variables: tuple[Variable, ...], word: str) -> None:
    for part in obligations(term):
        ends = part.sign_change(variables)
        if ends is not None:
            raise InvalidProfile(
                f"{word} divides by {to_text(part.term)}, which changes its sign between {_where(ends[0])} and {_where(ends[1])}; "
                f"restrict the range or change {word}"
            )


def _refuse_bad_point(term: Term, point: Mapping[str, Fraction], word: str) -> None:
    where = _where(point)
    try:
        value = value_at(term, point)
    except UndefinedAtPoint as error:
        raise InvalidProfile(
            f"{word} must be a finite real number for all records and all w >= 1, but {error} at {where}; "
            f"restrict the range or change {word}"
        ) from None
    if as_ball(value) < 0:
        raise InvalidProfile(f"{word} must not be negative, but it is at {where}; restrict the range or change {word}")


def _proofs(profile: Profile, term: Term, word: str) -> Iterator[Tree]:
    domain = profile.variables()
    try:
        goal = Goal(profile.expression(), domain)
    except InvalidExpression as error:
        raise InvalidProfile(f"{word} of {profile.name!r} is undefined: {error}") from None
    hints = {
        to_text(part.term): tree for part in obligations(term) if free_symbols(part.term) and (tree := part.prove(profile)) is not None
    }
    if hints:  # what needs proofs of its own to be defined is beyond the search, which has none
        yield {"nonnegative": trees.MANIFEST}
        yield {"nonnegative": trees.MANIFEST, "obligations": hints}
    nonnegative = prove(goal)
    witness = explore(goal).witness if nonnegative is None else None
    if witness is not None:
        _refuse_bad_point(term, witness, word)
    stated = None if nonnegative is None else trees.restated(goal, nonnegative)
    for tree in (nonnegative, stated, trees.MANIFEST, trees.boxes(2000), *(trees.boxes(500, centred=True),)):
        if tree is not None:
            yield {"nonnegative": tree}
            if hints:
                yield {"nonnegative": tree, "obligations": hints}
