"""Filters: which rows take part, told from each row alone by a public text such as ``year = 2025 and region in ('N', 'S')``.

A filter is a function of one row, so that a row more or less changes what is released by that row alone (docs/release.md, Theorem 1). The
grammar has no way to speak of other rows: no subqueries, no aggregates, no calls. Text is parsed, never evaluated by Python or an engine.

    expression := conjunction {"or" conjunction}        conjunction := negation {"and" negation}
    negation := ["not"] test                            test := "(" expression ")" | column comparison
    comparison := ("=" | "!=" | "<>" | "<" | "<=" | ">" | ">=") value | ["not"] "in" "(" value {"," value} ")"
                | ["not"] "between" value "and" value | "is" ["not"] "null"

A column is a name, or "any name" between double quotes; a value is a decimal or 'a text', such as a day, '2026-07-31'. As in SQL, a
comparison with a missing value is neither true nor false, and a row takes part where the whole is true.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from accountant.data.decimals import to_number as read_number
from accountant.data.frames import missing_column
from profiles import InvalidArgument, InvalidData, to_exact
from profiles.arrays import Booleans
from profiles.numbers import nearest
from profiles.private import TEXT

_TOKENS = re.compile(
    r"""\s*(?:(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<text>'(?:[^']|'')*')|(?P<quoted>"(?:[^"]|"")+")"""
    r"""|(?P<name>[^\W\d]\w*)|(?P<sign><=|>=|<>|!=|=|<|>|\(|\)|,))"""
)
_WORDS = frozenset({"and", "or", "not", "in", "between", "is", "null"})
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_MOST_LETTERS, _DEEPEST = 10_000, 50
_YES, _NO = pa.scalar(value=True), pa.scalar(value=False)

#: What a test says of rows: true, and known.
_Truth = tuple[Booleans, Booleans]
Value = Fraction | str


