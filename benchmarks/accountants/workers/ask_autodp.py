"""autodp: ``ComposeGaussian``, Rényi orders (its default), and characteristic functions with a Fourier inversion (``phi``), the larger of
both directions.
"""

from __future__ import annotations

from typing import Any

from answering import answer
from autodp import mechanism_zoo, transformer_zoo


def _renyi(setting: dict[str, Any]) -> float:
    scale, rate, count = float(setting["scale"]), float(setting["rate"]), setting["count"]
    if setting["mechanism"] == "laplace":
        base = mechanism_zoo.LaplaceMechanism(b=scale)
    elif rate != 1:
        parameters = {"prob": rate, "sigma": scale, "coeff": count}
        return float(mechanism_zoo.SubsampleGaussianMechanism(parameters).approxDP(float(setting["delta"])))
    else:
        base = mechanism_zoo.GaussianMechanism(sigma=scale)
    return float(transformer_zoo.Composition()([base], [count]).approxDP(float(setting["delta"])))


def _gaussian(setting: dict[str, Any]) -> float:
    if setting["mechanism"] != "gaussian" or float(setting["rate"]) != 1:
        raise NotImplementedError("ComposeGaussian is for Gaussian sums without samples")
    base = mechanism_zoo.GaussianMechanism(sigma=float(setting["scale"]))
    return float(transformer_zoo.ComposeGaussian()([base], [setting["count"]]).approxDP(float(setting["delta"])))


def _phi(setting: dict[str, Any]) -> float:
    scale, rate, count, delta = float(setting["scale"]), float(setting["rate"]), setting["count"], float(setting["delta"])
    if setting["mechanism"] == "gaussian" and rate != 1:
        ends = []
        for neighboring in ("remove_only", "add_only"):
            parameters = {"prob": rate, "sigma": scale, "coeff": count, "gamma": rate}
            made = mechanism_zoo.SubsampleGaussianMechanism(parameters, phi_off=False, RDP_off=True, neighboring=neighboring)
            made.params["gamma"] = rate
            ends.append(float(made.approxDP(delta)))
        return max(ends)
    if setting["mechanism"] == "laplace":
        base = mechanism_zoo.LaplaceMechanism(b=scale, phi_off=False, RDP_off=True)
    else:
        base = mechanism_zoo.GaussianMechanism(sigma=scale, phi_off=False, RDP_off=True)
    return float(transformer_zoo.ComposeAFA()([base], [count]).approxDP(delta))


answer("autodp", {"gaussian": _gaussian, "rdp": _renyi, "phi": _phi})
