"""What stands in the faulty data of the survey, and nowhere else: whatever shows it shows the data."""

import re

NAME = "Alice Smith"
VALUE = 123456.789
#: A size that no other number of a run is.
ROWS = 1237
#: How any of them may look in an output: also cut, rounded, or written as bytes.
_SIZES = ("1237", "1,237", "1238", "1,238", "1236", "1,236")
TRACES = ("Alice", "Smith", "123456.7", "123457", "1.23457e+05", "1.234568e+05", *_SIZES)


def traces_in(text: str) -> list[str]:
    """Return which markers a text shows; digits inside a longer number, such as a seed, are none."""
    return [trace for trace in TRACES if re.search(rf"(?<![\d.]){re.escape(trace)}(?!\d)" if trace in _SIZES else re.escape(trace), text)]
