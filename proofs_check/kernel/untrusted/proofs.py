"""Proofs: finds theorems for the premises of rules in what a certificate brings. It reads trees; it can lose a proof, and make none."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, partial
from inspect import signature
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from ..core.documents import Meter, Rejected, read_fields, read_integer, read_list, require
from ..core.rules import Flag, Name, define, side_condition
from ..core.terms import Term, pay, postorder
from ..core.theorems import NONE, Box, Goal, Identity, Premise, Premises, Proof, Range, Theorem, settle, within
from ..procedures.rules import RULES
from ..reading import read_name, read_number, read_range, read_term, variables
from ..theories.compositions.bounds import Bound, computed, ended, joined, positive
from ..theories.profiles.claims import CLAIMS, beside, by_statistic, in_cases, restated
from ..theories.profiles.pieces import Proofs
from ..theories.profiles.statements import Claim, OfCount, Point
from .steering import find_cut

_MOST_STEPS, _MOST_NESTED, _MOST = 60, 20, 10**6
TREES = {"m": Proof({"rule": "manifest"}), "z": Proof({"rule": "zero"}), "b": Proof({"rule": "boxes", "budget": 2000})}
# a tree that a certificate has for the term of a side condition; the first of several ways (0, 1, ..., 9, :, ;, ...); and what is missing
OWN, FIRST_WAY, UNSAID = "o", "0", "the certificate does not say how to go on here"
#: What rules were called in earlier certificates.
EARLIER_RULES = {"turn": "periodicity"}
T = TypeVar("T")


@cache
def fields_of(function: Callable[..., object]) -> tuple[dict[str, tuple[str, Any]], frozenset[str]]:
    """Return the parameters of a rule and their types by the names of the fields of its proofs, and the fields that are required."""
    hints, fields, required = get_type_hints(function), dict[str, tuple[str, Any]](), set[str]()
    for p in signature(function).parameters.values():
        if p.kind is p.KEYWORD_ONLY:
            hint, field = hints[p.name], p.name.rstrip("_").replace("_", "-")
            fields[field] = p.name, get_args(hint)[0] if type(None) in get_args(hint) else hint
            required |= {field} if p.default is p.empty else set()
    return fields, frozenset(required)


def find_rule(claim: Claim | Bound, proof: Mapping[str, object]) -> tuple[str, Callable[..., Theorem], Mapping[str, object]]:
    """Return the step of the fields of a claim's proof, the rule that it names, and these fields."""
    if isinstance(claim, Bound):
        past = not proof and claim.up and claim.ends()
        return "", positive if claim.name == "delta-positive" else joined if "parts" in proof else ended if past else computed, proof
    if "restated" in proof:
        rest = {key: field for key, field in proof.items() if key != "restated"}
        return "", restated, {key: field for key, field in proof.items() if key in {"restated", "at"}} | {"proof": Proof(rest)}
    for step, function in ((".sides", beside), (".cases", in_cases), (".statistic", by_statistic)):
        field = step[1:]
        if field in proof:
            return step, function, read_fields(read_fields(proof, {field})[field])
    ways = [function for key, function in CLAIMS.items() if key.split(" ")[:2] == [claim.name, claim.verdict]]
    return "", next((way for way in ways if fields_of(way)[1] <= proof.keys()), ways[0]), proof


def find_name(rule: object) -> object:
    """Return what the rule is called that a proof tree names, in words of today."""
    return EARLIER_RULES.get(rule, rule) if isinstance(rule, str) else rule


