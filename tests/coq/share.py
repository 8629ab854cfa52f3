"""`make second-opinion`: which share of the goals of certificates (the catalogue, the range suite) Coq confirms; none is contradicted.

``python -m tests.coq.share [EVERY]`` takes all of the catalogue, and each EVERY-th profile of the suite (1: all, which takes hours).
``python -m tests.coq.share EVERY verified``: which share the verified checker verifies, and of how many claims every goal.
"""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from profiles import declare, load
from profiles.mechanisms.catalogue import catalogue
from profiles.notions import ProfileNotion
from proofs_check.certificates import to_file_text
from proofs_check.coq import SECONDS, judge_goals, list_goals, verify_goals
from proofs_check.verify import verify

CASES = Path(__file__).resolve().parents[1] / "profile_range" / "cases.toml"
LEAST = 0.70
RANGE = ["assumption-8", "assumption-9", "assumption-11", "proposition-16", "proposition-17"]
#: For the catalogue's profiles, as in the examples of the documentation.
TARGET = 3


def certificates(every: int) -> Iterator[tuple[str, str]]:
    """Yield the certificates of all conditions, with a name."""
    for entry in catalogue():
        if entry.profile.notion is ProfileNotion.PURE:
            for profile in (entry.profile, load(entry.reference).profile):
                yield entry.name, to_file_text(verify(profile, TARGET, RANGE).certificate())
    cases = tomllib.loads(CASES.read_text(encoding="utf-8"))["profile"]
    for number, case in enumerate(cases):
        if number % every == 0:
            profile = declare("range", case["epsilon"], record=case.get("record"), parameters=case.get("parameters"))
            yield f"case {number}", to_file_text(verify(profile, case["target"], RANGE).certificate())


def main(every: str = "1", judge: str = "coq") -> int:
    """Print the share, by rule and in all."""
    claims, whole = 0, 0
    confirmed, total, contradicted, profiles = Counter[str](), Counter[str](), 0, 0
    for name, text in certificates(int(every)):
        report, goals = list_goals(text)
        assert report.accepted, (name, report)
        profiles += 1
        open_claims = set[str]()
        for opinion, _ in (verify_goals if judge == "verified" else judge_goals)(goals, seconds=SECONDS):
            open_claims |= set() if opinion.confirmed else {opinion.step.split(".")[0]}
            total[opinion.rule] += 1
            confirmed[opinion.rule] += opinion.confirmed
            contradicted += opinion.contradicted
            if opinion.contradicted:
                sys.stdout.write(f"{name}: {opinion}\n")
        claims += len(report.claims)
        whole += len(report.claims) - len(open_claims)
        sys.stdout.write(f"{name}: {confirmed.total()} of {total.total()} goals so far, all goals of {whole} of {claims} claims\n")
        sys.stdout.flush()
    for rule in sorted(total):
        sys.stdout.write(f"{rule}: {confirmed[rule]} of {total[rule]}\n")
    share = confirmed.total() / total.total()
    sys.stdout.write(
        f"{judge}: {confirmed.total()} of {total.total()} goals of {profiles} certificates confirmed ({share:.1%}), "
        f"all goals of {whole} of {claims} claims, {contradicted} contradicted\n"
    )
    return int(share < LEAST or contradicted > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
