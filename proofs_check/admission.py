"""Admission: a profile is used only after ε is proved real, finite and not negative on its whole domain; so are μ, rdp and ρ.

Statement: for all records, all values of the unspecified parameters and all w ≥ 1, every operation of ε as it was written is
defined, and ε ≥ 0. It is proved by the kernel, or refused with a witness; where neither succeeds the profile is undecided and
nothing is derived from it.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping, Sequence
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
from proofs_check.certificates import assemble, check_text, profile_json
from proofs_check.kernel import Report
from proofs_check.prover import trees
from proofs_check.prover.definedness import Counterexample, Obligation, counterexample_at, find_counterexample, obligations
from proofs_check.prover.effort import apart, spend, until_failure
from proofs_check.prover.explore import explore
from proofs_check.prover.goals import Goal
from proofs_check.prover.search import prove
from proofs_check.results import Tree

#: Work, in nominal seconds; a profile that is not proved well-defined with it is undecided.
SECONDS = 8.0
EPSILON = ProfileNotion.PURE.number
#: What it costs a search to have a certificate checked: at all, and for each character.
CHECK, CHARACTER = 5_000, 10


@dataclass(frozen=True)
class ProfileForms:
    """A profile in the forms that proofs need of it, each made once: ``term``, ``variables``, ``expression`` and ``text``."""

    profile: Profile

    @cached_property
    def term(self) -> Term:
        """ε(w, x) as it was written, with numbers in place of parameters. Raises :class:`profiles.OtherNotion`, as ``Profile.epsilon``."""
        return self.profile.numeric_epsilon()

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The statistics, the parameters without a number, and the weight, with their ranges."""
        return self.profile.variables()

    @cached_property
    def expression(self) -> sympy.Expr:
        """ε(w, x) for SymPy. Raises :class:`profiles.InvalidExpression` where it is undefined."""
        return self.profile.expression()

    @cached_property
    def text(self) -> dict[str, Any]:
        """The profile as certificates write it, which the kernel reads."""
        return profile_json(self.profile)

    def check(self, claims: Sequence[Tree], *, target: Fraction | None = None) -> Report:
        """Put claims about the profile to the kernel."""
        return check_text(json.dumps(assemble(self.text, claims, target=target)))

    def admit(self) -> AdmittedProfile:
        """Return the profile as one that is admitted. Raises as :func:`admit`."""
        return admit(self.profile)


@dataclass(frozen=True, eq=False)
class AdmittedProfile(ProfileForms):
    """A profile with the kernel's ``claim`` that what it promises is defined and not negative on its domain; made by :func:`admit`."""

    claim: Tree

    def admit(self) -> AdmittedProfile:
        return self

    def certificate(self, claims: Sequence[Tree], *, target: Fraction | None = None, q: Term | None = None) -> dict[str, Any]:
        """Return the certificate of claims about the profile, behind that of its admission."""
        return assemble(self.text, [self.claim, *claims], target=target, q=q)

    def report(self, claims: Sequence[Tree], *, target: Fraction | None = None) -> Report:
        """Put claims about the profile, behind that of its admission, to the kernel."""
        text = json.dumps(self.certificate(claims, target=target))
        spend(CHECK + CHARACTER * len(text))
        return check_text(text)

    def proves(self, claims: Sequence[Tree], *, target: Fraction | None = None) -> bool:
        """Tell whether the kernel accepts claims as :meth:`report` puts them to it."""
        return self.report(claims, target=target).accepted


def admit(profile: Profile) -> AdmittedProfile:
    """Return the profile as one whose ε (or μ, rdp, ρ) is proved real, finite and not negative on its domain.

    Raises :class:`InvalidProfile` with a witness where that is false, :class:`Undecided` where it could be neither proved nor refuted.
    """
    admitted = _admit(profile)
    return admitted if admitted.profile is profile else AdmittedProfile(profile, admitted.claim)


@lru_cache(maxsize=256)
def _admit(profile: Profile) -> AdmittedProfile:
    word = profile.notion.number
    admitted = AdmittedProfile(profile, _prove_admissible(ProfileForms(profile.stand_in()), word))
    if profile.notion is not ProfileNotion.PURE and not admitted.check([admitted.claim]).accepted:
        raise _undecided(profile, word, "")
    return admitted


