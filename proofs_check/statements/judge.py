"""Verdicts of claims. They are computed: the prover searches, the kernel's rules decide, witnesses are confirmed twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from profiles.errors import InvalidExpression
from profiles.numbers import exact_text, to_exact
from profiles.symbolic import from_sympy
from proofs_check.prover.explore import explore
from proofs_check.prover.goals import Goal
from proofs_check.prover.pointwise import UndefinedAtPoint, as_ball, value_at
from proofs_check.prover.search import prove
from proofs_check.prover.trees import describe
from proofs_check.results import Tree
from proofs_check.statements.confirming import confirms, confirms_violation
from proofs_check.statements.reading import Question, join_reals, read, read_point, split_reals
from proofs_check.statements.sentences import Goals, PaperClaim, Status


@dataclass(frozen=True, slots=True)
class GoalFinding:
    """What was found about one goal text: a proof tree (with the kernel's rules) for each of its goals, or a witness, or neither."""

    relation: str
    box: str
    status: Status
    trees: tuple[Tree, ...] = ()
    rules: tuple[str, ...] = ()
    witness: dict[str, Fraction] | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """The status of a claim with what it rests on. ``witness`` holds exact numbers; a status of ``UNKNOWN`` says nothing else."""

    claim: PaperClaim
    status: Status
    method: str
    findings: tuple[GoalFinding, ...] = ()
    witness: dict[str, Fraction] | None = None

    def to_json(self) -> dict[str, object]:
        witness = None if self.witness is None else {name: exact_text(value) for name, value in self.witness.items()}
        return {
            "id": self.claim.id,
            "source": self.claim.source,
            "statement": self.claim.statement,
            "verdict": self.status.value,
            "witness": witness,
            "correction": self.claim.correction or self.claim.argument or None,
        }


def decide(claim: PaperClaim) -> Judgement:
    """Return the judgement of a claim that need not be in the registry."""
    if claim.aside is not None:
        return Judgement(claim, claim.aside, claim.argument)
    findings = tuple(examine(goals) for goals in claim.goals)
    for finding in findings:
        if finding.status is Status.REFUTED:
            method = "a point where it fails, by ball arithmetic at 256 bits and by the kernel's rules"
            return Judgement(claim, Status.REFUTED, method, findings, finding.witness)
    if findings and all(finding.status is Status.PROVED for finding in findings):
        return Judgement(claim, Status.PROVED, _method(findings), findings)
    counter = tuple(examine(goals) for goals in claim.against)
    if counter and all(finding.status is Status.PROVED for finding in counter):
        instance = {name: to_exact(value, name) for name, value in claim.instance.items()}
        return Judgement(claim, Status.REFUTED, "an instance that contradicts it: " + _method(counter), findings + counter, instance)
    return Judgement(claim, Status.UNKNOWN, "neither a proof nor a point where it fails was found", findings + counter)


def _method(findings: tuple[GoalFinding, ...]) -> str:
    ways = dict.fromkeys(describe(tree) for finding in findings for tree in finding.trees)
    return "; ".join(ways)


def examine(goals: Goals) -> GoalFinding:
    """Return a witness against a goal text, or a proof of each of its goals that the kernel's rules confirm, or that neither was found."""
    proofs: list[Tree] = []
    rules: dict[str, None] = {}
    questions = [(question, question.goal()) for question in read(goals)]
    for look in (_look_first, _look_around):
        for question, goal in questions:
            witness = look(question, goal, goals.first)
            if witness is not None:
                return GoalFinding(goals.relation, goals.box, Status.REFUTED, witness=join_reals(witness))
    for question, goal in questions:
        proof = _find_proof(question, goal, goals.hint)
        if proof is None:
            return GoalFinding(goals.relation, goals.box, Status.UNKNOWN)
        proofs.append(proof[0])
        rules.update(dict.fromkeys(proof[1]))
    return GoalFinding(goals.relation, goals.box, Status.PROVED, tuple(proofs), tuple(rules))


def _find_proof(question: Question, goal: Goal, hint: Tree | None) -> tuple[Tree, tuple[str, ...]] | None:
    for tree in _proposals(goal, hint):
        rules = confirms(question, tree)
        if rules is not None:
            return tree, rules
    return None


def _proposals(goal: Goal, hint: Tree | None) -> Iterator[Tree]:
    if hint is not None:
        yield hint
    yield from ({"rule": "zero"}, {"rule": "manifest"})
    proof = prove(goal)
    if proof is not None:
        yield proof


def _look_first(question: Question, goal: Goal, first: str) -> dict[str, Fraction] | None:
    point = split_reals(read_point(first), question.box)
    return point if first and _is_witness(question, goal, point) else None


def _look_around(question: Question, goal: Goal, _: str) -> dict[str, Fraction] | None:
    witness = explore(goal, budget=1).witness
    if witness is None:
        return None
    return next((point for point in _shorter(witness, question) if _is_witness(question, goal, point)), None)


def _shorter(point: dict[str, Fraction], question: Question) -> Iterator[dict[str, Fraction]]:
    for digits in (0, 1, 2, 4):
        short = {name: Fraction(round(value * 10**digits), 10**digits) for name, value in point.items()}
        if all(variable.contains(short[variable.name]) for variable in question.box):
            yield short
    yield point


def _is_witness(question: Question, goal: Goal, point: dict[str, Fraction]) -> bool:
    try:
        term = from_sympy(goal.expression) if question.derive else question.difference
        value = value_at(term, point, bits=256)
    except (UndefinedAtPoint, InvalidExpression, KeyError):
        return False
    number = value if isinstance(value, Fraction) else as_ball(value)
    fails = (number <= 0) if question.strict else (number < 0)
    return bool(fails) and confirms_violation(question, point)
