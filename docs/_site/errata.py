"""The page docs/errata.md, made from the claims: ``python docs/_site/errata.py`` prints it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from profiles.numbers import exact_text
from proofs_check.papers.registry import PAPERS, all_claims, judge
from proofs_check.printed.reruns import evaluate_sides
from proofs_check.prover.pointwise import Value
from proofs_check.statements.judge import GoalFinding, Judgement
from proofs_check.statements.sentences import Impact, Status

_HEAD = """# Errata, and all statements of the papers

Made from the claims of `pdp claims` (`python docs/_site/errata.py`); a test holds this page to them. Each witness
is exact and was confirmed in ball arithmetic and by the rules of the kernel; it can be checked on a pocket calculator. *pdp claims
--explain ID* shows the goals and what proves the correction; *pdp claims --run ID* runs it again: the algorithm as printed, by its
exact law, where it is an algorithm, and else both sides of the relation at its witness.

The consequence is one of: harmless typo; proof gap with a true conclusion; wrong result (the statement, used as printed,
gives something false). [All statements](#all-statements-with-verdicts), with their verdicts, stand at the end of the page.

## Which errors cost privacy

Most do not. These do, whoever implements the printed text (tests/papers/test_demonstrations*.py shows each of them):

| paper | error | what happens |
| --- | --- | --- |
| Fay et al. 2024 | the midpoint that Algorithm 1's bisection returns | the weight may be infeasible: more than eps* |
| | the maximum over a grid as epsilon (Equation 5) | the printed epsilon is too small |
| | lambda = 0 in Equation (5) | records near the origin get weights without bound: no epsilon |
| | norms with p < 1 in Proposition 13 | the sum mechanism has no epsilon in two dimensions |
| | a profile with a jump (Theorem 10) | the supremum of the feasible weights is infeasible |
| first version, 2023 | the noise scale in Algorithm 2 | 2 nats instead of 1.5, for example |
| | lambda = 0 in Proposition 6 | as above |
| Ghazi et al. 2024 | Lap(0.5/eps) for the number of elements in Algorithm 4 | 2 eps are spent on it instead of eps/2 |
| | ceil(2 k ln n) rounds in Theorems G.1, G.2 and 1.5 | the number of rounds tells n: no epsilon, and sampling does not help |

These cost accuracy, time or a proof, not privacy:

* Fay et al.: the wrong bracket of Algorithm 1, its wrong if-condition and the wrong mu of Equation (4) give weights below the optimal
  ones, which are feasible but make the sample larger than needed (or numbers below 1, which cannot be weights).
* Ghazi et al.: steps of size eta leave the matroid polytope; the thresholds of Algorithm 4 are not those of its proof; the constants of
  Theorem 5.6 and of (19) and (20) do not prove what they are meant to prove, though other constants do. Lemma 3.1, Corollary 3.2 and
  Theorems 4.3, 4.4, 5.3 and 5.4, on which all the algorithms rest, are right.
"""

_STATEMENTS = """## All statements with verdicts

*Proved* and *refuted* come from proof trees and witnesses that the kernel's rules accepted; *out of scope* and *damaged in extraction* come
with the reason. `pdp claims --explain ID` shows the goals and the rules; `pdp claims --run ID` runs a refuted statement again.
"""


def render_errata() -> str:
    """Return the page."""
    parts = [_HEAD]
    for paper in PAPERS:
        refuted = [found for claim in all_claims(paper.key) if (found := judge(claim.id)).status is Status.REFUTED]
        parts.append(f"## {paper.citation}: {paper.title}\n")
        for consequence in reversed(Impact):
            chosen = [found for found in refuted if found.claim.consequence is consequence]
            if chosen:
                parts.append(f"### {consequence.value.capitalize()} ({len(chosen)})\n")
            parts.extend(_entry(found) for found in chosen)
    parts.append(_list_statements())
    return "\n".join(parts).rstrip() + "\n"


def describe_witness(found: Judgement) -> Iterator[str]:
    """Yield the lines that tell a reader what to type into a calculator."""
    failing = next((finding for finding in found.findings if finding.status is Status.REFUTED), None)
    if found.witness is None:
        return
    where = ", ".join(f"{name} = {exact_text(value)}" for name, value in found.witness.items())
    if failing is None:
        yield f"instance {where}: {found.claim.reduction}"
        return
    yield f"`{failing.relation}` fails at {where}{_sides(found, failing)}"
    if found.claim.reduction:
        yield found.claim.reduction


def _sides(found: Judgement, failing: GoalFinding) -> str:
    goals = next(goals for goals in found.claim.goals if goals.relation == failing.relation and goals.box == failing.box)
    if goals.derive:
        return f" (left-hand side differentiated in {', '.join(goals.derive)})"
    (_, left), (_, right) = evaluate_sides(goals, found.witness or {})
    return f": left {_rounded(left)}, right {_rounded(right)}"


def _rounded(value: Value) -> str:
    return exact_text(value) if isinstance(value, Fraction) else f"{float(value.mid()):.4g}"


def _entry(found: Judgement) -> str:
    claim = found.claim
    lines = [f"**`{claim.id}`**: {claim.source}", "", f"* Statement: {claim.statement}"]
    lines.extend(f"* Witness: {line}" if index == 0 else f"* Reduction: {line}" for index, line in enumerate(describe_witness(found)))
    corrected = [other.id for other in all_claims() if claim.id in other.corrects]
    proved = f" (proved: {', '.join(f'`{other}`' for other in corrected)})" if corrected else ""
    lines.extend([f"* Consequence: {claim.effect}", f"* Correction: {claim.correction}{proved}", ""])
    return "\n".join(lines)


def _list_statements() -> str:
    judgements = {paper.key: [judge(claim.id) for claim in all_claims(paper.key)] for paper in PAPERS}
    total = Counter(judgement.status for judged in judgements.values() for judgement in judged)
    counts = ", ".join(f"{total[status]} {status.value}" for status in Status if total[status])
    parts = [_STATEMENTS, f"{sum(total.values())} statements: {counts}.\n"]
    for paper in PAPERS:
        parts.append(f"### {paper.citation}, statement by statement\n")
        parts.append("| statement | verdict | place | id |\n| --- | --- | --- | --- |")
        parts.append("\n".join(_row(judgement) for judgement in judgements[paper.key]) + "\n")
    return "\n".join(parts)


def _row(judgement: Judgement) -> str:
    claim = judgement.claim
    cells = (claim.statement, _verdict(judgement), claim.source, f"`{claim.id}`")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _verdict(judgement: Judgement) -> str:
    claim = judgement.claim
    if judgement.status is Status.REFUTED:
        where = ", ".join(f"{name} = {exact_text(value)}" for name, value in (judgement.witness or {}).items())
        kind = f" ({claim.consequence.value})" if claim.consequence else ""
        return f"**refuted**{kind}" + (f" at {where}" if where else "")
    return f"{judgement.status.value}: {claim.argument}" if claim.argument else judgement.status.value


if __name__ == "__main__":
    sys.stdout.write(render_errata())
