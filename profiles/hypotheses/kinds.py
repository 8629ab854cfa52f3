"""What a hypothesis is: an id, one sentence, what it means, what discharges it, and where to look whether it holds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

from profiles.errors import InvalidArgument


class Head(Enum):
    """Where somebody who wants to know whether a hypothesis holds has to look."""

    DATA = "your data"
    CODE = "your code"
    RELEASE = "this release"
    MACHINE = "the machine"


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One hypothesis of a guarantee. Two are equal if they have the same id and say the same.

    ``id`` is stable; ``sentence`` is what is printed; ``head`` groups it. ``meaning`` says more to whoever has to judge it, and
    ``discharged_by`` what can discharge it, "" for what no program can see. A sentence with gaps is a family: :meth:`about` fills them in.

    ``brief`` says it on one line, for a first screen; "" where the sentence is short, or rare. ``ordinary``: it is about the sampler, the
    machine or its random bits, and the same for everybody who uses these as they are meant: a first screen counts
    them, and names all others.

    >>> from profiles.hypotheses import IN_RANGE
    >>> IN_RANGE.about(ranges="z in [0, 1]").sentence
    'the declared range contains every record: z in [0, 1]'
    """

    id: str
    sentence: str
    head: Head = field(compare=False)
    meaning: str = field(default="", compare=False, repr=False)
    discharged_by: str = field(default="", compare=False, repr=False)
    brief: str = field(default="", compare=False, repr=False)
    ordinary: bool = field(default=False, compare=False, repr=False)

    def about(self, **details: object) -> Hypothesis:
        """Return the member of a family with these details in its sentence. Raises :class:`InvalidArgument` where one is missing."""
        try:
            return replace(self, sentence=self.sentence.format(**details), brief=self.brief.format(**details))
        except (KeyError, IndexError, ValueError) as error:
            raise InvalidArgument(f"the hypothesis {self.id!r} needs the detail {error}; give it") from None

    @property
    def is_family(self) -> bool:
        """Whether the sentence has a gap to be filled."""
        return "{" in self.sentence and self in FAMILIES

    @property
    def line(self) -> str:
        """What a first screen says: :attr:`brief`, or the sentence where there is none."""
        return self.brief or self.sentence

    def __str__(self) -> str:
        return self.sentence

    def __contains__(self, words: str) -> bool:
        """Whether the sentence has these words, for people who look for one; the package itself goes by ids."""
        return words in self.sentence


#: The families of the registry, which knows all of them.
FAMILIES: set[Hypothesis] = set()
