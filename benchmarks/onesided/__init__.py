"""Error against the theorems for the algorithms of Ghazi et al. 2024: benchmarks/results/onesided.md."""
