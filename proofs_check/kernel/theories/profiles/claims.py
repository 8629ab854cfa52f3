"""The claims: each derives its goals from the profile's own text; a proof can only say how they are shown."""
# Each function in CLAIMS is one way to prove or refute a claim: its parameters are the fields of the claim's proof.

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial, wraps

from ...core.documents import read_fields, require
from ...core.rules import Flag, Name, at_step, define, equal, lie_in, make_smooth
from ...core.terms import Term, differentiate, exp, log, num, power, substitute, var
from ...core.theorems import NONE, Goal, Premise, Premises, Proof, Range, Theorem, rule, within
from ...reading import read_number, read_term, variables
from .pieces import Proofs, differ_beside, on_pieces
from .statements import Claim, Form, OfCount, Point, at_record, branch_free, given, restate, slope_of

_INDIVISIBLE = {"strong-convexity", "epsilon-upper", "epsilon-lower"}
CLAIMS = dict[str, Callable[..., Theorem]]()  # by claim and verdict; the words after that tell several ways apart


def way(*keys: str) -> Callable[[Callable[..., Premises[None]]], Callable[..., Theorem]]:
    """Make a rule of a function that is a way to show the claims with these keys, and no others."""

    def mark(function: Callable[..., Premises[None]]) -> Callable[..., Theorem]:
        @wraps(function)
        def premises(s: Claim, **parameters: object) -> Premises[None]:
            require([s.name, s.verdict] in [key.split(" ")[:2] for key in keys], "this rule is about another claim")
            return function(s, **parameters)

        CLAIMS.update(dict.fromkeys(keys, rule(premises)))
        return CLAIMS[keys[0]]

    return mark


@way("well-defined proved")
def well_defined(s: Claim, *, nonnegative: Proof) -> Premises[None]:
    """Epsilon is defined and >= 0 for all records and weights."""
    yield from define(s.epsilon, s.box)
    yield Premise(Goal(s.epsilon, s.box), nonnegative)


@way("assumption-8 proved")
def assumption_8(s: Claim, *, bound: Proof) -> Premises[None]:
    """Target - epsilon(1) >= 0 for all records."""
    yield Premise(Goal(s.spare(), s.records), bound)


@way("assumption-8 refuted")
def not_assumption_8(s: Claim, *, at: Point, bound: Proof) -> Premises[None]:
    """epsilon(1) - target > 0 at a record."""
    s, _ = yield from at_record(s, at, s.records)
    yield Premise(Goal(-s.spare(), {}, strict=True), bound)


def _from(s: Claim, v: Term, proof: Proof) -> Premises[tuple[str, Term]]:
    # the threshold is at least 1; a new variable for the weight's excess over it, and the weight
    yield from at_step(".threshold", partial(define, v, s.records))
    yield Premise(Goal(v - num(1), s.records), proof)
    excess = "s"
    while excess in s.records or excess in s.constants:
        excess += "_"
    return excess, v + var(excess)


@way("assumption-9 proved by slope", "assumption-9-nonzero proved by slope")
def assumption_9(s: Claim, *, threshold: Term, threshold_proof: Proof, start: Proof, slope: Proof) -> Premises[None]:
    """Epsilon > log(1 + E w) at a threshold v >= 1, and w epsilon' >= 1 from there on, where (log(1 + E w))' < 1/w."""
    excess, w = yield from _from(s, threshold, threshold_proof)
    above, box = s.above(substitute(s.epsilon, {"w": threshold}), threshold, "log"), {**s.records, excess: Range(Fraction(0))}
    yield Premise(Goal(above, s.records, strict=True), start)
    derivative = differentiate((yield from make_smooth(substitute(s.epsilon, {"w": w}), excess, box)), excess)
    yield Premise(Goal(w * derivative - num(1), box), slope)


@way("assumption-9 proved directly", "assumption-9-nonzero proved directly")
def assumption_9_directly(s: Claim, *, threshold: Term, threshold_proof: Proof, direct: Proof, form: Form) -> Premises[None]:
    """Epsilon > log(1 + E w), or exp(epsilon) > 1 + E w, for all w from a threshold v >= 1 on."""
    excess, w = yield from _from(s, threshold, threshold_proof)
    above, box = s.above(substitute(s.epsilon, {"w": w}), w, form), {**s.records, excess: Range(Fraction(0))}
    yield Premise(Goal(above, box, strict=True), direct)


