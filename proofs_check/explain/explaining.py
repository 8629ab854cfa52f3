"""From a verdict to its explanation: a table from claims to the functions that explain them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from profiles.errors import PDPError
from profiles.profile import Profile
from proofs_check.conditions.context import Context
from proofs_check.explain.document import Explanation, Prose, Step
from proofs_check.explain.proved import explain_floor, explain_inequality, explain_threshold
from proofs_check.explain.refuted import explain_kink, explain_limit, explain_tail, explain_witness
from proofs_check.explain.setting import for_all
from proofs_check.explain.statements import AT_ONE, LEFT, STATEMENTS, STRICT, gap, goal_formula, profile_step
from proofs_check.prover.goals import Goal
from proofs_check.results import Decision, Tree, Verdict
from proofs_check.verify import Verification

Explain = Callable[[Context, Decision, Tree], tuple[Step, ...]]

#: (condition, verdict, field that the proof has) → explanation; the first line that fits is taken. A new kind of claim is a line here.
CLAIMS: tuple[tuple[str, Verdict, str, Explain], ...] = (
    ("assumption-8", Verdict.PROVED, "bound", explain_inequality),
    ("assumption-8", Verdict.REFUTED, "bound", explain_witness),
    ("assumption-9", Verdict.PROVED, "threshold", explain_threshold),
    ("assumption-9", Verdict.REFUTED, "tail", explain_tail),
    ("assumption-11", Verdict.PROVED, "floor", explain_floor),
    ("assumption-11", Verdict.REFUTED, "kink", explain_kink),
    ("assumption-11", Verdict.REFUTED, "flat", explain_limit),
    ("assumption-11", Verdict.REFUTED, "curvature", explain_witness),
    ("proposition-16", Verdict.PROVED, "bound", explain_inequality),
    ("proposition-16", Verdict.REFUTED, "bound", explain_witness),
    ("proposition-17", Verdict.PROVED, "bound", explain_inequality),
    ("proposition-17", Verdict.REFUTED, "kink", explain_kink),
    ("proposition-17", Verdict.REFUTED, "bound", explain_witness),
)


def explain(profile: Profile, target: Fraction, decision: Decision) -> Explanation:
    """Explain the verdict of :func:`proofs_check.verify.verify` on one condition of ``profile`` for the target ε* (nats).

    What cannot be explained is named as such; nothing is raised for a claim of an unknown kind.
    """
    return _explain(Context(profile, target), decision)


def explain_all(verification: Verification) -> dict[str, Explanation]:
    """Explain the verdicts of a verification: condition → explanation, in the order of the verdicts."""
    context = Context(verification.profile, verification.target)
    return {name: _explain(context, decision) for name, decision in verification.decisions.items()}


def _explain(context: Context, decision: Decision) -> Explanation:
    statement: Prose = STATEMENTS.get(decision.condition, (decision.condition,))
    return Explanation(decision.condition, decision.verdict.value, statement, tuple(_steps(context, decision)))


def _steps(context: Context, decision: Decision) -> Iterator[Step]:
    yield profile_step(context)
    if decision.verdict is Verdict.UNKNOWN:
        yield from _undecided(context, decision)
        return
    try:
        yield from _argument(context, decision)
    except (PDPError, KeyError):
        yield _unexplained(decision)
    if not decision.checked:
        yield Step(("The kernel has not checked this verdict.",))


def _argument(context: Context, decision: Decision) -> tuple[Step, ...]:
    if decision.claim is not None:
        proof = decision.claim["proof"]
        for condition, verdict, field, explainer in CLAIMS:
            if (condition, verdict) == (decision.condition, decision.verdict) and field in proof:
                return explainer(context, decision, proof)
    return (_unexplained(decision),)


def _unexplained(decision: Decision) -> Step:
    return Step((f"The verdict rests on: {decision.method}. No further explanation is written for this kind of claim; see pdp check.",))


def _undecided(context: Context, decision: Decision) -> Iterator[Step]:
    """Say which inequality is open, and how far the search came."""
    name = decision.condition
    if name in LEFT and (context.smooth or name == "assumption-8"):
        goal = Goal(gap(context, name, context.epsilon), context.records if name in AT_ONE else context.domain, name in STRICT)
        yield Step(("Open is whether ", goal_formula(context, name, context.epsilon, goal), *for_all(goal.box), "."))
    yield Step((f"No proof and no witness: {decision.reason}.",))
