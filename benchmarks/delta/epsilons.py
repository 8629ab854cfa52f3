"""ε against m at one noise of the sum, and the same numbers by dp_accounting, where an interpreter that has it is named."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from fractions import Fraction

from accountant.applications.dpsgd.noise import compose_steps
from accountant.applications.dpsgd.rules import RULES
from accountant.compositions.queries import point_at_delta
from benchmarks.delta.data import load
from benchmarks.delta.schemes import DELTA, STEPS, bound_shares, follow_pilot
from benchmarks.study.store import Row, Task
from profiles import InvalidArgument

#: The environment variable that names an interpreter with dp_accounting.
PEER = "PDP_DP_ACCOUNTING_PYTHON"
#: Noise of the sum over the clipping norm, by data set: about what the middle batch has at the target.
SIGMAS = {"ijcnn1": "200", "digits": "20", "heavy": "60"}
_RULES = {"uniform": "uniform", "norm-bound": "norm", "norm-gradient": "norm"}
_SCRIPT = """
import json, sys, time
from dp_accounting import dp_event as e
from dp_accounting.pld import pld_privacy_accountant as p
for s, q, t, d in json.load(sys.stdin):
    begin = time.perf_counter()
    event = e.SelfComposedDpEvent(e.PoissonSampledDpEvent(q, e.GaussianDpEvent(s)), t)
    found = p.PLDAccountant(value_discretization_interval=1e-4).compose(event).get_epsilon(d)
    print(json.dumps([found, time.perf_counter() - begin]))
"""


def make_tasks(names: Sequence[str], batches: Sequence[int]) -> list[Task]:
    """Return a task for each data set, rule and expected batch."""
    return [
        Task("epsilons", {"dataset": name, "scheme": scheme, "m": m, "steps": STEPS, "sigma": SIGMAS[name]})
        for name in names
        for scheme in _RULES
        for m in batches
    ]


def run_epsilon(task: Task) -> list[Row]:
    """Return both ends of ε of the steps at the noise of the sum; no row where the batch needs a probability above 1."""
    problem, name = load(task.key["dataset"]), task.key["scheme"]
    if name.endswith("gradient"):
        total = follow_pilot(problem, _RULES[name])[1]
    else:
        total = float(RULES[_RULES[name]].share(bound_shares(problem, problem.train)).sum())
    rate = Fraction(f"{float(task.key['m']) / total:.4g}")
    if rate >= 1:
        return []
    noise = Fraction(f"{float(Fraction(task.key['sigma']) * rate):.4g}")
    if noise < Fraction(1, 5):
        return []
    found = point_at_delta(compose_steps(noise, rate, STEPS), Fraction(DELTA), Fraction(1, 100))
    if found.lower is None or found.upper is None:
        return []
    return [{"rate": float(rate), "multiplier": float(noise), "lower": float(found.lower), "upper": float(found.upper)}]


def make_peer_tasks(python: str, settings: Sequence[tuple[float, float, float, float, float]]) -> list[Task]:
    """Return the task of dp_accounting: ``settings`` are (noise, q, w ζ/σ, ...) with our two ends."""
    return [Task("peers", {"python": python, "settings": [list(setting) for setting in settings]})] if python and settings else []


def run_peers(task: Task) -> list[Row]:
    """Return ε of dp_accounting for the same events, with the sensitivity-1/q trick: noise over the weighted norm."""
    settings = [[s, q, STEPS, float(DELTA)] for s, q, *_ in task.key["settings"]]
    done = subprocess.run([task.key["python"], "-c", _SCRIPT], input=json.dumps(settings), capture_output=True, text=True, check=False)
    if done.returncode:
        raise InvalidArgument(f"dp_accounting could not be run by {task.key['python']}: {done.stderr.strip().splitlines()[-1:]}")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return [
        {"noise": s, "q": q, "lower": low, "upper": high, "theirs": theirs, "seconds": seconds}
        for (s, q, low, high), (theirs, seconds) in zip(task.key["settings"], answers, strict=True)
    ]
