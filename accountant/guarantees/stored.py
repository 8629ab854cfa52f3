"""What guarantees are made of, as JSON types and back: hypotheses, sampling rules, proofs, bounds, derivations, arguments of rules."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

from accountant.compositions.json_format import composition_from_object, composition_object
from accountant.guarantees.measures import Bound, CurveBound, Losses, ProfileBound, SampledBound
from accountant.guarantees.render import hypotheses_json
from accountant.guarantees.statements import may_close
from accountant.guarantees.theorem import Carried, Derivation, Discharged, Guarantee, Statement
from accountant.rules import SamplingRule
from profiles import InvalidArgument, UnreadableFile
from profiles.hypotheses import Hypothesis, as_hypothesis, restore
from profiles.protection import Neighbors, Protection, Unit, read_protection
from profiles.stored import profile_from_object, profile_object, term_from_object, term_object
from profiles.strict_json import read_count, read_exact, read_fields, read_flag, read_list, read_string, read_strings, write_exact
from proofs_check.suprema.bound import EpsilonBound

MAX_DEPTH = 100


class Proofs:
    """The proofs of a file, each of which stands there once; bounds and calls name them by their place."""

    __slots__ = ("items",)

    def __init__(self, items: Sequence[EpsilonBound] = ()) -> None:
        self.items = list(items)

    def place(self, bound: EpsilonBound) -> int:
        """Return the place of a proof, which is added where it is new."""
        if bound not in self.items:
            self.items.append(bound)
        return self.items.index(bound)

    def at(self, place: object) -> EpsilonBound:
        """Return the proof at a place. Raises :class:`UnreadableFile`."""
        index = read_count(place, "the place of a proof")
        if index >= len(self.items):
            raise UnreadableFile(f"the proof number {index} was expected in the file, but it has {len(self.items)}; correct the file")
        return self.items[index]


def write_name(item: Enum) -> str:
    """Return the name of a notion as the command line prints it."""
    return item.name.lower().replace("_", "-")


def tell_beside(certificate: Mapping[str, Any], guarantee: Guarantee) -> dict[str, Any]:
    """Return a certificate of a bound that says whom it protects and what it rests on: the kernel reads both, and judges neither."""
    told = [{"id": item.id, "sentence": item.sentence} for item in guarantee.hypotheses]
    return {**certificate, "protection": guarantee.protection.to_object(), "hypotheses": told}


def read_hypothesis(value: object, where: str) -> Hypothesis:
    """Return the hypothesis of an object, or of a sentence alone, as version 1 has it. Raises :class:`UnreadableFile`."""
    if isinstance(value, str):
        try:
            return as_hypothesis(value)
        except InvalidArgument:
            raise UnreadableFile(f"{where} are lines of text, but {value[:40]!r} was found; correct the file") from None
    fields = read_fields(value, where, {"id", "head", "sentence"})
    identifier, head, sentence = (read_string(fields[key], f"the {key} of a hypothesis") for key in ("id", "head", "sentence"))
    made = restore(identifier, sentence, head)
    if made is None or not sentence.strip() or not sentence.isprintable():
        raise UnreadableFile(f"the hypothesis {identifier[:40]!r} does not say {sentence[:60]!r}; use a release that knows it")
    return made


def read_hypotheses(value: object, where: str) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of a list. Raises :class:`UnreadableFile`."""
    return tuple(read_hypothesis(item, where) for item in read_list(value, where))


def write_rule(rule: SamplingRule) -> dict[str, Any]:
    """Return a sampling rule as an object."""
    return {
        "name": rule.name,
        **({} if rule.q is None else term_object(rule.q, "q")),
        "constants": [{"name": name, "value": write_exact(value)} for name, value in rule.constants],
        "hypotheses": hypotheses_json(rule.hypotheses),
        "source": rule.source,
        **({} if rule.target_epsilon is None else {"target_epsilon": write_exact(rule.target_epsilon)}),
    }


