"""Which claims a number of outputs could refute at all."""

from __future__ import annotations

from fractions import Fraction

from proofs_check.audit.claims import Claim
from proofs_check.audit.limits import epsilon_of_guesses

#: Numbers of outputs that are proposed, up to what an audit takes.
_ROUND = tuple(first * 10**power for power in range(1, 10) for first in (1, 2, 5) if first * 10**power <= 10**9)


def largest_bound(samples: int, claim: Claim, error: Fraction) -> float:
    """Return the bound in nats that ``samples`` guesses would show if all of them were right: hardly any audit shows more.

    >>> round(largest_bound(1000, Claim(1), Fraction(1, 100)), 2)  # 0.01 ** (1 / 1000) = 0.9954; its odds are e^5.38
    5.38
    """
    return epsilon_of_guesses(samples, 0, error, outputs=samples, slack=claim.delta / (2 if claim.one_sided else 1))


def is_visible(samples: int, claim: Claim, error: Fraction) -> bool:
    """Tell whether so many outputs could have refuted the claim."""
    return largest_bound(samples, claim, error) > claim.epsilon


def samples_needed(claim: Claim, error: Fraction) -> int | None:
    """Return a round number of outputs that could refute the claim; None where no number that an audit takes could.

    >>> samples_needed(Claim(8), Fraction(1, 1000)), samples_needed(Claim(50), Fraction(1, 1000))
    (50000, None)
    """
    return next((samples for samples in _ROUND if is_visible(samples, claim, error)), None)
