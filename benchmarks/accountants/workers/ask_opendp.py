"""OpenDP: zero-concentrated privacy, composed and turned into a privacy profile; Laplace noise by pure composition. No Poisson samples."""

from __future__ import annotations

from typing import Any

import opendp.prelude as dp
from answering import answer

dp.enable_features("contrib", "honest-but-curious")


def _epsilon(setting: dict[str, Any]) -> float:
    scale, count = float(setting["scale"]), setting["count"]
    if float(setting["rate"]) != 1:
        raise NotImplementedError("OpenDP has no amplification by Poisson samples")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    if setting["mechanism"] == "laplace":
        return float(count * (space >> dp.m.then_laplace(scale)).map(d_in=1.0))
    one = (space >> dp.m.then_gaussian(scale)).map(d_in=1.0)
    domain, metric = space
    composed = dp.m.make_user_measurement(
        domain, metric, dp.zero_concentrated_divergence(), lambda x: x, lambda d_in: count * one * d_in**2
    )
    return float(dp.c.make_zCDP_to_approxDP(composed).map(d_in=1.0).epsilon(float(setting["delta"])))


answer("opendp", {"default": _epsilon})
