"""The accountant ``"pdp"`` of Opacus: importing this module registers it. Needs Opacus 1.6 or later, which brings PyTorch.

Opacus passes a rate to its accountants, whatever its loader does. How batches are drawn is read from the loader of ``make_private`` itself.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from accountant.compositions.queries import to_delta, to_gap
from accountant.curves import PrivacyCurve
from accountant.guarantees import Guarantee
from accountant.interop.loaders import AllocatedBatches, find_allocated, find_batches
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
_ENGINE = "opacus.privacy_engine"


class OpacusAccountant(IAccountant):  # type: ignore[misc]
    """Counts the steps of a training run with Opacus, and bounds ε by numbers that the kernel computes from these steps alone.

    Each number is an upper end for adding or removing one record, rounded up to binary64. It is for Poisson-sampled Gaussian noise, which
    ``make_private(..., poisson_sampling=True)``, Opacus' default, runs; with ``poisson_sampling=False`` for the scheme of the loader, which
    is recognised or refused. That the batches are drawn so is one of the ``hypotheses``, also for steps that are counted by hand.

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
        """Count one step on a Poisson sample. Its numbers are checked when ε or δ is computed."""
        last: Any = self.history[-1] if self.history else ()
        if len(last) == 3 and (last[0], last[1]) == (noise_multiplier, sample_rate):
            self.history[-1] = (noise_multiplier, sample_rate, last[2] + 1)
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
        """Return an ε for which all steps are (ε, delta)-differentially private, in nats; 0 without steps, inf if none was found.

        ``gap``: the planned relative distance of the bound; it is smaller if ε is large, so that Opacus' search for a noise multiplier
        ends. Raises :class:`profiles.InvalidArgument` and :class:`profiles.InvalidNumber` for numbers that no step has.
        """
        exact, wanted = to_delta(delta), to_gap(gap)
        if not self.history:
            return 0.0
        if any(entry[0] == 0 for entry in self.history):
            return math.inf
        curve = self.curve
        try:
            epsilon = curve.epsilon_above(exact, gap=wanted)
            if epsilon * wanted > _STEP:
                epsilon = min(epsilon, curve.epsilon_above(exact, gap=max(_STEP / epsilon, Fraction(1, 10**6))))
        except (Infeasible, Undecided):
            return math.inf
        return round_up_finite(epsilon)

    def __len__(self) -> int:
        """The number of steps."""
        return sum(entry[2] for entry in self.history)

    @classmethod
    def mechanism(cls) -> str:
        """Return the name under which Opacus finds this accountant."""
        return NAME

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[Any], None]:
        """Return the hook that Opacus calls at each step of its optimizer.

        Called by ``make_private``, it inspects the loader that is made private: raises :class:`InvalidArgument` if the law of its batches
        is not known, and in ``make_private_with_epsilon``, which searches for the noise of Poisson samples, if it draws otherwise.

        The hook raises :class:`InvalidArgument` if gradients of several batches are accumulated for one step: a record can be in several of
        them, and Opacus itself forbids this with Poisson samples.
        """
        loader, searched = _find_loader()
        said = {"sampling_probability": sample_rate} if loader is None else find_batches(loader)
        by_hand: _Epochs | None = None
        if "sampling" in said:
            if searched:
                raise InvalidArgument(
                    f"noise was looked for as for Poisson samples, but the batches are {said['sampling']}; use poisson_sampling=True, or "
                    "make_private with the noise that pdp account --calibrate noise finds"
                )
            by_hand = _Epochs(self, said, sample_rate, find_allocated(loader))
        rate = max(sample_rate, said.get("sampling_probability", 0))  # type: ignore[call-overload]

        def count_step(optimizer: Any) -> None:
            if optimizer.accumulated_iterations != 1:
                raise InvalidArgument(
                    f"steps on one batch each are accounted for, but {optimizer.accumulated_iterations} batches were accumulated for one "
                    "step; use opacus.utils.batch_memory_manager for large batches"
                )
            if by_hand is None:
                self.step(noise_multiplier=optimizer.noise_multiplier, sample_rate=rate)
            else:
                by_hand.step(optimizer.noise_multiplier)

        return count_step

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take the steps of a checkpoint. Raises as Opacus does, and :class:`InvalidArgument`; nothing is changed then."""
        before = self.history
        try:
            super().load_state_dict(state_dict)
            self.history = [tuple(entry) for entry in self.history]
            noisy = [entry for entry in self.history if len(entry) not in (3, 4) or entry[0] != 0]
            if noisy:
                curve_of_opacus(noisy)  # which looks at every number
        except BaseException:
            self.history = before
            raise


class _Epochs:
    """Steps whose batches are no Poisson samples, each into an entry of the history: one for an epoch, where batches are drawn for one.

    An epoch begins where its loader says so (random allocation), or where the one before is full (shuffled batches). It has the least noise
    of its steps: with more in some of them it loses less. Of several passes that were begun together nobody knows which of them a step is
    of, and all of them count.
    """

    def __init__(
        self, accountant: OpacusAccountant, said: Mapping[str, object], rate: float, allocated: AllocatedBatches | None = None
    ) -> None:
        self._accountant, self._said, self._rate, self._allocated = accountant, said, rate, allocated
        self._most = said.get("steps_per_epoch")
        self._entry: list[Any] | None = None
        self._begun = self._count_begun()

    def _count_begun(self) -> int:
        return 0 if self._allocated is None else self._allocated.epochs

    def step(self, noise: float) -> None:
        begun, entry = self._count_begun(), self._entry
        full = entry is None or entry[2] == self._most or (self._most is None and entry[0] != noise)
        if entry is None or full or begun != self._begun or not any(item is entry for item in self._accountant.history):
            often = {"count": 1} if self._most is None else {"epochs": max(begun - self._begun, 1)}
            self._entry, self._begun = [noise, self._rate, 1, {**self._said, **often}], begun
            self._accountant.history.append(self._entry)
            return
        entry[0], entry[2] = min(entry[0], noise), entry[2] + 1
        if self._most is None:
            entry[3]["count"] = entry[2]


def _find_loader() -> tuple[object, bool]:
    """Return the loader that ``make_private`` is at work on, and whether for ``make_private_with_epsilon``; None where nobody is."""
    here = inspect.currentframe()
    frame = here.f_back.f_back if here is not None and here.f_back is not None else None
    if frame is None or frame.f_globals.get("__name__") != _ENGINE or "data_loader" not in frame.f_locals:
        return None, False
    above = frame.f_back
    return frame.f_locals["data_loader"], above is not None and above.f_code.co_name == "make_private_with_epsilon"


register_accountant(NAME, OpacusAccountant, force=True)

__all__ = ["NAME", "OpacusAccountant"]
