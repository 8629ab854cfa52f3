"""``python -m tests.targets.suite.truths``: compute all truths and print them beside the written ones; exit 1 where one differs."""

from __future__ import annotations

import sys

from tests.targets.suite import standard_suite
from tests.targets.suite.case import Nats
from tests.targets.suite.truths import compute_directions, compute_epsilon
from tests.targets.suite.truths.sides import Side, written


def _text(ends: tuple[Nats, Nats]) -> str:
    return " to ".join(f"{float(end):.9g}" for end in ends)


def _main() -> int:
    wrong = 0
    for case in standard_suite():
        directions = compute_directions(case)
        computed = written(compute_epsilon(case))
        same = computed == written(Side(case.truth.lower, case.truth.upper))
        wrong += not same
        ways = f"toward {_text(written(directions.toward))}, away {_text(written(directions.away))}"
        sys.stdout.write(
            f"{case.name}: {_text(computed)} ({ways}){'' if same else f', BUT WRITTEN {case.truth.lower} to {case.truth.upper}'}\n"
        )
    return 1 if wrong else 0


sys.exit(_main())
