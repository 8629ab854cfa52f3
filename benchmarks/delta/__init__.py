"""The study of benchmarks/results/delta.md: importance sampling under (ε, δ), at the same certified target, steps and expected batch."""
