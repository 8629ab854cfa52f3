"""The page docs/errata.md, made from the claims: ``python -m proofs_check.papers.errata`` prints it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from fractions import Fraction

from profiles.grammar import parse_expression
from profiles.numbers import exact_text
from proofs_check.papers.judge import Finding, Judgement, judge
from proofs_check.papers.reading import read, split_reals
from proofs_check.papers.registry import PAPERS, all_claims
from proofs_check.papers.statements import Consequence, Status
from proofs_check.prover.pointwise import value_at

_HEAD = """# Errata: what is wrong in the papers

Made from the claims of `pdp claims` (`python -m proofs_check.papers.errata`); a test holds this page to them. Each witness
is exact and was confirmed in ball arithmetic and by the rules of the kernel; it can be checked on a pocket calculator. *pdp claims
--explain ID* shows the goals and what proves the correction.

The consequence is one of: harmless typo; proof gap with a true conclusion; wrong result (the statement, used as printed,
gives something false).

Which errors cost privacy? The wrong bracket of Algorithm 1, its wrong if-condition and the wrong mu of Equation (4) do not: they
give weights below the optimal ones, which are feasible but make the sample larger than needed (or numbers below 1, which are no weights).
These do: a midpoint returned by the bisection, a grid maximum used as a bound, lambda = 0, p < 1, a profile with a jump, and the
noise scale in the first version's Algorithm 2.
"""


def render_errata() -> str:
    """Return the page."""
    parts = [_HEAD]
    for paper in PAPERS:
        refuted = [found for claim in all_claims(paper.key) if (found := judge(claim.id)).status is Status.REFUTED]
        parts.append(f"## {paper.citation}: {paper.title}\n")
        for consequence in reversed(Consequence):
            chosen = [found for found in refuted if found.claim.consequence is consequence]
            if chosen:
                parts.append(f"### {consequence.value.capitalize()} ({len(chosen)})\n")
            parts.extend(_entry(found) for found in chosen)
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


def _sides(found: Judgement, failing: Finding) -> str:
    goals = next(goals for goals in found.claim.goals if goals.relation == failing.relation and goals.box == failing.box)
    question = read(goals)[0]
    if question.derive:
        return f" (left-hand side differentiated in {', '.join(question.derive)})"
    point = split_reals(found.witness or {}, question.box)
    return f": left {_rounded(question.left, point)}, right {_rounded(question.right, point)}"


def _rounded(text: str, point: Mapping[str, Fraction]) -> str:
    value = value_at(parse_expression(text), point)
    return exact_text(value) if isinstance(value, Fraction) else f"{float(value.mid()):.4g}"


def _entry(found: Judgement) -> str:
    claim = found.claim
    lines = [f"**`{claim.id}`**: {claim.source}", "", f"* Statement: {claim.statement}"]
    lines.extend(f"* Witness: {line}" if index == 0 else f"* Reduction: {line}" for index, line in enumerate(describe_witness(found)))
    corrected = [other.id for other in all_claims() if claim.id in other.corrects]
    proved = f" (proved: {', '.join(f'`{other}`' for other in corrected)})" if corrected else ""
    lines.extend([f"* Consequence: {claim.effect}", f"* Correction: {claim.correction}{proved}", ""])
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(render_errata())
