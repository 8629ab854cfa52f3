"""DP-Auditorium on a case: a tester's lower bound on a divergence, as a bound on ε; see the package's docstring for the rules."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import tensorflow as tf
from dp_auditorium.configs import privacy_property, property_tester_config
from dp_auditorium.interfaces import PropertyTester
from dp_auditorium.testers import histogram_tester, hockey_stick_tester, renyi_tester
from numpy.typing import NDArray

from benchmarks.auditors.cases import Case
from benchmarks.auditors.workers.protocol import Answer, Sampler, Stopwatch, rows, serve, settled, summary

POINTS = (0.001, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)
RENYI = ((1.1, 4.0), (2, 0.25), (2, 0.5), (2, 1.0), (2, 2.2), (4, 1.1), (8, 0.5))  # orders, with bounds of the model's outputs
TRAININGS = ((10_000, 2), (1_000, 2), (10_000, 10), (100, 2))  # batch size and epochs; the last is the default
SHARE_FOR_SCALE = 0.05
CORES = 2

Setting = dict[str, Any]
Pair = tuple[NDArray[Any], NDArray[Any]]


def hockey_stick(setting: Setting) -> PropertyTester:
    """The hockey-stick tester with its default classifier and learning rate."""
    training = hockey_stick_tester.make_default_hs_training_config()
    training.batch_size, training.training_epochs = setting["training"]
    config = property_tester_config.HockeyStickPropertyTesterConfig(
        training_config=training,
        approximate_dp=privacy_property.ApproximateDp(epsilon=setting["epsilon"], delta=0.0),
        evaluation_batch_size=100_000,
    )
    return hockey_stick_tester.HockeyStickPropertyTester(config=config, base_model=hockey_stick_tester.make_default_hs_base_model())


def histogram(setting: Setting, size: int) -> PropertyTester:
    """The histogram tester, new version, on outputs 0 … size − 1."""
    config = property_tester_config.HistogramPropertyTesterConfig(
        test_discrete_mechanism=True,
        histogram_size=size,
        min_value=0,
        max_value=size - 1,
        approximate_dp=privacy_property.ApproximateDp(epsilon=setting["epsilon"], delta=0.0),
    )
    return histogram_tester.HistogramTester(config)


def renyi(setting: Setting) -> PropertyTester:
    """The Rényi tester with its default classifier; training as in its tests, with larger batches."""
    training = property_tester_config.TrainingConfig(
        training_epochs=2, batch_size=2_000, optimizer_learning_rate=0.001, model_output_coordinate_bound=setting["bound"]
    )
    pure = privacy_property.PrivacyProperty(pure_dp=privacy_property.PureDp(epsilon=1.0))  # the ε that it would reject is not used
    config = property_tester_config.RenyiPropertyTesterConfig(alpha=setting["alpha"], training_config=training, privacy_property=pure)
    return renyi_tester.RenyiPropertyTester(config=config, base_model=renyi_tester.make_default_renyi_base_model())


def epsilon_of_renyi(divergence: float, alpha: float) -> float:
    """The least ε of a pair with this Rényi divergence.

    ε allows at most that of randomised response, log((e^αε + e^(1−α)ε)/(1 + e^ε))/(α − 1).
    """
    if not divergence > 0:
        return 0.0
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        found = (np.logaddexp(alpha * middle, (1 - alpha) * middle) - np.logaddexp(0, middle)) / (alpha - 1)
        low, high = (middle, high) if found < divergence else (low, middle)
    return low


def epsilon_of(delta: float, epsilon: float) -> float:
    """The least ε of a pair whose hockey-stick divergence at ε₀ is δ: δ ≤ (e^ε − e^ε₀)/(1 + e^ε), an equality for randomised response."""
    return math.log((math.exp(epsilon) + delta) / (1 - delta)) if 0 < delta < 1 else 0.0


def features(pair: Pair, flags: tuple[float, ...]) -> Pair:
    """Columns with 0 for the flags, and a 0-1 column for each flag and column; mean 0 and scale 1 in a part of the training half."""
    tables = []
    for outputs in pair:
        table = rows(outputs)
        marks = [table == flag for flag in flags]
        tables.append(np.hstack([np.where(np.any(marks, axis=0), 0.0, table) if marks else table, *marks]).astype(np.float32))
    first = np.concatenate([table[: int(SHARE_FOR_SCALE * len(table))] for table in tables])
    mean, scale = first.mean(axis=0), first.std(axis=0)
    scale[scale == 0] = 1
    return (tables[0] - mean) / scale, (tables[1] - mean) / scale


class Tests:
    """Runs of the testers on a case."""

    def __init__(self, case: Case, samples: int, confidence: float) -> None:
        self.case, self.samples, self.failure = case, samples, 1 - confidence
        self.sampler = Sampler(case.name)

    def draw(self, setting: Setting) -> Pair:
        """Outputs on both data sets, as the tester wants them."""
        pair = self.case.pair[:: -1 if setting["swapped"] else 1]
        outputs = self.sampler(pair[0], self.samples), self.sampler(pair[1], self.samples)
        return outputs if setting["tester"] == "histogram" else features(outputs, self.case.flags)

    def once(self, setting: Setting, pair: Pair | None = None) -> Answer:
        """Bound, divergence and seconds of one run, on fresh outputs unless they are given."""
        watch = Stopwatch()
        pair = self.draw(setting) if pair is None else pair
        match setting["tester"]:
            case "renyi":
                divergence = float(renyi(setting).estimate_lower_bound(*pair, self.failure))
                bound = epsilon_of_renyi(divergence, setting["alpha"])
            case kind:
                tester = hockey_stick(setting) if kind == "hockey-stick" else histogram(setting, int(max(map(np.max, pair))) + 1)
                divergence = float(tester.estimate_lower_bound(*pair, self.failure))
                bound = epsilon_of(divergence, setting["epsilon"])
        return {"bound": bound, "divergence": divergence, "seconds": watch.seconds()}

    def search(self) -> list[Answer]:
        """Both orders with all ε₀, then the best with other trainings and ε₀ between; the other testers."""
        found: list[Answer] = []

        def look(setting: Setting, pair: Pair) -> None:
            found.append({"setting": setting, **self.once(setting, pair)})

        for swapped in (False, True):
            setting = {"tester": "hockey-stick", "swapped": swapped, "training": TRAININGS[0]}
            pair = self.draw(setting)
            for epsilon in POINTS:
                look({**setting, "epsilon": epsilon}, pair)
            if self.case.discrete:
                setting = {"tester": "histogram", "swapped": swapped}
                pair = self.draw(setting)
                for epsilon in POINTS:
                    look({**setting, "epsilon": epsilon}, pair)
        setting = _best_hockey_stick(found)
        pair = self.draw(setting)
        place = POINTS.index(setting["epsilon"])
        near = POINTS[max(place - 1, 0) : place + 2]
        for epsilon in (*near, *(math.sqrt(one * two) for one, two in itertools.pairwise(near))):
            for training in TRAININGS[1:3]:
                look({**setting, "epsilon": epsilon, "training": training}, pair)
        look({**_best_hockey_stick(found), "training": TRAININGS[-1]}, pair)
        for alpha, limit in RENYI:
            look({"tester": "renyi", "swapped": setting["swapped"], "alpha": alpha, "bound": limit}, pair)
        return found


def _best_hockey_stick(found: list[Answer]) -> Setting:
    return dict(max((item for item in found if item["setting"]["tester"] == "hockey-stick"), key=_bound)["setting"])


def _bound(item: Answer) -> float:
    return float(item["bound"])


def run(case: Case, task: dict[str, Any]) -> Answer:
    """The median bound of fresh runs with the given setting, or with the best of the search."""
    tf.config.threading.set_intra_op_parallelism_threads(CORES)
    tests = Tests(case, task["samples"], task["confidence"])
    setting, more = task.get("setting"), {}
    if setting is None:
        found = tests.search()
        setting, more = settled(found, tests.once), {"search": found}
    return summary([tests.once(setting) for _ in range(task["repeats"])], setting=setting, **more)


if __name__ == "__main__":
    serve(run)
