"""The entry of certificates of private fits in the registry of documents: each release with its cost, ε, and what is not checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from accountant.applications.kmeans.certificate import FORMAT, VERSION, check_certificate, read_stated_hypotheses
from accountant.guarantees import hypotheses_json
from proofs_check.certificates import to_file_text
from proofs_check.documents.describing import describe_open, describe_release, say, shorten
from proofs_check.documents.entries import Document, of_objects

_NAMED = ("arguments", "releases", "budget", "epsilon", "profile")


def _tell(fields: Mapping[str, Any]) -> tuple[Mapping[str, Any], Iterable[str]]:
    open_ = read_stated_hypotheses(fields)
    told = {"hypotheses": [item.sentence for item in open_], "premises": hypotheses_json(open_)}
    about = {name: fields[name] for name in _NAMED} | told | {"sample": fields.get("sample"), "sampling": None, "target_epsilon": None}
    return about, _describe(about)


def _describe(about: Mapping[str, Any]) -> Iterator[str]:
    arguments, bound = about["arguments"], about["epsilon"]
    delta = "" if bound["delta"] is None else f", delta <= {bound['delta']}"
    yield f"about: {about['profile']['name']}, epsilon <= {bound['upper']}{delta}, for adding or removing one row"
    yield f"    released, for {'epsilon' if bound['delta'] is None else 'mu^2'} = {shorten(about['budget'])} in all:"
    yield from (describe_release(release, shorten(release["cost"])) for release in about["releases"])
    if about["sample"] is not None:
        yield f"      {_describe_sample(about['sample'], arguments['sample']['rule'])}"
    if arguments["public"]:
        yield f"    taken as they are, because they are said to be public: {', '.join(arguments['public'])}"
    yield from describe_open(about)


def _describe_sample(sample: Mapping[str, Any], rule: str) -> str:
    size, cost, counts, sums = (say(sample[name]) for name in ("expected_size", "budget", "counts", "sums"))
    return (
        f"one {rule} sample of about {size} records, {len(sample['releases'])} releases: cost {cost}, proved by itself of {counts} for "
        f"counts and {sums} for sums per unit of weight"
    )


KMEANS = of_objects(
    Document(
        FORMAT,
        "the statements about the run were compared with what was paid for, and the kernel proved the worst case of these releases",
        (1, VERSION),
        protection="unit",
        hypotheses="premises",
        write=to_file_text,
    ),
    check_certificate,
    _tell,
)
