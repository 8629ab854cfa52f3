"""The certificate of released statistics and of a sample that is drawn by them, and its check. It may be published.

Accepted means: the noise of each statistic is what its cost buys, and the costs are those that the arguments give; the rule of the sample
is the one that the arguments and the released numbers make; the certificate of the sample inside is accepted; the profile of everything
together is made of that rule, those costs and the profile of the mechanism, and the kernel accepts that its one supremum over all records
is within ε (or the sum of the two suprema is); and every hypothesis is listed that is open in the sample's, but those about the constants
of the rule and, where rows were moved into the range, about that. That the run did so, and would have kept ε for every other release, is
Theorem 6 of docs/sampling.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from accountant.applications.budget.certificates import check_worst_case, read_open, read_release, write_open, write_release
from accountant.applications.budget.spending import Payment, PureNoise, Purpose
from accountant.applications.statistics.planning import (
    BudgetedPlan,
    describe_whole,
    make_constants,
    write_rule,
)
from accountant.applications.statistics.requests import CONSTRAINED, SampleRequest
from accountant.guarantees import Guarantee
from accountant.rules import make_rule, rule_from_expression
from accountant.rules.named import PUBLIC_RATE, constants_are_public
from accountant.samples import checking
from accountant.samples.certificate import VERSION as SAMPLE_VERSION
from accountant.samples.certificate import to_certificate as to_sample_certificate
from accountant.selection.select import METHODS, ROUNDED
from profiles import Profile, exact_text, to_exact
from profiles.grammar import parse_expression
from profiles.hypotheses import IN_RANGE, RECORD_STATISTICS, Hypothesis
from profiles.mechanisms.ball import widen
from profiles.randomness.bits import BitSource
from profiles.strict_json import read_exact, read_fields, read_list, write_exact
from profiles.terms import to_text
from proofs_check.certificates import judge_file, profile_json, require, to_file_text
from proofs_check.kernel import Report

FORMAT, VERSION = "pdp-statistics-certificate", 1
_STEP = "statistics-certificate"
_KEYS = {
    *("format", "version", "arguments", "released", "releases", "raised", "expected_sample_size", "clipped", "epsilon", "profile", "proof"),
    *("sample", "unit", "hypotheses", "premises"),
}
_ARGUMENTS = {"epsilon", "statistics", "rule", "size", "mixing", "statistic", "exponent"}
_NAMES = {Purpose.RECORDS: "number of records", Purpose.SUM: "total of the statistic to its power"}


def to_certificate(plan: BudgetedPlan, guarantee: Guarantee, bits: BitSource, *, clipped: bool) -> dict[str, Any]:
    """Return the certificate as JSON types. ``guarantee``: that of everything together."""
    request, released = plan.request, plan.released
    moment = request.moment
    proof = None if plan.whole is None else plan.whole.certificate()
    return {
        "format": FORMAT,
        "version": VERSION,
        "arguments": {
            "epsilon": exact_text(request.epsilon),
            "statistics": exact_text(request.statistics),
            "rule": request.rule,
            "size": None if request.size is None else exact_text(request.size),
            "mixing": None if request.mixing is None else exact_text(request.mixing),
            "statistic": None if moment is None else moment.statistic.name,
            "exponent": None if moment is None else moment.exponent,
        },
        "released": {
            "records": write_exact(released.count),
            "total": None if released.total is None else write_exact(released.total),
        },
        "releases": [write_release(charge, PureNoise(request.statistics), _NAMES) for charge in released.charges],
        "raised": write_exact(plan.raised),
        "expected_sample_size": None if plan.expected is None else repr(plan.expected),
        "clipped": clipped,
        "epsilon": {"upper": exact_text(request.epsilon)},
        "profile": None if plan.whole is None else profile_json(plan.whole.profile),
        "proof": None if proof is None else json.loads(json.dumps(proof)),
        "sample": json.loads(json.dumps(to_sample_certificate(plan.plan, plan.plan.drawn_guarantee(bits), bits.name))),
        **write_open(guarantee),
    }


def to_certificate_text(plan: BudgetedPlan, guarantee: Guarantee, bits: BitSource, *, clipped: bool) -> str:
    """Return the text of a certificate file."""
    return to_file_text(to_certificate(plan, guarantee, bits, clipped=clipped))


def check_certificate(fields: Mapping[str, Any]) -> Report:
    """Return the report on a certificate; see the page above for what accepted means."""
    return judge_file(_STEP, lambda: _check(fields))


def _check(given: Mapping[str, Any]) -> Report:
    fields = read_fields(given, "a certificate of statistics and a sample", _KEYS)
    require(fields["version"] == VERSION and type(fields["version"]) is int, "version", f"version {VERSION} was expected")
    sample = fields["sample"]
    require(isinstance(sample, dict), "sample", "it is not an object")
    report = checking.check_certificate(sample)
    if not report.accepted:
        return Report(accepted=False, step=f"{_STEP}.sample.{report.step}", reason=report.reason)
    require("private" not in sample, "sample", "it has private figures")
    require(sample["version"] == SAMPLE_VERSION, "sample", "it is not one under pure epsilon")
    base = checking.declare_stated(sample["profile"])
    request = _read_request(fields["arguments"], base)
    require(read_fields(fields["epsilon"], "the bound", {"upper"})["upper"] == exact_text(request.epsilon), "epsilon", "it is another one")
    _check_releases(fields["releases"], request)
    released = read_fields(fields["released"], "the released numbers", {"records", "total"})
    count = read_exact(released["records"], "the number of records")
    total = None if released["total"] is None else read_exact(released["total"], "the total")
    require((total is None) == (request.moment is None), "released", "a total goes with a rule that reads one")
    raised = read_exact(fields["raised"], "the factor of the rates")
    require(raised >= 1, "raised", "the factor of the rates is at least 1")
    _check_rule(sample["rule"], base, request, make_constants(request, count, total, raised))
    whole = _check_whole(fields, base, request, sample)
    if whole is not None and not whole.accepted:
        return Report(accepted=False, step=f"{_STEP}.proof.{whole.step}", reason=whole.reason)
    _check_hypotheses(fields, sample, base)
    return report if whole is None else whole


def _read_request(value: object, base: Profile) -> SampleRequest:
    fields = read_fields(value, "the arguments", _ARGUMENTS)
    rule = fields["rule"]
    given: dict[str, object] = {}
    if rule != CONSTRAINED:
        given = {
            "m": fields["size"],
            **({} if fields["mixing"] is None else {"lam": fields["mixing"], "statistic": fields["statistic"]}),
            **({"exponent": fields["exponent"]} if rule == "coreset" else {}),
        }
    request = SampleRequest.of(base, fields["epsilon"], fields["statistics"], rule, given)
    moment = request.moment
    told = (None, None) if moment is None else (moment.statistic.name, moment.exponent)
    same = (fields["statistic"], fields["exponent"]) == told and type(fields["exponent"]) in (int, type(None))
    require(same, "arguments", "they are not those of one rule")
    numbers = {"epsilon": request.epsilon, "statistics": request.statistics, "size": request.size, "mixing": request.mixing}
    written = {name: None if value is None else exact_text(value) for name, value in numbers.items()}
    require({name: fields[name] for name in written} == written, "arguments", "a number is not the one of the rule, as it is written")
    return request


def _check_releases(value: object, request: SampleRequest) -> None:
    """Each statistic has the cost that the arguments give, and noise that this cost buys."""
    wanted = [Payment(Purpose.RECORDS, request.costs.records, Fraction(1))]
    if request.moment is not None:
        wanted.insert(0, Payment(Purpose.SUM, request.costs.total, widen(request.moment.reach)))
    listed = read_list(value, "the releases")
    require(len(listed) == len(wanted), "releases", "they are not those of the rule")
    law = PureNoise(request.statistics)
    for place, (item, charge) in enumerate(zip(listed, wanted, strict=True)):
        step = f"releases[{place}]"
        require(read_release(item, step, law, _NAMES) == charge, step, "its cost, or what a record adds, is not what the arguments give")


def _check_rule(rule: Mapping[str, Any], base: Profile, request: SampleRequest, constants: Mapping[str, Fraction]) -> None:
    if request.rule == CONSTRAINED:
        target = request.epsilon - request.statistics
        within = rule["q"] is None and to_exact(str(rule["target_epsilon"])) <= target
        require(within, "sample.rule", "its weights are for a larger epsilon")
        return
    name, q = write_rule(request, constants)
    made = rule_from_expression(q, base, constants) if q is not None else make_rule(str(name), base, dict(constants))
    same = made.q is not None and rule["q"] == to_text(made.q)
    require(same, "sample.rule", "it is not the one that the arguments and the released numbers make")


def _check_whole(fields: Mapping[str, Any], base: Profile, request: SampleRequest, sample: Mapping[str, Any]) -> Report | None:
    """Check the one supremum of statistics and sample, or that the sum of the two is within ε; return the kernel's report of the first."""
    if fields["proof"] is None:
        require(fields["profile"] is None, "profile", "it goes with a proof")
        sum_of_both = to_exact(str(sample["epsilon"]["upper"])) + request.costs.whole
        require(sum_of_both <= request.epsilon, "epsilon", "statistics and sample are not proved to be within it")
        return None
    require(sample["rule"]["q"] is not None, "proof", "weights of this sample need no proof about one supremum")
    require(sample["sampler"]["pairs"] == METHODS[ROUNDED], "sample", "epsilon may fall in w")  # its check asks for the claim
    stated = profile_json(describe_whole(base, request, parse_expression(sample["rule"]["q"], "q")))
    require(fields["profile"] == stated, "profile", "it is not that of the statistics and the sample")
    return check_worst_case(fields["proof"], stated, request.epsilon, "proof")


def _check_hypotheses(fields: Mapping[str, Any], sample: Mapping[str, Any], base: Profile) -> None:
    stated = set(read_open(fields))
    require(type(fields["clipped"]) is bool, "clipped", "true or false was expected")
    released = {PUBLIC_RATE, *constants_are_public(sorted(sample["rule"]["constants"]))}
    open_before = [item for item in checking.read_stated_hypotheses(sample) if item not in released and not _is_moved(item, fields)]
    forgotten = [item for item in open_before if item not in stated]
    lost = "".join(item.sentence for item in forgotten[:1])[:60]
    require(not forgotten, "hypotheses", f"{lost!r} is left out, which is open in the certificate of the sample")
    if fields["clipped"]:
        read = [item for item in open_before if item.id == RECORD_STATISTICS.id]
        norms = all("norm of" in item.sentence for item in read) and all(item.lo <= 0 for item in base.record)
        require(read and norms, "clipped", "only rows whose statistics are norms can be moved into their range")


def _is_moved(item: Hypothesis, fields: Mapping[str, Any]) -> bool:
    return item.id == IN_RANGE.id and fields["clipped"] is True
