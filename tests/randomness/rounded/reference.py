"""The laws written once more, in mpmath: what estimates, balls and rounded outputs are compared with; and a source that plays words."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import mpmath
import numpy as np

#: Ends, powers of two, neighbors of quarter turns (relative to 2^known): where guards and cancellations are.
STRUCTURED = [0.0, 1.0, 0.5, 0.25, 0.75, 0.125, 1 / 3, 1 - 2.0**-12]


def exact_row(name: str, u: Sequence[mpmath.mpf], signs: Sequence[int], d: int) -> list[mpmath.mpf]:
    """F(U) of one row at the working precision."""
    e = [-mpmath.log(x) for x in u]
    if name == "laplace":
        return [-x if sign else x for x, sign in zip(e, signs, strict=True)]
    if name == "exponential":
        return e
    if name == "maximum":
        return [mpmath.fsum(e[: d + 1]) * (2 * x - 1) for x in u[d + 1 :]]
    radial = 0 if name == "normal" else d
    pairs = (d + 1) // 2
    normals = [
        mpmath.sqrt(2 * e[radial + i]) * turned(2 * u[radial + pairs + i]) for turned in (mpmath.cospi, mpmath.sinpi) for i in range(pairs)
    ][:d]
    if name == "normal":
        return normals
    norm = mpmath.sqrt(mpmath.fsum(x * x for x in normals))
    return [mpmath.fsum(e[:d]) * x / norm for x in normals]


def to_fraction(value: mpmath.mpf) -> Fraction:
    sign, mantissa, exponent, _ = value._mpf_
    return (-1) ** sign * int(mantissa) * Fraction(2) ** int(exponent)


def structured_words(rng: np.random.Generator, shape: tuple[int, ...], known: int = 52, share: float = 0.3) -> np.ndarray:
    """Random words, a share of which have first bits at or beside the places above."""
    words = rng.integers(0, 2**64 - 1, size=shape, dtype=np.uint64, endpoint=True)
    k = (rng.choice(STRUCTURED, size=shape) * 2.0**known).astype(np.int64) + rng.integers(-3, 4, size=shape)
    k = np.clip(np.where(rng.random(shape) < 0.2, (2.0 ** (known * rng.random(shape))).astype(np.int64), k), 0, 2**known - 1).astype(
        np.uint64
    )
    low = words & np.uint64(2 ** (64 - known) - 1)
    return np.where(rng.random(shape) < share, k << np.uint64(64 - known) | low, words)


class Played:
    """A bit source: given words first, then those of a generator; it keeps the latter."""

    name, hypothesis, seed = "played", "none", None

    def __init__(self, words: np.ndarray, seed: int = 0) -> None:
        self.given, self.rng, self.later = words.reshape(-1), np.random.default_rng(seed), []

    def words(self, count: int) -> np.ndarray:
        if self.given.size:
            found, self.given = self.given[:count].copy(), self.given[count:]
            assert found.size == count
            return found
        found = self.rng.integers(0, 2**64 - 1, size=count, dtype=np.uint64, endpoint=True)
        self.later += found.tolist()
        return found
