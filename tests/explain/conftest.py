"""Profiles whose explanations are looked at, verified and explained once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import pytest

from profiles import declare
from profiles.mechanisms.catalogue import catalogue
from proofs_check.explain import Explanation, explain_all
from proofs_check.verify import Verification, verify

#: name → (epsilon, record, parameters, target)
PROFILES = {
    "lloyd": ("T*w*(1/beta_count + z/beta_sum)", {"z": [0, 4]}, {"T": 10, "beta_count": "20.5", "beta_sum": 30}, "20"),
    "symbolic": ("T*w*(1/b + z/s)", {"z": [0, 4]}, {"T": "positive", "b": "positive", "s": "positive"}, "3"),
    "sum": ("w*z/b", {"z": [0, 2]}, {"b": 1}, "3"),
    "constant": ("z + 0*w", {"z": [1, 2]}, {}, "3"),
    "root": ("z*sqrt(w)", {"z": ["0.5", 2]}, {}, "3"),
    "log above": ("log(1 + z*w)", {"z": [2, 3]}, {}, "1"),
    "log below": ("log(1 + z*w)", {"z": ["0.5", 1]}, {}, "1"),
    "kink": ("Max(w, 2)", {}, {}, "3"),
    "jump": ("Piecewise((z*w, w <= 2), (2*z*w, True))", {"z": [1, 2]}, {}, "5"),
    "pieces": ("Piecewise((z*w**2, w <= 2), (4*z*w - 4*z, True))", {"z": [1, 2]}, {}, "5"),
    "no kink": ("Max(w, 1/2)", {}, {}, "3"),
    "w log w": ("w*log(w) + z", {"z": [1, 2]}, {}, "5"),
    "oscillation": ("3*w + sin(w)*z", {"z": [0, 1]}, {}, "5"),
    "power": ("z*w**(3/2)", {"z": ["0.5", 2]}, {}, "5"),
    "symbolic power": ("a*w**(5/4)", {}, {"a": "positive"}, "5"),
    "quotient": ("z*w**2/(w + 1)", {"z": [1, 2]}, {}, "5"),
    "parabola": ("w**2 - w/2 + z", {"z": ["0.3", 1]}, {}, "5"),
    "exponential": ("exp(w*z/4)", {"z": [1, 2]}, {}, "5"),
    "affine": ("w + 1", {}, {}, "3"),
    "limit": ("log(w + 1 + 1/w)", {}, {}, "5"),
}


CATALOGUE = {entry.name: entry.profile for entry in catalogue()}


@dataclass(frozen=True)
class Shown:
    name: str
    verification: Verification
    explanations: dict[str, Explanation]


@lru_cache(maxsize=64)
def show(name: str) -> Shown:
    if name in CATALOGUE:
        profile, target = CATALOGUE[name], "3"
    else:
        epsilon, record, parameters, target = PROFILES[name]
        profile = declare(name, epsilon, record=record, parameters=parameters)
    verification = verify(profile, target)
    return Shown(name, verification, explain_all(verification))


@pytest.fixture(params=[*PROFILES, *CATALOGUE])
def shown(request):
    return show(request.param)


@pytest.fixture(scope="session")
def explained():
    return lambda name, condition: show(name).explanations[condition]
