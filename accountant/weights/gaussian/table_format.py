"""Tables of weights as files, and their check: the kernel judges the promise of the profile, the bound on ζ and every row by itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeVar

from accountant.compositions.events import Direction
from accountant.weights.gaussian.many_steps import StepBound
from accountant.weights.gaussian.proved import ProvedGaussian, recheck_proved
from accountant.weights.gaussian.table import MOST_ROWS, TableRow, WeightTable
from accountant.weights.gaussian.target import GaussianTarget, to_gaussian_target
from profiles import PDPError, UnreadableFile, declare, exact_text, to_exact
from profiles.profile import Profile
from profiles.strict_json import check_heading, read_count, read_exact, read_fields, read_list, read_string
from proofs_check.certificates import check_text, judge_file, profile_json, require
from proofs_check.kernel import CheckedClaim, Report

FORMAT, VERSION = "pdp-weight-table", 1
Found = TypeVar("Found")
Claims = Callable[[Found], Iterator[CheckedClaim]]
_KEYS = {"format", "version", "profile", "target", "reach", "promise", "ceiling", "rows"}


@dataclass(frozen=True, slots=True)
class TabulatedWeights:
    """A table of weights, with what is proved of the profile that it was made for."""

    proved: ProvedGaussian
    table: WeightTable

    def to_object(self) -> dict[str, Any]:
        """Return the certificate: everything that is needed to check the table again, as JSON types."""
        table, proved, asked = self.table, self.proved, self.table.target
        target = {"epsilon": exact_text(asked.epsilon), "delta": exact_text(asked.delta), "steps": asked.steps}
        return {
            "format": FORMAT,
            "version": VERSION,
            "profile": profile_json(proved.profile),
            "target": target,
            "reach": exact_text(proved.reach),
            "promise": proved.promise,
            "ceiling": proved.ceiling,
            "rows": [row_object(row) for row in table.rows],
        }

    def to_text(self) -> str:
        """Return the text of the file, a row a line."""
        return write_table(self.to_object())


def write_table(whole: Mapping[str, Any]) -> str:
    """Return the text of a file, a row a line."""
    rows = ",\n  ".join(json.dumps(row) for row in whole["rows"])
    rest = {name: value for name, value in whole.items() if name != "rows"}
    return json.dumps(rest, indent=1)[:-2] + f',\n "rows": [\n  {rows}\n ]\n}}\n'


def row_object(row: TableRow) -> dict[str, Any]:
    """Return a row as JSON types: μ and q as exact text, and the grid of the bound on δ in each direction."""
    return {"mu": exact_text(row.mu), "q": exact_text(row.q), **{bound.direction.value: bound.grid for bound in row.bounds}}


def read_table(value: object, profile: Profile) -> TabulatedWeights:
    """Return the table of an object for ``profile``, of which nothing is checked yet but its form. Raises :class:`UnreadableFile`."""
    where = "a table of weights"
    fields = read_fields(check_heading(value, FORMAT, VERSION), where, _KEYS)
    if fields["profile"] != profile_json(profile):
        raise UnreadableFile(f"{where} for {profile.name[:60]!r} was expected, but it is for another profile; take the one of this profile")
    stated = read_fields(fields["target"], "the target", {"epsilon", "delta", "steps"})
    target, reach = read_target(stated, "the target ", f"the target of {where}"), read_exact(fields["reach"], "the largest zeta")
    rows = tuple(read_row(item, target.delta) for item in read_list(fields["rows"], "the rows"))
    falls = all(one.mu < other.mu and one.zeta > other.zeta for one, other in pairwise(rows))
    if not 0 < len(rows) <= MOST_ROWS or not falls or not 0 < reach <= rows[0].zeta:
        raise UnreadableFile(f"{where} needs rows with rising mu and falling zeta from {exact_text(reach)[:40]} on; correct the file")
    proved = ProvedGaussian(profile, reach, {}, read_certificate_object(fields["promise"]), read_certificate_object(fields["ceiling"]))
    return TabulatedWeights(proved, WeightTable(target, rows))


def read_certificate_object(value: object) -> dict[str, Any]:
    """Return a certificate inside a file, which the kernel judges later. Raises :class:`UnreadableFile`."""
    if not isinstance(value, dict):
        raise UnreadableFile("the certificates of a table of weights are objects, but another value was found; correct the file")
    return value


def read_target(fields: Mapping[str, Any], role: str, whole: str) -> GaussianTarget:
    """Return ε*, δ* and the steps of ``whole``, which are called so after ``role``. Raises :class:`UnreadableFile`."""
    epsilon, delta = (read_exact(fields[name], f"{role}{name}") for name in ("epsilon", "delta"))
    try:
        return to_gaussian_target(epsilon, delta, read_count(fields["steps"], "the steps"))
    except PDPError as error:
        raise UnreadableFile(f"{whole} cannot be read: {error}") from None


def read_row(value: object, delta: Fraction) -> TableRow:
    """Return the row of an object. Raises :class:`UnreadableFile`."""
    fields = read_fields(value, "a row", {"mu", "q", *(direction.value for direction in Direction)})
    mu, q = read_exact(fields["mu"], "mu of a row"), read_exact(fields["q"], "q of a row")
    if not 0 < q <= 1 or mu <= 0:
        raise UnreadableFile("a row needs a mu above 0 and a q in (0, 1], but other numbers were found; correct the file")
    return TableRow(mu, q, tuple(StepBound(direction, delta, _read_grid(fields[direction.value])) for direction in Direction))


def _read_grid(value: object) -> Mapping[str, object] | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise UnreadableFile("the grid of a row is an object, but another value was found; correct the file")
    return value


def find_fault(whole: TabulatedWeights) -> str | None:
    """Return the step at which the kernel rejects a table, None where it accepts all of it."""
    proved, table = whole.proved, whole.table
    if not recheck_proved(proved.profile, proved.reach, proved.promise, proved.ceiling):
        return "promise"
    bad = table.find_rejected()
    return None if bad is None else f"rows[{table.rows.index(bad)}]"


def report_on(step: str, read: Callable[[], Found], find_fault: Callable[[Found], str | None], claims: Claims[Found]) -> Report:
    """Return the report on a file of several certificates: malformed where ``read`` fails, else rejected at the fault, or its claims."""

    def find() -> Report:
        reason = read()
        fault = find_fault(reason)
        require(fault is None, str(fault), "the kernel does not accept its certificate")
        return Report(accepted=True, claims=tuple(claims(reason)))

    return judge_file(step, find)


def check_table(value: Mapping[str, Any]) -> Report:
    """Put every claim of a file with a table of weights to the kernel.

    Accepted means: μ(w, x) = w μ(1, x) and μ(1, x) ≤ ``reach`` for the stated profile, and every row has δ(ε*) ≤ δ* in both directions
    after the stated number of steps; so every weight that is read off the table has (Theorem 9).
    """
    return report_on("weight-table", lambda: read_table(value, declare_stated(value["profile"])), find_fault, _claims)


def _claims(table: TabulatedWeights) -> Iterator[CheckedClaim]:
    for certificate in (table.proved.promise, table.proved.ceiling):
        yield from (claim for claim in check_text(json.dumps(certificate)).claims if claim.claim != "well-defined")
    yield CheckedClaim("weight-table", "proved", f"{len(table.table.rows)} rows", (), ())


def declare_stated(profile: Mapping[str, Any]) -> Profile:
    """Return the profile of the notion ``gaussian`` that a file states. Raises what :func:`profiles.declare` raises."""
    name, notion = read_string(profile["name"], "the name"), read_string(profile["notion"], "the notion")
    return declare(name, notion=notion, mu=profile["mu"], record=profile["record"], parameters=profile["parameters"])


def describe_table(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield what an accepted table says, for people."""
    target, rows = value["target"], value["rows"]
    delta, steps = exact_text(to_exact(target["delta"])), target["steps"]
    yield f"weights with delta({target['epsilon']}) <= {delta} after {steps} step(s), each on a fresh sample"
    yield f"for mu(1, x) <= {value['reach']}: {len(rows)} rows; w = mu/zeta with the largest mu of a row that serves zeta = mu(1, x)"
