"""Verification of a profile: a verdict for each condition, the strong convexity constant, and what follows from them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from profiles.errors import InvalidArgument, InvalidExpression, PDPError
from profiles.numbers import exact_text, to_target
from profiles.profile import Profile
from profiles.suggestions import suggest
from profiles.views import show_html, show_picture, show_text
from proofs_check.admission import admit
from proofs_check.certificates import complete
from proofs_check.conditions import (
    assumption_8,
    assumption_9,
    assumption_9_nonzero,
    assumption_11,
    proposition_16,
    proposition_17,
)
from proofs_check.conditions.assumption_11 import StrongConvexity
from proofs_check.conditions.cases import decide_by_cases
from proofs_check.conditions.consequences import NEEDS, THEOREM_10, Consequence, derive_consequences
from proofs_check.conditions.context import Context
from proofs_check.conditions.statistic import decide_by_statistic, is_hard
from proofs_check.conditions.strong_convexity import Bounds, bound_constant, strong_convexity_json
from proofs_check.prover.effort import one_way, within_saying_why
from proofs_check.results import Decision, Verdict, Verdicts

if TYPE_CHECKING:
    from profiles.presenting.pictures import Picture


@dataclass(frozen=True, slots=True)
class Condition:
    """A named condition: what it means in a few words, its statement in words and formulas, its source, and what decides it."""

    id: str
    meaning: str
    statement: str
    source: str
    decide: Callable[[Context], Decision]


#: Work for one condition, in nominal seconds, so that a verdict takes at most about 2 s; what is not decided with it is unknown.
SECONDS_PER_CONDITION = 3.3
#: Work for the constant of a profile whose strong convexity was proved without one, and for a number near the best constant.
CONSTANT = 1.0

_log = logging.getLogger(__name__)
_OF_CONSEQUENCES = {"proved": Verdict.PROVED, "not applicable": Verdict.REFUTED, "unknown": Verdict.UNKNOWN}
_PAPER = "Fay et al. 2024"

#: All conditions, in the order in which they are reported. A new condition is one module and one line here.
CONDITIONS: dict[str, Condition] = {
    module.ID: Condition(module.ID, module.MEANING, module.STATEMENT, f"{_PAPER}, {name}", module.decide)
    for module, name in (
        (assumption_8, "Assumption 8"),
        (assumption_9, "Assumption 9"),
        (assumption_9_nonzero, "what Theorem 10 needs of Assumption 9 (docs/epsilon-bounds.md)"),
        (assumption_11, "Assumption 11"),
        (proposition_16, "Proposition 16"),
        (proposition_17, "Proposition 17"),
    )
}


@dataclass(frozen=True, slots=True)
class Verification(Verdicts):
    """The verdicts on one profile for one target ε* (nats), the proved lower bound of μ_x if there is one,
    certified numbers below and above its infimum over all records (``constant``), and the consequences.

    ``asked``: the names of the conditions and consequences whose verdicts answer the question; the others are information.
    """

    target: Fraction
    convexity: StrongConvexity | None = None
    constant: Bounds = (None, None)
    consequences: Sequence[Consequence] = field(default_factory=tuple)
    asked: Sequence[str] = (THEOREM_10,)

    def __repr__(self) -> str:
        return show_text(self)

    def _repr_html_(self) -> str:
        return show_html(self)

    def plot(self) -> Picture:
        """Return a picture of the loss of a few records against the weight, without and with sampling, with witnesses and the target.

        Raises :class:`profiles.InvalidProfile` (parameters without a number), :class:`profiles.MissingExtra` without Matplotlib.
        """
        return show_picture(self)

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of what was asked: refuted before unknown before proved. A consequence is refuted with a condition of it."""
        verdicts = {self.decisions[name].verdict for name in self.asked if name in self.decisions}
        verdicts |= {_OF_CONSEQUENCES[consequence.verdict] for consequence in self.consequences if consequence.statement in self.asked}
        return self.worst(verdicts)

    @property
    def needed(self) -> frozenset[str]:
        """The names of the conditions that count for the verdict: those that were asked, and those that a consequence asked for needs."""
        below = {name for consequence in self.consequences if consequence.statement in self.asked for name, _ in consequence.conditions}
        return frozenset(name for name in self.decisions if name in self.asked or name in below)

    def proved(self, condition: str) -> bool:
        """Tell whether a condition was decided and is proved."""
        decision = self.decisions.get(condition)
        return decision is not None and decision.verdict is Verdict.PROVED

    def certificate(self) -> dict[str, Any]:
        """Return the certificate of every verdict that the kernel accepts."""
        return complete(admit(self.profile).certificate(self.claims(), target=self.target))

    def to_json(self) -> dict[str, Any]:
        return {
            "profile": self.profile.name,
            "target_epsilon": exact_text(self.target),
            "asked": list(self.asked),
            "verdict": self.verdict.value,
            "conditions": self.tell({name: condition.meaning for name, condition in CONDITIONS.items()}),
            "strong_convexity": strong_convexity_json(self.profile, self.convexity, self.constant),
            "consequences": {consequence.statement: consequence.to_json() for consequence in self.consequences},
        }


