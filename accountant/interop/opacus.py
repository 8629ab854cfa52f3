"""The accountant ``"pdp"`` of Opacus: importing this module registers it. Needs Opacus 1.6 or later, which brings PyTorch."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from accountant.compositions.queries import to_delta, to_gap
from accountant.curves import PrivacyCurve
from accountant.guarantees import Guarantee
from accountant.interop.training import curve_of_opacus
from profiles import Infeasible, InvalidArgument, MissingExtra, Undecided
from profiles.numbers import round_up_finite

try:
    from opacus.accountants import IAccountant, register_accountant
except ImportError as error:
    raise MissingExtra("Opacus 1.6 or later is needed for its accountants, but it is not installed; pip install opacus") from error

#: What ``PrivacyEngine(accountant=...)`` and ``get_noise_multiplier(..., accountant=...)`` call it.
NAME = "pdp"
#: A search for a noise multiplier ends where ε is 0.01 below its target: what the ends may jump by has to be far less.
_STEP = Fraction(1, 500)


class OpacusAccountant(IAccountant):  # type: ignore[misc]
    """Counts the steps of a training run with Opacus, and bounds ε by numbers that the kernel computes from these steps alone.

    Each is an upper end for one record that is added or removed, rounded up to binary64, of Poisson-sampled Gaussian noise: what
    ``make_private(..., poisson_sampling=True)``, Opacus' default, runs. No accountant sees the sampler: that it is this one is among
    ``hypotheses``.

    >>> made = OpacusAccountant()
    >>> for _ in range(1000):
    ...     made.step(noise_multiplier=1.0, sample_rate=0.01)
    >>> 2.1234 < made.get_epsilon(delta=1e-6) < 2.1256
    True
    """

    def __init__(self) -> None:
        super().__init__()
        self.history: list[Any] = []

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Count one step. Its numbers are looked at when a number is asked for."""
        noise, rate, steps = self.history[-1] if self.history else (None, None, 0)
        if (noise, rate) == (noise_multiplier, sample_rate):
            self.history[-1] = (noise_multiplier, sample_rate, steps + 1)
        else:
            self.history.append((noise_multiplier, sample_rate, 1))

    @property
    def curve(self) -> PrivacyCurve:
        """The privacy curve of all steps, with its hypotheses. Raises :class:`InvalidArgument` where there is no step, and as
        :func:`accountant.interop.training.curve_of_opacus`.
        """
        return curve_of_opacus(self)

    @property
    def hypotheses(self) -> tuple[str, ...]:
        """The unverified assumptions of every number of this accountant."""
        return tuple(item.sentence for item in self.curve.hypotheses)

    def guarantee(self, delta: float, *, gap: object = "1e-3") -> Guarantee:
        """Return the (ε, δ) guarantee of all steps, to be rendered, composed, written to a file and checked. Raises as ``curve``."""
        return self.curve.at_delta(delta, gap=gap)

    def get_epsilon(self, delta: float, *, gap: object = "1e-3") -> float:
        """Return an ε for which all steps are (ε, delta)-differentially private, in nats; 0 without steps, inf where none was found.

        ``gap``: how close the bound is planned to come, relatively; closer where ε is large, so that Opacus' search for a noise
        multiplier ends. Raises :class:`profiles.InvalidArgument` and :class:`profiles.InvalidNumber` for numbers that no step has.
        """
        exact, wanted = to_delta(delta), to_gap(gap)
        if not self.history:
            return 0.0
        if any(noise == 0 for noise, _, _ in self.history):
            return math.inf
        curve = self.curve
        try:
            found = curve.epsilon_above(exact, gap=wanted)
            if found * wanted > _STEP:
                found = min(found, curve.epsilon_above(exact, gap=max(_STEP / found, Fraction(1, 10**6))))
        except (Infeasible, Undecided):
            return math.inf
        return round_up_finite(found)

    def __len__(self) -> int:
        """The number of steps."""
        return sum(steps for _, _, steps in self.history)

    @classmethod
    def mechanism(cls) -> str:
        """Return the name under which Opacus finds this accountant."""
        return NAME

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[Any], None]:
        """Return what Opacus calls at each step of its optimizer.

        The hook raises :class:`InvalidArgument` where gradients of several batches are accumulated for one step: a record can be in
        several of them then, and Opacus itself forbids it with Poisson samples.
        """

        def count_step(optimizer: Any) -> None:
            if optimizer.accumulated_iterations != 1:
                raise InvalidArgument(
                    f"steps on one Poisson sample each are accounted for, but {optimizer.accumulated_iterations} batches were accumulated "
                    "for one step; use opacus.utils.batch_memory_manager for large batches"
                )
            self.step(noise_multiplier=optimizer.noise_multiplier, sample_rate=sample_rate)

        return count_step

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take the steps of a checkpoint. Raises as Opacus does, and :class:`InvalidArgument`; nothing is changed then."""
        before = self.history
        try:
            super().load_state_dict(state_dict)
            self.history = [tuple(entry) for entry in self.history]
            noisy = [entry for entry in self.history if len(entry) != 3 or entry[0] != 0]
            if noisy:
                curve_of_opacus(noisy)  # which looks at every number
        except BaseException:
            self.history = before
            raise


register_accountant(NAME, OpacusAccountant, force=True)

__all__ = ["NAME", "OpacusAccountant"]
