"""The claims: each derives its goals from the profile's own text; a proof can only say how they are shown."""
# Each function in CLAIMS is one way to prove or refute a claim: its keyword parameters are the fields of the claim's proof.

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from ...core.rules import MOST_STEPS, Json, Session, apply, fields_of, range_of, show
from ...core.terms import Rejected, Term, differentiate, exp, log, num, power, require, substitute, var
from ...core.theorems import Box, Goal, Range, Theorem, derive, rule
from ...reading import read_choice, read_fields, read_number, read_term, variables
from .pieces import kink, on_pieces
from .statements import Statement, at_record, branch_free, given, restated, slope_of


def _at_weight(session: Session, s: Statement, w: Fraction, t: Callable[[Term, Term], Term]) -> Term:
    # t(epsilon, epsilon') at one weight
    return substitute(t(*slope_of(session, s, {**s.records, "w": Range(w, w)})), {"w": w})


def _curvature(slope: Term) -> Term:
    # K with (exp epsilon)'' = K exp(epsilon)
    return differentiate(slope, "w") + slope * slope


def _gap_16(epsilon: Term, slope: Term) -> Term:
    return num(1) - exp(-epsilon) - slope


def _gap_17(epsilon: Term, slope: Term) -> Term:
    return var("w") * slope - epsilon


@rule
def well_defined(session: Session, s: Statement, *, nonnegative: Json) -> None:
    """Epsilon is defined and >= 0 for all records and weights."""
    session.define(s.epsilon, s.domain)
    show(session, ".nonnegative", Goal(s.epsilon, s.domain), nonnegative)


@rule
def assumption_8(session: Session, s: Statement, *, bound: Json) -> None:
    """Target - epsilon(1) >= 0 for all records."""
    show(session, ".bound", Goal(s.spare(), s.records), bound)


@rule
def not_assumption_8(session: Session, s: Statement, *, at: Json, bound: Json) -> None:
    """epsilon(1) - target > 0 at a record."""
    show(session, ".bound", Goal(-at_record(session, s, at, s.records)[0].spare(), {}, strict=True), bound)


def _from(session: Session, s: Statement, threshold: Json, proof: object) -> tuple[Term, str, Term, Box]:
    # the threshold, shown to be at least 1, a new variable for the weight's excess over it, the weight, and the box of both
    with session.at(".threshold"):
        v = session.read(threshold, s.records)
    show(session, ".threshold-proof", Goal(v - num(1), s.records), proof)
    excess = "s"
    while excess in s.records or excess in session.constants:
        excess += "_"
    return v, excess, v + var(excess), {**s.records, excess: Range(Fraction(0))}


@rule
def assumption_9(session: Session, s: Statement, *, threshold: Json, threshold_proof: Json, start: Json, slope: Json) -> None:
    """Epsilon > log(1 + E w) at a threshold v >= 1, and w epsilon' >= 1 from there on, where (log(1 + E w))' < 1/w."""
    v, excess, w, box = _from(session, s, threshold, threshold_proof)
    show(session, ".start", Goal(s.above(substitute(s.epsilon, {"w": v}), v, "log"), s.records, strict=True), start)
    derivative = differentiate(session.smooth(substitute(s.epsilon, {"w": w}), excess, box), excess)
    show(session, ".slope", Goal(w * derivative - num(1), box), slope)


@rule
def assumption_9_directly(session: Session, s: Statement, *, threshold: Json, threshold_proof: Json, direct: Json, form: Json) -> None:
    """Epsilon > log(1 + E w), or exp(epsilon) > 1 + E w, for all w from a threshold v >= 1 on."""
    _, _, w, box = _from(session, s, threshold, threshold_proof)
    show(session, ".direct", Goal(s.above(substitute(s.epsilon, {"w": w}), w, form), box, strict=True), direct)


