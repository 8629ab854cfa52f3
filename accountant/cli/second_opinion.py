"""``pdp check --with coq`` and ``--verified``: the goals of an accepted certificate, put to Coq; what it says of each."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from accountant.progress import show_progress
from profiles.errors import InvalidArgument

if TYPE_CHECKING:
    from proofs_check.coq import Opinion

_MOST_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class SecondOpinion:
    """What Coq said of the goals of one certificate. ``exit_code``: 0 all confirmed, 3 some not, 1 one contradicted."""

    opinions: tuple[Opinion, ...]
    seconds: int
    verified: bool = False  # judged by the verified checker

    @property
    def confirmed(self) -> int:
        return sum(item.confirmed for item in self.opinions)

    @property
    def exit_code(self) -> int:
        if any(item.contradicted for item in self.opinions):
            return 1
        return 0 if self.confirmed == len(self.opinions) else 3

    def to_json(self) -> dict[str, Any]:
        goals = [
            {
                "step": item.step,
                "rule": item.rule,
                "statement": item.statement,
                "confirmed": item.confirmed,
                "contradicted": item.contradicted,
                "reason": item.reason or None,
            }
            for item in self.opinions
        ]
        prover = "verified checker" if self.verified else "coq"
        return {"prover": prover, "confirmed": self.confirmed, "goals": goals, "seconds_per_goal": self.seconds}

    def describe(self) -> Iterator[str]:
        """Yield lines for people: one for each goal, then how many were confirmed."""
        if self.verified:
            yield from self._describe_verified()
            return
        for item in self.opinions:
            said = "confirmed" if item.confirmed else "CONTRADICTED" if item.contradicted else "not confirmed"
            yield f"{said}: {item.step} (rule {item.rule})"
            yield f"    {item.statement}"
            if item.reason:
                yield f"    {item.reason}"
        left = Counter(item.confirmed for item in self.opinions)[False]
        yield f"second opinion of Coq: {self.confirmed} of {len(self.opinions)} goals confirmed, at most {self.seconds} s each"
        if left:
            yield "what is not confirmed is not refuted: the kernel proved it, but the tactics that were tried in Coq did not"
        if any(item.contradicted for item in self.opinions):
            yield "the kernel and Coq contradict each other: believe neither, and report it"

    def _describe_verified(self) -> Iterator[str]:
        for item in self.opinions:
            yield f"{'verified' if item.confirmed else item.reason}: {item.step} (rule {item.rule})"
            yield f"    {item.statement}"
        yield f"verified checker: {self.confirmed} of {len(self.opinions)} goals verified, each a theorem about Coq's real numbers"
        if self.confirmed < len(self.opinions):
            yield "what is not covered is not refuted: the kernel has proved it, but the verified checker accepts no proof of it"


def ask_coq(text: str, *, seconds: int, out: Path | None, verified: bool = False) -> SecondOpinion:
    """Put the goals of an accepted certificate to Coq; ``out``: where the goals that it confirmed are written with their proofs.

    ``verified``: to the checker that is proved right in Coq, in place of Coq's tactics.

    Raises :class:`InvalidArgument` for what has no goals of the kernel's rules, :class:`profiles.MissingProgram` where there is no Coq.
    """
    from accountant.files import check_writable, replace_file
    from proofs_check.coq import judge_goals, list_goals, verify_goals, write_file, write_verified
    from proofs_check.kernel.untrusted.formats import OWN, read_heading

    if not 1 <= seconds <= _MOST_SECONDS:
        raise InvalidArgument(f"a goal may take from 1 to {_MOST_SECONDS} seconds, but {seconds} were asked for; choose another number")
    if read_heading(text)[0] != OWN or "profile" not in json.loads(text):
        raise InvalidArgument(
            "a second opinion is one on the goals of a certificate of proofs, but this one has none (its claims are computed, or it is "
            "in a file of another format); check it without --with and --verified"
        )
    if out is not None:
        check_writable(out)
    _, goals = list_goals(text)
    opinions, proved = list[Any](), list[str]()
    with show_progress("asking Coq", "goals") as report:
        for opinion, sentences in (verify_goals if verified else judge_goals)(goals, seconds=seconds, report=report):
            opinions.append(opinion)
            proved += [sentences] if sentences else []
    if out is not None:
        with replace_file(out) as file:
            file.write((write_verified if verified else write_file)(proved).encode("ascii"))
    return SecondOpinion(tuple(opinions), seconds, verified)
