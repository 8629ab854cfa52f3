"""The entry points by kinds, and for each kind what some of them leave open when they are run: what the matrix of misuse is executed on."""

from __future__ import annotations

import tempfile
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from accountant import (
    Count,
    DPKMeans,
    DPLloyd,
    DPSGDClassifier,
    Sum,
    amplify_once,
    compose,
    declare,
    derive_epsilon,
    draw_sample,
    plan_sample,
    release,
    subsample,
    training,
)
from accountant.applications.setcover import PrivateSetCover
from accountant.applications.submodular import CoverageInstance, PrivateGreedy
from accountant.applications.submodular.matroids import PerUser, PrivateMatroidGreedy, UniformMatroid
from accountant.curves import curve_of, make_event
from accountant.data import parse_statistic
from accountant.guarantees import Guarantee
from accountant.interop.budgets import curve_of_budget
from accountant.interop.carriers import carry, take
from accountant.interop.training import curve_of_opacus
from accountant.ledger import Ledger
from accountant.onesided import declare_directions
from profiles.mechanisms import LaplaceSum

_FOUND = tomllib.loads(Path(__file__).with_name("names.toml").read_text(encoding="utf-8"))
#: Every public name, by kind and by the package that lists it, and the commands by kind.
NAMES: Mapping[str, Mapping[str, str]] = _FOUND["names"]
COMMANDS: Mapping[str, str] = _FOUND["commands"]

_SUM = declare("a sum", "w*z/2", record={"z": [0, 1]})
_ROWS = np.linspace(0.1, 1, 40).reshape(-1, 1)
_POINTS = np.random.default_rng(0).uniform(-0.5, 0.5, size=(300, 2))
_LABELS = (_POINTS[:, 0] > 0).astype(int)
_TABLE = pa.table({"id": np.arange(40), "z": _ROWS.ravel()})
_NOISE = LaplaceSum(b=2, radius=1)
_COVER = CoverageInstance.from_sets([[0], [1]], candidates=2)


def _sample(*, seed: int | None = None, run: bool = False) -> Guarantee:
    drawn = draw_sample(_NOISE, _ROWS, target_epsilon=1, specs=[parse_statistic("z=l1")], source=seed)
    return drawn.release(_NOISE, None if seed is None else np.random.default_rng(seed + 1)).guarantee if run else drawn.guarantee


def _train(**changes: Any) -> Guarantee:
    model = DPSGDClassifier(noise=2, delta="1e-5", size=300, rate="1/5", steps=1, **changes)
    return model.fit(_POINTS, _LABELS).guarantee_  # type: ignore[no-any-return]


def _loop(batches: object = "1/10") -> Guarantee:
    with training(noise_multiplier=2, batches=batches, delta="1e-5") as account:
        for _ in range(2):
            account.epoch()
            account.step(2)
    return account.guarantee


def _count_in_dp_accounting() -> Guarantee:
    event = import_module("dp_accounting").GaussianDpEvent(2.0)
    return import_module("accountant.interop.dp_accounting").CertifiedAccountant().compose(event, 2).curve.guarantee  # type: ignore[no-any-return]


def _count_in_opacus() -> Guarantee:
    made = import_module("accountant.interop.opacus").OpacusAccountant()
    for _ in range(2):
        made.step(noise_multiplier=2.0, sample_rate=0.125)
    return made.curve.guarantee  # type: ignore[no-any-return]


def _count_in_flower() -> Guarantee:
    flwr = import_module("flwr.supercore.privacy_accounting")
    config = flwr.PrivacyConfig(
        target_delta=1e-5, population_size=10, neighboring_relation=flwr.NeighboringRelation.ADD_OR_REMOVE_ONE,
        sampling_method=flwr.SamplingMethod.NO_AMPLIFICATION,
    )  # fmt: skip
    made = import_module("accountant.interop.flower").FlowerAccountant(config)
    made.compose(flwr.GaussianPrivacyEvent(noise_multiplier=4.0, sample_size=4, population_size=10), 2)
    return made.curve.guarantee  # type: ignore[no-any-return]


