"""DP-Sniper on a case: settings found in a search of its own, then fresh runs with them; see the package's docstring for the rules."""

from __future__ import annotations

import itertools
import os
import time
from typing import Any

import numpy as np
from dpsniper.attack.dpsniper import DPSniper
from dpsniper.classifiers.classifier_factory import ClassifierFactory, LogisticRegressionFactory, MultiLayerPerceptronFactory
from dpsniper.classifiers.feature_transformer import FlagsFeatureTransformer
from dpsniper.classifiers.torch_optimizer_factory import AdamOptimizerFactory, SGDOptimizerFactory
from dpsniper.mechanisms.abstract import Mechanism
from dpsniper.probability.estimators import EpsEstimator, PrEstimator
from dpsniper.search.ddconfig import DDConfig
from dpsniper.utils.initialization import initialize_dpsniper
from dpsniper.utils.my_multiprocessing import the_parallel_executor

from benchmarks.auditors.cases import Case
from benchmarks.auditors.workers.protocol import Answer, Sampler, Stopwatch, rows, serve, settled, summary

TRAIN, THRESHOLD = 0.2, 0.1
OWN_BATCH = 100_000
BATCHES = {"regression": (OWN_BATCH, 2_000), "perceptron": (OWN_BATCH, 20_000)}
FLOORS = (0.01, 0.05, 0.2)
MORE_FLOORS = (0.0001, 0.001, 0.003, 0.02, 0.1, 0.4)
CORES = 2

Setting = dict[str, Any]


class Wrapped(Mechanism):
    """The mechanism of a case, as DP-Sniper calls one."""

    def __init__(self, name: str) -> None:
        self.sampler = Sampler(name)

    def m(self, a: np.ndarray, n_samples: int = 1) -> np.ndarray:
        """``n_samples`` outputs."""
        return rows(self.sampler(a, n_samples))


def factory(kind: str, case: Case) -> ClassifierFactory:
    """The classifiers of DP-Sniper's default experiment."""
    width = Wrapped(case.name).m(np.array(case.pair[0]), 2).shape[1] * (1 + len(case.flags))
    shared = {"in_dimensions": width, "feature_transform": FlagsFeatureTransformer(list(case.flags)) if case.flags else None, "epochs": 10}
    if kind == "regression":
        optimizer = SGDOptimizerFactory(learning_rate=0.3, momentum=0.3, step_size=500)
        return LogisticRegressionFactory(**shared, optimizer_factory=optimizer, regularization_weight=0.001, label=case.name)
    optimizer = AdamOptimizerFactory(learning_rate=0.1, step_size=500)
    return MultiLayerPerceptronFactory(
        **shared, optimizer_factory=optimizer, hidden_sizes=(10, 5), regularization_weight=0.0001, label=case.name
    )


class Attacks:
    """Runs of DP-Sniper on a case."""

    def __init__(self, case: Case, samples: int, confidence: float) -> None:
        self.case, self.confidence = case, confidence
        self.sizes = {"n_train": int(TRAIN * samples), "n": int(THRESHOLD * samples)}
        self.sizes["n_final"] = self.sizes["n_check"] = samples - sum(self.sizes.values())
        self.trained: dict[tuple[Any, ...], Any] = {}

    def config(self, setting: Setting) -> DDConfig:
        """DP-Sniper's configuration."""
        batch, floor = setting["batch"], setting["c"]
        return DDConfig(**self.sizes, c=floor, n_processes=CORES, confidence=self.confidence, training_batch_size=batch)

    def once(self, setting: Setting, *, search: bool = False) -> Answer:
        """Bound and seconds of one run; in a search, the classifier of another c is taken again."""
        watch = Stopwatch()
        config, mechanism = self.config(setting), Wrapped(self.case.name)
        pair = [np.array(data) for data in self.case.pair][:: -1 if setting["swapped"] else 1]
        sniper = DPSniper(mechanism, factory(setting["classifier"], self.case), config)
        if search:
            train, key = sniper._train_classifier, (setting["classifier"], setting["swapped"], setting["batch"])  # noqa: SLF001
            sniper._train_classifier = lambda *inputs: self.trained.get(key) or self.trained.setdefault(key, train(*inputs))  # noqa: SLF001
        attack = sniper.best_attack(*pair)
        estimator = EpsEstimator(PrEstimator(mechanism, config.n_final, config, use_parallel_executor=True))
        estimate, bound = estimator.compute_eps_estimate(*pair, attack)
        return {"bound": float(bound), "estimate": float(estimate), "seconds": watch.seconds()}

    def search(self) -> list[Answer]:
        """Every classifier, order and batch size with some floors, then the best of them with more floors."""
        found = []
        trainings = [(classifier, batch) for classifier, batches in BATCHES.items() for batch in batches]
        for (classifier, batch), swapped, floor in itertools.product(trainings, (False, True), FLOORS):
            setting = {"classifier": classifier, "swapped": swapped, "batch": batch, "c": floor}
            found.append({"setting": setting, **self.once(setting, search=True)})
        best = max(found, key=_bound)["setting"]
        more = [{**best, "c": floor} for floor in MORE_FLOORS]
        return [*found, *({"setting": setting, **self.once(setting, search=True)} for setting in more)]


def _bound(item: Answer) -> float:
    return float(item["bound"])


def run(case: Case, task: dict[str, Any]) -> Answer:
    """The median bound of fresh runs with the given setting, or with the best of the search, and DP-Sniper's own setting beside it."""
    attacks = Attacks(case, task["samples"], task["confidence"])
    own = {"classifier": "regression", "batch": OWN_BATCH, "c": FLOORS[0]}
    os.environ["OMP_NUM_THREADS"] = "1"  # for its processes, of which there is one per core
    with initialize_dpsniper(attacks.config({**own, "swapped": False}), out_dir=".", torch_threads=CORES):
        the_parallel_executor.execute(time.sleep, [2.0] * CORES)  # until the processes have started
        setting, more = task.get("setting"), {}
        if setting is None:
            found = attacks.search()
            setting = settled(found, attacks.once)
            usual = max((item for item in found if own.items() <= item["setting"].items()), key=_bound)
            more = {"own setting": usual, "search": found}
        return summary([attacks.once(setting) for _ in range(task["repeats"])], setting=setting, **more)


if __name__ == "__main__":
    serve(run)
