"""The study of one-sided algorithms on tiny sizes: optima against enumeration, instances, derived errors, and the program as a whole."""

from __future__ import annotations

import math
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, laplace

from accountant.applications.submodular import CoverageInstance, selection_value
from accountant.onesided import calibrate_one_sided
from benchmarks.onesided import __main__ as program
from benchmarks.onesided import greedy, hitters, instances, laplace_monitor, matroids, plans
from benchmarks.study import __main__ as other_program
from benchmarks.study.store import PartStore, Task
from profiles import InvalidArgument

SMALL = CoverageInstance.from_sets([[0, 1], [1, 2], [2], [3], [3, 4], [0, 4], [], [5], [5]], candidates=6)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_largest_coverage_is_that_of_enumeration(k: int) -> None:
    best = max(selection_value(SMALL, chosen) for chosen in combinations(range(6), k))
    assert instances.maximise(SMALL, np.ones((1, 6)), np.array([k])) == best


def test_the_largest_coverage_under_a_partition() -> None:
    classes = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]])
    best = max(selection_value(SMALL, (a, b)) for a in range(3) for b in range(3, 6))
    assert instances.maximise(SMALL, classes.astype(np.float64), np.array([1, 1])) == best


@pytest.mark.parametrize("power", [1, 2])
def test_the_least_cost_is_that_of_enumeration(power: int) -> None:
    space, counts = instances.points("discs", 60, 9)
    costs = instances.scaled_costs(space, power)
    best = min(float(counts @ costs[:, chosen].min(axis=1)) for chosen in map(list, combinations(range(9), 2)))
    assert instances.prove_least("discs", 60, 9, 2, power) == pytest.approx(best, rel=1e-9)
    assert instances.least_cost("discs", 60, 9, 2, power) == pytest.approx(best, rel=1e-9)


def test_real_instances_have_the_stated_form() -> None:
    digits = instances.coverage("digits")
    assert (digits.users, digits.candidates) == (1765, 64)
    space, counts = instances.points("images")
    assert (space.size, int(counts.sum())) == (200, 1597)
    for unknown in (instances.coverage, instances.points):
        with pytest.raises(InvalidArgument, match="unknown"):
            unknown("nothing")


def test_the_hard_instance_and_its_limit() -> None:
    instance = instances.hide(3, 5, 20, np.random.default_rng(1))
    gains = np.sort(instance.track().gains)
    assert gains[-4:].tolist() == [0, 5, 5, 5]
    # one candidate: P[found] = E e^(ε₀ H)/(e^(ε₀ H) + m − 1), H ~ Bin(w, p), stays below e^(εw)/m
    plan = calibrate_one_sided(1)
    for users in (1, 2, 4, 8):
        kept = np.arange(users + 1)
        weight = np.exp(float(plan.epsilon0) * kept)
        found = float(binom.pmf(kept, users, plan.p) @ (weight / (weight + 99)))
        assert found <= greedy.limit_share(100, 1, 1.0, users)
    assert greedy.limit_share(100, 1, 1.0, 2) == pytest.approx(math.e**2 / 100)


def test_errors_of_the_hard_instance_by_hand() -> None:
    base = {"sweep": "m", "m": 100, "k": 2, "epsilon": "1", "method": "optimal", "seed": 0}
    rows = [{**base, "hidden": 10, "value": 0.0}, {**base, "hidden": 30, "value": 0.5}, {**base, "hidden": 90, "value": 1.0}]
    (found,) = greedy.relate_hidden(rows)
    ratio = 1 - math.exp(-1) - 0.1
    assert found["error"] == pytest.approx(20 * ratio)  # 60·(ratio − 0.5) is less
    assert found["at"] == 10


def test_the_number_of_users_from_which_on_the_path_is_read() -> None:
    base = {"k": 1, "epsilon": "1", "steps": 2, "items": 3, "sweep": "k", "method": "optimal"}
    values = {10: (0.0, 1.0), 20: (1.0, 1.0), 30: (1.0, 0.0), 40: (1.0, 1.0), 50: (1.0, 1.0)}
    rows = [{**base, "users": users, "seed": seed, "value": value} for users, pair in values.items() for seed, value in enumerate(pair)]
    assert [row["error"] for row in hitters.relate_hard(rows)] == [40.0]
    bound = {**base, "method": "planned", "users": 0, "seed": 0, "value": 55.0}
    assert hitters.relate_hard([bound])[0]["error"] == 55.0


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("k", "rate", "gaps"), [(1, 0.7, [0.5] * 8), (2, 0.5, [-1, 0, 1, 2, 3, 0.5]), (3, 0.3, [2.0] * 9), (2, 1.5, [3] * 8)]
)
def test_the_laplace_monitor_is_as_private_as_its_theorem_says(k: int, rate: float, gaps: list[float]) -> None:
    """All answers of a user's decisions, whose other users are ``gaps`` below the threshold; the user is dropped after k reports."""

    def chance(answers: tuple[bool, ...], *, present: bool) -> float:
        product, left = 1.0, k
        for answer, gap in zip(answers, gaps, strict=True):
            tail = float(laplace.sf(gap - (present and left > 0), scale=1 / rate))
            product *= tail if answer else 1 - tail
            left -= answer
        return product

    laws = [[chance(answers, present=present) for answers in product((False, True), repeat=len(gaps))] for present in (True, False)]
    assert all(sum(law) == pytest.approx(1) for law in laws)
    for epsilon in (0.2, 0.5, 1.0, 2.0):
        bounds = laplace_monitor.bound_delta(k, rate, epsilon)
        for (one, other), bound in zip((laws, laws[::-1]), bounds, strict=True):
            truth = sum(max(0.0, p - math.exp(epsilon) * q) for p, q in zip(one, other, strict=True))
            assert truth <= bound + 1e-12