def read_rule(value: object) -> SamplingRule:
    """Return the sampling rule of an object. Raises :class:`UnreadableFile`."""
    where = "a sampling rule"
    fields = read_fields(value, where, {"name", "constants", "hypotheses", "source"}, frozenset({"q", "q_term", "target_epsilon"}))
    constants = [read_fields(item, "a constant", {"name", "value"}) for item in read_list(fields["constants"], "the constants")]
    return SamplingRule(
        read_string(fields["name"], f"the name of {where}"),
        term_from_object(fields, "q", where) if "q" in fields else None,
        tuple((read_string(item["name"], "a constant"), read_exact(item["value"], "a constant")) for item in constants),
        read_hypotheses(fields["hypotheses"], f"the hypotheses of {where}"),
        read_string(fields["source"], f"the source of {where}"),
        read_exact(fields["target_epsilon"], "the target epsilon") if "target_epsilon" in fields else None,
    )


def write_evidence(bound: EpsilonBound) -> dict[str, Any]:
    """Return a certified worst case as an object."""
    return {
        "lower": write_exact(bound.lower),
        "upper": write_exact(bound.upper),
        "at": {name: write_exact(value) for name, value in bound.at.items()},
        "method": bound.method,
        "reached": bound.reached,
        "proved_by_balls": bound.proved_by_balls,
        "checked_by_kernel": bound.checked_by_kernel,
        "kernel_reason": bound.kernel_reason,
        "boxes": bound.boxes,
        "hypotheses": hypotheses_json(bound.hypotheses),
        "certificate": None if bound.certificate is None else json.loads(json.dumps(bound.certificate)),
    }


def read_evidence(value: object) -> EpsilonBound:
    """Return what an object says about a worst case; nothing of it is checked here. Raises :class:`UnreadableFile`."""
    where = "a proof"
    names = {"lower", "upper", "at", "method", "reached", "proved_by_balls", "checked_by_kernel", "kernel_reason", "boxes", "hypotheses"}
    fields = read_fields(value, where, {*names, "certificate"})
    if not isinstance(fields["at"], dict) or not isinstance(fields["certificate"], dict | None):
        raise UnreadableFile("the record and the certificate of a proof must be objects, but others were found; correct the file")
    return EpsilonBound(
        read_exact(fields["lower"], "a lower bound"),
        read_exact(fields["upper"], "an upper bound"),
        {
            read_string(name, "a name of the record"): read_exact(number, f"the record's {name[:40]}")
            for name, number in fields["at"].items()
        },
        read_string(fields["method"], "a method"),
        reached=read_flag(fields["reached"], "reached"),
        proved_by_balls=read_flag(fields["proved_by_balls"], "proved_by_balls"),
        checked_by_kernel=read_flag(fields["checked_by_kernel"], "checked_by_kernel"),
        kernel_reason=read_string(fields["kernel_reason"], "kernel_reason"),
        boxes=read_count(fields["boxes"], "boxes"),
        hypotheses=read_hypotheses(fields["hypotheses"], "the hypotheses of a proof"),
        certificate=fields["certificate"],
    )


def write_bound(bound: Bound, proofs: Proofs) -> dict[str, Any]:
    """Return a bound of any type as an object; its proofs go to ``proofs``."""
    if isinstance(bound, ProfileBound):
        return {"type": "profile", "profile": profile_object(bound.profile)}
    if isinstance(bound, SampledBound):
        return {"type": "sampled", "profile": profile_object(bound.profile), "rule": write_rule(bound.rule)}
    if isinstance(bound, CurveBound):
        return {"type": "curve", "composition": composition_object(bound.composition)}
    return {
        "type": "losses",
        **{name: _write_end(getattr(bound, name)) for name in ("remove", "add", "delta_remove", "delta_add", "lower")},
        "evidence": [proofs.place(item) for item in bound.proofs],
    }


def _write_end(value: Fraction | None) -> str | None:
    return None if value is None else write_exact(value)


def _read_end(value: object, what: str) -> Fraction | None:
    return None if value is None else read_exact(value, what)


