"""The entries of files that claim nothing: profiles, which promise, and data, pictures and programs."""

from __future__ import annotations

from typing import Any

from profiles.files import parse_file, write_toml
from profiles.stored import FORMAT, VERSION, read_profile, write_profile
from proofs_check.documents.entries import Document

_PROMISES = "promises an epsilon(w, x) and proves nothing; decide its conditions with pdp verify, or bound epsilon with pdp epsilon"

#: By name.
PLAIN: dict[str, Document[Any]] = {
    FORMAT: Document(FORMAT, _PROMISES, (VERSION,), read=read_profile, write=write_profile),
    "profile file": Document("profile file", _PROMISES, read=parse_file, write=write_toml),
    "checker": Document("checker", "checks certificates; compare its SHA-256 with the one of docs/trust.md"),
    "Coq file": Document("Coq file", "has goals that Coq confirmed; run coqc on it"),
    "data": Document("data", "carries no claim; run pdp check on the certificate that was written beside it"),
    "picture": Document("picture", "proves nothing; run pdp check on the certificate of the same command"),
}
