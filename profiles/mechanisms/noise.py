"""Noise with density proportional to exp(−‖ζ‖_p / β) on R^d, for every norm 1 ≤ p ≤ ∞ and every dimension d."""

from __future__ import annotations

import numpy as np

from profiles.arrays import Floats


def draw_directions(rng: np.random.Generator, shape: tuple[int, ...], dimension: int, p: float) -> Floats:
    """Return independent points of the l_p unit sphere under its cone measure, as an array of shape ``(*shape, dimension)``.

    The cone measure of a piece A of the sphere is the volume share of the cone {t·a : a ∈ A, 0 ≤ t ≤ 1} in the unit ball.
    If g has independent entries of density ∝ exp(−|g_i|^p), the density ∝ exp(−‖g‖_p^p) of g depends on ‖g‖_p only, so that g/‖g‖_p
    has the cone measure and is independent of ‖g‖_p (Schechtman and Zinn 1990). |g_i|^p ~ Gamma(1/p), by substitution.

    Computed as |g_i| = G^(1/p) · U with G ~ Gamma(1 + 1/p) and U uniform on (0, 1], because G·U^p ~ Gamma(1/p) (Stuart 1962). Raising a
    Gamma(1/p) variate to the power 1/p would underflow to 0 for large p; this form does not, and at p = ∞ it is the uniform
    point of the cube, whose quotient by its max norm has the cone measure of the cube.
    """
    size = (*shape, dimension)
    magnitude = rng.gamma(1.0 + 1.0 / p, size=size) ** (1.0 / p) * (1.0 - rng.random(size))
    signs = 2.0 * rng.integers(0, 2, size=size) - 1.0
    largest = magnitude.max(axis=-1, keepdims=True)
    ratios = magnitude / largest
    with np.errstate(under="ignore"):
        lengths = 1.0 if np.isinf(p) else (ratios**p).sum(axis=-1, keepdims=True) ** (1.0 / p)
    return np.asarray(signs * ratios / lengths, dtype=np.float64)


def draw_k_norm(rng: np.random.Generator, shape: tuple[int, ...], dimension: int, p: float, scale: float) -> Floats:
    """Return independent draws from the density p(ζ) = exp(−‖ζ‖_p / β) / (d! · β^d · vol(B_p)), shape ``(*shape, dimension)``.

    Derivation: in polar coordinates of the norm, ζ = R·θ with R = ‖ζ‖_p and θ on the unit sphere, Lebesgue measure is
    d·vol(B_p) · R^(d−1) dR × (cone measure of θ). Hence R and θ are independent, θ has the cone measure, and R has the density
    ∝ R^(d−1) exp(−R/β): R ~ Gamma(shape d, scale β). (The exponential law, Gamma(1, β), would be right in one dimension only: for d > 1
    its density ‖ζ‖_p^(1−d) exp(−‖ζ‖_p/β) has a pole at the true sum, which no finite ε covers.)

    Source: Hardt and Talwar 2010, Section 4 (K-norm mechanism); Fay et al. 2024, Section 4 and Algorithm 2.
    """
    radii = rng.gamma(float(dimension), scale, size=(*shape, 1))
    return draw_directions(rng, shape, dimension, p) * radii
