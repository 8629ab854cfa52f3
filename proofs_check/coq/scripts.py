"""How Coq may close a goal: proof scripts, tried one after the other. They only propose; Coq's kernel has to accept the proof.

A script is made from parsed terms, as the lemma is; it uses the tactics of ``tactics.v`` and lemmas of earlier goals that were confirmed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from proofs_check.coq.goals import ProvedGoal, find_generalised, find_split, fix
from proofs_check.coq.syntax import NotWritable
from proofs_check.coq.writing import Lemma, name_variables, write_goal, write_number, write_term
from proofs_check.kernel.core.documents import Meter, Rejected
from proofs_check.kernel.core.terms import BRANCHING, Term, differentiate, forget, num, postorder, substitute, var
from proofs_check.kernel.core.theorems import Box, Goal, Range
from proofs_check.kernel.procedures.normal import Mono, Normaliser, Poly

_MARK = " "  # a variable that no certificate can have


def propose_scripts(number: int, goals: Sequence[ProvedGoal], confirmed: Mapping[int, str]) -> Iterator[str]:
    """Yield scripts for a goal of a list, the likeliest ones first; ``confirmed``: names of lemmas, by the place of their goals."""
    forget()  # the table of shared terms is bounded; what follows makes all its terms anew
    proved = goals[number]
    parts = {name: place for name, place in proved.parts.items() if place in confirmed}
    by_parts = _BY_PARTS.get(proved.rule)
    if by_parts is not None and parts.keys() >= set(proved.parts):
        # nothing, where the proof has another form than the script supposes
        with contextlib.suppress(KeyError, IndexError, ValueError, NotWritable, Rejected):
            yield from by_parts(_Frame(goals, proved, confirmed))
    goal = proved.goal
    options = ", ".join(["i_prec 60", *(f"i_bisect {name}" for name in name_variables(goal).values()), "i_depth 12"])
    if any(node.op in BRANCHING for node in postorder(goal.term)):
        yield "cases; sign"
    direct = {"zero": "apply equal_le; same", "boxes": "interval"}.get(proved.rule, "sign")
    yield direct
    yield from _by_normal_form(goal)
    if direct != "sign":
        yield "sign"
    yield f"interval with ({options})"
    yield "nra"


def _by_normal_form(goal: Goal) -> Iterator[str]:
    """Yield a script that multiplies by denominators and writes the product as a sum of monomials in the distances from ends of ranges."""
    names = name_variables(goal)
    form = find_manifest(goal)
    if form is None:
        return
    with contextlib.suppress(NotWritable):
        times, monomials = (_write_sum(form.normaliser, part, form.back, names) for part in (form.factor, form.product))
        text = write_term(fix(goal.term, goal.box), names)
        yield (
            f"apply (scale_{'lt' if goal.strict else 'le'} ({times})); [sign | "
            f"replace (({times}) * {text}) with ({monomials}) by same; sign]"
        )


@dataclass(frozen=True, slots=True)
class Manifest:
    """A factor > 0 and its product with a goal's term, whose monomials are all >= 0: normal forms in variables that ``back`` explains."""

    normaliser: Normaliser
    factor: Poly
    product: Poly
    back: Mapping[str, Term]


def find_manifest(goal: Goal) -> Manifest | None:
    """Return how the kernel's rule ``manifest`` sees a goal: as it is, or measured from the lower or the upper ends of its ranges."""
    fixed = {v: r.lo for v, r in goal.box.items() if r.lo == r.hi}
    box = {v: r for v, r in goal.box.items() if v in goal.term.free and v not in fixed}
    term = substitute(goal.term, fixed)
    for downwards in (None, False, True):
        if downwards and all(r.hi is None for r in box.values()):
            continue
        shift, moved, back = _measure(box, downwards=downwards)
        with contextlib.suppress(Rejected):
            for factor, poly, normaliser in _clear(substitute(term, shift), moved):
                if normaliser.manifest(poly) > int(goal.strict):
                    return Manifest(normaliser, factor, poly, back)
    return None


