"""What a fit takes for granted about its caller: nobody but the caller can know it, so it stays open in every guarantee of an estimator."""

from __future__ import annotations

PUBLIC_PARAMETERS = (
    "Every parameter of the estimator (n_clusters, epsilon, radius, iterations, min_count, noise_scales, largest_weight, ...) was fixed "
    "without looking at these records, or at unprotected results about them"
)
OWN_ROWS = (
    "Each row handed to fit is a function of one record and public constants: nothing that prepared it was fitted on these records, as "
    "StandardScaler and PCA are"
)
ONLY_RELEASE = "Nothing else is released about these records, or it is added to this bound: every fit on them is a release of its own"
OWN_WEIGHTS = (
    "The sample_weight of a record is a function of that record alone: not n/|S|, and not scaled to a mean or a total of the data set"
)
