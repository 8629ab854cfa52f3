"""From a claim to its explanation: a table from the kernel's ways of proving a claim to the functions that explain them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from profiles.profile import Profile
from profiles.terms import Term
from proofs_check.admission import ProfileForms, admit
from proofs_check.conditions.context import Context
from proofs_check.explain.branching import explain_cases, explain_sides, explain_statistic
from proofs_check.explain.document import EPSILON, Explanation, Prose, Step
from proofs_check.explain.homogeneous import explain_homogeneous, explain_not_homogeneous
from proofs_check.explain.kernel_rules import explain_tree
from proofs_check.explain.proved import explain_floor, explain_inequality, explain_threshold, explain_vanishing, explain_well_defined
from proofs_check.explain.refuted import explain_kink, explain_limit, explain_loss_and_tail, explain_tail, explain_witness
from proofs_check.explain.sampled import explain_lower, explain_upper
from proofs_check.explain.setting import definition, for_all
from proofs_check.explain.statements import AT_ONE, LEFT, STATEMENTS, STRICT, Case, gap, goal_formula, profile_step
from proofs_check.kernel.theories.profiles.claims import CLAIMS
from proofs_check.kernel.untrusted.proofs import fields_of
from proofs_check.prover.effort import within
from proofs_check.prover.goals import Goal
from proofs_check.results import Decision, Tree, Verdict
from proofs_check.verify import CONDITIONS, Verification

#: Seconds after which what is left of an explanation is left to the kernel.
SECONDS = 1.2

Explain = Callable[[Case], tuple[Step, ...]]

#: The key of the kernel's table of claims → explanation. A new kind of claim is a line here.
EXPLAINERS: dict[str, Explain] = {
    "well-defined proved": explain_well_defined,
    "assumption-8 proved": explain_inequality,
    "assumption-8 refuted": explain_witness,
    "assumption-9 proved by slope": explain_threshold,
    "assumption-9 proved directly": explain_threshold,
    "assumption-9 refuted": explain_tail,
    "assumption-9-nonzero proved where epsilon is zero": explain_vanishing,
    "assumption-9-nonzero proved by slope": explain_threshold,
    "assumption-9-nonzero proved directly": explain_threshold,
    "assumption-9-nonzero refuted": explain_loss_and_tail,
    "assumption-11 proved": explain_floor,
    "assumption-11 refuted at a point": explain_witness,
    "assumption-11 refuted at a kink": explain_kink,
    "assumption-11 refuted in the limit": explain_limit,
    "proposition-16 proved": explain_inequality,
    "proposition-16 refuted": explain_witness,
    "proposition-17 proved": explain_inequality,
    "proposition-17 refuted at a point": explain_witness,
    "proposition-17 refuted at a kink": explain_kink,
    "homogeneous proved": explain_homogeneous,
    "homogeneous refuted": explain_not_homogeneous,
    "strong-convexity proved": explain_floor,
    "epsilon-upper proved": explain_upper,
    "epsilon-lower proved": explain_lower,
}


def explain_claim(profile: Profile, claim: Tree, *, target: Fraction | None = None, q: Term | None = None) -> Explanation:
    """Explain a claim of a certificate about ``profile`` for the target ε* (nats) or the sampling rule ``q``.

    Whether the kernel accepts the claim is not looked at. Nothing is raised: what cannot be explained is named as such.
    """
    return _explain_claim(Case(Context(ProfileForms(profile), target), claim, q))


def explain(profile: Profile, target: Fraction, decision: Decision) -> Explanation:
    """Explain the verdict of :func:`proofs_check.verify.verify` on one condition of ``profile`` for the target ε* (nats).

    Nothing is raised: what cannot be explained is named as such.
    """
    return _explain(Context(ProfileForms(profile), target), decision)


def explain_all(verification: Verification) -> dict[str, Explanation]:
    """Explain the verdicts of a verification, behind the claim that ε is defined and ≥ 0: claim → explanation."""
    admitted = admit(verification.profile)
    context = Context(admitted, verification.target)
    first = _explain_claim(Case(context, admitted.claim))
    return {first.condition: first, **{name: _explain(context, decision) for name, decision in verification.decisions.items()}}


def _explain(context: Context, decision: Decision) -> Explanation:
    if decision.claim is None:
        return _explanation(context, decision.condition, decision.verdict.value, lambda: tuple(_undecided(context, decision)))
    explained = _explain_claim(Case(context, decision.claim))
    if decision.checked:
        return explained
    warning = Step(("The kernel has not accepted this proof. What follows is what it tries to show.",))
    return replace(explained, steps=(warning, *explained.steps))


def _explain_claim(case: Case) -> Explanation:
    return _explanation(case.context, case.name, str(case.claim.get("verdict")), lambda: _argue(case))


def _argue(case: Case) -> tuple[Step, ...]:
    proof = case.claim.get("proof")
    if isinstance(proof, dict) and "cases" in proof:
        return explain_cases(case, _argue)
    if isinstance(proof, dict) and "sides" in proof:
        return explain_sides(case, _argue)
    if isinstance(proof, dict) and "statistic" in proof:
        return explain_statistic(case, _argue, explain_tree)
    explainer = EXPLAINERS.get(_form_of(case.claim))
    return (_UNKNOWN_FORM,) if explainer is None else explainer(case)


_UNKNOWN_FORM = Step(("No explanation is written for this form of claim; pdp check checks it.",))


_CUT_SHORT = Step(("Putting the argument into words would take too long; pdp check checks the claim.",))


def _form_of(claim: Tree) -> str:
    """Return the key of the kernel's table of claims that a claim falls under, "" for none."""
    proof = claim.get("proof")
    given = {*proof, *claim, "claimed"} if isinstance(proof, dict) else set()
    forms = [key for key in CLAIMS if key.split(" ")[:2] == [claim.get("claim"), claim.get("verdict")]]
    return next((key for key in forms if fields_of(CLAIMS[key])[1] <= given), "")


def _explanation(context: Context, name: str, verdict: str, argue: Callable[[], tuple[Step, ...]]) -> Explanation:
    """Put statement, profile and argument together. A failure of whatever kind to tell the argument is told instead of it."""
    statement: Prose = STATEMENTS.get(name, (f"{name}.",))
    try:
        steps = within(SECONDS, lambda: (*_resolved(context), *argue())) or (_CUT_SHORT,)
    except Exception as error:  # an explanation is no part of the proof, so it must not stop the command
        steps = (Step((f"The argument could not be put into words ({type(error).__name__}); pdp check checks the claim.",)),)
    meaning = CONDITIONS[name].meaning if name in CONDITIONS else ""
    return Explanation(name, verdict, statement, (profile_step(context), *steps), meaning)


def _resolved(context: Context) -> Iterator[Step]:
    """Say what ε is where its branches are decided on the whole domain."""
    if context.smooth and context.epsilon != context.declared:
        yield Step(("The same branches are taken on the whole domain: ", definition(EPSILON, context.epsilon), "."))


def _undecided(context: Context, decision: Decision) -> Iterator[Step]:
    """Say which inequality is open, and how far the search came."""
    name = decision.condition
    if name in LEFT and (context.smooth or name == "assumption-8"):
        goal = Goal(gap(context, name, context.epsilon), context.records if name in AT_ONE else context.domain, name in STRICT)
        yield Step(("Open is whether ", goal_formula(context, name, context.epsilon, goal), *for_all(goal.box), "."))
    how = "No proof and no witness" if decision.verdict is Verdict.UNKNOWN else decision.method
    yield Step((f"{how}: {decision.reason}.",))
