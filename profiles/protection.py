"""Whom a bound protects, and against what change: the unit and the neighbors. Every bound, charge and file of guarantees has both."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from profiles.errors import InvalidArgument
from profiles.hypotheses import INDEPENDENT, INDEPENDENT_UNITS, ONE_RECORD_EACH, ONE_USER, OWN_ROWS, SENSITIVITY_ONE, Hypothesis
from profiles.suggestions import suggest


class Unit(Enum):
    """Whom a bound protects. Bounds about different units are never added up."""

    RECORD = "one record (a row)"
    USER = "one user, with all records of that id"
    EVENT = "one event"
    USER_PERIOD = "one user in one period, with all records of that id and period"

    @property
    def word(self) -> str:
        """The unit as one word of a sentence, which is also its name in files."""
        return self.name.lower().replace("_", "-")

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What has to hold so that a bound for the unit is one for a person."""
        return (ONE_USER,) if self in (Unit.USER, Unit.USER_PERIOD) else (ONE_RECORD_EACH,)


class Neighbors(Enum):
    """Which data sets a bound compares: D and D' differ in one unit, in this way."""

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"
    ZERO_OUT = "zero-out"

    @property
    def is_directed(self) -> bool:
        """Whether the two data sets are told apart, so that a bound may have two directions."""
        return self is not Neighbors.REPLACE_ONE


@dataclass(frozen=True, slots=True)
class Protection:
    """A unit and its neighbors. Neither has a default: what is not said is asked for.

    >>> Protection(Unit.USER, Neighbors.REPLACE_ONE).describe()
    'one user is replaced by another'
    """

    unit: Unit
    neighbors: Neighbors

    def __post_init__(self) -> None:
        if not isinstance(self.unit, Unit) or not isinstance(self.neighbors, Neighbors):
            raise InvalidArgument("a protection has a Unit and Neighbors, but others were found; use read_protection for names")

    @property
    def change(self) -> str:
        """The change of the data, as the subject of a sentence."""
        word = self.unit.word
        return {
            Neighbors.ADD_REMOVE: f"one {word} more or less",
            Neighbors.REPLACE_ONE: f"one {word} in place of another",
            Neighbors.ZERO_OUT: f"one {word} in place of an empty one",
        }[self.neighbors]

    def describe(self) -> str:
        """Return what the data sets differ in, as a sentence without its full stop."""
        how = {
            Neighbors.ADD_REMOVE: "added or removed",
            Neighbors.REPLACE_ONE: "replaced by another",
            Neighbors.ZERO_OUT: "replaced by an empty one, or an empty one by it",
        }
        return f"one {self.unit.word} is {how[self.neighbors]}"

    def name_draws(self) -> Hypothesis:
        """Return the hypothesis that each unit is selected by a coin of its own: for records the sampler's, else with the unit's name."""
        return INDEPENDENT if self.unit is Unit.RECORD else INDEPENDENT_UNITS.about(unit=self.unit.word)

    def name_sensitivity(self, what: str) -> Hypothesis:
        """Return the hypothesis that the change moves what each noise is added to by at most 1; ``what``: of which kinds it is."""
        return SENSITIVITY_ONE.about(change=self.change, what=what)

    def state(self, hypothesis: Hypothesis) -> Hypothesis:
        """Return a hypothesis as it reads for this protection; most read the same for all."""
        if hypothesis == OWN_ROWS:
            return OWN_ROWS.about(unit=self.unit.word)
        return self.name_draws() if hypothesis == INDEPENDENT else hypothesis

    def to_object(self) -> dict[str, str]:
        """Return the protection as it stands in files."""
        return {"unit": self.unit.word, "neighbors": self.neighbors.value}


#: One record is added or removed: what the papers of this project are about, and what declarations mean where nothing else is said.
RECORDS = Protection(Unit.RECORD, Neighbors.ADD_REMOVE)
#: The same of one user, with all records of that id.
USERS = Protection(Unit.USER, Neighbors.ADD_REMOVE)


def read_protection(unit: object, neighbors: object, where: str = "a bound") -> Protection:
    """Return the protection of a unit and neighbors, given as they are or by their names. Raises :class:`InvalidArgument` for others.

    >>> read_protection("user", "add-remove") == USERS
    True
    """
    units, relations = {item.word: item for item in Unit}, {item.value: item for item in Neighbors}
    found_unit = unit if isinstance(unit, Unit) else units.get(unit) if isinstance(unit, str) else None
    relation = neighbors if isinstance(neighbors, Neighbors) else relations.get(neighbors) if isinstance(neighbors, str) else None
    if found_unit is None:
        raise InvalidArgument(_unknown(where, "unit", unit, units))
    if relation is None:
        raise InvalidArgument(_unknown(where, "neighbors", neighbors, relations))
    return Protection(found_unit, relation)


def _unknown(where: str, key: str, value: object, known: dict[str, object] | dict[str, Unit] | dict[str, Neighbors]) -> str:
    shown = f"{value[:40]!r}" if isinstance(value, str) else "nothing" if value is None else f"a value of type {type(value).__name__}"
    quoted = " or ".join(f'"{name}"' for name in known)
    return f"{where} says {key} = {quoted}, but {shown} was found; write one of them{suggest(str(value), known)}"
