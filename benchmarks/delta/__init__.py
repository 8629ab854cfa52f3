"""The study of docs/study-delta.md: importance sampling under (ε, δ), at the same certified target, steps and expected batch."""
