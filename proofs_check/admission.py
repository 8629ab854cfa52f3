"""Admission: a profile is used only after ε is proved real, finite and not negative on its whole domain; so are μ, rdp and ρ.

Statement: for all records, all values of the unspecified parameters and all w ≥ 1, every operation of ε as it was written is
defined, and ε ≥ 0. It is proved by the kernel, or refused with a witness; where neither succeeds the profile is undecided and
nothing is derived from it.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import sympy

from profiles.errors import InvalidExpression, InvalidProfile, Undecided
from profiles.notions import ABOVE_ONE, ORDER, ProfileNotion
from profiles.numbers import exact_text
from profiles.profile import Profile
from profiles.tables import Table
from profiles.terms import Term, applications, free_symbols, number, to_text
from profiles.variables import Variable
from proofs_check.certificates import assemble, check_claims, check_text, profile_json
from proofs_check.kernel import Report
from proofs_check.prover import trees
from proofs_check.prover.definedness import Obligation, find_counterexample, obligations
from proofs_check.prover.effort import apart, spend, until_failure
from proofs_check.prover.explore import explore
from proofs_check.prover.goals import Goal
from proofs_check.prover.pointwise import Counterexample, counterexample_at
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


@dataclass(frozen=True, slots=True)
class _Settled:
    """What was found of a term: the ``claim`` that the kernel accepts, or what is ``against`` it, or why neither, where that is known."""

    claim: Tree | None = None
    against: Counterexample | None = None
    reason: str = ""


@lru_cache(maxsize=256)
def _admit(profile: Profile) -> AdmittedProfile:
    word = profile.notion.number
    stand_in = profile.stand_in()
    tables = applications(stand_in.promise)
    _check_requirements(stand_in, tables)
    settled = _settle(ProfileForms(stand_in), word)
    if settled.against is not None:
        raise InvalidProfile(_say_refused(settled.against, word))
    if settled.claim is not None:
        admitted = AdmittedProfile(profile, settled.claim)
        if profile.notion is ProfileNotion.PURE or check_claims(admitted.text, [settled.claim]).accepted:
            return admitted
    raise Undecided(
        f"the profile {profile.name!r} was to be proved real, finite and non-negative, but neither a proof nor a witness was found"
        f"{f' ({settled.reason})' if settled.reason else ''}; simplify {word}, or narrow its ranges and clip each record to them"
    )


def _check_requirements(profile: Profile, tables: Iterable[tuple[Table, Term]]) -> None:
    """Refuse a profile whose ranges run backwards for some parameters, or whose tables are used outside of their points.

    Each is that a term is not negative, of which the kernel proves what it proves of a profile that promises it.
    """
    for term, what in _requirements(profile, tables):
        of_term = ProfileForms(replace(profile, promise=term, parts=(), written=None))
        settled = _settle(of_term, EPSILON)
        if settled.against is not None:
            it = "" if settled.against.reason is not None else "it "
            found = _say_against(settled.against, free_symbols(of_term.term))
            raise InvalidProfile(f"{what}, but {it}{found}; correct it or restrict the ranges")
        if settled.claim is None:
            raise Undecided(f"{what}, but that could be neither proved nor refuted; write it more simply")


def _requirements(profile: Profile, tables: Iterable[tuple[Table, Term]]) -> Iterator[tuple[Term, str]]:
    """Yield terms that must not be negative anywhere on the domain, and what is said of them."""
    for written in profile.shares:
        yield written.width, f"the range of {written.name} is {written.text}, whose upper end must not be below its lower one"
    for table, argument in tables:
        if not table.continues:
            what = f"{to_text(argument)}, at which the table {table.name} is used, must lie in its range from {exact_text(table.lo)} to "
            what += exact_text(table.hi)
            yield ("add", argument, ("neg", number(table.lo))), what
            yield ("add", number(table.hi), ("neg", argument)), what


def _settle(forms: ProfileForms, word: str) -> _Settled:
    """Look for a point that is against the term of some forms, and where there is none for a proof that it is defined and not negative."""
    needs, reasons = obligations(forms.term), list[str]()
    against = find_counterexample(forms.term, forms.variables, needs)
    if against is not None:
        return _Settled(against=against)
    found = apart(SECONDS, lambda: _prove(forms, needs, reasons, word))
    return found or _Settled(reason=reasons[-1] if reasons else "")


def _prove(forms: ProfileForms, needs: Sequence[Obligation], reasons: list[str], word: str) -> _Settled | None:
    """Return the claim that the kernel accepts, or what was met on the way that is against it; note why claims were rejected."""
    for proof in until_failure(_proofs(forms, needs, word)):
        if isinstance(proof, Counterexample):
            return _Settled(against=proof)
        claim: Tree = {"claim": "well-defined", "verdict": "proved", "proof": proof}
        report = check_claims(forms.text, [claim])
        if report.accepted:
            return _Settled(claim)
        reasons.append(report.reason or "")
    return None


def _where(point: Mapping[str, Fraction]) -> str:
    shown = {ORDER if name == ABOVE_ONE else name: value + 1 if name == ABOVE_ONE else value for name, value in point.items()}
    return ", ".join(f"{name} = {exact_text(value)}" for name, value in shown.items())


def _say_refused(against: Counterexample, word: str) -> str:
    """Return in words why a promise is refused."""
    if against.divisor is not None:
        said = f"{word} {_say_against(against, ())}"
    elif against.reason is not None:
        said = f"{word} must be a finite real number for all records and all w >= 1, but {_say_against(against, ())}"
    else:
        said = f"{word} must not be negative, but it {_say_against(against, against.at)}"
    return f"{said}; restrict the range or change {word}"


def _say_against(against: Counterexample, names: Container[str]) -> str:
    """Return in words what is against a term, at a point of which the coordinates with some names count where it is negative."""
    if against.divisor is not None and against.until is not None:
        ends = f"{_where(against.at)} and {_where(against.until)}"
        return f"divides by {to_text(against.divisor)}, which changes its sign between {ends}"
    if against.reason is not None:
        return f"{against.reason} at {_where(against.at)}"
    used = {name: value for name, value in against.at.items() if name in names}
    return f"is at {_where(used)}" if used else "is"


def _proofs(forms: ProfileForms, needs: Sequence[Obligation], word: str) -> Iterator[Tree | Counterexample]:
    """Yield trees that may prove the term defined and not negative, and what is against it where the search for one meets that."""
    try:
        goal = Goal(forms.expression, forms.variables)
    except InvalidExpression as error:
        raise InvalidProfile(f"{word} of {forms.profile.name!r} is undefined: {error}") from None
    hints = {to_text(part.term): tree for part in needs if (tree := part.prove(forms.variables)) is not None}
    if hints:  # what needs proofs of its own to be defined is beyond the search, which has none
        yield {"nonnegative": trees.MANIFEST}
        yield {"nonnegative": trees.MANIFEST, "obligations": hints}
    nonnegative = prove(goal)
    witness = explore(goal).witness if nonnegative is None else None
    against = None if witness is None else counterexample_at(forms.term, witness)
    if against is not None:
        yield against
    stated = None if nonnegative is None else trees.restated(goal, nonnegative)
    for tree in (nonnegative, stated, trees.MANIFEST, trees.boxes(2000), *(trees.boxes(500, centred=True),)):
        if tree is not None:
            yield {"nonnegative": tree}
            if hints:
                yield {"nonnegative": tree, "obligations": hints}
