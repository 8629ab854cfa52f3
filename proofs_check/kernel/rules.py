"""The rules: a proof tree proves that a term is >= 0 (or > 0) on a box."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

from .boxes import Search
from .errors import Rejected
from .ranges import Range
from .session import Goal, Session
from .syntax import read_choice, read_fields, read_integer, read_list, read_name, read_number
from .terms import Term, differentiate, exp, log, num, postorder, substitute, var

Tree = Mapping[str, object]
_MAX_DEPTH = 60


def show(session: Session, tree: Tree, name: str, goal: Goal) -> None:
    """Prove a goal by the tree in a field of this name."""
    with session.at("." + name):
        prove(session, goal, tree[name])


def _fix(goal: Goal) -> Term:
    # the goal's term with numbers for the variables that have one value only
    return substitute(goal.term, {v: r.lo for v, r in goal.box.items() if r.lo == r.hi})


def _range(name: object, goal: Goal) -> tuple[str, Range]:
    if not isinstance(name, str) or name not in goal.box:
        raise Rejected("there is no such variable in the goal's box")
    return name, goal.box[name]


def _zero(session: Session, goal: Goal, _: Tree) -> None:
    if goal.strict or not session.is_zero(goal.term, goal.box):
        raise Rejected("the goal is strict" if goal.strict else "the normal form is not zero")


def _manifest(session: Session, goal: Goal, _: Tree) -> None:
    # as it stands, or after x = lo + u, which turns [lo, hi] into [0, hi - lo]
    term = _fix(goal)
    shift = {v: var(v) + num(goal.box[v].lo) for v in term.free}
    moved = {v: replace(r, lo=Fraction(0), hi=None if r.hi is None else r.hi - r.lo) for v, r in goal.box.items() if v in shift}
    for form, box in ((term, goal.box), (substitute(term, shift), moved)):
        normaliser = session.normaliser(form, box)
        poly = normaliser.poly(form)
        if max(normaliser.manifest(poly), normaliser.manifest(normaliser.cleared(poly, signed=True))) > int(goal.strict):
            return
    raise Rejected("the sign is not manifest")


def _boxes(session: Session, goal: Goal, tree: Tree) -> None:
    budget, precision = read_integer(tree["budget"], 1, 50_000), read_integer(tree.get("precision", 64), 53, 1024)
    centred, term = read_choice(tree.get("form", "natural"), "centred", "natural"), _fix(goal)
    slopes: dict[str, Term] = {}
    for v in sorted(term.free) if centred else ():
        term = session.smooth(term, v, goal.box)
    try:
        slopes = {v: differentiate(term, v) for v in term.free if centred or len(term.free) > 1}
    except Rejected:
        if centred:
            raise
    search = Search(_forms(session, term, goal), slopes, goal.box, precision, session.meter)
    search.prove(strict=goal.strict, budget=budget, centred=centred)


def _forms(session: Session, term: Term, goal: Goal) -> list[Term]:
    # the term, and its normal form as a term if there is one that is not much larger
    try:
        normaliser = session.normaliser(term, goal.box)
        other = normaliser.term(normaliser.poly(term))
    except Rejected:
        return [term]
    return [term, other] if other is not term and len(postorder(other)) <= 3 * len(postorder(term)) + 50 else [term]


def _split(session: Session, goal: Goal, tree: Tree) -> None:
    (v, old), cut = _range(tree["variable"], goal), read_number(tree["at"])
    if not old.contains(cut) or cut in (old.lo, old.hi):
        raise Rejected("the range must be split strictly inside")
    show(session, tree, "below", replace(goal, box={**goal.box, v: replace(old, hi=cut)}))
    show(session, tree, "above", replace(goal, box={**goal.box, v: Range(cut, old.hi)}))


def _monotone(session: Session, goal: Goal, tree: Tree) -> None:
    (v, old), rising = _range(tree["variable"], goal), read_choice(tree["direction"], "increasing", "decreasing")
    end, is_open = old.lo if rising else old.hi, rising and old.open
    if end is None:
        raise Rejected(f"the range of {v} has no end to reduce to")
    term = session.smooth(goal.term, v, goal.box)
    if is_open:  # defined, hence continuous at the end too: above its value there, strictly so if the slope is > 0
        session.define(term, {**goal.box, v: replace(old, open=False)})
    slope = differentiate(term, v)
    show(session, tree, "slope", Goal(slope if rising else -slope, goal.box, goal.strict and is_open))
    left = {u: r for u, r in goal.box.items() if u != v}
    show(session, tree, "end", Goal(substitute(term, {v: end}), left, goal.strict and not is_open))


def _scale(session: Session, goal: Goal, tree: Tree) -> None:
    factor = session.read(tree["factor"], goal.box)
    show(session, tree, "positive", Goal(factor, goal.box, strict=True))
    show(session, tree, "product", replace(goal, term=factor * goal.term))


def _sum(session: Session, goal: Goal, tree: Tree) -> None:
    parts, proofs = [session.read(source, goal.box) for source in read_list(tree["parts"])], read_list(tree["proofs"])
    if len(parts) != len(proofs) or goal.strict != ("strict" in tree):
        raise Rejected("there must be as many proofs as parts, and a field strict for a strict goal only")
    strict = read_integer(tree["strict"], 0, len(parts) - 1) if goal.strict else -1
    if not session.is_zero(sum((-part for part in parts), goal.term), goal.box):
        raise Rejected("the parts do not add up to the goal")
    for i, (part, proof) in enumerate(zip(parts, proofs, strict=True)):
        with session.at(f".proofs[{i}]"):
            prove(session, Goal(part, goal.box, i == strict), proof)


def _tangent(session: Session, goal: Goal, tree: Tree, remainder: Term) -> None:
    c = session.read(tree["coefficient"], goal.box)
    show(session, tree, "nonnegative", Goal(c, goal.box))
    show(session, tree, "rest", replace(goal, term=goal.term - c * remainder))


def _exp_tangent(session: Session, goal: Goal, tree: Tree) -> None:
    m = session.read(tree["exponent"], goal.box)
    _tangent(session, goal, tree, exp(m) - num(1) - m)


def _log_tangent(session: Session, goal: Goal, tree: Tree) -> None:
    a = session.read(tree["argument"], goal.box)
    show(session, tree, "argument-positive", Goal(a, goal.box, strict=True))
    _tangent(session, goal, tree, a - num(1) - log(a))


def _generalise(session: Session, goal: Goal, tree: Tree) -> None:
    # what holds for all y in a range that contains all values of a holds for a
    y, a, low, high = read_name(str(tree["name"])), session.read(tree["term"], goal.box), read_number(tree["low"]), tree.get("high")
    if y in goal.box or y in session.constants:
        raise Rejected("the name is not new")
    values = Range(low, None if high is None else read_number(high), open="open" in tree)
    show(session, tree, "lower", Goal(a - num(low), goal.box, values.open))
    if values.hi is not None:
        show(session, tree, "upper", Goal(num(values.hi) - a, goal.box))
    general = Goal(session.read(tree["general"], {**goal.box, y: values}), {**goal.box, y: values}, goal.strict)
    if not session.is_zero(substitute(general.term, {y: a}) - goal.term, goal.box):
        raise Rejected("the goal is not an instance of the general one")
    show(session, tree, "proof", general)


_RULES: dict[str, tuple[Callable[[Session, Goal, Tree], None], str, str]] = {  # with required and optional fields
    "zero": (_zero, "", ""),
    "manifest": (_manifest, "", ""),
    "boxes": (_boxes, "budget", "form precision"),
    "split": (_split, "variable at below above", ""),
    "monotone": (_monotone, "variable direction slope end", ""),
    "scale": (_scale, "factor positive product", ""),
    "sum": (_sum, "parts proofs", "strict"),
    "generalise": (_generalise, "name term low lower general proof", "high upper open"),
    "exp-tangent": (_exp_tangent, "exponent coefficient nonnegative rest", ""),
    "log-tangent": (_log_tangent, "argument coefficient argument-positive nonnegative rest", ""),
}


def prove(session: Session, goal: Goal, tree: object) -> None:
    """Prove the goal by the rule at the root of the tree; reject otherwise."""
    session.meter.spend(5 * len(postorder(goal.term)))
    if len(session.path) > _MAX_DEPTH:
        raise Rejected("the proof is nested too deeply")
    name = tree.get("rule") if isinstance(tree, dict) else None
    if not isinstance(name, str) or name not in _RULES:
        raise Rejected("expected a proof tree with a known rule")
    rule, required, optional = _RULES[name]
    rule(session, goal, read_fields(tree, {"rule", *required.split()}, frozenset(optional.split())))
    session.rules[name] = None
