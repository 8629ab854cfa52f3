"""The page docs/claims.md, made from the claims: ``python docs/_site/claims.py`` prints it."""

from __future__ import annotations

import sys
from collections import Counter

from profiles.numbers import exact_text
from proofs_check.papers.registry import PAPERS, all_claims, judge
from proofs_check.statements.judge import Judgement
from proofs_check.statements.sentences import Status

_HEAD = """# What the papers state, and what became of it

Made from the claims of `pdp claims` (`python docs/_site/claims.py`); a test holds this page to them. *Proved* and *refuted* come
from proof trees and witnesses that the kernel's rules accepted; *out of scope* and *damaged in extraction* come with the reason. What is
refuted is treated at length in [errata.md](errata.md). `pdp claims --explain ID` shows the goals and the rules;
`pdp claims --run ID` runs a refuted one again.
"""


def render_claims() -> str:
    """Return the page."""
    found = {paper.key: [judge(claim.id) for claim in all_claims(paper.key)] for paper in PAPERS}
    total = Counter(judgement.status for judgements in found.values() for judgement in judgements)
    counts = ", ".join(f"{total[status]} {status.value}" for status in Status if total[status])
    parts = [_HEAD, f"{sum(total.values())} statements: {counts}.\n"]
    for paper in PAPERS:
        parts.append(f"## {paper.citation}: {paper.title}\n")
        parts.append("| statement | verdict | place | id |\n| --- | --- | --- | --- |")
        parts.append("\n".join(_row(judgement) for judgement in found[paper.key]) + "\n")
    return "\n".join(parts).rstrip() + "\n"


def _row(found: Judgement) -> str:
    cells = (found.claim.statement, _verdict(found), found.claim.source, f"`{found.claim.id}`")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _verdict(found: Judgement) -> str:
    claim = found.claim
    if found.status is Status.REFUTED:
        where = ", ".join(f"{name} = {exact_text(value)}" for name, value in (found.witness or {}).items())
        kind = f" ({claim.consequence.value})" if claim.consequence else ""
        return f"**refuted**{kind}" + (f" at {where}" if where else "")
    return f"{found.status.value}: {claim.argument}" if claim.argument else found.status.value


if __name__ == "__main__":
    sys.stdout.write(render_claims())