@rule
def not_assumption_9(session: Session, s: Statement, *, at: Json, threshold: Json, form: Json, tail: Json) -> None:
    """Epsilon <= log(1 + E w), or exp(epsilon) <= 1 + E w, at a record for all w from a threshold >= 1 on."""
    (s, _), weights = at_record(session, s, at, s.records), Range(read_number(threshold))
    require(weights.lo >= 1, "the threshold must be at least 1")
    show(session, ".tail", Goal(-s.above(s.epsilon, var("w"), form), {"w": weights}), tail)


@rule
def vanishing(session: Session, s: Statement, *, vanishing: Json) -> None:
    """Epsilon <= 0, hence epsilon = 0, for all records and weights."""
    show(session, ".vanishing", Goal(-s.epsilon, s.domain), vanishing)


@rule
def not_assumption_9_nonzero(
    session: Session, s: Statement, *, at: Json, weight: Json, positive: Json, threshold: Json, form: Json, tail: Json
) -> None:
    """Epsilon > 0 at a record and a weight >= 1; and epsilon <= log(1 + E w) at that record for all w from a threshold >= 1 on."""
    w = read_number(weight)
    require(w >= 1, "the weight must be at least 1")
    here = substitute(at_record(session, s, at, s.records)[0].epsilon, {"w": w})
    show(session, ".positive", Goal(here, {}, strict=True), positive)
    not_assumption_9(session, s, at=at, threshold=threshold, form=form, tail=tail)


@rule
def strong_convexity(
    session: Session, s: Statement, *, floor: Json, positive: Json, form: Json, curvature: Json, cuts: Json = None
) -> None:
    """K >= floor, or K exp(epsilon) >= floor, for a floor > 0 without w and all w, where (exp epsilon)'' = K exp(epsilon); epsilon >= 0."""
    with session.at(".floor"):
        least = session.read(floor, s.records)
    show(session, ".positive", Goal(least, s.records, strict=True), positive)
    is_log = read_choice(form, "log", "exp")
    on_pieces(session, s, ".curvature", curvature, cuts, lambda e, slope: _curvature(slope) * (num(1) if is_log else exp(e)) - least)


@rule
def not_assumption_11(session: Session, s: Statement, *, at: Json, curvature: Json) -> None:
    """-K >= 0 at a record and weight around which epsilon is twice differentiable."""
    s, w = at_record(session, s, at, s.domain)
    show(session, ".curvature", Goal(-_at_weight(session, s, w, lambda _, slope: _curvature(slope)), {}), curvature)


@rule
def flattening(session: Session, s: Statement, *, at: Json, weight: Json, weight_proof: Json, flat: Json) -> None:
    """K exp(epsilon) <= 1/n at a record and a weight given as a term in n, for all n >= 1: no constant > 0 is below all of it."""
    (s, _), counts = at_record(session, s, at, s.records), {"n": Range(Fraction(1))}
    epsilon, slope = slope_of(session, s, s.domain)
    with session.at(".weight"):
        w = session.read(weight, counts)
    show(session, ".weight-proof", Goal(w - num(1), counts), weight_proof)
    show(session, ".flat", Goal(num(1) - var("n") * substitute(_curvature(slope) * exp(epsilon), {"w": w}), counts), flat)


@rule
def proposition_16(session: Session, s: Statement, *, bound: Json) -> None:
    """1 - exp(-epsilon(1)) - epsilon'(1) > 0 for all records."""
    show(session, ".bound", Goal(_at_weight(session, s, Fraction(1), _gap_16), s.records, strict=True), bound)


@rule
def not_proposition_16(session: Session, s: Statement, *, at: Json, bound: Json) -> None:
    """1 - exp(-epsilon(1)) - epsilon'(1) <= 0 at a record."""
    s, w = at_record(session, s, at, s.records)
    show(session, ".bound", Goal(-_at_weight(session, s, w, _gap_16), {}), bound)


@rule
def proposition_17(session: Session, s: Statement, *, bound: Json, cuts: Json = None) -> None:
    """For all records and weights, w epsilon' - epsilon >= 0."""
    on_pieces(session, s, ".bound", bound, cuts, _gap_17)