@way("assumption-9 refuted")
def not_assumption_9(s: Claim, *, at: Point, threshold: Fraction, form: Form, tail: Proof) -> Premises[None]:
    """Epsilon <= log(1 + E w), or exp(epsilon) <= 1 + E w, at a record for all w from a threshold >= 1 on."""
    s, _ = yield from at_record(s, at, s.records)
    require(threshold >= 1, "the threshold must be at least 1")
    yield Premise(Goal(-s.above(s.epsilon, var("w"), form), {"w": Range(threshold)}), tail)


@way("assumption-9-nonzero proved where epsilon is zero")
def vanishing(s: Claim, *, vanishing: Proof) -> Premises[None]:
    """Epsilon <= 0, hence epsilon = 0, for all records and weights."""
    yield Premise(Goal(-s.epsilon, s.box), vanishing)


@way("assumption-9-nonzero refuted")
def not_assumption_9_nonzero(
    s: Claim, *, at: Point, weight: Fraction, positive: Proof, threshold: Fraction, form: Form, tail: Proof
) -> Premises[None]:
    """Epsilon > 0 at a record and a weight >= 1; and epsilon <= log(1 + E w) at that record for all w from a threshold >= 1 on."""
    s, _ = yield from at_record(s, at, s.records)
    require(weight >= 1, "the weight must be at least 1")
    require(threshold >= 1, "the threshold must be at least 1")
    yield Premise(Goal(substitute(s.epsilon, {"w": weight}), {}, strict=True), positive)
    yield Premise(Goal(-s.above(s.epsilon, var("w"), form), {"w": Range(threshold)}), tail)


def _curvature(slope: Term) -> Term:
    # K with (exp epsilon)'' = K exp(epsilon)
    return differentiate(slope, "w") + slope * slope


@way("assumption-11 proved", "strong-convexity proved")
def strong_convexity(
    s: Claim, *, floor: Term, positive: Proof, form: Form, curvature: Proofs, cuts: list[Term] | None = None
) -> Premises[None]:
    """K >= floor, or K exp(epsilon) >= floor, for a floor > 0 without w and all w, where (exp epsilon)'' = K exp(epsilon); epsilon >= 0."""
    require(s.bound in (None, floor), "the floor is not the one of the claim")
    yield from at_step(".floor", partial(define, floor, s.records))
    yield Premise(Goal(floor, s.records, strict=True), positive)

    def spare(epsilon: Term, slope: Term) -> Term:
        return (_curvature(slope) if form == "log" else _curvature(slope) * exp(epsilon)) - floor

    yield from on_pieces(s, curvature, cuts, spare)


@way("assumption-11 refuted at a point")
def not_assumption_11(s: Claim, *, at: Point, curvature: Proof) -> Premises[None]:
    """-K >= 0 at a record and weight around which epsilon is twice differentiable."""
    s, w = yield from at_record(s, at, s.box)
    yield Premise(Goal(-(yield from _at_weight(s, w, lambda _, slope: _curvature(slope))), {}), curvature)


def _at_weight(s: Claim, w: Fraction, t: Callable[[Term, Term], Term]) -> Premises[Term]:
    # t(epsilon, epsilon') at one weight
    return substitute(t(*(yield from slope_of(s, {**s.records, "w": Range(w, w)}))), {"w": w})


@way("assumption-11 refuted at a kink", "proposition-17 refuted at a kink")
def kink(s: Claim, *, at: Point, kink: Range) -> Premises[None]:
    """Epsilon is not differentiable at a record and some w > 1: beside it epsilon is two smooth terms with other values or slopes."""
    s, _ = yield from at_record(s, at, s.records)
    yield from at_step(".kink", partial(differ_beside, s.epsilon, kink))


@way("assumption-11 refuted in the limit")
def flattening(s: Claim, *, at: Point, weight: OfCount, weight_proof: Proof, flat: Proof) -> Premises[None]:
    """K exp(epsilon) <= 1/n at a record and a weight given as a term in n, for all n >= 1: no constant > 0 is below all of it."""
    s, _ = yield from at_record(s, at, s.records)
    counts = {"n": Range(Fraction(1))}
    epsilon, slope = yield from slope_of(s, s.box)
    yield from at_step(".weight", partial(define, weight, counts))
    yield Premise(Goal(weight - num(1), counts), weight_proof)
    yield Premise(Goal(num(1) - var("n") * substitute(_curvature(slope) * exp(epsilon), {"w": weight}), counts), flat)


def _gap_16(epsilon: Term, slope: Term) -> Term:
    return num(1) - exp(-epsilon) - slope


