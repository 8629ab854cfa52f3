"""The exact law of a program that makes finitely many random choices, by running it over all of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar, cast

from profiles.errors import InvalidArgument, PDPError, Undecided
from profiles.numbers import ExactLike, to_exact, to_integer
from proofs_check.exact.probabilities import equals_itself

Value = TypeVar("Value", bound=Hashable)

#: A program of a data set and a source of choices; its output is hashable.
Program = Callable[[Any, "Choices"], Hashable]

MAX_BRANCHES = 200_000
MAX_CHOICES = 2_000
#: So many branches are run twice, to notice outputs that depend on more than the choices.
_REPEATED = 16


@dataclass(slots=True)
class _Point:
    """One choice of the present branch: what was asked, the values of positive probability, and which one is taken."""

    asked: dict[Hashable, Any]
    values: tuple[Hashable, ...]
    probabilities: tuple[Fraction, ...]
    before: Fraction
    index: int = 0

    @property
    def weight(self) -> Fraction:
        return self.before * self.probabilities[self.index]


class Choices:
    """The only source of randomness of a program that is enumerated; made by :func:`enumerate_outputs`."""

    __slots__ = ("_closed", "_depth", "_failure", "_most", "_points")

    def __init__(self, points: list[_Point], most: int) -> None:
        self._points = points
        self._depth = 0
        self._most = most
        self._failure: PDPError | None = None
        self._closed = False

    def __call__(self, distribution: Mapping[Value, ExactLike]) -> Value:
        """Return one value of ``distribution`` (value → exact probability; they must add up to 1)."""
        try:
            point = self._next(distribution)
        except PDPError as error:
            self._failure = error  # the program may catch it, which must not hide it
            raise
        return cast(Value, point.values[point.index])

    def coin(self, p: ExactLike) -> bool:
        """Return True with probability ``p``, which is exact: 0.1 is the binary64 number, ``"0.1"`` is one tenth."""
        exact = to_exact(p, "the probability of a coin")
        return self({True: exact, False: 1 - exact})

    def uniform(self, n: int) -> int:
        """Return each of 0, ..., n − 1 with probability 1/n."""
        size = to_integer(n, "the number of values of a uniform choice", 1)
        return self(dict.fromkeys(range(size), Fraction(1, size)))

    def _next(self, distribution: Mapping[Value, ExactLike]) -> _Point:
        if self._closed:
            raise InvalidArgument("a choice was asked for after the program had returned; make all choices inside the program")
        if not isinstance(distribution, Mapping):
            raise InvalidArgument(
                f"a choice needs a mapping of values to probabilities, but {type(distribution).__name__} was found; give {{value: p}}"
            )
        asked: dict[Any, Any] = dict(distribution)
        if self._depth < len(self._points):
            point = self._points[self._depth]
            if asked != point.asked:
                raise InvalidArgument(
                    f"choice {self._depth + 1} was {_short(point.asked)} and then {_short(asked)} after the same choices before it; "
                    "draw all randomness through the choices, and leave the data set unchanged"
                )
        else:
            if self._depth >= self._most:
                raise Undecided(f"a branch asks for more than {self._most} choices; bound the loops of the program, or raise max_choices")
            before = self._points[-1].weight if self._points else Fraction(1)
            point = _read_point(asked, before)
            self._points.append(point)
        self._depth += 1
        return point

    def _finish(self) -> None:
        self._closed = True
        if self._failure is not None:
            raise self._failure
        if self._depth != len(self._points):
            raise InvalidArgument(
                f"the program made {self._depth} choices where it had made {len(self._points)} after the same choices before; "
                "draw all randomness through the choices, and leave the data set unchanged"
            )


def enumerate_outputs(
    program: Program, dataset: object, *, max_branches: int = MAX_BRANCHES, max_choices: int = MAX_CHOICES
) -> dict[Hashable, Fraction]:
    """Return the law of a program's output: output → exact probability, only positive ones, which add up to exactly 1.

    ``program(dataset, choose)`` draws all its randomness through ``choose({value: probability, ...})``, ``choose.coin(p)`` or
    ``choose.uniform(n)`` and returns a hashable output. It is run once for every sequence of choices of positive probability. Outputs
    that are equal in Python are one outcome: 1, 1.0 and True are.

    Raises :class:`InvalidArgument` for distributions that do not add up to 1, outputs that are not hashable or not equal to
    themselves (NaN), and for a program whose next choice or output depends on more than the choices before, which is noticed where
    the distribution or the number of choices changes, and for outputs in the first branches. Raises :class:`Undecided` above
    ``max_branches`` sequences or ``max_choices`` choices in one of them. Errors of the program itself pass through.

    >>> def randomised_response(bit, choose):
    ...     return bit if choose.coin("3/4") else 1 - bit
    >>> enumerate_outputs(randomised_response, 1)
    {1: Fraction(3, 4), 0: Fraction(1, 4)}
    """
    table: dict[Hashable, Fraction] = {}
    points: list[_Point] = []
    branches = 0
    while True:
        branches += 1
        if branches > max_branches:
            raise Undecided(f"the program has more than {max_branches} branches; make the choices coarser, or raise max_branches")
        output = _run(program, dataset, points, max_choices)
        if branches <= _REPEATED and _run(program, dataset, points, max_choices) != output:
            raise InvalidArgument("the program gave two outputs for the same choices; draw all randomness through the choices")
        table[output] = table.get(output, Fraction(0)) + (points[-1].weight if points else 1)
        while points and points[-1].index + 1 == len(points[-1].values):
            points.pop()
        if not points:
            break
        points[-1].index += 1
    if sum(table.values()) != 1:
        raise InvalidArgument("the probabilities of the outputs do not add up to 1; the program must return the same way every time")
    return table


def _run(program: Program, dataset: object, points: list[_Point], most: int) -> Hashable:
    choose = Choices(points, most)
    output = program(dataset, choose)
    choose._finish()  # noqa: SLF001 - the two halves of one search
    try:
        hash(output)
    except TypeError:
        raise InvalidArgument(
            f"an output must be hashable, but {type(output).__name__} was found; return a number, a string or a tuple"
        ) from None
    if not equals_itself(output):
        raise InvalidArgument("an output must equal itself, but NaN was found; return None or a string where there is no number")
    return output


def _read_point(asked: dict[Hashable, Any], before: Fraction) -> _Point:
    exact = {value: to_exact(p, f"the probability of {value!r:.40}") for value, p in asked.items()}
    if any(p < 0 for p in exact.values()):
        raise InvalidArgument(f"probabilities must be at least 0, but {_short(asked)} was asked for; correct the distribution")
    total = sum(exact.values())
    if total != 1:
        raise InvalidArgument(
            f"probabilities must add up to exactly 1, but those of {_short(asked)} add up to {total!s:.60}; give fractions or strings"
        )
    positive = {value: p for value, p in exact.items() if p}
    return _Point(asked, tuple(positive), tuple(positive.values()), before)


def _short(asked: Mapping[Hashable, Any]) -> str:
    text = "{" + ", ".join(f"{value!r:.30}: {p!s:.30}" for value, p in list(asked.items())[:4]) + "}"
    return text if len(asked) <= 4 else text[:-1] + ", ...}"