def _prove_admissible(forms: ProfileForms, word: str) -> Tree:
    _check_requirements(forms.profile)
    needs = obligations(forms.term)
    _refuse(find_counterexample(forms.term, forms.variables, needs), word)
    reasons: list[str] = []
    claim = apart(SECONDS, lambda: _find_claim(forms, needs, reasons, word))
    if claim is None:
        raise _undecided(forms.profile, word, reasons[-1] if reasons else "")
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
    of_term = ProfileForms(replace(profile, promise=term, parts=(), written=None))
    needs = obligations(of_term.term)
    against = find_counterexample(of_term.term, of_term.variables, needs)
    if against is not None:
        it = "" if against.reason is not None else "it "
        raise InvalidProfile(f"{what}, but {it}{_say_against(against, free_symbols(of_term.term))}; correct it or restrict the ranges")
    if apart(SECONDS, lambda: _find_claim(of_term, needs, [], EPSILON)) is None:
        raise Undecided(f"{what}, but that could be neither proved nor refuted; write it more simply")


def _find_claim(forms: ProfileForms, needs: Sequence[Obligation], reasons: list[str], word: str) -> Tree | None:
    """Return the claim that the kernel accepts, and note why it rejected others."""
    for proof in until_failure(_proofs(forms, needs, word)):
        claim: Tree = {"claim": "well-defined", "verdict": "proved", "proof": proof}
        report = forms.check([claim])
        if report.accepted:
            return claim
        reasons.append(report.reason or "")
    return None


def _where(point: Mapping[str, Fraction]) -> str:
    shown = {ORDER if name == ABOVE_ONE else name: value + 1 if name == ABOVE_ONE else value for name, value in point.items()}
    return ", ".join(f"{name} = {exact_text(value)}" for name, value in shown.items())


def _refuse(against: Counterexample | None, word: str) -> None:
    """Raise :class:`InvalidProfile` for a promise against which there is something."""
    if against is None:
        return
    if against.divisor is not None:
        said = f"{word} {_say_against(against, ())}"
    elif against.reason is not None:
        said = f"{word} must be a finite real number for all records and all w >= 1, but {_say_against(against, ())}"
    else:
        said = f"{word} must not be negative, but it {_say_against(against, against.at)}"
    raise InvalidProfile(f"{said}; restrict the range or change {word}")


def _say_against(against: Counterexample, names: Container[str]) -> str:
    """Return in words what is against a term, at a point of which the coordinates with some names count where it is negative."""
    if against.divisor is not None and against.until is not None:
        ends = f"{_where(against.at)} and {_where(against.until)}"
        return f"divides by {to_text(against.divisor)}, which changes its sign between {ends}"
    if against.reason is not None:
        return f"{against.reason} at {_where(against.at)}"
    used = {name: value for name, value in against.at.items() if name in names}
    return f"is at {_where(used)}" if used else "is"


def _proofs(forms: ProfileForms, needs: Sequence[Obligation], word: str) -> Iterator[Tree]:
    try:
        goal = Goal(forms.expression, forms.variables)
    except InvalidExpression as error:
        raise InvalidProfile(f"{word} of {forms.profile.name!r} is undefined: {error}") from None
    hints = {to_text(part.term): tree for part in needs if free_symbols(part.term) and (tree := part.prove(forms.variables)) is not None}
    if hints:  # what needs proofs of its own to be defined is beyond the search, which has none
        yield {"nonnegative": trees.MANIFEST}
        yield {"nonnegative": trees.MANIFEST, "obligations": hints}
    nonnegative = prove(goal)
    witness = explore(goal).witness if nonnegative is None else None
    if witness is not None:
        _refuse(counterexample_at(forms.term, witness), word)
    stated = None if nonnegative is None else trees.restated(goal, nonnegative)
    for tree in (nonnegative, stated, trees.MANIFEST, trees.boxes(2000), *(trees.boxes(500, centred=True),)):
        if tree is not None:
            yield {"nonnegative": tree}
            if hints:
                yield {"nonnegative": tree, "obligations": hints}
