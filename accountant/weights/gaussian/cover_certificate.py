"""Covers of sampling rules as files, and their check: each row, each cell and the lower side is judged by the kernel."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from accountant.compositions.certificates import make_certificate
from accountant.weights.gaussian.branch_and_bound import Cell, Cover, LowerEnd, Split, pair_at
from accountant.weights.gaussian.many_steps import compose_pair
from accountant.weights.gaussian.proved import recheck_promise
from accountant.weights.gaussian.table import MOST_ROWS
from accountant.weights.gaussian.table_format import (
    declare_stated,
    read_certificate_object,
    read_row,
    read_target,
    report_on,
    row_object,
)
from profiles import PDPError, UnreadableFile, exact_text, to_exact
from profiles.grammar import parse_expression
from profiles.profile import Profile
from profiles.strict_json import check_heading, read_count, read_exact, read_fields, read_list, read_string
from profiles.terms import Term, to_text
from proofs_check.certificates import check_text, profile_json
from proofs_check.kernel import CheckedClaim, Report
from proofs_check.suprema.ceilings import RecordTerm

FORMAT, VERSION = "pdp-weight-cover", 1
_MOST_DEPTH, _MOST_CELLS = 64, 2_000
_KEYS = {"format", "version", "profile", "sampling", "epsilon", "delta", "steps", "promise", "rows", "tree", "lower"}


@dataclass(frozen=True, slots=True)
class CoveredRule:
    """A cover of the rule q for a profile, and the certificate that the profile is homogeneous."""

    profile: Profile
    q: Term
    promise: Mapping[str, Any]
    cover: Cover

    def to_object(self) -> dict[str, Any]:
        """Return the certificate: everything that is needed to check both sides again, as JSON types."""
        cover = self.cover
        return {
            "format": FORMAT,
            "version": VERSION,
            "profile": profile_json(self.profile),
            "sampling": {"q": to_text(self.q)},
            "epsilon": exact_text(cover.epsilon),
            "delta": exact_text(cover.delta),
            "steps": cover.steps,
            "promise": self.promise,
            "rows": [row_object(row) for row in cover.rows],
            "tree": _tree_object(cover.tree),
            "lower": None if cover.lower is None else _lower_object(cover.lower),
        }


def _tree_object(tree: Cell | Split) -> dict[str, Any]:
    if isinstance(tree, Cell):
        return {"row": tree.row, "q": tree.q, "shift": tree.shift}
    return {"name": tree.name, "at": exact_text(tree.at), "below": _tree_object(tree.below), "above": _tree_object(tree.above)}


def _lower_object(lower: LowerEnd) -> dict[str, Any]:
    at = {name: exact_text(value) for name, value in lower.at.items()}
    numbers = {"mu": exact_text(lower.mu), "q": exact_text(lower.q), "epsilon": exact_text(lower.epsilon)}
    return {"at": at, **numbers, "claims": [dict(claim) for claim in lower.claims]}


def read_cover(value: object, profile: Profile, q: Term) -> CoveredRule:
    """Return the cover of an object for ``profile`` and ``q``, of which nothing is checked yet but its form.

    Raises :class:`UnreadableFile`.
    """
    where = "a cover of a sampling rule"
    fields = read_fields(check_heading(value, FORMAT, VERSION), where, _KEYS)
    if fields["profile"] != profile_json(profile) or fields["sampling"] != {"q": to_text(q)}:
        raise UnreadableFile(f"{where} for {profile.name[:60]!r} was expected, but it is for another profile or rule; take its own")
    target = read_target(fields, "", f"the numbers of {where}")
    rows = tuple(read_row(item, target.delta) for item in read_list(fields["rows"], "the rows"))
    if not 0 < len(rows) <= MOST_ROWS:
        raise UnreadableFile(f"{where} has 1 to {MOST_ROWS} rows, but {len(rows)} were found; correct the file")
    tree = _read_tree(fields["tree"], [0], 0, len(rows))
    lower = None if fields["lower"] is None else _read_lower(fields["lower"])
    cover = Cover(target.epsilon, target.delta, target.steps, rows, tree, lower)
    return CoveredRule(profile, q, read_certificate_object(fields["promise"]), cover)


def _read_tree(value: object, count: list[int], depth: int, rows: int) -> Cell | Split:
    count[0] += 1
    if depth > _MOST_DEPTH or count[0] > 2 * _MOST_CELLS:
        raise UnreadableFile(f"at most {_MOST_CELLS} cells were expected in a cover, but more were found; correct the file")
    if isinstance(value, dict) and "row" in value:
        fields = read_fields(value, "a cell", {"row", "q", "shift"})
        place = read_count(fields["row"], "the row of a cell")
        if place >= rows:
            raise UnreadableFile(f"the row of a cell is one of {rows}, but another was found; correct the file")
        return Cell(place, read_certificate_object(fields["q"]), read_certificate_object(fields["shift"]))
    fields = read_fields(value, "a split", {"name", "at", "below", "above"})
    parts = [_read_tree(fields[side], count, depth + 1, rows) for side in ("below", "above")]
    return Split(read_string(fields["name"], "the statistic of a split"), read_exact(fields["at"], "a split"), parts[0], parts[1])


def _read_lower(value: object) -> LowerEnd:
    fields = read_fields(value, "the lower side", {"at", "mu", "q", "epsilon", "claims"})
    if not isinstance(fields["at"], dict) or not all(isinstance(claim, dict) for claim in read_list(fields["claims"], "the claims")):
        raise UnreadableFile("the lower side names a record and claims, but something else was found; correct the file")
    at = {read_string(name, "a statistic"): read_exact(number, "a statistic") for name, number in fields["at"].items()}
    mu, q, epsilon = (read_exact(fields[name], name) for name in ("mu", "q", "epsilon"))
    return LowerEnd(at, mu, q, epsilon, tuple(fields["claims"]))


def find_cover_fault(covered: CoveredRule) -> str | None:
    """Return the step at which the kernel rejects a cover, None where it accepts all of it."""
    cover, zeta = covered.cover, covered.profile.at_weight_one()
    if not recheck_promise(covered.profile, covered.promise):
        return "promise"
    bad = cover.table.find_rejected()
    if bad is not None:
        return f"rows[{cover.rows.index(bad)}]"
    try:
        cells = list(cover.cells(covered.profile.record))
    except PDPError:
        return "tree"
    for place, (cell, box) in enumerate(cells):
        row = cover.rows[cell.row]
        q, shift = RecordTerm(covered.q, box), RecordTerm(("div", zeta, covered.q), box)
        if not q.is_at_most(row.q, cell.q) or not shift.is_at_most(row.mu, cell.shift):
            return f"cells[{place}]"
    return None if cover.lower is None or _holds_below(covered, cover.lower, zeta) else "lower"


def _holds_below(covered: CoveredRule, lower: LowerEnd, zeta: Term) -> bool:
    """Tell whether the record lies in the domain, has at least the stated pair, and the pair at least the stated ε at δ."""
    ranges = {item.name: (item.lo, item.hi) for item in covered.profile.record}
    if set(lower.at) != set(ranges) or not all(ranges[name][0] <= value <= ranges[name][1] for name, value in lower.at.items()):
        return False
    pair = pair_at(zeta, covered.q, lower.at)
    if pair is None or not (0 < lower.mu <= pair[0] and 0 < lower.q <= pair[1]):
        return False
    certificate = make_certificate(compose_pair(lower.mu, lower.q, covered.cover.steps), lower.claims)
    text = json.dumps(certificate)
    if not lower.claims or not check_text(text).accepted:
        return False
    said = [claim for claim in json.loads(text)["claims"] if claim["claim"] == "delta-lower"]
    return any(to_exact(claim["epsilon"]) >= lower.epsilon and to_exact(claim["bound"]) >= covered.cover.delta for claim in said)


def check_cover(value: Mapping[str, Any]) -> Report:
    """Put every claim of a file with a cover to the kernel.

    Accepted means: μ(w, x) = w μ(1, x) for the stated profile, 0 < q(x) ≤ 1, and ε at δ after the steps is at most ``epsilon`` at every
    record of the declared domain; and at least the ``lower`` one at the record that is named.
    """

    def read() -> CoveredRule:
        return read_cover(value, declare_stated(value["profile"]), parse_expression(value["sampling"]["q"], "q"))

    return report_on("weight-cover", read, find_cover_fault, _claims)


def _claims(covered: CoveredRule) -> Iterator[CheckedClaim]:
    yield CheckedClaim("homogeneous", "proved", None, (), ())
    yield CheckedClaim("epsilon-upper", "proved", exact_text(covered.cover.epsilon), (), ())
    if covered.cover.lower is not None:
        yield CheckedClaim("epsilon-lower", "proved", exact_text(covered.cover.lower.epsilon), (), ())


def describe_cover(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield what an accepted cover says, for people."""
    after = f"after {value['steps']} step(s), each on a fresh sample"
    yield f"epsilon <= {value['epsilon']} at delta = {value['delta']} {after}, at every record"
    if value["lower"] is not None:
        at = ", ".join(f"{name} = {number}" for name, number in value["lower"]["at"].items())
        yield f"and at least {value['lower']['epsilon']} for the record {at} of the worst mechanism with this mu"
