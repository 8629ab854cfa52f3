"""What a mechanism of the catalogue discharges because its own run method runs: its promise, and exact real arithmetic in exact mode."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from accountant.guarantees.calls import Signature
from accountant.guarantees.gaussian import curve_of_profile
from accountant.guarantees.rules import assume, derive_profile
from accountant.guarantees.stored import TEXT
from accountant.guarantees.theorem import Derivation, Guarantee, update_hypotheses
from profiles import InvalidArgument, Profile
from profiles.hypotheses import (
    DECLARED_LOSSES,
    DECLARED_PROFILE,
    EXACT_REALS,
    FILE_IS_RIGHT,
    PARTS_RUN,
    WORD_OF_FILE,
    Hypothesis,
    as_hypotheses,
    name_declaration,
)
from profiles.mechanisms.catalogue import describe_exactness, describe_proof, says_exact
from profiles.mechanisms.interface import EXACT_MODE
from profiles.notions import ProfileNotion


def derive_mechanism(mechanism: object, hypotheses: Sequence[Hypothesis | str] = (EXACT_REALS,)) -> Guarantee:
    """Return the guarantee of a mechanism's profile; that its run method has this profile is closed exactly for the types of the catalogue.

    In the notion ``gaussian`` it is a privacy curve, for records that are used with weight 1: :func:`point_of_curve` reads it at an ε or δ.

    For your own class, also for a subclass of a mechanism of the catalogue, it stays a hypothesis, because it may run something else. The
    assumptions that a mechanism states are added to ``hypotheses``. Raises :class:`InvalidArgument` for an object without a profile.
    """
    profile = getattr(mechanism, "profile", None)
    if not isinstance(profile, Profile):
        raise InvalidArgument(f"a mechanism with a profile was expected, but {type(mechanism).__name__} was found; give one")
    own = as_hypotheses(getattr(mechanism, "hypotheses", ()), "a mechanism")
    noisy = (EXACT_REALS,) if {EXACT_REALS, *EXACT_MODE}.intersection(own) else ()  # discharged for those of the catalogue alone
    given = dict.fromkeys((*as_hypotheses(hypotheses, repr(profile.name)), *noisy))
    derive = curve_of_profile if profile.notion is ProfileNotion.GAUSSIAN else derive_profile
    return assume(prove_run(derive(profile, tuple(given)), mechanism), own)


def prove_run(guarantee: Guarantee, *mechanisms: object) -> Guarantee:
    """Close the hypothesis that ``mechanisms`` have their declared profiles, if they are of the catalogue and declare these profiles.

    Names decide nothing: each promise of the derivation is compared with the whole profile of a mechanism, its formula, ranges, parameters
    and parts, also where a worst case has left nothing of it but a number. If several declare the same profile (one of the catalogue, and a
    class that borrows its profile), each must be of the catalogue. Hypotheses of those of the catalogue are added. If they release
    correctly rounded values, the hypothesis of exact real arithmetic is closed as well; it has no subject, so that it is closed only if the
    guarantee is about these mechanisms and nothing else (:func:`_is_about`).
    """
    return prove_promises(guarantee, mechanisms, {})


def prove_promises(guarantee: Guarantee, mechanisms: Sequence[Any], others: Mapping[Hypothesis, str]) -> Guarantee:
    """Do the same where ``others`` are promises that hold because these mechanisms run, as those of a mechanism after a map of its records,
    each with the reason. For algorithms of this project, each with its theorem; not exported.
    """
    promises = _name_promises(guarantee.derivation, [mechanism.profile for mechanism in mechanisms if _declares(mechanism)], others)
    if promises is None:
        return guarantee
    says = [tuple(_say_of_itself(mechanism.profile)) if _declares(mechanism) else () for mechanism in mechanisms]
    proved = [describe_proof(mechanism) for mechanism in mechanisms]
    exact = [describe_exactness(mechanism) for mechanism in mechanisms]
    proofs: dict[Hypothesis, list[str | None]] = {}
    for items, proof in zip(says, proved, strict=True):
        for item in items:
            proofs.setdefault(item, []).append(proof)
    unproved = {item for promise in promises if not promise.own for item in promise.says}
    closes = {
        item: "; ".join(dict.fromkeys(map(str, proofs[item])))
        for item in dict.fromkeys(item for promise in promises for item in promise.says)
        if item not in unproved and item in proofs and None not in proofs[item]
    }
    closes.update(others)
    if not any(item in guarantee.hypotheses for item in closes):
        return guarantee
    known = [mechanism for mechanism, proof in zip(mechanisms, proved, strict=True) if proof is not None]
    supposed = as_hypotheses([item for mechanism in known for item in getattr(mechanism, "hypotheses", ())], "a mechanism")
    made = update_hypotheses(guarantee, closes, supposed)
    if EXACT_REALS not in made.hypotheses or None in exact or not _is_about(guarantee, made, promises, mechanisms):
        return made
    return _round_noise(made, "; ".join(dict.fromkeys(map(str, exact))))


#: A promise that nobody has proved, or a file that was believed: what runs is unknown.
_PROMISES = frozenset({DECLARED_PROFILE.id, DECLARED_LOSSES.id, FILE_IS_RIGHT.id, WORD_OF_FILE.id})
#: What these rules promise says a profile that the derivation has; one without it is a file's, and says nothing that could be compared.
_OF_PROFILES = frozenset(
    {
        "declared profile",
        "adaptive composition",
        "Gaussian profile, worst case over records",
        "Gaussian profile after privacy-constrained sampling",
    }
)


@dataclass(frozen=True, slots=True)
class _Promise:
    """One promise of a derivation: the whole profile of one of the mechanisms (``own``), or what none of them has.

    ``says``: the hypotheses that name it. ``profile`` None: it is about no profile. ``ends``: no promise stands below it.
    """

    profile: Profile | None
    says: tuple[Hypothesis, ...]
    own: bool
    ends: bool = True


def _declares(mechanism: object) -> bool:
    return isinstance(getattr(mechanism, "profile", None), Profile)


def _name_promises(derivation: Derivation, profiles: Sequence[Profile], others: Iterable[Hypothesis]) -> list[_Promise] | None:
    """Return the promises that a guarantee was made of; None where one is of a file, of which nobody knows what it was about.

    A hypothesis names a mechanism, and no formula: whose promise it is decides the profile, with its ranges, parameters and parts. The
    sums of ``profiles`` are theirs as a whole; of other sums each part is a promise by itself, and so is that they are run together.
    """
    profile = derivation.profile
    if derivation.rule == "as a file states" or (derivation.rule in _OF_PROFILES and profile is None):
        return None
    if profile is not None:
        says = tuple(_say_of_itself(profile))
        if any(_is_same(profile, own) for own in profiles) or set(says) <= set(others):
            return [_Promise(profile, says, own=True)]
        if not profile.parts:
            return [_Promise(profile, says, own=False)]
    below = [_name_promises(child, profiles, others) for child in derivation.children]
    if not below and profile is None:
        return [_Promise(None, (), own=False)]
    promises = [] if profile is None else [_Promise(profile, (PARTS_RUN.about(name=profile.name),), own=False, ends=False)]
    for items in below:
        if items is None:
            return None
        promises += items
    return promises


def _is_same(one: Profile, other: Profile) -> bool:
    """Equality of profiles that goes down to their parts, which ``==`` leaves out."""
    parts = [(mine.times == its.times and _is_same(mine.profile, its.profile)) for mine, its in zip(one.parts, other.parts, strict=False)]
    return one == other and len(one.parts) == len(other.parts) and all(parts)


def _is_about(before: Guarantee, after: Guarantee, promises: Sequence[_Promise], mechanisms: Sequence[Any]) -> bool:
    """Tell whether the promises that a guarantee was made of are those of ``mechanisms``, one for one, and all were proved just now.

    A promise that was discharged before is one of another mechanism, which may draw its noise otherwise; so is one too many.
    """
    if any(item.hypothesis.id in _PROMISES for item in before.discharged) or any(item.id in _PROMISES for item in after.hypotheses):
        return False
    leaves = [item for item in promises if item.ends]
    if not all(item.own for item in leaves) or len(leaves) != len(mechanisms):
        return False
    left = [item.profile for item in leaves]
    for mechanism in mechanisms:  # what others prove is about the one mechanism that they are given with
        same = [place for place, profile in enumerate(left) if profile is not None and _is_same(profile, mechanism.profile)]
        if same:
            left.pop(same[0])
    return not left or len(mechanisms) == 1


_ROUNDED = Signature("round_noise", {"evidence_text": TEXT})


@_ROUNDED.of
def _round_noise(guarantee: Guarantee, evidence_text: str) -> Guarantee:
    """If a mechanism releases the correctly rounded value of the real-valued one, it has its guarantee without exact real arithmetic; it
    supposes what the proof does, that binary64 rounds to nearest and that balls enclose.

    ``evidence_text``: one or several of what is said of the catalogue's mechanisms in exact mode, as a file has it. Source:
    docs/exact-noise.md, Theorems 1 to 3. Raises :class:`InvalidArgument` for other words, and where the hypothesis is not open.
    """
    if not says_exact(evidence_text):
        raise InvalidArgument(
            f"no mechanism of the catalogue is exact because of {evidence_text[:80]!r}; discharge takes words of your own"
        )
    if EXACT_REALS not in guarantee.hypotheses:
        raise InvalidArgument(f"{EXACT_REALS.sentence!r} is not an open hypothesis of {guarantee.subject!r}; nothing is to be discharged")
    return update_hypotheses(guarantee, {EXACT_REALS: evidence_text}, EXACT_MODE, by=_ROUNDED.record(evidence_text=evidence_text))


def _say_of_itself(profile: Profile) -> Iterable[Hypothesis]:
    """In the order of the profile, so that what is discharged stands in every print and file in the same order."""
    composed = [PARTS_RUN.about(name=item.name) for item in _composed(profile)]
    return dict.fromkeys([*composed, *(name_declaration(item) for item in _leaves(profile))])


def _leaves(profile: Profile) -> Iterable[Profile]:
    return [leaf for part in profile.parts for leaf in _leaves(part.profile)] if profile.parts else [profile]


def _composed(profile: Profile) -> Iterable[Profile]:
    return [profile, *(item for part in profile.parts for item in _composed(part.profile))] if profile.parts else []