@rule
def not_proposition_17(session: Session, s: Statement, *, at: Json, bound: Json) -> None:
    """At a record and weight, epsilon - w epsilon' > 0."""
    s, w = at_record(session, s, at, s.domain)
    show(session, ".bound", Goal(-_at_weight(session, s, w, _gap_17), {}, strict=True), bound)


@rule
def homogeneous(session: Session, s: Statement) -> None:
    """For all records and weights, epsilon = w^d epsilon(1), with d = 1 for epsilon and mu, and d = 2 for rdp and rho."""
    excess = _excess(s)
    for step, term in ((".at-least", excess), (".at-most", -excess)):
        show(session, step, Goal(term, s.domain), {"rule": "zero"})


@rule
def not_homogeneous(session: Session, s: Statement, *, at: Json, bound: Json) -> None:
    """At a record and weight, (epsilon - w^d epsilon(1))^2 > 0."""
    s, w = at_record(session, s, at, s.domain)
    show(session, ".bound", Goal(power(substitute(_excess(s), {"w": w}), 2), {}, strict=True), bound)


def _excess(s: Statement) -> Term:
    degree = 2 if s.notion in {"renyi", "zcdp"} else 1
    return s.epsilon - power(var("w"), degree) * substitute(s.epsilon, {"w": num(1)})


def _sampled(session: Session, s: Statement, bound: Term, form: Json, proofs: tuple[object, ...]) -> Term:
    # a term that is >= 0 if and only if psi <= bound, after showing 0 < q <= 1 by the proofs or, without any, by the usual ones
    q = given(s.q)
    session.define(q, s.records)
    goals = {".q-positive": Goal(q, s.records, strict=True), ".q-at-most-one": Goal(num(1) - q, s.records)}
    for i, (step, goal) in enumerate(goals.items()):
        show(session, step, goal, proofs[i]) if proofs else session.discharge(goal)
    e = substitute(s.epsilon, {"w": power(q, -1)})
    if read_choice(form, "log", "exp"):
        return bound - (e + log(q + (num(1) - q) * exp(-e)))  # = log(1 + q (exp(e) - 1))
    return exp(bound) - num(1) - q * (exp(e) - num(1))


@rule
def epsilon_upper(session: Session, s: Statement, *, claimed: Json, q_positive: Json, q_at_most_one: Json, form: Json, bound: Json) -> None:
    """0 < q <= 1 and log(1 + q (exp(epsilon(1/q)) - 1)) <= the claimed number, for all records."""
    term = _sampled(session, s, num(read_number(claimed)), form, (q_positive, q_at_most_one))
    show(session, ".bound", Goal(term, s.records), bound)


@rule
def epsilon_lower(session: Session, s: Statement, *, claimed: Json, at: Json, bound: Json) -> None:
    """0 < q <= 1 and log(1 + q (exp(epsilon(1/q)) - 1)) >= the claimed number, at a record."""
    s, _ = at_record(session, s, at, s.records)
    show(session, ".bound", Goal(-_sampled(session, s, num(read_number(claimed)), "log", ()), {}), bound)


@dataclass(frozen=True, slots=True)
class Claim:
    """What a theorem about a profile states: that the claim of this name, with this verdict, holds of it."""

    name: str
    verdict: str
    about: Statement


