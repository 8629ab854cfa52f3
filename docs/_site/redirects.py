"""Earlier addresses of the site: each leads to the place where its page stands now."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

#: The name of an earlier page, and the address of now.
REDIRECTS = {
    "audit-catalogue": "_generated/audit-catalogue",
    "audit-exact": "audit#exact-ε-the-truth-that-an-audit-is-judged-by",
    "audit-suite": "_generated/audit-suite",
    "benchmarks": "measurements",
    "calibrating": "howto-epsilon#choose-the-noise-and-the-sampling-rule",
    "claims": "errata#all-statements-with-verdicts",
    "conditions": "epsilon-bounds#the-conditions-and-how-they-are-decided",
    "dependencies": "_generated/CONTRIBUTING#dependencies-and-why",
    "digits": "getting-started#the-main-job-on-real-data",
    "documents": "interoperability#all-formats",
    "dp-kmeans": "private-kmeans#dp-lloyd-with-public-constants",
    "exact-epsilon": "audit#exact-ε-over-all-neighbors",
    "explanations": "certificates#proofs-in-words",
    "gaussian-mechanisms": "gaussian-weights#gaussian-mechanisms-of-the-catalogue",
    "howto-check": "report#check-what-you-were-given",
    "matroids": "submodular#matroid-constraints",
    "poisson-sampler": "sampling#the-poisson-sampler",
    "portability": "trust#one-verdict-on-every-interpreter",
    "private-output": "command-line#what-is-shown-of-your-data",
    "private-statistics": "sampling#samples-by-private-statistics",
    "profile-files": "howto-verify#more-of-profile-files-steps-ranges-tables",
    "protection": "concepts#units-and-neighbors",
    "repeated-mechanisms": "one-sided#repeated-mechanisms",
    "second-opinion": "formal#a-second-opinion-on-a-certificate",
    "self-checking": "report#pages-that-check-themselves",
    "set-cover": "submodular#set-cover",
    "study": "measurements#the-papers-experiments-repeated",
    "study-delta": "measurements#importance-sampling-under-ε-δ",
    "study-delta-lloyd": "measurements#dp-lloyd-with-laplace-and-with-normal-noise",
    "study-kmeans": "measurements#private-k-means",
    "study-onesided": "measurements#one-sided-algorithms",
    "tests": "_generated/CONTRIBUTING#what-the-tests-show",
    "verified": "formal#a-checker-that-is-proved-right",
    "weights": "rounding",
}


def write(app: Any, error: Exception | None) -> None:
    """Write a page for each earlier address once a build went well."""
    if error is None and app.builder.name == "html":
        for name, place in REDIRECTS.items():
            (Path(app.outdir) / f"{name}.html").write_text(make_page(place), encoding="utf-8")


def make_page(place: str) -> str:
    """Return a page that leads to ``place``, a page of the site with or without an anchor, by itself and by a link."""
    page, mark, anchor = place.partition("#")
    address = escape(f"{page}.html{mark}{anchor}")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>This page has moved</title>'
        f'<meta http-equiv="refresh" content="0; url={address}"><link rel="canonical" href="{address}"></head>'
        f'<body><main><h1>This page has moved</h1><p><a href="{address}">Read it here</a>.</p></main></body></html>\n'
    )
