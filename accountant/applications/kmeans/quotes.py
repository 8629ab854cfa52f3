"""What scikit-learn's checks say of records, without the records: some of its messages print the array, or the first text in it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from profiles.private import TEXT

#: Messages that tell of types, columns and kinds of faults only.
_SAFE = re.compile(
    r"X has |Found array with dim |The feature names should match|X does not (have|contain)|Feature names |"
    r"Input (X |sample_weight )?contains (NaN|infinity)|(Sparse|A sparse matrix)|float\(\) argument must be|"
    r"setting an array element|DPKMeans |Sample weights must |Unsupported"
)


@contextlib.contextmanager
def without_quotes() -> Iterator[None]:
    """Raise what the block raises as ValueError or TypeError, of the same kind, with a message that quotes nothing.

    A message that is not known to be safe is left out: the check fails as before, and says so.
    """
    try:
        yield
    except (ValueError, TypeError) as error:
        kind = ValueError if isinstance(error, ValueError) else TypeError
        raise kind(_say(str(error))) from None


def _say(text: str) -> str:
    if _SAFE.match(text):
        return text
    if "Reshape your data" in text:
        found = re.match(r"Expected 2D [^,]*, got \w+ array", text)
        return f"{found[0] if found else 'Expected 2D array'} instead. Reshape your data: one row a record, one column a feature"
    if text.startswith("Complex data not supported"):
        return "Complex data not supported; give real numbers"
    if text.startswith("could not convert string to float"):
        return f"could not convert string to float: {TEXT}; encode it as a number"
    if text.startswith("Found array with 0 "):
        return re.sub(r" \(shape=[^)]*\)", "", text)
    return "scikit-learn's check of the records failed; its message may quote them, and is left out: see sklearn.utils.check_array(X)"