class _Columns:
    """The columns of one batch, each read once as texts or numbers, with which of them are there."""

    def __init__(self, table: Any, label: str, *, is_text: bool) -> None:
        self._table, self._label, self._text, self._numbers = table, label, is_text, dict[str, tuple[Any, Booleans]]()

    def numbers(self, name: str) -> tuple[Any, Booleans]:
        """Return the binary64 numbers nearest to those of a column, and which rows have one."""
        if name not in self._numbers:
            self._numbers[name] = self._read_numbers(name)
        return self._numbers[name]

    def texts(self, name: str, values: Sequence[str]) -> tuple[Any, Booleans]:
        """Return the texts of a column to be compared with ``values``, and which rows have one; days as 2026-07-31, so in their order."""
        array = self._find(name)
        if pa.types.is_date(array.type):
            if not all(_is_day(value) for value in values):
                raise InvalidArgument(
                    f"the filter compares the days of {name!r} with something else; write a day as '2026-07-31', in quotation marks"
                )
            array = pc.cast(pc.cast(array, pa.date32()), pa.string())
        if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
            raise InvalidArgument(f"the filter compares {name!r} with a text, but its type is {array.type}; compare it with a number")
        return array, _tell(pc.is_valid(array))

    def present(self, name: str) -> Booleans:
        """Return which rows have a value: in a text file, whose missing values are empty, one that is not blank."""
        array = self._find(name)
        there = _tell(pc.is_valid(array))
        if self._text:
            blank = pc.equal(pc.utf8_trim_whitespace(array), "").fill_null(_YES)
            return there & ~_tell(blank)
        return there

    def _find(self, name: str) -> Any:
        if name not in self._table.schema.names:
            raise missing_column(name, self._label, self._table.schema.names)
        array = self._table.column(name)
        return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array

    def _read_numbers(self, name: str) -> tuple[Any, Booleans]:
        array, there = self._find(name), self.present(name)
        values = np.zeros(len(array))
        kind = array.type
        if pa.types.is_boolean(kind):
            array = pc.cast(array, pa.int8())
        elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            other = "with a day in quotation marks, such as '2026-07-31'" if pa.types.is_date(kind) else "another column"
            raise InvalidArgument(f"the filter compares {name!r} with a number, but its type is {kind}; compare {other}")
        if there.any():
            chosen = array.filter(pa.array(there))
            if pa.types.is_string(kind) or pa.types.is_large_string(kind):
                chosen = pc.utf8_trim_whitespace(chosen)
            try:
                values[there] = pc.cast(chosen, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
            except pa.ArrowInvalid:
                wrong = next((text for text in chosen.to_pylist() if isinstance(text, str) and read_number(text) is None), "")
                raise InvalidData(
                    f"the filter compares the column {name!r} of {self._label} with a number, but {TEXT} was found there; compare it with "
                    "a text, or correct it",
                    private=repr(wrong)[:200],
                ) from None
        return values, there


def _is_day(text: str) -> bool:
    """Tell whether a text is a day such as 2026-07-31."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _tell(array: Any) -> Booleans:
    """Return an Arrow array without missing values as one of NumPy."""
    return np.asarray(array.to_numpy(zero_copy_only=False), dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class _Test:
    """One test of a column: ``sign`` and the values that it is compared with."""

    column: str
    sign: str
    values: tuple[Value, ...]

    def judge(self, columns: _Columns) -> _Truth:
        if self.sign == "null":
            there = columns.present(self.column)
            return ~there, np.ones_like(there)
        if isinstance(self.values[0], str):
            array, there = columns.texts(self.column, [str(value) for value in self.values])
            truth = self._compare_texts(array)
        else:
            numbers, there = columns.numbers(self.column)
            truth = self._compare(numbers, [nearest(value) for value in self.values if isinstance(value, Fraction)])
        return np.asarray(truth & there, dtype=np.bool_), there

    def _compare(self, numbers: Any, values: list[float]) -> Any:
        if self.sign == "between":
            return (numbers >= values[0]) & (numbers <= values[1])
        if self.sign == "in":
            return np.isin(numbers, values)
        return _COMPARE[self.sign](numbers, values[0])

    def _compare_texts(self, array: Any) -> Any:
        values = [str(value) for value in self.values]
        if self.sign == "between":
            truth = pc.and_(pc.greater_equal(array, values[0]), pc.less_equal(array, values[1]))
        elif self.sign == "in":
            truth = pc.is_in(array, value_set=pa.array(values, array.type))
        else:
            names = {"=": pc.equal, "!=": pc.not_equal, "<>": pc.not_equal, "<": pc.less, "<=": pc.less_equal}
            truth = {**names, ">": pc.greater, ">=": pc.greater_equal}[self.sign](array, values[0])
        return truth.fill_null(_NO).to_numpy(zero_copy_only=False)


@dataclass(frozen=True, slots=True)
class _Joined:
    """Parts joined by ``word``: and, or, not."""

    word: str
    parts: tuple[_Joined | _Test, ...]

    def judge(self, columns: _Columns) -> _Truth:
        truths = [part.judge(columns) for part in self.parts]
        true, known = truths[0]
        if self.word == "not":
            return known & ~true, known
        for other, told in truths[1:]:
            if self.word == "and":
                known = (known & told) | (known & ~true) | (told & ~other)
                true = true & other
            else:
                known = (known & told) | true | other
                true = true | other
        return true, known


@dataclass(frozen=True, slots=True)
class Where:
    """A filter that was read: its ``text``, and the ``columns`` that it reads."""

    text: str
    columns: tuple[str, ...]
    _tree: _Joined | _Test

    def select(self, table: Any, label: str, *, is_text: bool) -> Booleans:
        """Return which rows of a record batch take part. ``is_text``: it is of a text file, whose missing values are blank.

        Raises :class:`InvalidData`, :class:`InvalidArgument`.
        """
        return self._tree.judge(_Columns(table, label, is_text=is_text))[0]


def read_where(text: object) -> Where:
    """Return the filter that a text says. Raises :class:`InvalidArgument` for what is not a filter of single rows.

    >>> read_where("year = 2025 and not region in ('N', 'S')").columns
    ('year', 'region')
    """
    if not isinstance(text, str) or not text.strip() or len(text) > _MOST_LETTERS or not text.isprintable():
        raise InvalidArgument("a filter is a line such as \"year = 2025 and region in ('N', 'S')\", but another thing was found; write one")
    reader = _Reader(text.strip())
    tree = reader.read_whole()
    return Where(reader.text, tuple(dict.fromkeys(reader.columns)), tree)


class _Reader:
    """A parser by recursive descent."""

    def __init__(self, text: str) -> None:
        self.text, self.columns = text, list[str]()
        self._tokens, self._place, self._deep = list(self._split()), 0, 0

    def _split(self) -> Iterator[tuple[str, str]]:
        place = 0
        while place < len(self.text):
            token = _TOKENS.match(self.text, place)
            if token is None or token.lastgroup is None:
                raise self._refuse(f"{self.text[place : place + 20]!r} is not understood")
            word = token[token.lastgroup]
            yield ("word", word.lower()) if token.lastgroup == "name" and word.lower() in _WORDS else (token.lastgroup, word)
            place = token.end()

    def _refuse(self, why: str) -> InvalidArgument:
        return InvalidArgument(
            f"a filter compares columns of one row with values, but {why}; write for example \"year = 2025 and region in ('N', 'S')\""
        )

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._place] if self._place < len(self._tokens) else ("end", "")

    def _take(self, *wanted: str) -> bool:
        if self._peek()[1] in wanted and self._peek()[0] in ("word", "sign"):
            self._place += 1
            return True
        return False

    def _need(self, wanted: str) -> None:
        if not self._take(wanted):
            raise self._refuse(f"{wanted!r} was expected before {self._peek()[1][:20]!r}")

    def read_whole(self) -> _Joined | _Test:
        condition = self._read_any()
        if self._peek()[0] != "end":
            raise self._refuse(f"{self._peek()[1][:20]!r} follows a whole filter")
        return condition

    def _read_any(self) -> _Joined | _Test:
        self._deep += 1
        if self._deep > _DEEPEST:
            raise self._refuse("it is nested too deeply")
        parts = [self._read_all()]
        while self._take("or"):
            parts.append(self._read_all())
        self._deep -= 1
        return parts[0] if len(parts) == 1 else _Joined("or", tuple(parts))

    def _read_all(self) -> _Joined | _Test:
        parts = [self._read_one()]
        while self._take("and"):
            parts.append(self._read_one())
        return parts[0] if len(parts) == 1 else _Joined("and", tuple(parts))

    def _read_one(self) -> _Joined | _Test:
        turned = 0
        while self._take("not"):
            turned += 1
        if self._take("("):
            condition = self._read_any()
            self._need(")")
        else:
            condition = self._read_test()
        return _Joined("not", (condition,)) if turned % 2 else condition

    def _read_test(self) -> _Joined | _Test:
        kind, word = self._peek()
        if kind not in ("name", "quoted"):
            raise self._refuse(f"a column was expected before {word[:20]!r}")
        self._place += 1
        column = word if kind == "name" else word[1:-1].replace('""', '"')
        self.columns.append(column)
        if self._take("is"):
            turned = self._take("not")
            self._need("null")
            test = _Test(column, "null", ())
        else:
            turned = self._take("not")
            test = _Test(column, *self._read_comparison(column, turned=turned))
        return _Joined("not", (test,)) if turned else test

    def _read_comparison(self, column: str, *, turned: bool) -> tuple[str, tuple[Value, ...]]:
        if self._take("in"):
            self._need("(")
            values = [self._read_value()]
            while self._take(","):
                values.append(self._read_value())
            self._need(")")
            return "in", self._alike(column, values)
        if self._take("between"):
            low = self._read_value()
            self._need("and")
            return "between", self._alike(column, [low, self._read_value()])
        sign = self._peek()[1]
        if turned or not self._take(*_COMPARE):
            raise self._refuse(f"a comparison was expected after {column[:20]!r}")
        return sign, (self._read_value(),)

    def _read_value(self) -> Value:
        kind, word = self._peek()
        self._place += 1
        if kind == "number":
            return to_exact(word)
        if kind == "text":
            return word[1:-1].replace("''", "'")
        raise self._refuse(f"a number or 'a text' was expected before {word[:20]!r}")

    def _alike(self, column: str, values: list[Value]) -> tuple[Value, ...]:
        if len({type(value) for value in values}) > 1:
            raise self._refuse(f"{column[:20]!r} is compared with numbers and with texts")
        return tuple(values)
