"""Error against the theorems for the algorithms of Ghazi et al. 2024: docs/study-onesided.md."""
