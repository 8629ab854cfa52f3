"""A mechanism of rounds, in each of which select says by what came out before what is asked: what is the same for every kind of answer."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from profiles.arrays import Integers, Positions
from profiles.errors import InvalidArgument
from profiles.hypotheses import ASSUMPTION_OF_SCORES, EXACT_REALS, PURE_SELECT, Hypothesis
from profiles.hypotheses import PUBLIC_CONSTANTS as _PUBLIC
from profiles.mechanisms.interface import Arithmetic, check_call, is_exact, to_arithmetic
from profiles.mechanisms.repeated.interface import divide_epsilon, read_exact, to_pair, to_rounds, to_select
from profiles.numbers import ExactLike, exact_text
from profiles.randomness import BitSource, open_bits

PUBLIC_CONSTANTS = _PUBLIC.about(names="select, the number of rounds, epsilon0 and the sensitivity are")

#: A probability between two exact numbers.
Ends = tuple[Fraction, Fraction]
Law = dict[tuple[int, ...], Ends]

#: What a sampled output of fewer rounds is filled up with.
STOPPED = -1
MOST_OUTPUTS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated(ABC):
    """A mechanism whose output is a sequence of at most ``rounds`` answers; ``rate`` is λ = ε₀/Δ.

    A mechanism of this kind says what select offers, what is assumed, how likely each answer is, how answers are drawn, and what an answer
    is called; answers are numbered.
    """

    offers: ClassVar[str]
    machine: ClassVar[tuple[Hypothesis, ...]] = ()  # what exact draws take for granted of the machine

    select: Callable[..., Any]
    rounds: int
    epsilon0: ExactLike
    sensitivity: ExactLike
    arithmetic: Arithmetic | str = Arithmetic.EXACT
    rate: Fraction = field(init=False, repr=False)

    @property
    def assumptions(self) -> tuple[Hypothesis, ...]:
        """What has to be proved of the scores or values."""
        return tuple(ASSUMPTION_OF_SCORES.about(statement=said) for said in self.assume(exact_text(read_exact(self.sensitivity))))

    @abstractmethod
    def assume(self, most: str) -> tuple[str, str]:
        """Return the two assumptions of the claim in words, as this mechanism needs them; ``most`` is Δ."""

    @abstractmethod
    def offer(self, previous: tuple[Any, ...]) -> Any:
        """Return what is offered in the round after ``previous``, None where the mechanism stops."""

    @abstractmethod
    def draw(self, offered: Any, data: Any, rng: Any, digits: BitSource | None, count: int) -> NDArray[Any]:
        """Return the numbers of ``count`` independent answers: by exact random ``digits``, or without them in binary64 by ``rng``."""

    @abstractmethod
    def weigh(self, offered: Any, data: Any, bits: int) -> Iterable[tuple[int, Ends]]:
        """Return the numbers of all answers of a round with their probabilities, enclosed."""

    @abstractmethod
    def name_answer(self, offered: Any, number: int) -> Any:
        """Return what select is told of an answer."""

    def __post_init__(self) -> None:
        epsilon, delta, rate = divide_epsilon(self.epsilon0, self.sensitivity)
        checked = {
            "select": to_select(self.select), "rounds": to_rounds(self.rounds), "epsilon0": epsilon, "sensitivity": delta,
            "rate": rate, "arithmetic": to_arithmetic(self.arithmetic),
        }  # fmt: skip
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What the claim takes for granted."""
        noise = self.machine if is_exact(self) else (EXACT_REALS,)
        return (*self.assumptions, PURE_SELECT, PUBLIC_CONSTANTS, *noise)

    def spend(self, sensitivity: ExactLike) -> Fraction:
        """Return what a record costs whose own sum in the second assumption is at most ``sensitivity``: ε₀·Δ(x)/Δ nats, for adding it."""
        _, _, own = divide_epsilon(1, sensitivity)
        return self.rate / own

    def ask(self, previous: tuple[Any, ...]) -> tuple[Any, Any] | None:
        """Return the pair that select gives for the round after ``previous``, None where it stops. Raises :class:`InvalidArgument`."""
        if len(previous) >= self.rounds:
            return None
        offered = self.select(previous)
        return None if offered is None else to_pair(offered, self.offers)

    def run(self, data: Any, rng: object) -> tuple[Any, ...]:
        """Return one output: the answers, in order.

        ``rng``: a generator, or (for exact arithmetic) anything else that :func:`profiles.randomness.open_bits` takes.
        """
        digits = open_bits(rng) if is_exact(self) else None
        if digits is None:
            check_call(rng, 1)
        previous: tuple[Any, ...] = ()
        while (offered := self.offer(previous)) is not None:
            (number,) = self.draw(offered, data, rng, digits, 1)
            previous = (*previous, self.name_answer(offered, int(number)))
        return previous

    def sample(self, dataset: Any, rng: np.random.Generator, size: int) -> Integers:
        """Return ``size`` independent outputs as the numbers of their answers, −1 after a stop, shape (size, rounds)."""
        check_call(rng, size)
        digits = open_bits(rng) if is_exact(self) else None
        outputs = np.full((size, self.rounds), STOPPED, dtype=np.int64)
        waiting: list[tuple[tuple[Any, ...], Positions]] = [((), np.arange(size))]
        while waiting:
            previous, rows = waiting.pop()
            offered = self.offer(previous)
            if offered is None or not len(rows):
                continue
            drawn = self.draw(offered, dataset, rng, digits, len(rows))
            outputs[rows, len(previous)] = drawn
            waiting += [((*previous, self.name_answer(offered, number)), rows[drawn == number]) for number in np.unique(drawn).tolist()]
        return outputs

    def __call__(self, dataset: Any, rng: np.random.Generator, size: int) -> Integers:
        """Same as :meth:`sample`: the interface that audits judge."""
        return self.sample(dataset, rng, size)

    def law(self, data: Any, bits: int = 128) -> Law:
        """Return the probability of every output on ``data``, enclosed: the numbers of its answers → (lower, upper).

        For small instances: all sequences are listed. Raises :class:`InvalidArgument` for more than 100,000 of them.
        """

        def follow(previous: tuple[Any, ...], path: tuple[int, ...], weight: Ends) -> Iterator[tuple[tuple[int, ...], Ends]]:
            offered = self.offer(previous)
            if offered is None:
                yield path, weight
                return
            for number, share in self.weigh(offered, data, bits):
                following = (*previous, self.name_answer(offered, number))
                yield from follow(following, (*path, number), (weight[0] * share[0], weight[1] * share[1]))

        probabilities = dict(itertools.islice(follow((), (), (Fraction(1), Fraction(1))), MOST_OUTPUTS + 1))
        if len(probabilities) > MOST_OUTPUTS:
            raise InvalidArgument(f"the law has more than {MOST_OUTPUTS} outputs, which are too many to list; take a smaller instance")
        return probabilities
