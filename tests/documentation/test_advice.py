"""What a refusal advises must not lead people to read public constants off the private data.

A radius, range or domain that was chosen because a record lay outside is a function of the data. So a message that speaks of declaring
another one says that it is chosen without looking at the data, or offers a cure that is a function of the record alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import numpy as np
import pytest

from accountant import DPLloyd
from profiles import InvalidData
from profiles.mechanisms import LaplaceSum
from tests.documentation.pages import DOCS, ROOT

ADVISES = re.compile(
    r"\b(declare (a|an|the|another|times)|widen|narrow|enlarge)\b[^;,]*\b(radius|ranges?|domain|times|bound)\b|\brescale\b"
    r"|declare times|larger radius|wider range",
    re.IGNORECASE,
)
SOUND = re.compile(r"without looking at|by a public constant|clip each record")
#: Messages about numbers that no data decide, by their beginning.
NOT_ABOUT_DATA = (
    "the rate of an exponential choice",  # scores of public candidates, scaled by a public constant already
    "epsilon0/sensitivity must lie",
    " and  declare different statistics",
    "records of binary64 numbers were asked for",  # the testing kit makes up its records
)


def messages() -> Iterator[tuple[str, str]]:
    """Yield file and text of every string of the packages that is longer than a name and no docstring, what is put in left out."""
    for package in ("accountant", "profiles", "proofs_check"):
        for path in sorted((ROOT / package).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            for node in ast.walk(tree):
                if isinstance(node, ast.JoinedStr):
                    parts = [part for part in node.values if isinstance(part, ast.Constant)]
                    skipped |= {id(part) for part in parts}
                    yield str(path.relative_to(ROOT)), "".join(str(part.value) for part in parts)
                elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped and len(node.value) > 30:
                    yield str(path.relative_to(ROOT)), node.value


@pytest.mark.thorough
def test_no_message_sends_people_to_the_data_for_a_public_constant() -> None:
    found = [(path, text) for path, text in messages() if ADVISES.search(text) and not text.startswith(NOT_ABOUT_DATA)]
    assert len(found) >= 10  # the search finds what it is for
    assert [item for item in found if not SOUND.search(item[1])] == []


@pytest.mark.thorough
def test_the_exceptions_are_messages_that_exist() -> None:
    texts = [text for _, text in messages()]
    for start in NOT_ABOUT_DATA:
        assert any(text.startswith(start) and ADVISES.search(text) for text in texts), start


@pytest.mark.parametrize(
    "refuse",
    [
        lambda: DPLloyd(1, epsilon=1, radius=1).fit([[3.0, 4.0]]),
        lambda: LaplaceSum(b=1, radius=1).run(np.array([3.0]), None, np.random.default_rng()),
    ],
)
def test_a_record_outside_the_ball(refuse: object) -> None:
    """Was: rescale or remove such records, or declare a larger radius."""
    with pytest.raises(InvalidData, match=r"by itself.*without looking at this data") as refused:
        refuse()  # type: ignore[operator]
    assert "larger radius" not in str(refused.value)


def test_the_pages_say_how_to_choose() -> None:
    for name in ("mechanisms.md", "howto-epsilon.md", "getting-started.md", "concepts.md"):
        text = " ".join((DOCS / name).read_text(encoding="utf-8").split())
        assert re.search(r"without looking at (this|the) data", text), name