def test_the_laplace_monitor_meets_its_proved_error() -> None:
    found = laplace_monitor.plan_laplace(2, 1.0, 6, 50, 0.05, half=True)
    assert max(laplace_monitor.bound_delta(2, found.rate, 1.0)) <= laplace_monitor.DELTA
    assert max(laplace_monitor.bound_delta(2, 1.01 * found.rate, 1.0)) > laplace_monitor.DELTA
    right = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        users = math.ceil(found.error)
        right += found.reads_right(hitters.draw_hard_instance(2, users=users, steps=6, domain_size=50, rng=rng), rng)
    assert right >= 36


def test_bursts_obey_the_hypothesis() -> None:
    batches, counts = hitters.make_bursts(2, 400, 20, 50, 1)
    often = np.zeros(400, dtype=np.int64)
    for batch in batches:
        sizes = np.bincount(batch.items, minlength=50)
        often += sizes[batch.items] > 40
        assert all(counts[batch.times, item] == size for item, size in enumerate(sizes) if size)
    assert 1 <= often.max() <= 2


def test_the_predecessor_under_a_matroid_finds_what_is_plain() -> None:
    matroid, users, best = matroids.load("decoys", 400, 0, 4)
    found = matroids.run_approximate(matroid, users, "3", 1)
    assert matroid.is_independent(found)
    assert best == 1600


TINY = [
    Task("budgets", {"epsilon": "1"}),
    Task("greedy", {"instance": "skewed", "n": 200, "m": 20, "k": 3, "epsilon": "1", "sweep": "m", "seeds": 2}),
    Task("hidden", {"m": 20, "k": 2, "epsilon": "1", "sweep": "m", "seeds": 1}),
    Task("matroid", {"instance": "decoys", "n": 10, "m": 0, "k": 4, "epsilon": "1", "sweep": "epsilon", "seeds": 1}),
    Task("cover", {"instance": "planted", "n": 200, "m": 20, "k": 3, "epsilon": "1", "sweep": "m", "seeds": 1}),
    Task(
        "clusters",
        {"instance": "discs", "n": 200, "m": 12, "k": 2, "power": 1, "exchanges": True, "prove": True, "epsilon": "1"}
        | {"sweep": "k", "seeds": 1},
    ),
    Task("hard", {"k": 1, "epsilon": "1", "steps": 3, "items": 5, "sweep": "k", "seeds": 1}),
    Task("many", {"k": 2, "epsilon": "1", "steps": 10, "items": 5, "sweep": "k", "seeds": 1}),
    Task("bursts", {"k": 1, "steps": 4, "items": 5, "users": 200, "epsilon": "1", "sweep": "epsilon", "seeds": 1}),
]


@pytest.mark.thorough
def test_the_program_makes_tables_and_figures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(program, "make_tasks", lambda part, chosen: [task for task in TINY if task.study in plans.STUDIES[part]])
    arguments = ["--out", str(tmp_path), "--jobs", "1"]
    assert program.main(arguments) == 0
    tables = (tmp_path / "tables.md").read_text()
    assert all(f"## {study}\n" in tables for study in plans.WORK)
    assert len(list(tmp_path.glob("*.png"))) >= 8
    rows = PartStore(tmp_path / "parts").collect(TINY)
    assert all(row["value"] <= 1 + 1e-9 for row in rows if row.get("instance") == "decoys")
    assert next(row for row in rows if row["method"] == "proved")["value"] == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("size", ["--quick", "--full", "--seeds=3"])
def test_every_part_has_tasks_of_known_studies(size: str) -> None:
    chosen = program.parse([size])
    for part in plans.PARTS:
        tasks = plans.make_tasks(part, chosen)
        assert tasks
        assert {task.study for task in tasks} <= set(plans.STUDIES[part])


def test_workers_can_import_what_they_run() -> None:
    # a spawned process does not run __main__ of a package
    for main in (program, other_program):
        assert not main.run_one.__module__.endswith("__main__")
