"""Where a piece of a box is cut that does not show a goal. Not trusted: the kernel looks whether the place is inside of the piece."""

from decimal import Decimal

from ..core import intervals as iv
from ..core.documents import Meter, require
from ..core.intervals import Interval
from ..core.terms import ROUGH, differentiate, postorder
from ..procedures.boxes import FARTHEST, Program, Undecided

Note = tuple[Program | None, dict[str, int]]  # for the slopes, if they say where to cut; and how often each variable was


def find_cut(asked: Undecided, meter: Meter) -> tuple[str, Decimal, Note]:
    """Return the coordinate with the largest slope times width, the least bisected one among equals; and the place where it is cut."""
    piece, p = asked.piece, asked.precision
    require(asked.value[1] > 0 or (asked.value[1] == 0 and not asked.goal.strict), "the goal is false on a whole piece")
    gradient, depth = asked.note or (_prepare(asked, meter), dict.fromkeys(piece, 0))
    slopes = asked.slopes or (dict(zip(piece, gradient.run(piece), strict=True)) if gradient else {})
    meter.spend(5 * len(piece))
    effects: dict[str, tuple[Decimal, int]] = {}
    for v, x in piece.items():
        if x[0] < x[1]:
            width = iv.add(x, iv.negate((x[0], x[0])), p)
            effects[v] = iv.mul(iv.absolute(slopes.get(v, iv.UNIT)), width, p)[1], -depth[v]
    require(effects, "the enclosure of a single point does not decide")
    v = max(effects, key=lambda v: effects[v])
    return v, _cut(piece[v], p, from_zero=asked.goal.box[v].open), (gradient, {**depth, v: depth[v] + 1})


def _prepare(asked: Undecided, meter: Meter) -> Program | None:
    term = asked.goal.term
    if asked.slopes or len(asked.piece) < 2 or any(node.op in ROUGH and node.free for node in postorder(term)):
        return None
    return Program([differentiate(term, v) for v in asked.piece], asked.precision, meter)


def _cut(x: Interval, p: int, *, from_zero: bool) -> Decimal:
    # a point strictly inside x: 1 or geometrically growing if x is unbounded, shrinking if x starts at an open zero
    lo, hi = x
    if hi == iv.INF and lo < 1:
        return iv.ONE
    if hi == iv.INF or (lo == 0 and from_zero):
        k = lo.adjusted() if hi == iv.INF else -hi.adjusted()
        require(k <= FARTHEST, "unbounded pieces, or pieces at an open zero, cannot be decided")
        k = max(k, 1) * 2 if k > 2 else k + 1
        return Decimal((0, (1,), k if hi == iv.INF else -k))
    far = lo > 0 and hi.adjusted() - lo.adjusted() > 1
    middle = Decimal((0, (1,), (hi.adjusted() + lo.adjusted() + 1) // 2)) if far else iv.middle(x, p)
    require(lo < middle < hi, "a piece cannot be bisected any further at this precision")
    return middle