CLAIMS: dict[str, Callable[..., None]] = {  # by claim and verdict; the words after that tell several ways apart
    "well-defined proved": well_defined,
    "assumption-8 proved": assumption_8,
    "assumption-8 refuted": not_assumption_8,
    "assumption-9 proved by slope": assumption_9,
    "assumption-9 proved directly": assumption_9_directly,
    "assumption-9 refuted": not_assumption_9,
    "assumption-9-nonzero proved where epsilon is zero": vanishing,
    "assumption-9-nonzero proved by slope": assumption_9,
    "assumption-9-nonzero proved directly": assumption_9_directly,
    "assumption-9-nonzero refuted": not_assumption_9_nonzero,
    "assumption-11 proved": strong_convexity,
    "assumption-11 refuted at a point": not_assumption_11,
    "assumption-11 refuted at a kink": kink,
    "assumption-11 refuted in the limit": flattening,
    "proposition-16 proved": proposition_16,
    "proposition-16 refuted": not_proposition_16,
    "proposition-17 proved": proposition_17,
    "proposition-17 refuted at a point": not_proposition_17,
    "proposition-17 refuted at a kink": kink,
    "homogeneous proved": homogeneous,
    "homogeneous refuted": not_homogeneous,
    "strong-convexity proved": strong_convexity,
    "epsilon-upper proved": epsilon_upper,
    "epsilon-lower proved": epsilon_lower,
}


def _apply(session: Session, claim: Claim, choices: list[Callable[..., None]], proof: Mapping[str, object], *, divisible: bool) -> Theorem:
    require(len(session.path) <= MOST_STEPS, "the proof is nested too deeply")
    if "restated" in proof and choices[0] is not well_defined:
        return derive(session.held, claim, _restating, session, claim, choices, proof, divisible=divisible)
    if vanishing in choices and "sides" in proof:
        return derive(session.held, claim, _beside, session, claim, choices, proof)
    for step, way in (("cases", _in_cases), ("statistic", _by_statistic)):
        if divisible and step in proof:
            with session.at(f".{step}"):
                return derive(session.held, claim, way, session, claim, choices, read_fields(read_fields(proof, {step})[step]))
    function = next((choice for choice in choices if fields_of(choice)[1] <= proof.keys()), choices[0])
    return apply(function, session, claim.about, proof, claim)


@rule
def _restating(session: Session, claim: Claim, choices: list[Callable[..., None]], proof: Mapping[str, object], *, divisible: bool) -> None:
    """What holds of a term that equals epsilon holds of epsilon."""
    about = restated(session, claim.about, proof["restated"], proof.get("at"))
    rest = {k: v for k, v in proof.items() if k != "restated"}
    _apply(session, replace(claim, about=about), choices, rest, divisible=divisible)


@rule
def _in_cases(session: Session, claim: Claim, choices: list[Callable[..., None]], given: Mapping[str, object]) -> None:
    """What holds for all records with v <= c and for all with v > c (v >= c, if closed) holds for all records."""
    s, cases = claim.about, read_fields(given, {"variable", "at", "below", "above"}, frozenset({"closed"}))
    v, old, c = _cut(s, cases)
    require(c not in (old.lo, old.hi), "the range must be split strictly inside")
    for step, half in (("below", replace(old, hi=c)), ("above", Range(c, old.hi, open="closed" not in cases))):
        with session.at(f".{step}"):
            part = replace(claim, about=replace(s, records={**s.records, v: half}))
            _apply(session, part, choices, read_fields(cases[step]), divisible=True)


@rule
def _by_statistic(session: Session, claim: Claim, choices: list[Callable[..., None]], given: Mapping[str, object]) -> None:
    """Epsilon is f(w, a) for a term a of the records: what holds for f(w, y), for all y in a range with all values of a, holds."""
    require(well_defined not in choices, "epsilon has to be defined as it is written")
    s, fields = (
        claim.about,
        dict(read_fields(given, {"name", "term", "low", "lower", "epsilon", "proof"}, frozenset({"high", "upper", "open"}))),
    )
    f_text, proof, open_ = fields.pop("epsilon"), read_fields(fields.pop("proof")), fields.pop("open", None)
    y, a, values = range_of(session, s.records, **fields, open_=open_)
    f = session.read(f_text, {**s.domain, y: values})
    require(session.is_zero(substitute(f, {y: a}) - s.epsilon, s.domain), "epsilon is not this function of the term")
    records = {v: r for v, r in {**s.records, y: values}.items() if v in f.free}
    with session.at(".proof"):
        _apply(session, replace(claim, about=replace(s, epsilon=f, records=records)), choices, proof, divisible=True)


