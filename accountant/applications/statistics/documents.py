"""The entry of certificates of statistics and a sample: what was released, the rule, ε, and what is not checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from accountant.applications.statistics.certificate import FORMAT, VERSION, check_certificate
from proofs_check.documents.describing import describe_open, describe_release, say, shorten
from proofs_check.documents.entries import Document, of_objects

_NAMED = ("arguments", "released", "releases", "epsilon", "clipped", "hypotheses", "premises")


def _tell(fields: Mapping[str, Any]) -> tuple[Mapping[str, Any], Iterable[str]]:
    sample = fields["sample"]
    inner = {"profile": sample["profile"], "rule": sample["rule"], "sampling": None, "target_epsilon": None}
    about = {name: fields[name] for name in _NAMED} | inner
    return about, _describe(about)


def _describe(about: Mapping[str, Any]) -> Iterator[str]:
    rule = about["rule"]
    name, bound = about["profile"]["name"], about["epsilon"]["upper"]
    yield f"about: statistics, and one analysis by {name}, epsilon <= {bound}, for adding or removing one row"
    yield from (describe_release(release, say(release["cost"])) for release in about["releases"])
    yield f"    rule: {rule['name']}" + ("" if rule["q"] is None else f", q = {shorten(rule['q'])}")
    if about["clipped"]:
        yield "    each row is moved into the declared range before anything else"
    yield from describe_open(about)


STATISTICS = of_objects(
    Document(
        FORMAT,
        "the noise was compared with what was paid for, the kernel proved the sample, and statistics and sample are within "
        "epsilon together",
        (VERSION,),
        protection="unit",
        hypotheses="premises",
    ),
    check_certificate,
    _tell,
)