def read_bound(value: object, proofs: Proofs) -> Bound:
    """Return the bound of an object. Raises :class:`UnreadableFile`."""
    kind = value.get("type") if isinstance(value, dict) else None
    ends = {"remove", "add", "delta_remove", "delta_add", "lower"}
    keys = {"profile": {"profile"}, "sampled": {"profile", "rule"}, "losses": {*ends, "evidence"}, "curve": {"composition"}, **_EARLIER}
    if not isinstance(kind, str) or kind not in keys:
        raise UnreadableFile(f"a bound of the type {', '.join(keys)} was expected, but {str(kind)[:40]!r} was found; correct the file")
    fields = read_fields(value, "the bound", {"type", *keys[kind]})
    if kind == "profile":
        return ProfileBound(profile_from_object(fields["profile"], "the profile"))
    if kind == "sampled":
        return SampledBound(profile_from_object(fields["profile"], "the profile"), read_rule(fields["rule"]))
    if kind == "curve":
        return CurveBound(composition_from_object(fields["composition"]))
    if kind == "epsilon":
        upper = read_exact(fields["upper"], "the upper bound")
        return Losses(upper, upper, proofs=(proofs.at(fields["evidence"]),), lower=read_exact(fields["lower"], "the lower bound"))
    names = ("remove", "add", "delta_remove", "delta_add") if kind == "losses" else ("plus", "minus", "delta_plus", "delta_minus")
    remove, add, delta_remove, delta_add = (_read_end(fields[name], name) for name in names)
    if remove is None or delta_remove is None or delta_add is None:
        raise UnreadableFile("a loss if a unit goes, and two deltas, were expected as numbers, but null was found; correct the file")
    evidence = tuple(proofs.at(place) for place in read_list(fields["evidence"], "the proofs"))
    return Losses(remove, add, delta_remove, delta_add, evidence, _read_end(fields.get("lower"), "lower"))


#: Bounds as files of versions 1 and 2 have them.
_EARLIER = {"epsilon": {"lower", "upper", "evidence"}, "two-sided": {"plus", "minus", "delta_plus", "delta_minus", "evidence"}}


def write_derivation(derivation: Derivation) -> dict[str, Any]:
    """Return a derivation tree as an object."""
    return {
        "rule": derivation.rule,
        "statement": derivation.statement,
        "conclusion": derivation.conclusion,
        "claims": list(derivation.claims),
        "premises": [write_derivation(child) for child in derivation.children],
    }


def read_derivation(value: object, depth: int = 0) -> Derivation:
    """Return the derivation of an object. Raises :class:`UnreadableFile`, also for a rule that does not exist."""
    if depth > MAX_DEPTH:
        raise UnreadableFile(f"a derivation of at most {MAX_DEPTH} levels was expected, but a deeper one was found; correct the file")
    fields = read_fields(value, "a derivation", {"rule", "statement", "conclusion", "claims", "premises"})
    premises = [read_derivation(child, depth + 1) for child in read_list(fields["premises"], "the premises")]
    texts = [read_string(fields[key], f"the {key} of a derivation") for key in ("rule", "statement", "conclusion")]
    try:
        claims = read_strings(fields["claims"], "the claims of a derivation")
        return Derivation.stated(texts[0], texts[1], _say_now(texts[2]), tuple(map(_say_now, claims)), tuple(premises))
    except InvalidArgument:
        raise UnreadableFile(f"the derivation rule {texts[0][:60]!r} is unknown; use a release that has it") from None


#: Words of earlier releases in what a step concludes and in how it was proved, and what says the same now.
_EARLIER_WORDS = {
    "this step is no claim of the kernel; the conditions that it rests on are": (
        "the kernel checks the conditions that this step rests on, and not the step itself"
    ),
}


def _say_now(text: str) -> str:
    """Return what a step concludes, or how it was proved, in the words of now: directions had other names in versions 1 and 2."""
    for earlier, now in _EARLIER_WORDS.items():
        text = text.replace(earlier, now)
    return re.sub(r"\b(epsilon|delta)_(plus|minus)\b", lambda match: f"{match[1]}_{'remove' if match[2] == 'plus' else 'add'}", text)