@rule
def _beside(session: Session, claim: Claim, choices: list[Callable[..., None]], proof: Mapping[str, object]) -> None:
    """What holds for all records with v = c, for all with v = c + d, and for all with v = c - d, where d > 0, holds for all records."""
    s, sides = claim.about, read_fields(read_fields(proof, {"sides"})["sides"], {"variable", "at", "on"}, frozenset({"above", "below"}))
    v, old, c = _cut(s, sides)
    require(not old.open, "a range that is open already has no sides")
    others = {u: r for u, r in s.records.items() if u != v}
    parts = {"on": replace(s, epsilon=substitute(s.epsilon, {v: c}), records=others)}
    for step, sign, end in (("above", 1, old.hi), ("below", -1, old.lo)):
        if end != c:
            beside = {**others, v: Range(Fraction(0), None if end is None else abs(end - c), open=True)}
            parts[step] = replace(s, epsilon=substitute(s.epsilon, {v: num(c) + num(sign) * var(v)}), records=beside)
            parts[step] = replace(parts[step], epsilon=branch_free(session, parts[step], v))
    require(parts.keys() == sides.keys() - {"variable", "at"}, "the sides are not those of the range")
    for step, part in parts.items():
        with session.at(f".sides.{step}"):
            _apply(session, replace(claim, about=part), choices, read_fields(sides[step]), divisible=True)


def _cut(s: Statement, fields: Mapping[str, object]) -> tuple[str, Range, Fraction]:
    # a variable of the records, its range, and a number in it
    v, c = fields["variable"], read_number(fields["at"])
    if not isinstance(v, str) or v not in s.records:
        raise Rejected("there is no such variable in the records")
    require(s.records[v].contains(c), "the number is outside the range")
    return v, s.records[v], c


_OF_ALL_NOTIONS = {"well-defined", "homogeneous"}  # all others are about an epsilon
_OWN_FIELDS = {
    "epsilon-upper": {"bound": "claimed"},
    "epsilon-lower": {"bound": "claimed", "at": "at"},
}  # and what they are called in a proof


def check_claim(session: Session, s: Statement, value: object) -> tuple[str, str, str | None]:
    """Check one claim; return its name, its verdict, and the bound that it states, as text, if it states one."""
    claim = read_fields(value)
    name, verdict = str(claim.get("claim")), str(claim.get("verdict"))
    choices = [function for key, function in CLAIMS.items() if key.split(" ")[:2] == [name, verdict]]
    require(choices, "unknown claim or verdict")
    require(s.notion == "pure" or name in _OF_ALL_NOTIONS, "this claim is about a pure epsilon, which is not what the profile declares")
    own = _OWN_FIELDS.get(name, {})
    fields = read_fields(claim, {"claim", "verdict", "proof", *own})
    with session.at(".proof"):
        proof, stated = dict(read_fields(fields["proof"])), {new: fields[key] for key, new in own.items()}
        # the certificate's own proofs of side conditions, by the text of their terms; s, s_, s__ and n are variables of claims
        names = {**variables({"s": 0, "s_": 0, "s__": 0, "n": 0, **s.records, "w": 0}), **session.constants}
        trees = [(read_term(source, names), tree) for source, tree in read_fields(proof.pop("obligations", {})).items()]
        session.obligations, session.used = dict(trees), set()
        require(not proof.keys() & stated.keys(), "unknown fields")
        divisible = verdict == "proved" and name not in {"strong-convexity", *_OWN_FIELDS}
        _apply(session, Claim(name, verdict, s), choices, proof | stated, divisible=divisible)
        require(len(session.used) == len(trees), "an obligation is given twice, or one that the claim does not have")
    return name, verdict, str(fields["bound"]) if own else str(proof["floor"]) if "floor" in proof else None
