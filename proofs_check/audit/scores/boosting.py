"""Gradient boosted trees (scikit-learn): for outputs in which places matter together."""

from __future__ import annotations

import numpy as np

from proofs_check.audit.outputs import Outputs
from proofs_check.audit.scores.interface import Floats, Score, number_text
from proofs_check.audit.scores.models import load_models


def boosting_score(outputs: Outputs, is_first: np.ndarray, *, rows: int, iterations: int, seed: int) -> Score:
    """Return the log odds of a histogram gradient boosting classifier on at most ``rows`` outputs.

    Symbols are large numbers of their own in a column beside the numbers. Raises :class:`InvalidArgument` where scikit-learn is missing.
    """
    models = load_models()
    width = outputs.width
    used = outputs.take(slice(0, rows))
    model = models.boosting(
        max_iter=iterations,
        learning_rate=0.1,
        max_leaf_nodes=15,
        min_samples_leaf=max(20, len(used) // 400),
        early_stopping=False,
        random_state=seed,
    ).fit(_table(used, width), is_first[:rows])

    def evaluate(new: Outputs) -> Floats:
        return np.asarray(model.decision_function(_table(new, width)), dtype=np.float64)

    def describe(threshold: float, above: bool) -> str:  # noqa: FBT001
        return f"log odds of boosted trees {'at least' if above else 'at most'} {number_text(threshold)}"

    return Score("boosted trees", evaluate, describe)


def _table(outputs: Outputs, width: int) -> Floats:
    """Return numbers and, if there are symbols, a column of them beside each; exactly ``2 · width`` or ``width`` columns."""
    values = np.clip(outputs.values[:, :width], -1e300, 1e300)
    symbols = np.zeros(values.shape) if outputs.symbols is None else outputs.symbols[:, :width].astype(np.float64)
    return np.concatenate((values, symbols), axis=1)
