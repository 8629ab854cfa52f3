"""What every estimator of private centres does with them: labels and distances of records, by scikit-learn's conventions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.validation import check_is_fitted, validate_data

from accountant.applications.sklearn_guards import WithheldOutputs, without_quotes
from profiles.arrays import Floats, ignore_flags
from profiles.mechanisms.nearest import find_nearest


class PrivateCentres(WithheldOutputs, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Centres ``cluster_centers_`` of shape (k, d) of a fit. Using them on records releases nothing: the answers stay with you."""

    cluster_centers_: Floats

    def predict(self, X: ArrayLike) -> NDArray[np.int32]:  # noqa: N803
        """Return the number of the nearest centre of each record of ``X``, shape (n,)."""
        check_is_fitted(self)
        labels: NDArray[np.int32] = find_nearest(self._place(self._read(X, reset=False)), self._place(self.cluster_centers_))
        return labels

    @ignore_flags
    def transform(self, X: ArrayLike) -> Floats:  # noqa: N803
        """Return the Euclidean distances of records to the centres, shape (n, k)."""
        check_is_fitted(self)
        distances: Floats = euclidean_distances(self._place(self._read(X, reset=False)), self._place(self.cluster_centers_))
        return distances

    @property
    def _n_features_out(self) -> int:
        return int(self.cluster_centers_.shape[0])

    def _place(self, points: Floats) -> Floats:
        """Return points in the units in which records are compared."""
        return points

    def _read(self, X: ArrayLike, *, reset: bool) -> Floats:  # noqa: N803
        # an empty data set is legal in fit: refusing it would tell that it is empty
        with without_quotes():
            points: Floats = validate_data(self, X, reset=reset, dtype=np.float64, order="C", ensure_min_samples=0 if reset else 1)
        return points