def _find_trainers() -> dict[str, Callable[[], Guarantee]]:
    """The accountants in other libraries, those that are installed: make test-interop runs this in the environment of each."""
    every = {"dp_accounting": _count_in_dp_accounting, "opacus": _count_in_opacus, "flwr": _count_in_flower}
    return {f"in {name}": run for name, run in every.items() if find_spec(name) is not None}


def _ledger(**changes: Any) -> Guarantee:
    with tempfile.TemporaryDirectory() as folder:
        given = {"budget": 5, "anchor": Path(folder, "a")} | changes
        with Ledger.create(Path(folder, "l"), _TABLE, **given) as ledger:  # type: ignore[arg-type]
            ledger.charge("one", _SUM, _TABLE)
            return ledger.guarantee()


def _bound() -> Guarantee:
    return derive_epsilon(_SUM, q="1/2").guarantee


#: What entry points of a kind conclude: one that is to be named in a cell is open in all of them.
RUNS: Mapping[str, Mapping[str, Callable[[], Guarantee]]] = {
    "bound": {
        "derive_epsilon": _bound,
        "amplify_once": lambda: amplify_once([_SUM, _SUM], q="1/2").guarantee,
        "plan_sample": lambda: plan_sample(_SUM, q="1/2").guarantee(),
    },
    "sample": {"draw_sample": _sample, "Sample.release": lambda: _sample(run=True)},
    "events": {
        "sampled noise": lambda: curve_of(make_event("gaussian", {"noise_multiplier": 2}, sampling_probability="1/10", count=2)).guarantee,
        "noise": lambda: curve_of(make_event("laplace", {"scale": 2})).guarantee,
        "training": _loop,
        "training in epochs": lambda: _loop({"sampling": "random-allocation", "steps_per_epoch": 5}),
        "training in shuffled epochs": lambda: _loop({"sampling": "shuffle", "steps_per_epoch": 5}),
        "steps of Opacus": lambda: curve_of_opacus([(2, "1/8", 3)]).guarantee,
        "charges of a budget": lambda: curve_of_budget([("0.5", 0), ("0.5", "1e-6")]).guarantee,
        **_find_trainers(),
        "a known epsilon": lambda: curve_of(make_event("pure", {"epsilon": 2})).guarantee,
    },
    "rules": {
        "compose": lambda: compose(_bound(), _bound()),
        "subsample": lambda: subsample(declare_directions("a count", 1, 1, source="somebody"), "1/2"),
    },
    "estimator": {
        "DPKMeans": lambda: DPKMeans(3, epsilon=1, radius=2).fit(_POINTS).guarantee_,
        "DPLloyd": lambda: DPLloyd(3, epsilon=1, radius=1).fit(_POINTS).guarantee_,
        "DPSGDClassifier": _train,
        "release": lambda: release(_TABLE, [Count(), Sum("z", (0, 1))], epsilon=1).guarantee,
    },
    "application": {
        "PrivateGreedy": lambda: PrivateGreedy(1, 1).run(_COVER).guarantee,
        "PrivateMatroidGreedy": lambda: (
            PrivateMatroidGreedy(
                matroid=UniformMatroid(4, 2),
                epsilon=1,
                objective=PerUser(4, lambda data, sets: (data @ sets.T >= 0.5).astype(float)),
                draws=8,
            ).guarantee
        ),
    },
    "cover": {"PrivateSetCover": lambda: PrivateSetCover(1, 2).run(_COVER).guarantee},
    "ledger": {"Ledger": _ledger},
    "carrier": {"pdp-guarantee": lambda: take(carry(_bound(), "pdp-guarantee"), out_of="pdp-guarantee")},
}


@cache
def open_ids(kind: str, name: str) -> frozenset[str]:
    """Return the ids of the hypotheses that an entry point leaves open."""
    return frozenset(item.id for item in RUNS[kind][name]().hypotheses)