@way("proposition-16 proved")
def proposition_16(s: Claim, *, bound: Proof) -> Premises[None]:
    """1 - exp(-epsilon(1)) - epsilon'(1) > 0 for all records."""
    yield Premise(Goal((yield from _at_weight(s, Fraction(1), _gap_16)), s.records, strict=True), bound)


@way("proposition-16 refuted")
def not_proposition_16(s: Claim, *, at: Point, bound: Proof) -> Premises[None]:
    """1 - exp(-epsilon(1)) - epsilon'(1) <= 0 at a record."""
    s, w = yield from at_record(s, at, s.records)
    yield Premise(Goal(-(yield from _at_weight(s, w, _gap_16)), {}), bound)


def _gap_17(epsilon: Term, slope: Term) -> Term:
    return var("w") * slope - epsilon


@way("proposition-17 proved")
def proposition_17(s: Claim, *, bound: Proofs, cuts: list[Term] | None = None) -> Premises[None]:
    """For all records and weights, w epsilon' - epsilon >= 0."""
    yield from on_pieces(s, bound, cuts, _gap_17)


@way("proposition-17 refuted at a point")
def not_proposition_17(s: Claim, *, at: Point, bound: Proof) -> Premises[None]:
    """At a record and weight, epsilon - w epsilon' > 0."""
    s, w = yield from at_record(s, at, s.box)
    yield Premise(Goal(-(yield from _at_weight(s, w, _gap_17)), {}, strict=True), bound)


@way("homogeneous proved")
def homogeneous(s: Claim) -> Premises[None]:
    """For all records and weights, epsilon = w^d epsilon(1), with d = 1 for epsilon and mu, and d = 2 for rdp and rho."""
    yield from equal(s.epsilon, s.scaled(), s.box, "epsilon is not shown to be homogeneous")


@way("homogeneous refuted")
def not_homogeneous(s: Claim, *, at: Point, bound: Proof) -> Premises[None]:
    """At a record and weight, (epsilon - w^d epsilon(1))^2 > 0."""
    s, w = yield from at_record(s, at, s.box)
    yield Premise(Goal(power(substitute(s.epsilon - s.scaled(), {"w": w}), 2), {}, strict=True), bound)


def _sampled(s: Claim, form: Form, positive: Proof, at_most_one: Proof) -> Premises[Term]:
    # 0 < q <= 1; a term that is >= 0 if and only if psi <= bound
    q, bound = given(s.q), given(s.bound)
    yield from define(q, s.records)
    yield Premise(Goal(q, s.records, strict=True), positive)
    yield Premise(Goal(num(1) - q, s.records), at_most_one)
    e = substitute(s.epsilon, {"w": power(q, -1)})
    if form == "log":
        return bound - (e + log(q + (num(1) - q) * exp(-e)))  # = log(1 + q (exp(e) - 1))
    return exp(bound) - num(1) - q * (exp(e) - num(1))


@way("epsilon-upper proved")
def epsilon_upper(s: Claim, *, q_positive: Proof, q_at_most_one: Proof, form: Form, bound: Proof) -> Premises[None]:
    """0 < q <= 1 and log(1 + q (exp(epsilon(1/q)) - 1)) <= the claimed number, for all records."""
    yield Premise(Goal((yield from _sampled(s, form, q_positive, q_at_most_one)), s.records), bound)


@way("epsilon-lower proved")
def epsilon_lower(s: Claim, *, at: Point, bound: Proof) -> Premises[None]:
    """0 < q <= 1 and log(1 + q (exp(epsilon(1/q)) - 1)) >= the claimed number, at a record."""
    s, _ = yield from at_record(s, at, s.records)
    yield Premise(Goal(-(yield from _sampled(s, "log", NONE, NONE)), {}), bound)


@dataclass(frozen=True, slots=True, kw_only=True)
class Restated:
    """A term that equals epsilon; and roots r of which (r**2)**c, a part of epsilon, is written as |r|**(2 c)."""

    term: Term
    roots: list[Term] | None = None


@rule
def restated(s: Claim, *, restated: Restated, proof: Proof, at: Point | None = None) -> Premises[None]:
    """What holds of a term that equals epsilon holds of epsilon; at a record, if one record is enough for the claim."""
    require(s.name != "well-defined", "epsilon has to be defined as it is written")
    require(at is None or s.verdict == "refuted" or s.name == "epsilon-lower", "this claim is about all records")
    yield Premise((yield from at_step(".restated", partial(restate, s, restated.term, restated.roots or [], at))), proof)


