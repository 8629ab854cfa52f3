"""The entries of tables of weights and of covers of sampling rules in the registry of documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from accountant.weights.gaussian import cover_certificate, table_format
from proofs_check.documents.describing import describe_profile
from proofs_check.documents.entries import Document, of_objects


def _tell(describe: Callable[[Mapping[str, Any]], Iterable[str]], fields: Mapping[str, Any]) -> tuple[Mapping[str, Any], Iterable[str]]:
    about = {"profile": fields["profile"], "sampling": fields.get("sampling"), "target_epsilon": None, "weights": list(describe(fields))}
    return about, describe_profile(about)


TABLE = of_objects(
    Document(
        table_format.FORMAT,
        "the kernel proved the promise of the profile, its largest value and every row again",
        (table_format.VERSION,),
        write=table_format.write_table,
    ),
    table_format.check_table,
    partial(_tell, table_format.describe_table),
)
COVER = of_objects(
    Document(cover_certificate.FORMAT, "the kernel proved every row, every cell and the lower side again", (cover_certificate.VERSION,)),
    cover_certificate.check_cover,
    partial(_tell, cover_certificate.describe_cover),
)
