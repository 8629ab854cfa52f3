"""The two grids of a noise scale: sums are kept on the fine one and outputs on the coarse one. Functions of the public scale alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from profiles.errors import InvalidArgument
from profiles.randomness.rounded.ieee import power_of_two

_LEAST, _LARGEST = -1074, 1023  # exponents of powers of two that are binary64 numbers
_MOST_OUTPUT_BITS = 40
_MOST_BITS = 50  # a fraction of the output grid, and half a unit more, has to be a binary64 number


@dataclass(frozen=True, slots=True)
class Grid:
    """Claim: noise of scale b is released as a multiple of h = 2^output, of totals that are multiples of h_f = 2^fine ≤ h.

    ``scale``: b, exact, in the units of the data. Made by :meth:`of`.

    >>> grid = Grid.of(Fraction(3, 2))
    >>> grid.h == Fraction(1, 2**20), grid.h_f == Fraction(1, 2**40), grid.ratio
    (True, True, Fraction(1572864, 1))
    """

    scale: Fraction
    output: int
    fine: int

    @classmethod
    def of(cls, scale: Fraction, *, output_bits: int = 20, fine_bits: int = 20) -> Grid:
        """Return the grids h = 2^(⌊log₂ b⌋ − output_bits) and h_f = h·2^−fine_bits of a positive scale b.

        Fewer bits serve tests of the law. Raises :class:`InvalidArgument` where b is not positive, h is not a binary64 number, or there are
        more than 40 and 50 bits.
        """
        b = Fraction(scale)
        if b <= 0:
            raise InvalidArgument(f"the scale of noise must be positive, but {b} was found; give a positive number")
        output = floor_log2(b) - output_bits
        return cls(b, output, output - fine_bits)

    def __post_init__(self) -> None:
        steps = (self.scale, self.output, self.fine)
        if not all(isinstance(value, kind) for value, kind in zip(steps, (Fraction, int, int), strict=True)):
            raise InvalidArgument(
                "a grid has a Fraction as its scale and two integers as its exponents, but "
                f"{', '.join(type(value).__name__ for value in steps)} were found; make it by Grid.of"
            )
        if not _LEAST <= self.output <= _LARGEST:
            raise InvalidArgument(
                f"noise of this scale is released on the grid 2**{self.output}, which must lie between 2**{_LEAST} and 2**{_LARGEST}; "
                "change the unit of the data"
            )
        if not 1 <= self.ratio < 2 ** (_MOST_OUTPUT_BITS + 1):
            raise InvalidArgument(
                f"the output grid must have between 0 and {_MOST_OUTPUT_BITS} bits more than the scale, but others came out; change them"
            )
        if not 0 <= self.output - self.fine <= _MOST_BITS:
            raise InvalidArgument(
                f"the fine grid must have between 0 and {_MOST_BITS} bits more than the output grid, but {self.output - self.fine} were "
                "found; change fine_bits"
            )

    @property
    def h(self) -> Fraction:
        """The output grid."""
        return Fraction(2) ** self.output

    @property
    def h_f(self) -> Fraction:
        """The fine grid."""
        return Fraction(2) ** self.fine

    @property
    def ratio(self) -> Fraction:
        """The scale in units of the output grid, s = b/h, in [2^output_bits, 2^(output_bits + 1))."""
        return self.scale / self.h

    @property
    def step(self) -> float:
        """The output grid as a binary64 number, exactly."""
        return power_of_two(self.output)


def floor_log2(value: Fraction) -> int:
    """Return ⌊log₂ value⌋ of a positive rational number, exactly.

    >>> floor_log2(Fraction(1)), floor_log2(Fraction(7, 8)), floor_log2(Fraction(9))
    (0, -1, 3)
    """
    guess = value.numerator.bit_length() - value.denominator.bit_length()  # right, or one too large
    return guess if Fraction(2) ** guess <= value else guess - 1
