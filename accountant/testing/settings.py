"""How a test audits, and which options an assertion may give to its audits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from profiles.errors import InvalidArgument
from profiles.suggestions import suggest

#: The options of :func:`proofs_check.audit.audit` that an assertion passes on.
OPTIONS = ("bits", "effort", "log_ratio", "mode", "own_randomness", "statistic", "time_limit")
_OWN = ("samples", "pairs", "delta", "records", "dimension", "conditions", "target_epsilon", "min_size", "weighted", "one_sided")
_SESSION = ("confidence", "tests", "rng")
_ANSWERS = {"unknown": ("report", "fail"), "too_large": ("warn", "fail")}


@dataclass(frozen=True, slots=True)
class Settings:
    """How a test audits: outputs for each data set of a pair, pairs for a profile, seconds for one call of the mechanism.

    ``unknown`` is what an undecided condition does: ``"report"`` or ``"fail"``. ``too_large`` is what a claim does that so few outputs
    could not have refuted: ``"warn"`` or ``"fail"``. ``repeat`` are the shell words that repeat the test. Raises :class:`InvalidArgument`.
    """

    samples: int = 10_000
    pairs: int = 8
    unknown: str = "report"
    too_large: str = "warn"
    time_limit: float | None = 60.0
    effort: str = "fast"
    repeat: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, answers in _ANSWERS.items():
            found = getattr(self, name)
            if found not in answers:
                raise InvalidArgument(f"{name} must be {' or '.join(answers)}, but {str(found)[:40]!r} was found; choose one")

    def of_audit(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of an audit: those of an assertion, else those of the test. Raises :class:`InvalidArgument`.

        >>> Settings().of_audit({"mode": "sequential"})
        {'mode': 'sequential', 'effort': 'fast', 'time_limit': 60.0}
        """
        for name, value in options.items():
            if name in _SESSION:
                raise InvalidArgument(
                    f"{name} was given to an assertion, but it belongs to the session; use the marker or an option of pytest"
                )
            if name not in OPTIONS:
                raise InvalidArgument(
                    f"the option {name[:40]!r} of an assertion is not known; known are {', '.join(OPTIONS)}"
                    f"{suggest(name, (*OPTIONS, *_OWN))}"
                )
            if name in ("bits", "own_randomness") and not isinstance(value, bool):
                raise InvalidArgument(f"{name} must be True or False, but {str(value)[:40]!r} was found; give one of them")
        return {"mode": "fixed", "effort": self.effort, "time_limit": self.time_limit, **options}