def _measure(box: Box, *, downwards: bool | None) -> tuple[dict[str, Term], dict[str, Range], dict[str, Term]]:
    # x = lo + u, or hi - u, or x = u: what stands for x, the range of u, and what u is in terms of x
    shift, moved, back = dict[str, Term](), dict[str, Range](), dict[str, Term]()
    for v, r in box.items():
        if downwards is None:
            moved[v] = r
        elif downwards and r.hi is not None:
            shift[v], moved[v], back[v] = num(r.hi) - var(v), Range(Fraction(0), r.hi - r.lo), num(r.hi) - var(v)
        else:
            moved[v] = Range(Fraction(0), None if r.hi is None else r.hi - r.lo, r.open)
            shift[v], back[v] = var(v) + num(r.lo), var(v) - num(r.lo)
    return shift, moved, back


def _clear(term: Term, box: Box) -> Iterator[tuple[Poly, Poly, Normaliser]]:
    # a factor > 0 and its product with the term, as normal forms: first 1, then the denominators that the kernel would clear. They come out
    # as what a new variable is multiplied by that is added to the term
    normaliser = Normaliser({**box, _MARK: Range(Fraction(0), open=True)}, Meter())
    poly, marked = normaliser.poly(term), var(_MARK)
    yield {(): Fraction(1)}, poly, normaliser
    whole = normaliser.cleared(normaliser.poly(term + marked), signed=True)
    factor = {tuple(item for item in mono if item[0] is not marked): c for mono, c in whole.items() if (marked, 1) in mono}
    yield factor, {mono: c for mono, c in whole.items() if (marked, 1) not in mono}, normaliser


def group_monomials(normaliser: Normaliser, poly: Poly, back: Mapping[str, Term]) -> list[tuple[Term, Term]]:
    """Return a normal form as pairs: what is free of variables, which has a sign, and what it is multiplied by."""
    groups: dict[Mono, Poly] = {}
    for mono, c in poly.items():
        key = tuple(item for item in mono if item[0].free)
        groups.setdefault(key, {})[tuple(item for item in mono if not item[0].free)] = c
    return [(normaliser.term(scalar), substitute(normaliser.term({mono: Fraction(1)}), back)) for mono, scalar in groups.items()]


def _write_sum(normaliser: Normaliser, poly: Poly, back: Mapping[str, Term], names: Mapping[str, str]) -> str:
    parts = group_monomials(normaliser, poly, back)
    return " + ".join(f"{write_term(scalar, dict(names))} * {write_term(rest, dict(names))}" for scalar, rest in parts) or "0"


class _Frame:
    # a goal and the lemmas of its parts
    def __init__(self, goals: Sequence[ProvedGoal], proved: ProvedGoal, confirmed: Mapping[int, str]) -> None:
        self.goals, self.proved, self.confirmed = goals, proved, confirmed
        self.names = name_variables(proved.goal)
        self.text = write_term(self.term(proved.goal), self.names)

    @staticmethod
    def term(goal: Goal) -> Term:
        return fix(goal.term, goal.box)

    def part(self, name: str) -> Goal:
        return self.goals[self.proved.parts[name]].goal

    def write(self, name: str, **others: str) -> str:
        # the term of a part over the variables of the goal
        return write_term(self.term(self.part(name)), {**self.names, **others})

    def lemma(self, name: str, others: Mapping[str, str] | None = None) -> str:
        # the lemma of a part for the variables of the goal, and for what others stand for
        part, values = self.part(name), {**self.names, **(others or {})}
        arguments = [values[v] for v in name_variables(part)]
        ranges = len(write_goal(part).ranges)
        return f"({' '.join([self.confirmed[self.proved.parts[name]], *(f'({a})' for a in arguments), *['ltac:(inside)'] * ranges])})"


def _scale(frame: _Frame) -> Iterator[str]:
    sign = "lt" if frame.proved.goal.strict else "le"
    yield (
        f"pose proof {frame.lemma('positive')}; pose proof {frame.lemma('product')}; apart; "
        f"apply (scale_{sign} {frame.write('positive')}); first [assumption | lra | nra]"
    )


