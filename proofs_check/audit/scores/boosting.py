"""Gradient boosted trees (scikit-learn): for outputs in which places matter together."""

from __future__ import annotations

import numpy as np

from profiles.arrays import Floats
from proofs_check.audit.outputs import Outputs
from proofs_check.audit.scores.interface import Score, number_text
from proofs_check.audit.scores.models import load_models


def boosting_score(outputs: Outputs, is_first: np.ndarray, *, rows: int, iterations: int, seed: int) -> Score:
    """Return the log odds of a histogram gradient boosting classifier on at most ``rows`` outputs.

    Beside each number is a column that says which symbol stands there. Symbols that were not learned on all look the same: their numbers
    come from the order of reading, which knows the labels. Raises :class:`InvalidArgument` where scikit-learn is missing.
    """
    models = load_models()
    used = outputs.take(slice(0, rows))
    width = outputs.width
    known = np.unique(used.symbols) if used.symbols is not None else np.zeros(1, dtype=np.int32)
    model = models.boosting(
        max_iter=iterations,
        learning_rate=0.1,
        max_leaf_nodes=15,
        min_samples_leaf=max(20, len(used) // 400),
        early_stopping=False,
        random_state=seed,
    ).fit(_table(used, width, known), is_first[:rows])

    def evaluate(new: Outputs) -> Floats:
        return np.asarray(model.decision_function(_table(new, width, known)), dtype=np.float64)

    def describe(threshold: float, above: bool) -> str:  # noqa: FBT001
        return f"log odds of boosted trees {'at least' if above else 'at most'} {number_text(threshold)}"

    return Score("boosted trees", evaluate, describe)


def _table(outputs: Outputs, width: int, known: np.ndarray) -> Floats:
    """Return the numbers, and beside them the positions of symbols among the known ones (−1 for others): ``2 · width`` columns."""
    values = np.clip(outputs.values[:, :width], -1e300, 1e300)
    if outputs.symbols is None:
        return np.concatenate((values, np.zeros(values.shape)), axis=1)
    symbols = outputs.symbols[:, :width]
    positions = np.minimum(np.searchsorted(known, symbols), len(known) - 1)
    return np.concatenate((values, np.where(known[positions] == symbols, positions, -1).astype(np.float64)), axis=1)
