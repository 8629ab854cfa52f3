"""Verification of a profile: a verdict for each condition, the strong convexity constant, and what follows from them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from profiles.errors import InvalidArgument, InvalidExpression, PDPError
from profiles.profile import Profile
from profiles.suggestions import suggest
from proofs_check.admission import admit, well_defined_claim
from proofs_check.certificates import make_certificate
from proofs_check.conditions import assumption_8, assumption_9, assumption_11, proposition_16, proposition_17
from proofs_check.conditions.assumption_11 import StrongConvexity
from proofs_check.conditions.cases import decide_by_cases
from proofs_check.conditions.context import Context, to_target
from proofs_check.conditions.statistic import decide_by_statistic, is_hard
from proofs_check.consequences import Consequence, derive_consequences
from proofs_check.prover.effort import within
from proofs_check.results import Decision, Tree, Verdict
from proofs_check.strong_convexity import Bounds, bound_constant, strong_convexity_json


@dataclass(frozen=True, slots=True)
class Condition:
    """A named condition: its statement in words and formulas, its source, and what decides it."""

    id: str
    statement: str
    source: str
    decide: Callable[[Context], Decision]


#: Search effort for one condition; what is not decided by then is unknown.
SECONDS_PER_CONDITION = 7.0

_log = logging.getLogger(__name__)
_PAPER = "Fay et al. 2024"

#: All conditions, in the order in which they are reported. A new condition is one module and one line here.
CONDITIONS: dict[str, Condition] = {
    module.ID: Condition(module.ID, module.STATEMENT, f"{_PAPER}, {name}", module.decide)
    for module, name in (
        (assumption_8, "Assumption 8"),
        (assumption_9, "Assumption 9"),
        (assumption_11, "Assumption 11"),
        (proposition_16, "Proposition 16"),
        (proposition_17, "Proposition 17"),
    )
}


@dataclass(frozen=True, slots=True)
class Verification:
    """The verdicts on one profile for one target ε* (nats), the proved lower bound of μ_x if there is one,
    certified numbers below and above its infimum over all records (``constant``), and the consequences.
    """

    profile: Profile
    target: Fraction
    decisions: Mapping[str, Decision]
    convexity: StrongConvexity | None = None
    constant: Bounds = (None, None)
    consequences: Sequence[Consequence] = field(default_factory=tuple)

    @property
    def verdict(self) -> Verdict:
        """The worst verdict: refuted before unknown before proved."""
        verdicts = {decision.verdict for decision in self.decisions.values()}
        return next((v for v in (Verdict.REFUTED, Verdict.UNKNOWN) if v in verdicts), Verdict.PROVED)

    def proved(self, condition: str) -> bool:
        """Tell whether a condition was decided and is proved."""
        decision = self.decisions.get(condition)
        return decision is not None and decision.verdict is Verdict.PROVED

    def certificate(self) -> dict[str, Any]:
        """Return the certificate of every verdict that the kernel accepts."""
        claims: list[Tree] = [well_defined_claim(self.profile)]
        claims += [decision.claim for decision in self.decisions.values() if decision.checked and decision.claim is not None]
        return make_certificate(self.profile, claims, target=self.target)

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form of ``pdp verify``."""
        return {
            "profile": self.profile.name,
            "target_epsilon": _text(self.target),
            "conditions": {name: decision.to_json() for name, decision in self.decisions.items()},
            "strong_convexity": strong_convexity_json(self.profile, self.convexity, self.constant),
            "consequences": {consequence.statement: consequence.to_json() for consequence in self.consequences},
        }


def _text(value: Fraction) -> str:
    from profiles.numbers import exact_text  # noqa: PLC0415

    return exact_text(value)


def decide_in_time(context: Context, name: str, seconds: float = SECONDS_PER_CONDITION) -> tuple[Decision, StrongConvexity | None]:
    """Decide a condition within some time, and return the strong convexity constant too where it is what was decided.

    No decision in that time, or an error inside the search, is the verdict unknown.
    """

    def decide() -> tuple[Decision, StrongConvexity | None]:
        hard = is_hard(context.profile)
        simpler = decide_by_statistic(context, name, CONDITIONS[name].decide) if hard else None
        if simpler is not None:
            return simpler, None
        if name == assumption_11.ID:
            decision, convexity = assumption_11.decide_with_constant(context)
        else:
            decision, convexity = CONDITIONS[name].decide(context), None
        if decision.verdict is Verdict.UNKNOWN:
            decision = decide_by_cases(context, name, CONDITIONS[name].decide) or decision
        if decision.verdict is Verdict.UNKNOWN and not hard:
            decision = decide_by_statistic(context, name, CONDITIONS[name].decide) or decision
        return decision, convexity

    try:
        found = within(seconds, decide)
        reason = f"no decision within {seconds:g} seconds"
    except InvalidExpression as error:  # not of the profile, which was admitted: of its derivatives, say, which may be infinite
        found, reason = None, f"an expression came up that cannot be dealt with ({error})"
    except PDPError:
        raise
    except Exception as error:
        _log.debug("deciding %s failed", name, exc_info=True)
        found, reason = None, f"the search ended by an error inside ({type(error).__name__}), which says nothing about the profile"
    if found is not None and found[0].verdict is not Verdict.UNKNOWN and not found[0].checked:
        reason = f"a way to see it {found[0].verdict.value} was found ({found[0].method}), but the kernel does not accept it"
        found = None
    return found or (Decision(name, Verdict.UNKNOWN, "none", reason=reason), None)


def verify(
    profile: Profile,
    target_epsilon: object,
    conditions: Sequence[str] | None = None,
    *,
    progress: Callable[[int, int, str], None] | None = None,
) -> Verification:
    """Decide conditions of ``profile`` for the target ε* (nats), all of them by default.

    ``progress`` is called before each one with the number of conditions that are decided, the number of all, and the name of the next.

    Raises :class:`profiles.InvalidProfile` (ε undefined or negative, with the witness), :class:`profiles.Undecided` (that could not be
    decided), :class:`profiles.InvalidTarget`, :class:`profiles.InvalidArgument` (unknown condition).
    """
    names = list(CONDITIONS) if not conditions else list(dict.fromkeys(conditions))
    for name in names:
        if name not in CONDITIONS:
            raise InvalidArgument(f"the condition {name[:60]!r} is not known; known are {', '.join(CONDITIONS)}{suggest(name, CONDITIONS)}")
    target = to_target(target_epsilon)
    context = Context(admit(profile), target)
    convexity = None
    decisions: dict[str, Decision] = {}
    for name in names:
        if progress is not None:
            progress(len(decisions), len(names), name)
        decisions[name], found = decide_in_time(context, name)
        convexity = found or convexity
    bounds = (None, None) if convexity is None else bound_constant(context, convexity)
    return Verification(profile, target, decisions, convexity, bounds, derive_consequences(context, decisions))
