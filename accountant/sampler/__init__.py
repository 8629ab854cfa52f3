"""The Poisson importance sampler."""
