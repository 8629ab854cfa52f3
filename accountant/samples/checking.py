"""Checking the certificate beside a sample: the kernel judges its proof, and everything else must be what that proof and the rule allow."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from accountant.guarantees.bounds import find_loss_record
from accountant.guarantees.statements import RULES as GUARANTEE_RULES
from accountant.rules.gaussian import make_gaussian_rule
from accountant.rules.named import RULES, SamplingRule, constants_are_public, make_rule, rule_from_expression
from accountant.samples.certificate import DRAWS, FORMAT, SECRET, USES, VERSION, WEIGHTED
from accountant.selection.select import CERTIFIED, CHECKED, DOMINATED, METHODS, ROUNDED, TABULATED
from accountant.weights.gaussian.cover_certificate import check_cover
from accountant.weights.gaussian.table_format import check_table
from accountant.weights.gaussian.table_format import declare_stated as declare_gaussian
from profiles import InvalidSampling, Profile, declare, exact_text, to_exact
from profiles.hypotheses import (
    ARITHMETIC,
    CONDITION,
    DECLARED_PROFILE,
    DEFINED,
    EXACT_REALS,
    FEASIBLE_WEIGHTS,
    FRESH_SAMPLES,
    IN_RANGE,
    INDEPENDENT,
    MOST_STEPS,
    ONE_ANALYSIS,
    PARTS_RUN,
    PROBABILITY,
    RECORD_STATISTICS,
    SAME_STATISTICS,
    SCALE_FROM_DATA,
    STATISTICS,
    TARGET_FIXED,
    TARGET_FROM_DATA,
    Hypothesis,
    as_hypothesis,
    attribute,
    restore,
)
from profiles.protection import Unit
from profiles.randomness.bits import GeneratorBits, SecureBits
from profiles.strict_json import find_document
from profiles.terms import to_text
from profiles.variables import MAX_NAME
from proofs_check.certificates import Fault, check_text, judge_file, require
from proofs_check.kernel import Report

_FIRST_KEYS = frozenset(
    {
        *("format", "version", "uses", "publishable", "profile", "runs", "rule", "notion", "epsilon", "conditional", "hypotheses"),
        *("discharged", "derivation", "sampler", "not_covered", "checked_by_kernel", "proof"),
    }
)
#: What each version has: the first one named fewer hypotheses, and is still read; ``pdp check`` adds what it does not say. The third one is
#: of samples under Gaussian noise, whose proof is a table of weights, or a cover of the rule.
_KEYS = {1: _FIRST_KEYS, VERSION: _FIRST_KEYS | {"unit", "premises", "parts"}, WEIGHTED: _FIRST_KEYS | {"unit", "premises", "parts"}}
_NOTIONS = {1: "add-remove-dp", VERSION: "add-remove-dp", WEIGHTED: "approximate-dp"}
_FIGURES = frozenset({"warning", "records", "sample_size", "expected_sample_size", "seed"})
_BITS = {source.name: source.hypothesis for source in (SecureBits, GeneratorBits)}
_CONSTRAINED = RULES["privacy-constrained"]
#: What the sampler, the kernel and the conditions of privacy-constrained sampling can discharge; whatever else is open stays open.
_CLOSED = frozenset(
    {
        *(INDEPENDENT, PROBABILITY, DEFINED, FEASIBLE_WEIGHTS),
        *(CONDITION.about(name=name) for name in ("assumption-8", "assumption-9", "assumption-9-nonzero", "feasibility")),
    }
)
#: What holds by itself where a profile has no statistic; what the mechanisms of a plan discharge is not the sampler's to say.
_EMPTY = _CLOSABLE = frozenset({IN_RANGE.id, RECORD_STATISTICS.id})
#: What certificates of the first version had to name, where it applies.
_FIRST = frozenset(
    {
        *("declared-range", "public-constants", "public-centre", "is-norm", "exact-reals", "computed-statistics", "ieee-arithmetic"),
        *("one-analysis", "secure-bits", "seeded-bits", "same-statistics"),
    }
)


def read_certificate(text: str) -> Mapping[str, Any] | None:
    """Return the object of a sample certificate, None where the text is something else (which is the kernel's to judge).

    So is a text in which a key is given twice, or a number is none.
    """
    return find_document(text, FORMAT, floats=True)


def check_certificate(certificate: Mapping[str, Any]) -> Report:
    """Put the proof inside a sample certificate to the kernel, and compare what it proves with what the certificate says.

    Accepted means: the kernel accepts the proof; it is about the stated profile and rule; its bound is at most the stated ε; it has the
    claims that the stated way of choosing (q, w) rests on; the rule is what its name and constants say; every hypothesis that rule,
    mechanism, sampler and randomness leave open is listed; and nothing is stated that this version does not write. Hypotheses stay
    hypotheses. Not checked: ``derivation`` and the evidence of ``discharged``, which explain; where the profile comes from.
    """
    return judge_file("sample-certificate", lambda: _check(certificate))


def _check(fields: Mapping[str, Any]) -> Report:
    require(fields["format"] == FORMAT, "format", f"the format {FORMAT} was expected")
    require(type(fields["version"]) is int and fields["version"] in _KEYS, "version", f"version {VERSION} was expected")
    weighted = isinstance(fields.get("profile"), dict) and "notion" in fields["profile"]
    require((fields["version"] == WEIGHTED) is weighted, "version", f"version {WEIGHTED} is of Gaussian noise, and no other is")
    keys = _KEYS[fields["version"]]
    unknown = [key for key in fields if key not in keys and key != "private"]
    require(not unknown, "fields", f"the field {str(unknown[:1])[:60]} is unknown")
    for key in sorted(keys - {"proof"}):
        require(key in fields, key, "it is missing")
    proof, rule = fields["proof"], fields["rule"]
    require(proof is not None, "proof", "there is no proof for the kernel: the bound rests on ball arithmetic alone")
    require(proof["profile"] == fields["profile"], "profile", "the proof is about another profile")
    stated = read_stated_hypotheses(fields)
    report = _check_proof(proof, weighted=fields["version"] == WEIGHTED, tabulated=rule["q"] is None)
    if not report.accepted:
        return Report(accepted=False, step=f"proof.{report.step}", reason=report.reason)
    require(
        set(rule) == {"name", "q", "constants", "target_epsilon"}, "rule", "it has other fields than name, q, constants, target_epsilon"
    )
    claims = {claim.claim: claim.bound for claim in report.claims if claim.verdict == "proved"}
    declared = declare_stated(fields["profile"])
    made = _rebuild(declared, rule, proof, weighted=fields["version"] == WEIGHTED)
    needed = _open(fields, made, declared)
    if fields["version"] == 1:
        own = {RECORD_STATISTICS.id} if fields["rule"]["name"] == "expression" else set()
        needed = [item for item in needed if item.id in _FIRST | own]
    else:
        needed += _name_columns(declared, stated)
    forgotten = [item for item in needed if not _is_stated(item, stated)]
    require(
        not forgotten,
        "hypotheses",
        f"the hypothesis {''.join(item.sentence for item in forgotten[:1])[:60]} is missing, which nothing in the file discharges",
    )
    _check_bound(fields, claims, declared)
    _check_statements(fields, needed, stated)
    if fields["version"] > 1:
        told = {*stated, *(as_hypothesis(item["hypothesis"]) for item in fields["discharged"])}
        lost = [item.sentence for item in _gather_hypotheses(fields, made, declared) if item in _CLOSED and item not in told]
        require(not lost, "discharged", f"the hypothesis {''.join(lost[:1])[:60]} is neither open nor discharged")
    return report


def _check_proof(proof: Mapping[str, Any], *, weighted: bool, tabulated: bool) -> Report:
    if not weighted:
        return check_text(json.dumps(proof))
    return check_table(proof) if tabulated else check_cover(proof)


def read_stated_hypotheses(fields: Mapping[str, Any]) -> list[Hypothesis]:
    """Return the hypotheses that a certificate names. For certificates that are checked."""
    listed = fields["hypotheses"]
    require(isinstance(listed, list) and all(isinstance(text, str) for text in listed), "hypotheses", "a list of texts was expected")
    if fields["version"] == 1:
        return [as_hypothesis(text) for text in listed]
    stated = [restore(item["id"], item["sentence"], item["head"]) for item in fields["premises"] if set(item) == {"id", "head", "sentence"}]
    listed_now = [as_hypothesis(text).sentence for text in listed]
    same = [item.sentence for item in stated if item is not None] == listed_now and len(stated) == len(fields["premises"])
    require(same, "premises", "they do not say what the hypotheses say, or one is unknown")
    return [item for item in stated if item is not None]


def _name_columns(declared: Profile, stated: list[Hypothesis]) -> list[Hypothesis]:
    """Return, for each statistic, the hypothesis about the columns that it is read from, which the file alone knows."""
    read = {item.name: [each for each in stated if _is_read(each, item.name)] for item in declared.record}
    missing = [RECORD_STATISTICS.about(names=f"the statistic {name}") for name, items in read.items() if not items]
    return [*missing, *(item for items in read.values() for item in items)]


def _is_read(hypothesis: Hypothesis, name: str) -> bool:
    return hypothesis.id == RECORD_STATISTICS.id and hypothesis.sentence.startswith(f"the statistic {name} (")


def _is_stated(needed: Hypothesis, stated: list[Hypothesis]) -> bool:
    """Whether a hypothesis is among the stated ones: a gap in it may be filled in any way, where the file alone knows how."""
    if needed == TARGET_FIXED and TARGET_FROM_DATA in stated:  # it says more
        return True
    return any(item.id == needed.id for item in stated) if needed.is_family else needed in stated


def name_unstated(fields: Mapping[str, Any]) -> list[str]:
    """Return the hypotheses of an accepted certificate that it does not name itself: those of the first version named fewer."""
    declared = declare_stated(fields["profile"])
    rule = _rebuild(declared, fields["rule"], fields["proof"], weighted=fields["version"] == WEIGHTED)
    stated = read_stated_hypotheses(fields)
    filled = {DECLARED_PROFILE.id: DECLARED_PROFILE.about(name=declared.name, source="")}
    filled[RECORD_STATISTICS.id] = RECORD_STATISTICS.about(names=", ".join(item.name for item in declared.record) or "no statistic")
    needed = [item for item in _open(fields, rule, declared) if not _is_stated(item, stated)]
    return [filled.get(item.id, item).sentence if item.is_family else item.sentence for item in needed]


def declare_stated(profile: Mapping[str, Any]) -> Profile:
    """Return the profile that a certificate states. Raises what :func:`profiles.declare` raises."""
    if "notion" in profile:
        return declare_gaussian(profile)
    return declare(profile["name"], profile["epsilon"], record=profile["record"], parameters=profile["parameters"], ignores_weights=True)


def _rebuild(declared: Profile, rule: Mapping[str, Any], proof: Mapping[str, Any], *, weighted: bool) -> SamplingRule:
    """Return the rule from its name and constants, which has to be the one that is stated and that the proof is about."""
    name, q, constants = rule["name"], rule["q"], rule["constants"]
    if weighted and q is None:
        numbers = {key: to_exact(_text(value)) for key, value in constants.items()}
        stated = make_gaussian_rule(
            to_exact(_text(rule["target_epsilon"])), numbers["target_delta"], int(numbers["steps"]), numbers.get("scale")
        )
        require((name, q, tuple(sorted(numbers.items()))) == (stated.name, None, stated.constants), "rule", "it is not that of a table")
        about = [to_exact(_text(proof["target"][key])) for key in ("epsilon", "delta")]
        told = [stated.target_epsilon, numbers["target_delta"]]
        require(about == told and proof["target"]["steps"] == numbers["steps"], "rule", "the proof is about another target")
        return stated
    if q is None:
        target = to_exact(_text(rule["target_epsilon"]))
        require(target == to_exact(proof["target_epsilon"]), "rule", "the proof is about another target epsilon")
        require((name, constants) == (_CONSTRAINED.name, {}), "rule", f"without q it is {_CONSTRAINED.name}, which has no constants")
        return make_rule(name, declared, None, target)
    require(rule["target_epsilon"] is None, "rule", "a rule with a q has no target epsilon")
    require(proof["sampling"]["q"] == q, "rule", "the proof is about another sampling rule")
    for made in _candidates(name, declared, q, constants):
        if made.q is not None and to_text(made.q) == q:
            return made
    raise Fault("rule", f"q is not that of the rule {str(name)[:60]!r} with the stated constants")


def _candidates(name: str, profile: Profile, q: str, constants: Mapping[str, str]) -> Iterator[SamplingRule]:
    if name == "expression":
        yield rule_from_expression(q, profile)
        return
    for statistic in (None, *(item.name for item in profile.record)):
        try:
            yield make_rule(name, profile, {**constants, **({} if statistic is None else {"statistic": statistic})})
        except InvalidSampling:
            continue


def _open(fields: Mapping[str, Any], rule: SamplingRule, declared: Profile) -> list[Hypothesis]:
    """Return the hypotheses that nothing can have discharged."""
    return [item for item in _gather_hypotheses(fields, rule, declared) if item not in _CLOSED]


def _gather_hypotheses(fields: Mapping[str, Any], rule: SamplingRule, declared: Profile) -> list[Hypothesis]:
    """Return the hypotheses of the rules of guarantees that a sample goes through, of its rule, its mechanisms and its randomness."""
    every: dict[Hypothesis, None] = dict.fromkeys(rule.hypotheses_for(declared))
    for name in ("declared profile", "amplification by importance sampling", "Poisson sampling in binary64"):
        every.update(dict.fromkeys(item for item in GUARANTEE_RULES[name].hypotheses if item.id != IN_RANGE.id))
    if fields["rule"]["name"] == "expression":
        every.update(dict.fromkeys(constants_are_public(sorted(fields["rule"]["constants"]))))
    if "parts" in fields:
        every.pop(DECLARED_PROFILE)  # each of them, by its name
        every.update(dict.fromkeys(_name_parts(fields)))
        every.pop(RECORD_STATISTICS)  # there is one about the columns of each statistic (_name_columns)
    randomness = fields["sampler"]["randomness"]
    require(randomness in _BITS, "sampler", "the randomness is not one whose hypothesis is known here")
    every.update(dict.fromkeys((*Unit.RECORD.hypotheses, EXACT_REALS, STATISTICS, ARITHMETIC, ONE_ANALYSIS, _BITS[randomness])))
    if len(fields["runs"]) > 1:
        every[SAME_STATISTICS] = None
    if fields["version"] == WEIGHTED and (steps := _count_steps(fields)) > 1:
        every.update(dict.fromkeys((FRESH_SAMPLES, MOST_STEPS.about(steps=steps))))
    return [item for item in every if declared.record or item.id not in _EMPTY]


def _count_steps(fields: Mapping[str, Any]) -> int:
    proof = fields["proof"]
    return int(proof["target"]["steps"] if fields["rule"]["q"] is None else proof["steps"])


def _name_parts(fields: Mapping[str, Any]) -> Iterator[Hypothesis]:
    """Yield what running the mechanisms in order supposes: each has its declared profile, or runs the parts that it was composed from."""
    runs, parts = fields["runs"], fields["parts"]
    require([part["name"] for part in parts] == runs, "parts", "they are not those of the runs")
    if len(runs) > 1:
        yield PARTS_RUN.about(name=_text(fields["profile"]["name"]))
    for part in parts:
        yield from _name_part(part)


def _name_part(part: Mapping[str, Any]) -> Iterator[Hypothesis]:
    if set(part) == {"name", "source"}:
        yield DECLARED_PROFILE.about(name=_text(part["name"]), source=attribute(_text(part["source"])))
        return
    require(set(part) == {"name", "parts"} and part["parts"], "parts", "each has a source, or parts")
    yield PARTS_RUN.about(name=_text(part["name"]))
    for below in part["parts"]:
        yield from _name_part(below)


def _check_bound(fields: Mapping[str, Any], claims: Mapping[str, str | None], declared: Profile) -> None:
    """The stated numbers are on the safe side of the proved ones, and the claims are those that the way to choose (q, w) needs."""
    methods = {text: method for method, text in METHODS.items()}
    method = methods.get(fields["sampler"]["pairs"])
    if fields["version"] == WEIGHTED:
        tabulated = fields["rule"]["q"] is None
        require(method == (TABULATED if tabulated else DOMINATED), "sampler", "the pairs are not chosen in a known way")
        main = "weight-table" if tabulated else "epsilon-upper"
        require(main in claims and "homogeneous" in claims, "proof", f"the claim {main} or homogeneous is missing")
        _check_losses(fields)
        return
    constrained = fields["rule"]["q"] is None
    require(method in ((CERTIFIED,) if constrained else (ROUNDED, CHECKED)), "sampler", "the pairs are not chosen in a known way")
    needed = ("well-defined", "assumption-8") if constrained else ("well-defined", "epsilon-upper")
    missing = [name for name in (*needed, *(("proposition-17",) if method == ROUNDED else ())) if name not in claims]
    require(not missing, "proof", f"the claim {str(missing[:1])[2:-2]} is missing")
    if constrained:
        upper = to_exact(fields["rule"]["target_epsilon"])
        bounded = "assumption-9" in claims or "assumption-9-nonzero" in claims
        lower = upper if bounded and find_loss_record(declared) is not None else Fraction(0)
    else:
        upper, lower = to_exact(claims["epsilon-upper"]), to_exact(claims.get("epsilon-lower") or "0")
    require(set(fields["epsilon"]) == {"lower", "upper"}, "epsilon", "it has other fields than lower and upper")
    stated = {side: to_exact(_text(fields["epsilon"][side])) for side in ("lower", "upper")}
    require(stated["upper"] >= upper, "epsilon", f"{fields['epsilon']['upper']} is stated, but only {exact_text(upper)} is proved")
    require(0 <= stated["lower"] <= lower, "epsilon", f"a lower bound of {fields['epsilon']['lower']} is not proved")


#: What certificates of earlier releases call the directions.
_EARLIER_DIRECTIONS = {"plus": "remove", "minus": "add"}


def _check_losses(fields: Mapping[str, Any]) -> None:
    target = fields["proof"]["target"] if fields["rule"]["q"] is None else fields["proof"]
    proved = {**dict.fromkeys(("upper", "remove", "add"), to_exact(target["epsilon"])), "delta": to_exact(target["delta"])}
    stated = {_EARLIER_DIRECTIONS.get(name, name): value for name, value in fields["epsilon"].items()}
    require(set(stated) == set(proved), "epsilon", "it has other fields than upper, remove, add and delta")
    for name, value in proved.items():
        require(to_exact(_text(stated[name])) >= value, "epsilon", f"{name} is stated below what is proved")


def _check_statements(certificate: Mapping[str, Any], needed: list[Hypothesis], stated: list[Hypothesis]) -> None:
    """The rest is what this version writes."""
    fixed = {
        "uses": USES,
        "not_covered": list(SECRET),
        "notion": _NOTIONS[certificate["version"]],
        "conditional": True,
        "checked_by_kernel": True,
    }
    for name, value in fixed.items():
        require(certificate[name] == value and type(certificate[name]) is type(value), name, "it is not what a sample's certificate says")
    sampler = certificate["sampler"]
    require(set(sampler) == {"draws", "pairs", "randomness"} and sampler["draws"] == DRAWS, "sampler", "the draws are not the exact ones")
    fields = {"hypothesis", "evidence", "subject", *(() if certificate["version"] == 1 else ("id",))}
    closed = {as_hypothesis(item["hypothesis"]) for item in certificate["discharged"] if set(item) == fields}
    known = all(item in _CLOSED or item.id in _CLOSABLE for item in closed)
    known = known and all("id" not in item or as_hypothesis(item["hypothesis"]).id == item["id"] for item in certificate["discharged"])
    all_known = len(certificate["discharged"]) == len(closed) and known and not any(item in needed for item in closed)
    require(all_known, "discharged", "it has a hypothesis that nothing here discharges")
    runs, name = certificate["runs"], certificate["profile"]["name"]
    joined = ", then ".join(map(_text, runs))
    require(
        runs and name == (joined if len(joined) <= MAX_NAME else f"{len(runs)} mechanisms"), "runs", "they are not those of the profile"
    )
    require(isinstance(certificate["publishable"], bool), "publishable", "true or false was expected")
    require(certificate.get("unit", "record") == "record", "unit", "a sample protects one record")
    secret = "private" in certificate or TARGET_FROM_DATA in stated or SCALE_FROM_DATA in stated
    require(not (secret and certificate["publishable"]), "publishable", "it depends on the data set, but is said to be publishable")
    require(
        "private" not in certificate or set(certificate["private"]) == _FIGURES,
        "private",
        "it has other figures than a sample's certificate",
    )


def _text(value: object) -> str:
    """Return a number or name that is given as text. Raises :class:`TypeError` for JSON numbers, which are no exact ones."""
    if not isinstance(value, str):
        raise TypeError("text was expected")
    return value