def decide_in_time(
    context: Context, name: str, seconds: float = SECONDS_PER_CONDITION, *, known: Mapping[str, Decision] | None = None
) -> tuple[Decision, StrongConvexity | None]:
    """Decide a condition with some work (in nominal seconds), and return the strong convexity constant too where that was decided.

    ``known``: verdicts on other conditions, from which this one may follow.

    No decision with that work, or an error inside the search, is the verdict unknown.
    """

    def decide() -> tuple[Decision, StrongConvexity | None]:
        published = (known or {}).get(assumption_9.ID) if name == assumption_9_nonzero.ID else None
        followed = assumption_9_nonzero.follow_published(context, published)
        if followed is not None:
            return followed, None
        hard = is_hard(context.profile)
        simpler = one_way(seconds, lambda: decide_by_statistic(context, name, CONDITIONS[name].decide)) if hard else None
        if simpler is not None:
            wanted = name == assumption_11.ID and simpler.verdict is Verdict.PROVED
            return simpler, one_way(CONSTANT, lambda: assumption_11.derive_strong_convexity(context)) if wanted else None
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
        decided, reason = within_saying_why(seconds, decide)
    except InvalidExpression as error:  # not of the profile, which was admitted: of its derivatives, say, which may be infinite
        decided, reason = None, f"an expression could not be handled ({error})"
    except PDPError:
        raise
    except Exception as error:
        _log.debug("deciding %s failed", name, exc_info=True)
        decided, reason = None, f"the search ended by an error inside ({type(error).__name__}), which says nothing about the profile"
    if decided is not None and decided[0].verdict is not Verdict.UNKNOWN and not decided[0].checked:
        reason = f"a way to see it {decided[0].verdict.value} was found ({decided[0].method}), but the kernel does not accept it"
        decided = None
    return decided or (Decision(name, Verdict.UNKNOWN, "none", reason=reason), None)


def _follow_each_other(context: Context, decisions: dict[str, Decision]) -> None:
    """Let Assumption 9 and what Theorem 10 needs of it follow from one another where one is unknown and was asked for."""
    published, needed = decisions.get(assumption_9.ID), decisions.get(assumption_9_nonzero.ID)
    if needed is None:
        return
    if needed.verdict is Verdict.UNKNOWN and published is None:  # the verdict is not to depend on what else is asked for
        published, _ = decide_in_time(context, assumption_9.ID)
        decisions[assumption_9_nonzero.ID] = assumption_9_nonzero.follow_published(context, published) or needed
    elif published is not None and published.verdict is Verdict.UNKNOWN:
        decisions[assumption_9.ID] = assumption_9_nonzero.prove_published(context, needed) or published


def verify(
    profile: Profile,
    target_epsilon: object,
    conditions: Sequence[str] | None = None,
    *,
    consequences: Sequence[str] | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> Verification:
    """Decide conditions of ``profile`` for the target ε* (nats), all of them by default.

    What is asked, and makes the verdict, are the named ``conditions`` and the ``consequences`` (``theorem-10``, ``proposition-12``) with
    what they need; Theorem 10 where neither is named.

    ``progress`` is called before each one with the number of conditions that are decided, the number of all, and the name of the next.

    Raises :class:`profiles.InvalidProfile` (ε undefined or negative, with the witness), :class:`profiles.Undecided` (that could not be
    decided), :class:`profiles.InvalidTarget`, :class:`profiles.InvalidArgument` (unknown condition or consequence),
    :class:`profiles.OtherNotion` (what another notion needs is decided by :func:`proofs_check.verify_notion.verify_notion`).

    >>> from profiles import declare
    >>> found = verify(declare("sum", "w*z/3", record={"z": ["1/2", 2]}), 2, ["assumption-8", "proposition-16"])
    >>> {name: decision.verdict.value for name, decision in found.decisions.items()}
    {'assumption-8': 'proved', 'proposition-16': 'refuted'}
    """
    asked = list(dict.fromkeys((*(conditions or ()), *(consequences or ())))) or [THEOREM_10]
    for kind, given, known in (("condition", conditions, tuple(CONDITIONS)), ("consequence", consequences, tuple(NEEDS))):
        for name in given or ():
            if name not in known:
                raise InvalidArgument(f"the {kind} {name[:60]!r} is not known; known are {', '.join(known)}{suggest(name, known)}")
    below = dict.fromkeys((*(conditions or ()), *(name for consequence in consequences or () for name in NEEDS[consequence])))
    names = list(below) if conditions else list(CONDITIONS)
    target = to_target(target_epsilon)
    context = Context(admit(profile.require_pure()), target)
    convexity = None
    decisions: dict[str, Decision] = {}
    for name in names:
        if progress is not None:
            progress(len(decisions), len(names), name)
        decisions[name], decision = decide_in_time(context, name, known=decisions)
        convexity = decision or convexity
    _follow_each_other(context, decisions)
    bounds = (None, None) if convexity is None else bound_constant(context, convexity, CONSTANT)
    return Verification(profile, decisions, target, convexity, bounds, derive_consequences(context, decisions), asked)