@rule
def in_cases(s: Claim, *, variable: str, at: Fraction, below: Proof, above: Proof, closed: Flag | None = None) -> Premises[None]:
    """What holds for all records with v <= c and for all with v > c (v >= c, if closed) holds for all records."""
    require(s.verdict == "proved" and s.name not in _INDIVISIBLE, "this claim is not shown in cases")
    old = _cut(s, variable, at)
    require(at not in (old.lo, old.hi), "the range must be split strictly inside")
    upper = Range(at, old.hi, open=closed is None)
    yield Premise(replace(s, records={**s.records, variable: replace(old, hi=at)}), below)
    yield Premise(replace(s, records={**s.records, variable: upper}), above)


def _cut(s: Claim, v: str, c: Fraction) -> Range:
    # the range of a variable of the records, which a number is in
    require(v in s.records, "there is no such variable in the records")
    require(s.records[v].contains(c), "the number is outside the range")
    return s.records[v]


@rule
def by_statistic(
    s: Claim, *, name: Name, term: Term, low: Fraction, lower: Proof, epsilon: Term, proof: Proof,
    high: Fraction | None = None, upper: Proof | None = None, open_: Flag | None = None,
) -> Premises[None]:  # fmt: skip
    """Epsilon is f(w, a) for a term a of the records: what holds for f(w, y), for all y in a range with all values of a, holds."""
    require(s.name != "well-defined", "epsilon has to be defined as it is written")
    require(s.verdict == "proved" and s.name not in _INDIVISIBLE, "this claim is not shown by a statistic")
    require(name not in s.box, "the name is not new")
    values = Range(low, high, open=open_ is not None)
    yield from lie_in(s.records, term, values, lower, upper)
    yield from define(epsilon, {**s.box, name: values})
    yield from equal(substitute(epsilon, {name: term}), s.epsilon, s.box, "epsilon is not this function of the term")
    records = {v: r for v, r in {**s.records, name: values}.items() if v in epsilon.free}
    yield Premise(replace(s, epsilon=epsilon, records=records), proof)


@rule
def beside(s: Claim, *, variable: str, at: Fraction, on: Proof, above: Proof | None = None, below: Proof | None = None) -> Premises[None]:
    """What holds for all records with v = c, for all with v = c + d, and for all with v = c - d, where d > 0, holds for all records."""
    require((s.name, s.verdict) == ("assumption-9-nonzero", "proved"), "this claim is not shown on sides")
    old = _cut(s, variable, at)
    require(not old.open, "a range that is open already has no sides")
    others = {u: r for u, r in s.records.items() if u != variable}
    require((old.hi != at) is (above is not None) and (old.lo != at) is (below is not None), "the sides are not those of the range")
    yield Premise(replace(s, epsilon=substitute(s.epsilon, {variable: at}), records=others), on)
    for sign, end, proof in ((1, old.hi, above), (-1, old.lo, below)):
        if proof is not None:
            distance = Range(Fraction(0), None if end is None else abs(end - at), open=True)
            moved = substitute(s.epsilon, {variable: num(at) + num(sign) * var(variable)})
            part = replace(s, epsilon=moved, records={**others, variable: distance})
            yield Premise(replace(part, epsilon=(yield from branch_free(part, variable))), proof)


_OF_ALL_NOTIONS = {"well-defined", "homogeneous"}  # all others are about an epsilon
_OWN_FIELDS = {"epsilon-upper": {"bound"}, "epsilon-lower": {"bound", "at"}}


def state_claim(path: list[str], s: Claim, value: object) -> tuple[Claim, Mapping[str, object]]:
    """Return what a claim of a certificate states, and its fields."""
    claim = read_fields(value)
    name, verdict = str(claim.get("claim")), str(claim.get("verdict"))
    require([name, verdict] in [key.split(" ")[:2] for key in CLAIMS], "unknown claim or verdict")
    require(s.notion == "pure" or name in _OF_ALL_NOTIONS, "this claim is about a pure epsilon, which is not what the profile declares")
    fields = read_fields(claim, {"claim", "verdict", "proof"} | _OWN_FIELDS.get(name, set()), frozenset({"choices"}))
    return replace(s, name=name, verdict=verdict, bound=_read_bound(path, s, fields)), fields


def _read_bound(path: list[str], s: Claim, fields: Mapping[str, object]) -> Term | None:
    # the number that a claim states, or the floor that its proof is about
    if "bound" in fields:
        with within(path, ".bound"):
            return num(read_number(fields["bound"]))
    with within(path, ".proof"):
        if "floor" not in (proof := read_fields(fields["proof"])):
            return None
        with within(path, ".floor"):
            return read_term(proof["floor"], {**s.constants, **variables(s.box)})
