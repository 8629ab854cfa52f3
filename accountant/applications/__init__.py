"""Algorithms of Ghazi et al. 2024 as private tools: each returns its answer with the guarantee that is derived for it."""