@dataclass(slots=True)
class Session:
    """The proofs of one certificate: the work meter, numeric parameters, what a claim chooses, and what was proved."""

    meter: Meter = field(default_factory=Meter)
    given: Iterator[str] = field(default_factory=lambda: iter(()))  # what the claims of version 1 choose, one after the other
    constants: Mapping[str, Term] = field(default_factory=dict)
    obligations: Mapping[Term, Proof] = field(default_factory=dict)
    used: set[Term] = field(default_factory=set)  # of the obligations
    choices: Iterator[str] = field(default_factory=lambda: iter(""))  # of the claim, in the order in which they are needed
    path: list[str] = field(default_factory=list)  # where we are
    nested: int = 0  # in how many proofs of side conditions
    theorems: list[Theorem] = field(default_factory=list)  # that the claims are
    proved: list[tuple[str, Goal, str]] = field(default_factory=list)  # every goal that a rule proved: where, what, and which rule

    def at(self, step: str) -> AbstractContextManager[None]:
        """Enter a step."""
        return within(self.path, step)

    def read(self, source: object, box: Box) -> Term:
        """Read a term over the variables of a box, and show that it is defined there."""
        term = read_term(source, {**self.constants, **variables(box)})
        self.run(define(term, box))
        return term

    def run(self, premises: Premises[T]) -> T:
        """Prove the premises of a value, and return it."""
        return settle(premises, self)[0]

    def prove(self, premise: Premise) -> Theorem:
        """Return a theorem of the premise, by its proof or as a side condition; or reject."""
        if isinstance(premise.statement, str):
            return side_condition(premise.statement, self)
        mark = len(self.path)
        try:
            if premise.proof is NONE:
                return self.discharge(premise.statement)
            with self.at(premise.proof.step):
                return self.follow(premise.statement, premise.proof.source)
        except Rejected as problem:
            if not premise.reason:
                raise
            del self.path[mark:]
            raise Rejected(premise.reason) from problem

    def choose(self, ways: Sequence[Callable[[], Theorem]], step: str) -> Theorem:
        """Go the way that the certificate chooses, where there are several."""
        with self.at(step):
            require(0 <= (place := ord(next(self.choices, " ")) - ord(FIRST_WAY) if len(ways) > 1 else 0) < len(ways), UNSAID)
            return ways[place]()

    def advise(self, question: Any) -> object:
        """Say where a piece of a box is cut."""
        return find_cut(question, self.meter)

    def discharge(self, goal: Any, name: str | None = None) -> Theorem:
        """Return a theorem of a side condition, by the tree of this name, or the one that the certificate chooses."""
        name = next(self.choices, "") if name is None else name
        tree = self.obligations.get(goal.term) if name == OWN else TREES.get(name)
        if tree is None:
            raise Rejected(UNSAID)
        require(self.nested < _MOST_NESTED, "side conditions are nested too deeply")
        self.used |= {goal.term} if name == OWN else set()
        self.nested += 1
        theorem = self.follow(goal, tree.source)
        self.nested -= 1
        return theorem

    def begin(self, claim: Claim | Bound, fields: Mapping[str, object]) -> Theorem:
        """Return a theorem of a claim by its proof, with its own trees for side conditions and what it chooses."""
        if isinstance(claim, Bound):
            self.theorems.append(self.follow(claim, fields))
            return self.theorems[-1]
        proof, self.constants = dict(read_fields(fields["proof"])), claim.constants
        # the certificate's own proofs of side conditions, by the text of their terms; s, s_, s__ and n are variables of claims
        names = {**variables({"s": 0, "s_": 0, "s__": 0, "n": 0, **claim.box}), **self.constants}
        trees = [(read_term(source, names), Proof(tree)) for source, tree in read_fields(proof.pop("obligations", {})).items()]
        choices = next(self.given, fields.get("choices", ""))
        require(isinstance(choices, str), "what a claim chooses is a text")
        self.obligations, self.used, self.choices = dict(trees), set(), iter(str(choices))
        stated = {name: fields[name] for name in fields.keys() & {"at"}}
        require(not proof.keys() & stated.keys(), "unknown fields")
        theorem = self.follow(claim, proof | stated)
        require(len(self.used) == len(trees), "an obligation is given twice, or one that the claim does not have")
        require(next(self.choices, None) is None, "there are more choices than the claim has")
        self.theorems.append(theorem)
        return theorem

    def follow(self, statement: Any, proof: object) -> Theorem:
        """Return a theorem of a statement by the rule that its proof names; a statement of a theory finds it by itself."""
        require(len(self.path) <= _MOST_STEPS, "the proof is nested too deeply")
        if not isinstance(statement, Goal | Identity):
            step, function, fields = find_rule(statement, read_fields(proof))
            with self.at(step):
                return self.apply(function, statement, fields)
        fields = dict(read_fields(proof))
        name = find_name(fields.pop("rule", None))
        if not isinstance(name, str) or name not in RULES:
            raise Rejected("expected a proof tree with a known rule")
        if isinstance(statement, Identity):  # it is listed as what it says, that the difference is at least and at most 0
            goals = [Goal(statement.difference, statement.box), Goal(-statement.difference, statement.box)]
        else:
            goals = [statement]
        pay(5 * len(postorder(goals[0].term)))
        theorem = self.apply(RULES[name], statement, fields)
        self.proved += [("".join(self.path), goal, name) for goal in goals]
        return theorem

    def apply(self, function: Callable[..., Theorem], statement: Any, value: object) -> Theorem:
        """Apply a rule to a statement with the parameters that stand in the fields of a proof."""
        names = {} if isinstance(statement, Bound) else {**self.constants, **variables(statement.box)}
        return function(statement, self, **self._read_parameters(function, value, names))

    def _read_parameters(
        self, function: Callable[..., object], value: object, names: Mapping[str, Term], step: str = ""
    ) -> dict[str, object]:
        parameters, required = fields_of(function)
        fields = read_fields(value, set(required), frozenset(parameters) - required)
        new = {read_name(fields[key]) for key, (_, hint) in parameters.items() if hint is Name}
        require(not new & self.constants.keys(), "the name is not new")
        names = {**names, **variables(dict.fromkeys(new))}
        given = dict[str, object]()
        for key, (parameter, hint) in parameters.items():
            if key in fields:
                with self.at(f".{key}"):
                    if hint is Proofs and "cuts" not in fields:
                        given[parameter] = [Proof(fields[key], f".{key}")]
                    else:
                        given[parameter] = self._read(hint, fields[key], names, f"{step}.{key}")
        return given

    def _read(self, hint: Any, value: object, names: Mapping[str, Term], step: str) -> object:
        hint = list[Proof] if hint is Proofs else hint
        if get_origin(hint) is list:
            return [self._read(get_args(hint)[0], each, names, f"{step}[{i}]") for i, each in enumerate(read_list(value))]
        if get_origin(hint) is Literal:
            require(value in get_args(hint), f"expected {' or '.join(get_args(hint))}")
            return value
        if hint is Point:
            return {v: read_term(each, self.constants) for v, each in read_fields(value).items()}
        if hint in (Term, OfCount):
            return read_term(value, names if hint is Term else {**self.constants, **variables({"n": 0})})
        if hint is Proof:
            return value if isinstance(value, Proof) else Proof(value, step)
        if hint in _READERS:
            return _READERS[hint](value)
        return hint(**self._read_parameters(hint, value, names, step))


_READERS: dict[object, Callable[[object], object]] = {
    Fraction: read_number,
    Name: read_name,
    str: str,
    int: partial(read_integer, low=0, high=_MOST),
    Flag: lambda _: True,
    Range: read_range,
}
