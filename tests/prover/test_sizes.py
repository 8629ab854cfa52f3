"""A certificate for one condition stays under 20 kB, as the file that is written."""

from __future__ import annotations

import pytest

from profiles import declare
from proofs_check.certificates import to_file_text
from proofs_check.verify import CONDITIONS, verify

LIMIT = 20_000

PROFILES = {
    "linear in a record": ("T*w*(1/b + z/s)", {"z": [0, 4]}, {"T": 10, "b": "20.5", "s": 30}),
    "linear, symbolic": ("T*w*(1/b + z/s)", {"z": [0, 4]}, {"T": "positive", "b": "positive", "s": "positive"}),
    "affine": ("a*w + b", {}, {"a": "positive", "b": "positive"}),
    "zero inside": ("w*(z - 1/2)**2", {"z": [0, 1]}, {}),
    "power": ("w**p/4", {}, {"p": [1, 2]}),
    "root": ("2*sqrt(w)", {}, {}),
    "logarithm": ("log(1 + z*w)", {"z": [2, 3]}, {}),
    "w log w": ("w*log(w + 1)", {}, {}),
    "less a logarithm": ("c*w - log(w)", {}, {"c": [1, 3]}),
    "rational": ("w**2/(1 + w)", {}, {}),
    "waves": ("w + sin(3*w)/4", {}, {}),
    "narrow failure": ("w*(1 + (w - 2)**3/3 - w/100000000)", {}, {}),
    "kink": ("w + Abs(w - 3)/2", {}, {}),
    "decay": ("1 + exp(-w)", {}, {}),
}


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", PROFILES)
def test_certificate_of_one_condition_is_small(name):
    epsilon, record, parameters = PROFILES[name]
    profile = declare(name, epsilon, record=record, parameters=parameters)
    certified = 0
    for condition in CONDITIONS:
        verification = verify(profile, 3, [condition])
        certified += verification.decisions[condition].checked
        assert len(to_file_text(verification.certificate())) < LIMIT
    assert certified >= 4
