"""What stays open where a target or a noise scale was computed from the data set that is sampled."""

_OWN_ARGUMENT = "it is not public, and printing or using it needs an argument of its own (such as a public n and a public distribution of the statistics)"
TARGET_FROM_DATA = f"the target epsilon was computed from this data set to reach the sample size: {_OWN_ARGUMENT}"
NOISE_FROM_DATA = f"the noise scale was computed from this data set to reach the sample size: {_OWN_ARGUMENT}"
