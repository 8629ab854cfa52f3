"""The formats of all files of this project by name, and how to tell them: for the hint on files that the kernel cannot judge alone.

Nothing is accepted or rejected by it. The registry of documents (proofs_check/documents) has an entry for each.
"""

import json

from ..core.documents import is_deep

OWN = "pdp-certificate"
#: Each format, and what a file of it is.
FORMATS = {
    OWN: "a certificate of proofs",
    "pdp-guarantee": "a guarantee",
    "pdp-kmeans-certificate": "the certificate of a private fit of k-means",
    "pdp-sample-certificate": "the certificate of a sample",
    "pdp-statistics-certificate": "the certificate of released statistics and a sample",
    "pdp-weight-cover": "a certificate of an epsilon at a delta",
    "pdp-weight-table": "a table of weights",
    "pdp-profile": "a profile",
    "profile file": "a profile",
    "composition file": "a composition of events",
    "report": "a report",
    "ledger": "a ledger",
    "pdp-ledger-anchor": "the anchor of a ledger",
    "pdp-ledger-log": "a backup of a ledger",
    "pdp-ledger-public": "the log of a ledger for everybody",
    "pdp-ledger-statement": "the statement of one unit of a ledger",
    "pdp-ledger-table": "the mark of a ledger's table",
    "ledger secret": "the secret of a ledger",
    "pass state": "the state of a pass over a stream",
    "data": "a table of data or of answers",
    "picture": "a picture",
    "checker": "the kernel as one file",
    "Coq file": "goals with their proofs for Coq",
}
_VERSIONS = (1, 2)  # of certificates
_GENERATOR, _HEAD = 'name="generator" content="pdp-accountant', 20_000
#: How the first telling line begins, without spaces, of a file whose format stands in no JSON object.
_BEGINNINGS = {
    "pdp-ledger-anchor": ("pdp-ledger-anchor",),
    "pdp-ledger-public": ("pdp-ledger-public",),
    "pdp-ledger-table": ("pdp-ledger-table",),
    "composition file": ("[[event]]", "unit=", "neighbors="),
    "profile file": ("notion=", "epsilon=", "mu=", "rdp=", "rho=", "[record]", "[parameters]", "[sampling]"),
}


def read_heading(text: str) -> tuple[str | None, object]:
    """Return the format of a text and its version: what its object says, or seems to say if it is damaged, or how a line begins.

    The format is None for files of others, and the version None where the text has none that can be read.
    """
    if is_deep(text):
        return _guess(text), None
    try:
        whole = json.loads(text, parse_int=_short)
    except (ValueError, RecursionError):
        return _guess(text), None
    if not isinstance(whole, dict) or not isinstance(whole.get("format"), str) or whole["format"] not in FORMATS:
        return None, None
    return whole["format"], whole.get("version")


def _short(word: str) -> int | str:
    return int(word) if len(word) < 20 else word  # where a process has lifted Python's limit of digits, long ones take seconds


def _guess(text: str) -> str | None:
    if text.lstrip()[:1] in ("{", "["):
        word = text.partition('"format"')[2][:100].split('"')[1:2]
        return word[0] if word and word[0] in FORMATS else None
    if _GENERATOR in text[:_HEAD]:
        return "report"
    for line in text[:_HEAD].splitlines():
        for name, beginnings in _BEGINNINGS.items():
            if line.replace(" ", "").startswith(beginnings):
                return name
    return None


def say_other(text: str) -> str | None:
    """Say what a rejected text is if not a certificate that the kernel judges alone, as the end of a sentence."""
    name, version = read_heading(text)
    if name is None:
        return f"is no file of a known format; a {OWN} was expected: check which file it is"
    if name != OWN:
        return f"is a {name}, which says more than the kernel alone can judge; run pdp check on it"
    known = version in _VERSIONS or type(version) is not int
    return None if known else f"is a {OWN} of another version than {' or '.join(map(str, _VERSIONS))}; use the release that wrote it"
