"""The study of benchmarks/results/delta-lloyd.md: DP-Lloyd with Laplace and with normal noise, at the same ε, d from 2 to 64."""
