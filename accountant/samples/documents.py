"""The entry of certificates beside samples in the registry of documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from accountant.guarantees import hypotheses_json
from accountant.samples.certificate import FORMAT, VERSION, WEIGHTED
from accountant.samples.checking import check_certificate, name_unstated, read_stated_hypotheses
from accountant.weights.gaussian.table_format import FORMAT as TABLE
from accountant.weights.gaussian.table_format import describe_table
from profiles.hypotheses import as_hypothesis
from proofs_check.documents.describing import describe_profile
from proofs_check.documents.entries import Document, of_objects


def _tell(fields: Mapping[str, Any]) -> tuple[Mapping[str, Any], Iterable[str]]:
    proof, stated = fields["proof"], (*read_stated_hypotheses(fields), *map(as_hypothesis, name_unstated(fields)))
    about = {name: proof.get(name) for name in ("profile", "sampling", "target_epsilon")}
    about |= {name: fields[name] for name in ("epsilon", "rule")}
    about |= {"weights": list(describe_table(proof))} if proof.get("format") == TABLE else {}
    about |= {"hypotheses": [item.sentence for item in stated], "premises": hypotheses_json(stated)}
    return about, describe_profile(about)


SAMPLE = of_objects(
    Document(
        FORMAT,
        "the kernel checked its proof again, and what it states about rule, sampler and bound follows from this proof",
        (1, VERSION, WEIGHTED),
        protection="unit",
        hypotheses="premises",
    ),
    check_certificate,
    _tell,
)