def _sum(frame: _Frame) -> Iterator[str]:
    parts = sorted(frame.proved.parts)
    posed = "".join(f"pose proof {frame.lemma(name)}; " for name in parts)
    whole = " + ".join(frame.write(name) for name in parts)
    yield f"{posed}apart; lra"
    yield f"{posed}apart; replace ({frame.text}) with ({whole}) by same; lra"


def _tangent(frame: _Frame) -> Iterator[str]:
    # the rest is the goal's term less a product that is >= 0
    goal, rest = frame.term(frame.proved.goal), frame.term(frame.part("rest"))
    taken = rest.args[1].args[1] if rest.op == "add" and rest.args[0] is goal and rest.args[1].op == "mul" else None
    posed = "".join(f"pose proof {frame.lemma(name)}; " for name in frame.proved.parts)
    if taken is None:
        yield f"{posed}apart; nra"
        return
    yield f"{posed}apart; assert (0 <= {write_term(taken, frame.names)}) by sign; lra"


def _split(frame: _Frame) -> Iterator[str]:
    v, place = find_split(frame.goals, frame.proved)
    at = write_number(place)
    yield (
        f"destruct (Rle_or_lt {frame.names[v]} {at}); "
        f"[pose proof {frame.lemma('below')}; apart; first [assumption | lra] "
        f"| pose proof {frame.lemma('above')}; apart; first [assumption | lra]]"
    )


def _generalise(frame: _Frame) -> Iterator[str]:
    y, value = find_generalised(frame.goals, frame.proved)
    shown = write_term(value, frame.names)
    posed = "".join(f"pose proof {frame.lemma(name)}; " for name in ("lower", "upper") if name in frame.proved.parts)
    instance = frame.write("proof", **{y: shown})
    yield (
        f"{posed}apart; pose proof {frame.lemma('proof', {y: shown})}; apart; "
        f"first [assumption | lra | replace ({frame.text}) with ({instance}) by same; assumption]"
    )


def _monotone(frame: _Frame) -> Iterator[str]:
    goal, slope, end = frame.proved.goal, frame.part("slope"), frame.part("end")
    (v,) = (v for v in goal.box if v not in end.box)
    term = frame.term(goal)
    if any(node.op in BRANCHING and v in node.free for node in postorder(term)):
        return
    rising = goal.box[v].hi is None or frame.term(slope) is differentiate(term, v)
    last = goal.box[v].lo if rising else goal.box[v].hi
    if last is None or (rising and goal.box[v].open):
        return
    names = {**frame.names, v: "t"}
    at, x = write_number(last), frame.names[v]
    function, slopes = f"(fun t => {write_term(term, names)})", f"(fun t => {write_term(differentiate(term, v), names)})"
    ends = f"({write_term(substitute(term, {v: last}), frame.names)} = {write_term(term, {**names, v: at})})"
    yield (
        f"pose proof {frame.lemma('end')}; apart; assert {ends} by same; "
        f"assert ({function} {at} <= {function} {x}); "
        f"[apply ({'rising' if rising else 'falling'} {function} {slopes}); [lra | intros t ?; cbv beta; slope | "
        f"intros t ?; cbv beta; pose proof {frame.lemma('slope', {v: 't'})}; apart; first [assumption | lra]] | cbv beta in *; lra]"
    )


_BY_PARTS: dict[str, Callable[[_Frame], Iterator[str]]] = {
    "scale": _scale,
    "sum": _sum,
    "exp-tangent": _tangent,
    "log-tangent": _tangent,
    "split": _split,
    "generalise": _generalise,
    "monotone": _monotone,
}


def write_lemma(name: str, lemma: Lemma, scripts: Sequence[str], seconds: int) -> str:
    """Return the sentences that state a lemma and close it by the first of the scripts that does, within so many seconds in all."""
    tried = " | ".join(f"solve [timeout {max(1, seconds // 3)} ({script})]" for script in scripts)
    facts = "".join("split; [first [solve [sign] | interval] | ]; " for _ in lemma.statements[1:])
    return f"Lemma {name} : {lemma.text()}.\nProof. intros; timeout {seconds} ({facts}first [{tried}]). Qed.\n"