def write_discharged(discharged: Discharged) -> dict[str, Any]:
    """Return a discharged hypothesis as an object."""
    (hypothesis,) = hypotheses_json([discharged.hypothesis])
    return {"hypothesis": hypothesis, "evidence": discharged.evidence, "subject": discharged.subject}


def read_discharged(value: object) -> Discharged:
    """Return the discharged hypothesis of an object. Raises :class:`UnreadableFile`."""
    fields = read_fields(value, "a discharged hypothesis", {"hypothesis", "evidence", "subject"})
    evidence, subject = (read_string(fields[key], f"the {key}") for key in ("evidence", "subject"))
    return Discharged(read_hypothesis(fields["hypothesis"], "a discharged hypothesis"), evidence, subject)


def write_carried(carried: Carried | Statement | Guarantee) -> dict[str, Any]:
    """Return whom a guarantee protects, what is open in it and what was discharged, as fields of an object: of every carrier the same."""
    return {
        "protection": carried.protection.to_object(),
        "hypotheses": hypotheses_json(carried.hypotheses),
        "discharged": [write_discharged(item) for item in carried.discharged],
    }


def read_carried(fields: Mapping[str, Any], where: str) -> Carried:
    """Return what :func:`write_carried` wrote; what words closed that cannot is open. Raises :class:`UnreadableFile`."""
    told = {key: fields[key] for key in ("protection", "hypotheses", "discharged") if key in fields}
    said = read_fields(told, where, {"protection", "hypotheses", "discharged"})
    hypotheses = read_hypotheses(said["hypotheses"], f"the hypotheses of {where}")
    return reopen(read_stated_protection(said["protection"], where), hypotheses, said["discharged"])


def read_stated_protection(value: object, where: str) -> Protection:
    """Return the protection of an object. Raises :class:`UnreadableFile`."""
    said = read_fields(value, f"the protection of {where}", {"unit", "neighbors"})
    try:
        return read_protection(said["unit"], said["neighbors"], where)
    except InvalidArgument as error:
        raise UnreadableFile(str(error)) from None


def reopen(protection: Protection, hypotheses: Sequence[Hypothesis], discharged: object) -> Carried:
    """Return what a file states, where hypotheses about the world that earlier releases let words close are open again."""
    closed = [read_discharged(item) for item in read_list(discharged, "the discharged hypotheses")]
    worldly = [item.hypothesis for item in closed if not may_close(item.hypothesis, item.evidence)]
    kept = tuple(item for item in closed if item.hypothesis not in worldly)
    return Carried(protection, tuple(dict.fromkeys((*hypotheses, *worldly))), kept)


def _write_options(options: tuple[tuple[str, Any], ...], _: Proofs) -> dict[str, Any]:
    return {
        name: write_exact(value) if isinstance(value, Fraction) else dict(value) if isinstance(value, tuple) else value
        for name, value in options
    }


def _read_options(value: object, _: Proofs) -> tuple[tuple[str, Any], ...]:
    read: Mapping[str, Callable[[object], Any]] = {
        "accept_wider": lambda item: read_flag(item, "accept_wider"),
        "budget": lambda item: read_count(item, "the budget"),
        "premises": _read_verdicts,
        "relative_gap": lambda item: read_exact(item, "the relative gap"),
    }
    fields = read_fields(value, "the options of a call", set(), frozenset(read))
    return tuple((name, read[name](item)) for name, item in fields.items())


def _read_verdicts(value: object) -> tuple[tuple[str, bool], ...]:
    if not isinstance(value, dict):
        raise UnreadableFile(
            "the premises of privacy-constrained sampling must be an object, but another value was found; correct the file"
        )
    return tuple((name, read_flag(item, "a premise")) for name, item in value.items())


def _write_proofs(value: EpsilonBound | tuple[EpsilonBound, ...], proofs: Proofs) -> int | list[int]:
    return [proofs.place(item) for item in value] if isinstance(value, tuple) else proofs.place(value)


