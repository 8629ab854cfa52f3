"""The method of an audit: an object for several audits that are made alike, or keywords, which come first."""

from __future__ import annotations

import dataclasses
from typing import get_type_hints

import numpy as np
import pytest

from profiles import InvalidArgument
from proofs_check.audit import AuditMethod, Claim, Mode, audit
from proofs_check.audit.method import AuditKeywords


def noisy_sum(dataset, rng, size):
    return sum(dataset) + rng.laplace(0, 1.0, size)


def run(**given):
    return audit(noisy_sum, [1.0], [], Claim(1), rng=np.random.default_rng(3), **given)


def told(result):
    return {name: value for name, value in result.to_json().items() if name != "seconds"}


def test_an_object_says_what_keywords_say_and_keywords_come_first():
    alike = AuditMethod(samples=600, mode=Mode.FIXED, confidence="0.9")
    assert told(run(method=alike)) == told(run(samples=600, mode="fixed", confidence="0.9"))
    assert run(method=alike, samples=300).asked == 600


def test_the_keywords_are_the_fields():
    hints = get_type_hints(AuditMethod)
    assert get_type_hints(AuditKeywords) == {item.name: hints[item.name] for item in dataclasses.fields(AuditMethod)}


def test_choices_that_contradict_each_other_and_unknown_ones_are_refused():
    with pytest.raises(InvalidArgument, match="both given"):
        run(method=AuditMethod(statistic=abs), log_ratio=abs)
    with pytest.raises(TypeError, match="smaples"):
        run(smaples=3)
