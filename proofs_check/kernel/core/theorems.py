"""Theorems: values that only rules make. This module is the whole idea of the kernel; all the others only fill it."""
# As in HOL Light: whatever a certificate says, nothing holds because it says so. A claim is accepted because it is a theorem. What has to
# be believed of the kernel are the functions that ``rule`` marks, and the docstring of each is an axiom: such a function is given a
# statement and parameters, and yields premises, one after the other. Where it comes to its end, the statement follows from them by the
# axiom; else it rejects. ``rule`` makes of it what takes theorems of just these premises and returns the theorem, and nothing else can.
# Who finds these theorems, and how, need not be believed: whatever a ``Prover`` returns, it can lose a proof, and make none. (Python lets
# any code change any object in place; a test sees that what is shipped here does not.)

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import InitVar, dataclass, is_dataclass
from fractions import Fraction
from functools import partial, wraps
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, get_args, get_origin, get_type_hints

from . import intervals as iv
from .documents import Meter, require
from .terms import Term, bits, pay


@dataclass(frozen=True, slots=True)
class Range:
    """[lo, hi], or (lo, hi] if open; without hi, all finite numbers from lo on. Never empty."""

    lo: Fraction
    hi: Fraction | None = None
    open: bool = False

    def __post_init__(self) -> None:
        require(self.hi is None or self.lo < self.hi or (self.lo == self.hi and not self.open), "a range is empty")

    @property
    def sign(self) -> int:
        """2, 1 or 0: the numbers of the range are > 0, >= 0, or neither."""
        return 2 if self.lo > 0 or (self.lo == 0 and self.open) else int(self.lo == 0)

    def contains(self, q: Fraction) -> bool:
        """Whether q is in the range."""
        return (self.lo < q if self.open else self.lo <= q) and (self.hi is None or q <= self.hi)

    def hull(self, p: int) -> iv.Interval:
        """Return an interval that contains the range."""
        pay((bits(self.lo) + (0 if self.hi is None else bits(self.hi))) // 500)
        return iv.from_fraction(self.lo, p)[0], iv.INF if self.hi is None else iv.from_fraction(self.hi, p)[1]


Box = Mapping[str, Range]


@dataclass(frozen=True, slots=True)
class Goal:
    """For all points of the box: term >= 0, or term > 0 if strict."""

    # Invariant: the term is defined at every point of the box. Every rule keeps it, and so do the claims that make goals.
    term: Term
    box: Box
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Identity:
    """For all points of the box: the difference of two terms, both defined there, is 0."""

    difference: Term
    box: Box


T = TypeVar("T")


class Proof(NamedTuple):
    """An unread part of a certificate and its step; it belongs to a premise."""

    source: object
    step: str = ""


NONE = Proof(None)  # of a side condition, for which a certificate need not bring one


@dataclass(frozen=True, slots=True)
class Premise:
    """What a rule needs a theorem of: a statement; and the proof that the certificate has for it, or none for a side condition.

    ``reason``: what to say where it is not shown.
    """

    statement: object
    proof: Proof = NONE
    reason: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """Alternatives of which a rule needs one, each with its own premises. The rule gets the number of the chosen one, and its value."""

    ways: "tuple[Callable[[], Premises[object]], ...]"
    step: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Taken:
    """Of a choice, the way at this place can be taken, and has this value."""

    choice: Choice
    place: int
    value: object


class Question:
    """What a rule asks for, and does not believe."""


Premises = Generator[Premise | Choice | Question, Any, T]  # what is needed for a value of type T
_SEAL = object()


@dataclass(frozen=True, slots=True, eq=False)
class Theorem:
    """A statement that holds: a goal, or what a theory makes of goals; the rule behind it, and the theorems that the rule took."""

    statement: object
    rule: str
    parts: "tuple[Theorem, ...]"
    seal: InitVar[object]

    def __post_init__(self, seal: object) -> None:
        require(seal is _SEAL, "a theorem is made by a rule only")


class Prover(Protocol):
    """Where the theorems come from that rules take; and what a document has: a meter, and the steps that lead to where it is read."""

    meter: Meter
    path: list[str]

    def begin(self, statement: Any, fields: Mapping[str, object]) -> Theorem:
        """Return a theorem of the statement of a claim by the fields that a certificate has for it, or reject."""

    def prove(self, premise: Premise) -> Theorem:
        """Return a theorem of the premise, or reject."""

    def choose(self, ways: Sequence[Callable[[], Theorem]], step: str) -> Theorem:
        """Go one of several ways at a step, and return what it returns."""

    def advise(self, question: Question) -> object:
        """Answer a question."""


@contextmanager
def within(path: list[str], step: str) -> Iterator[None]:
    """Enter a step; leaving it by an exception keeps the path for the report."""
    mark = len(path)
    path += [step] if step else []
    yield
    del path[mark:]


def settle(premises: Premises[T], prover: Prover) -> tuple[T, tuple[Theorem, ...]]:
    """Take a theorem of each premise; return what they were needed for, and the theorems."""
    answer, parts = None, list[Theorem]()
    while True:
        try:
            needed = premises.send(answer)
        except StopIteration as end:
            return end.value, tuple(parts)
        if isinstance(needed, Question):
            answer = prover.advise(needed)
            continue
        if isinstance(needed, Choice):
            theorem = prover.choose([partial(_take, needed, place, prover) for place in range(len(needed.ways))], needed.step)
        else:
            theorem = prover.prove(needed)
        stated = theorem.statement if type(theorem) is Theorem else None
        if isinstance(stated, Taken):
            answer, stated = (stated.place, stated.value), stated.choice
        # the very object that was asked for: what only compares as equal to it can say something else
        require(stated is (needed if isinstance(needed, Choice) else needed.statement), "a theorem is not of the premise")
        parts.append(theorem)


def _take(choice: Choice, place: int, prover: Prover) -> Theorem:
    value, parts = settle(choice.ways[place](), prover)
    return Theorem(Taken(choice, place, value), "choice", parts, _SEAL)


def rule(function: Callable[..., Premises[None] | None]) -> Callable[..., Theorem]:
    """Make a rule of a function that yields premises: it takes theorems of these, and returns one of the statement."""
    hints = get_type_hints(function)
    kind = hints[next(iter(hints))]

    @wraps(function)
    def conclude(statement: object, prover: Prover, **parameters: object) -> Theorem:
        known = isinstance(statement, kind) and all(fits(value, hints[name]) for name, value in parameters.items())
        require(known, "a rule is about other statements, or has other parameters")
        premises = function(statement, **parameters)
        parts = () if premises is None else settle(premises, prover)[1]
        return Theorem(statement, function.__name__, parts, _SEAL)

    return conclude


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of a type: what rules are given is not believed either."""
    hint = getattr(hint, "__supertype__", hint)
    kind, parts = get_origin(hint) or hint, get_args(hint)
    if type(None) in parts:
        return value is None or fits(value, parts[0])
    if kind is Literal:
        return type(value) is str and value in parts
    if type(value) is not (dict if kind is Mapping else kind):  # a subclass may behave in another way
        return False
    if kind in (list, Mapping):
        return all(fits(each, parts[-1]) for each in (value.values() if kind is Mapping else value))
    return not is_dataclass(kind) or all(fits(getattr(value, name), of) for name, of in get_type_hints(kind).items())