def _read_proofs(value: object, proofs: Proofs) -> EpsilonBound | tuple[EpsilonBound, ...]:
    return tuple(proofs.at(place) for place in value) if isinstance(value, list) else proofs.at(value)


def _write_claims(value: tuple[Mapping[str, Any], ...], _: Proofs) -> list[dict[str, Any]]:
    return [json.loads(json.dumps(item)) for item in value]


def _read_object(value: object, _: Proofs) -> dict[str, Any] | None:
    if value is not None and not isinstance(value, dict):
        raise UnreadableFile("the evidence of a bound is an object, but another value was found; correct the file")
    return value


def _read_claims(value: object, _: Proofs) -> tuple[Mapping[str, Any], ...]:
    items = read_list(value, "the claims of a point")
    if not all(isinstance(item, dict) for item in items):
        raise UnreadableFile("the claims of a point of a curve are objects, but others were found; correct the file")
    return tuple(items)


def _read_pair(value: object) -> tuple[Fraction, Fraction]:
    items = read_list(value, "a pair of zeta and weight")
    if len(items) != 2:
        raise UnreadableFile(f"a pair of zeta and weight was expected, but {len(items)} numbers were found; correct the file")
    return read_exact(items[0], "zeta"), read_exact(items[1], "a weight")


@dataclass(frozen=True, slots=True)
class ArgumentKind:
    """How an argument of a recorded call stands in a file: what writes it, and what reads it. Proofs stand there once, by their place."""

    write: Callable[[Any, Proofs], Any]
    read: Callable[[object, Proofs], Any]


TEXT = ArgumentKind(lambda value, _: value, lambda value, _: read_string(value, "an argument of a call"))
RATE = ArgumentKind(lambda value, _: write_exact(value), lambda value, _: read_exact(value, "the probability"))
NUMBER = ArgumentKind(
    lambda value, _: None if value is None else write_exact(value),
    lambda value, _: None if value is None else read_exact(value, "a number of a call"),
)
UNIT = ArgumentKind(lambda value, _: value.word, lambda value, _: read_protection(value, Neighbors.ADD_REMOVE, "a call").unit)
NEIGHBORS = ArgumentKind(
    lambda value, _: None if value is None else value.value,
    lambda value, _: None if value is None else read_protection(Unit.RECORD, value, "a call").neighbors,
)
COUNT = ArgumentKind(lambda value, _: value, lambda value, _: read_count(value, "a number of records"))
PROFILE = ArgumentKind(lambda value, _: profile_object(value), lambda value, _: profile_from_object(value, "the profile of a call"))
LOSS = ArgumentKind(
    lambda value, _: None if value is None else profile_object(value),
    lambda value, _: None if value is None else profile_from_object(value, "a loss"),
)
SAMPLING_RULE = ArgumentKind(lambda value, _: write_rule(value), lambda value, _: read_rule(value))
HYPOTHESIS = ArgumentKind(lambda value, _: hypotheses_json([value])[0], lambda value, _: read_hypothesis(value, "the hypothesis of a call"))
HYPOTHESES = ArgumentKind(lambda value, _: hypotheses_json(value), lambda value, _: read_hypotheses(value, "the hypotheses of a call"))
BOUND = ArgumentKind(write_bound, read_bound)
PROOFS = ArgumentKind(_write_proofs, _read_proofs)
OPTIONS = ArgumentKind(_write_options, _read_options)
WEIGHT_PAIRS = ArgumentKind(
    lambda value, _: [[write_exact(number) for number in pair] for pair in value],
    lambda value, _: tuple(_read_pair(item) for item in read_list(value, "the pairs of zeta and weight")),
)
COMPOSITION = ArgumentKind(lambda value, _: composition_object(value), lambda value, _: composition_from_object(value))
#: The certificates of a rule of its own, as an object; what it says is judged where the rule is called.
EVIDENCE = ArgumentKind(lambda value, _: None if value is None else json.loads(json.dumps(value)), _read_object)
CURVE_CLAIMS = ArgumentKind(_write_claims, _read_claims)
