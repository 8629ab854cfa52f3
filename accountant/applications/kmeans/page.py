"""A private fit as one HTML page for an auditor: what was released, what it cost, what is proved, what is open, and the certificate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from accountant.applications.kmeans.certificate import check_certificate
from accountant.applications.kmeans.fitting import Fit
from accountant.report.page import lay_out
from accountant.report.sections import download, draw_derivation, list_hypotheses
from accountant.report.wording import down, exactly, facts, section, table, up
from accountant.report.writing import today
from profiles import to_exact
from profiles.presenting.elements import Element, make
from proofs_check.certificates import to_file_text


def render_fit(fit: Fit, certificate: Mapping[str, Any]) -> str:
    """Return the page; nothing on it tells more of the data than what was released."""
    parts = [
        _result(fit, certificate),
        list_hypotheses(fit.certified.guarantee),
        _releases(fit, certificate),
        _numbers(certificate),
        draw_derivation(fit.certified.guarantee),
        _certificate(certificate),
    ]
    return lay_out(parts, title="Private k-means", date=today())


def _result(fit: Fit, certificate: Mapping[str, Any]) -> Element:
    guarantee, bound = fit.certified.guarantee, certificate["epsilon"]
    delta = "" if bound["delta"] is None else f", δ ≤ {bound['delta']}"
    accepted = "accepted" if check_certificate(certificate).accepted else "rejected"
    return section(
        "result",
        "Result",
        make("p", f"ε ≤ {up(to_exact(bound['upper']))} nats{delta}", class_="headline"),
        facts(
            [
                ("About", guarantee.subject),
                ("Protects", guarantee.unit.value),
                ("Rests on", "the hypotheses below"),
                ("The certificate below", f"{accepted} while this page was written"),
            ]
        ),
        [make("p", text) for text in fit.warnings],
    )


def _releases(fit: Fit, certificate: Mapping[str, Any]) -> Element:
    spent = sum((charge.cost for charge in fit.charges), Fraction(0))
    kind = "ε" if certificate["epsilon"]["delta"] is None else "μ²"
    return section(
        "releases",
        "What was released, and what it cost",
        make(
            "p",
            f"All costs together are {up(spent)}, of a budget of {down(to_exact(certificate['budget']))} ({kind}).",
        ),
        _list_releases("Releases in their order", f"cost ({kind})", certificate["releases"]),
        [] if "sample" not in certificate else _sample(certificate["arguments"]["sample"], certificate["sample"]),
    )


def _list_releases(title: str, cost: str, releases: Sequence[Mapping[str, str]]) -> Element:
    rows = [
        (str(place), item["what"], down(to_exact(item["cost"]), 6), exactly(to_exact(item["reach"])), down(to_exact(item["scale"]), 6))
        for place, item in enumerate(releases, 1)
    ]
    return table(title, ("release", "what", cost, "a record adds at most", "scale of the noise"), rows)


def _sample(asked: Mapping[str, Any], sample: Mapping[str, Any]) -> list[Element]:
    """What is told of a sample: its rule, its size as released numbers give it, and what is proved of its releases."""
    size = f"about {down(to_exact(sample['expected_size']), 6)} records, by the rule {asked['rule']}"
    left = down(to_exact(sample["budget"]), 6)
    return [
        make(
            "p",
            f"What is left, {left}, is for everything about one Poisson sample of {size}. It is proved of the rule and of the costs per "
            f"unit of weight, at most {up(to_exact(sample['counts']))} for counts and {up(to_exact(sample['sums']))} for sums.",
        ),
        _list_releases("Releases about the sample", "cost per unit of weight", sample["releases"]),
    ]


def _numbers(certificate: Mapping[str, Any]) -> Element:
    released, arguments = certificate["released"], certificate["arguments"]
    columns = [str(name) for name in arguments["columns"]]
    centres = [(str(place), count, *row) for place, (count, row) in enumerate(zip(released["counts"], released["centres"], strict=True))]
    chosen = [(name, value) for name, value in released["choices"].items()]
    return section(
        "numbers",
        "The numbers that were released",
        facts([("Number of records, noisy", released["records"]), ("Root mean squared distance from the mean", released["rms"]), *chosen]),
        table("Centres, with the noisy counts of their clusters", ("cluster", "records", *columns), centres, numeric=True),
    )


def _certificate(certificate: Mapping[str, Any]) -> Element:
    text = to_file_text(certificate)
    return section(
        "certificate",
        "Certificate",
        make("p", "Download it and run ", make("code", "pdp check FILE"), ": the cost of each release, the profile, its supremum."),
        make("p", download(text, "certificate.json", "application/json")),
    )
