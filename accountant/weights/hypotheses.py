"""What stays open where a target or a noise scale was computed from the data set that is sampled."""

_NOT_PUBLIC = "it is not public, and printing or using it needs an argument of its own"
_SUCH_AS = "(such as a public n and a public distribution of the statistics)"
TARGET_FROM_DATA = f"the target epsilon was computed from this data set to reach the sample size: {_NOT_PUBLIC} {_SUCH_AS}"
NOISE_FROM_DATA = f"the noise scale was computed from this data set to reach the sample size: {_NOT_PUBLIC} {_SUCH_AS}"
