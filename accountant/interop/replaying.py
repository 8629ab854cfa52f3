"""From what a file states to a guarantee: the recorded calls are made again, and the kernel checks the certificates again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from accountant.guarantees import Guarantee, assume
from accountant.guarantees.derive import BOUNDING, CONSTRAINED
from accountant.guarantees.measures import Bound, Losses, SampledBound
from accountant.guarantees.recording import CALLS
from accountant.guarantees.theorem import Call, Statement, require_guarantee
from accountant.interop.files import ReadGuarantee
from accountant.rules import RULES, SamplingRule, make_rule, rule_from_expression
from accountant.rules.named import constants_are_public
from profiles import InvalidArgument, NotReplayed, PDPError, Profile
from profiles.hypotheses import IN_RANGE, RECORD_STATISTICS, STATED, WORD_OF_FILE, Hypothesis
from proofs_check.results import Verdict
from proofs_check.suprema.bound import EpsilonBound
from proofs_check.verify import verify


def replay(read: ReadGuarantee, *, known: Sequence[Guarantee] = (), accept_evidence: bool = False) -> Guarantee:
    """Return the guarantee that the accountant's rules make from the calls that a file records. No number is taken on the file's word.

    Bounds come from the certificates that the kernel accepts now, for the very profile and rule that the calls name; where there is
    none, they are computed again. The result states what the file states, with two differences, both on the safe side:

    * that a mechanism has the profile or the losses that a file declares for it, under no more than the hypotheses that it names, is an
      open hypothesis, except where ``known`` has a guarantee of yours that was made by the same call (as
      ``base_profile(profile, hypotheses)``), which then takes its place;
    * a hypothesis that the file says was discharged by somebody's words is open, except where ``accept_evidence`` is True.

    Raises :class:`NotReplayed` where the calls do not make what the file states, or a rule's call cannot be repeated from a file
    (a sampler that ran, an application's own rule): :func:`accountant.interop.suppose` is what remains then.
    """
    if not isinstance(read, ReadGuarantee):
        raise InvalidArgument(f"a guarantee that was read from a file was expected, but {type(read).__name__} was found; read one first")
    require_guarantee(*known)
    try:
        believing = _Replay((), read.version, trusting=True, accepting=True, searched={})
        made = believing.make(read.call)
        _require_same(read.stated, made.statement, read.version)
        again = _Replay(tuple(known), read.version, trusting=False, accepting=accept_evidence, searched=believing.searched)
        return again.make(read.call)
    except NotReplayed:
        raise
    except (PDPError, KeyError, TypeError, ValueError, AttributeError) as error:
        said = str(error) if isinstance(error, PDPError) else f"a call has the wrong arguments: {error}"[:200]
        raise NotReplayed(f"the calls of the guarantee of {read.stated.subject[:60]!r} cannot be made again: {said}") from error


def find_unrepeatable(call: Call | None) -> str | None:
    """Return why the calls of a file cannot be made again by anybody, None where they can: what they make is then compared."""
    if call is None:
        return "one of its calls is not recorded"
    if call.name not in CALLS:
        return f"the call of {call.name[:60]!r} cannot be made again from a file"
    return next(filter(None, map(find_unrepeatable, call.premises)), None)


class _Replay:
    """One pass over the calls. ``trusting``: leaves are taken as the file declares them; ``accepting``: so are discharges in words.

    ``searched`` are the guarantees of worst cases that had to be computed, so that a second pass need not search again.
    """

    __slots__ = ("accepting", "known", "searched", "trusting", "version", "words")

    def __init__(
        self, known: tuple[Guarantee, ...], version: int, *, trusting: bool, accepting: bool, searched: dict[int, dict[str, Any]]
    ) -> None:
        self.known, self.version, self.trusting, self.accepting, self.searched = known, version, trusting, accepting, searched
        self.words: set[Hypothesis] = set()

    def make(self, call: Call | None) -> Guarantee:
        if call is None:
            raise NotReplayed("a guarantee was to be replayed, but one of the calls behind it is not recorded; use suppose instead")
        for guarantee in self.known:
            if guarantee.call == call:
                return guarantee
        if call.name not in CALLS:
            raise NotReplayed(f"the call of {call.name[:60]!r} cannot be repeated from a file; use suppose instead")
        signature, rule = CALLS[call.name]
        premises = [self.make(premise) for premise in call.premises]
        if signature.premises is not None and len(premises) != signature.premises:
            raise NotReplayed(f"a call needs {signature.premises} premises, but {len(premises)} were found; correct the file")
        given = {**signature.later, **{name: value for name, value in call.arguments if name in signature.arguments}}
        if given.keys() != signature.arguments.keys():
            raise NotReplayed(f"a call of {call.name!r} has the arguments {', '.join(signature.arguments)}; give each of them")
        if call.name in _IN_WORDS and (not self.accepting or given.get("hypothesis") in self.words):  # a file cannot vouch for its own word
            return premises[0] if "hypotheses" not in given else assume(premises[0], given["hypotheses"])
        change = _MADE_AGAIN.get(call.name)
        arguments = dict(given) if change is None else change(self, dict(given), premises)
        made = rule(parts=premises, **arguments) if signature.premises is None else rule(*premises, **arguments)
        if signature.word is None or self.trusting:
            return made
        word = WORD_OF_FILE.about(name=made.subject, what=signature.word(made, given), source=made.derivation.statement)
        self.words.add(word)
        return assume(made, (word,))


# --- what of a file is not believed: each function returns the arguments of a call that is made again --------------------------------

_Made = Callable[["_Replay", dict[str, Any], Sequence[Guarantee]], dict[str, Any]]


def _amplify(run: _Replay, given: dict[str, Any], premises: Sequence[Guarantee]) -> dict[str, Any]:
    (premise,) = premises
    profile = getattr(premise.bound, "profile", None)
    if not isinstance(profile, Profile):
        raise NotReplayed(f"a sampling rule needs the profile of a mechanism, but {premise.subject!r} has none; correct the file")
    return {"rule": _restore_rule(run, given["rule"], profile)}


def _worst_case(run: _Replay, given: dict[str, Any], premises: Sequence[Guarantee]) -> dict[str, Any]:
    (premise,) = premises
    evidence: EpsilonBound = given["evidence"]
    if evidence.checked_by_kernel and evidence.certificate is not None:
        return {"certificate": evidence.certificate}
    key = id(evidence)
    if key not in run.searched:
        run.searched[key] = _options(premise, dict(given["options"]))
    return run.searched[key]


def _options(premise: Guarantee, stated: dict[str, Any]) -> dict[str, Any]:
    """Verdicts about conditions are found again: those of a file are worth nothing."""
    options = {name: value for name, value in stated.items() if name in ("relative_gap", "accept_wider")}
    rule: SamplingRule = premise.bound.rule  # type: ignore[union-attr]
    if rule.q is None and "premises" in stated:
        asked = dict(stated["premises"])
        named = [name for name in ("assumption-8", *BOUNDING) if name in asked] or CONSTRAINED
        conditions = verify(premise.bound.profile, rule.target_epsilon, named)  # type: ignore[union-attr]
        verdicts = {name: decision.verdict for name, decision in conditions.decisions.items()}
        known = {name: verdict is Verdict.PROVED for name, verdict in verdicts.items() if verdict is not Verdict.UNKNOWN}
        options["premises"] = {name: value for name, value in {**known, "feasibility": True}.items() if name in asked}
    return options


def _declare_directions(_: _Replay, given: dict[str, Any], __: Sequence[Guarantee]) -> dict[str, Any]:
    """Proofs in the bound of a declaration are left out: the rule makes none."""
    bound: Bound = given.pop("bound")
    if not isinstance(bound, Losses):
        raise NotReplayed("a mechanism with two losses was expected in a call, but another bound was found; correct the file")
    return {**given, "remove": bound.remove, "add": bound.add, "delta_remove": bound.delta_remove, "delta_add": bound.delta_add}


def _worst_case_directions(run: _Replay, given: dict[str, Any], _: Sequence[Guarantee]) -> dict[str, Any]:
    gap = dict(given.pop("options")).get("relative_gap", Fraction(1, 10**9))
    removed, added = (item.certificate if item.checked_by_kernel else None for item in given.pop("evidence"))
    rule = _restore_rule(run, given["rule"], given["remove"])
    return {**given, "rule": rule, "relative_gap": gap, "certificates": (removed, added)}


def _cover(run: _Replay, given: dict[str, Any], _: Sequence[Guarantee]) -> dict[str, Any]:
    return {**given, "rule": _restore_rule(run, given["rule"], given["profile"])}


def _bound_mu_again(_: _Replay, given: dict[str, Any], __: Sequence[Guarantee]) -> dict[str, Any]:
    """The worst case of mu is taken from its certificate where the kernel accepts that, and computed anew otherwise."""
    evidence: EpsilonBound = given.pop("evidence")
    return given | ({"certificate": evidence.certificate} if evidence.checked_by_kernel else {})


def _discharge(_: _Replay, given: dict[str, Any], __: Sequence[Guarantee]) -> dict[str, Any]:
    return {"hypothesis": given["hypothesis"], "evidence": given["evidence_text"]}


#: Calls that discharge a hypothesis without a proof: by somebody's words, or because of a mechanism that the reader of the file never saw.
#: What is read of a record in place of its statistics is in words, too: both are open then.
_IN_WORDS = ("discharge", "round_noise", "name_readings")

#: All other calls are made again with the very arguments that the file names.
_MADE_AGAIN: dict[str, _Made] = {
    "amplify_by_importance_sampling": _amplify,
    "bound_by_cover": _cover,
    "curve_of_profile": _bound_mu_again,
    "declare_directions": _declare_directions,
    "discharge": _discharge,
    "point_of_weights": _bound_mu_again,
    "worst_case": _worst_case,
    "worst_case_directions": _worst_case_directions,
}


def _restore_rule(run: _Replay, stated: SamplingRule, profile: Profile) -> SamplingRule:
    """Make the rule again by what makes rules, so that its hypotheses are those of the rule and not those of the file.

    Files of version 1 have other sentences for them, which are not compared.
    """
    if stated.name == "expression" and stated.q is not None:
        plain = rule_from_expression(stated.q, profile)
        public = constants_are_public([name for name, _ in stated.constants])
        made = replace(plain, constants=stated.constants, hypotheses=(*public, *plain.hypotheses))
    else:
        made = _named_rule(stated, profile)
    if made != (replace(stated, hypotheses=made.hypotheses) if run.version == 1 else stated):
        raise NotReplayed(f"the sampling rule {stated.name[:60]!r} of the file is not the one that this name and these constants make")
    return made


def _named_rule(stated: SamplingRule, profile: Profile) -> SamplingRule:
    constants = dict(stated.constants)
    target = stated.target_epsilon
    if stated.name not in RULES or not RULES[stated.name].uses_statistic:
        return make_rule(stated.name, profile, constants, target)
    made = [make_rule(stated.name, profile, {**constants, "statistic": item.name}, target) for item in profile.record]
    return next((rule for rule in made if rule.q == stated.q), made[0])


def _require_same(stated: Statement, made: Statement, version: int) -> None:
    """Compare everything but how a bound was found, which a certificate does not say.

    The rules of earlier versions named fewer hypotheses, and more was discharged by words: what they make now has more open, and it is what
    they make that is returned. What the file leaves open is open; a profile without statistics left two hypotheses open that hold by
    themselves.
    """
    pairs = {
        "subject": (stated.subject, made.subject),
        "bound": (_numbers(stated.bound), _numbers(made.bound)),
        "open hypotheses": (set(stated.hypotheses), set(made.hypotheses)),
        "discharged hypotheses": (set(stated.discharged), set(made.discharged)),
        "derivation": (stated.derivation, made.derivation),
        "protection": (stated.protection, made.protection),
    }
    if version == 2:
        pairs["open hypotheses"] = (set(stated.hypotheses), set(stated.hypotheses) & set(made.hypotheses))
        pairs["discharged hypotheses"] = (set(made.discharged), set(made.discharged) & set(stated.discharged))
    if version == 1:
        for name in ("open hypotheses", "discharged hypotheses", "protection"):
            del pairs[name]
        ids = {item.id for item in made.hypotheses if item.id != STATED.id}
        ids |= {closed.hypothesis.id for closed in made.discharged} & {IN_RANGE.id, RECORD_STATISTICS.id}
        if not all(item in made.hypotheses or item.id in ids for item in stated.hypotheses):
            pairs["open hypotheses"] = (set(stated.hypotheses), set(made.hypotheses))
        pairs["bound"] = (_numbers(_bare(stated.bound)), _numbers(_bare(made.bound)))
    for name, (left, right) in pairs.items():
        if left != right:
            raise NotReplayed(f"the file states another {name} for {stated.subject[:60]!r} than its calls make; do not rely on it")


def _bare(bound: Bound) -> Bound:
    return replace(bound, rule=replace(bound.rule, hypotheses=())) if isinstance(bound, SampledBound) else bound


def _numbers(bound: Bound) -> object:
    return (replace(bound, proofs=(), lower=None), *map(_proof, bound.proofs)) if isinstance(bound, Losses) else bound


def _proof(evidence: EpsilonBound) -> tuple[object, ...]:
    return (evidence.lower, evidence.upper, evidence.at, evidence.checked_by_kernel, evidence.hypotheses, evidence.certificate)
