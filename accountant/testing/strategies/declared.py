"""Strategies for profiles and what they are declared with."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

from hypothesis import strategies as st

from accountant.testing.strategies.numbers import as_factor, positive_numbers
from profiles.declaring import declare
from profiles.errors import InvalidArgument
from profiles.grammar import parse_expression
from profiles.numbers import exact_text, to_exact, to_integer
from profiles.profile import Profile
from profiles.terms import free_symbols
from profiles.variables import Parameter, Statistic, make_parameter, make_statistic

#: Growth in w by family: terms that are defined and not negative for w ≥ 1, with {c} for a number of at least 1. Simple families first.
FAMILIES: dict[str, tuple[str, ...]] = {
    "linear": ("w", "(w + {c})"),
    "power": ("w**2", "w**(3/2)", "w**3", "w**{p}"),
    "root": ("sqrt(w)", "w**(9/10)", "w**(1/3)", "sqrt(w**2 + {c})"),
    "logarithmic": ("log(1 + w)", "log(1 + {c}*w)", "w*log(w)", "log(1 + w**2)", "log(1 + exp(w))"),
    "exponential": ("exp(w/{c})", "(exp(w/{c}) - 1)"),
    "saturating": ("w/(1 + w/{c})", "w**2/(1 + w)"),
    "decreasing": ("1/w", "exp(-w)", "1/(w + {c})"),
    "kink": ("Max(w, {c})", "Min(w, {c})", "Abs(w - {c})"),
    "piecewise": (
        "Piecewise((w, w < {c}), (w**2/{c}, True))",
        "Piecewise((w, w < {c}), (w**2/(2*{c}) + {c}/2, True))",
        "Piecewise((w, w <= {c}), (w + 1, True))",
    ),
    "wave": ("(w + sin(w))", "(1 + cos(3*w)/50)", "(w + sin(20*w)/300)"),
}
#: What may be put together in any way: not always defined, and not always positive.
_WILD = (
    *(term for terms in FAMILIES.values() for term in terms), "sin(w)/20", "cos(3*w)/50", "sin(20*w)/300", "exp(-1000*(w - 3)**2)/10",
    "1/(w - {c})", "log(w - 1)", "sqrt(w - {c})", "0", "1",
)  # fmt: skip
_NONNEGATIVE = ("z", "(1 + z)", "z**2")
_SIGNED = ("Abs(z)", "z**2")
_RANGES = (("0", "1"), ("0", "4"), ("1/2", "2"), ("1", "1"), ("1/10", "1/5"), ("3", "4"), ("0", "1000000"))
_SIGNED_RANGES = (("-1", "1"), ("-2", "1/2"))


@st.composite
def statistics(draw: st.DrawFn, name: str = "z", *, signed: bool = True) -> Statistic:
    """Return a strategy for record statistics: a name and a closed range, of one point at times; shrinks to [0, 1].

    ``signed`` False: ranges of numbers that are at least 0.
    """
    lo, hi = draw(st.sampled_from([*_RANGES, *(_SIGNED_RANGES if signed else ())]))
    return make_statistic(name, [lo, hi])


@st.composite
def parameters(draw: st.DrawFn, name: str = "a", *, free: bool = True, low: Fraction = Fraction(0)) -> Parameter:
    """Return a strategy for parameters: a number above ``low`` ≥ 0, a range of such numbers, any positive real; shrinks to a number.

    ``free`` False: numbers only. Any positive real only where ``low`` is 0.
    """
    if to_exact(low, "the number that a parameter is above") < 0:
        raise InvalidArgument(f"parameters are positive, but numbers above {str(low)[:40]} were asked for; give a low of at least 0")
    number = low + draw(positive_numbers())
    kind = draw(st.sampled_from(["number", "range", "positive"][: 1 if not free else 2 if low else 3]))
    if kind == "range":
        return make_parameter(name, [number, number + draw(positive_numbers())])
    return make_parameter(name, number if kind == "number" else "positive")


@st.composite
def profiles(
    draw: st.DrawFn, *, families: Collection[str] | None = None, max_terms: int = 3, free_parameters: bool = True, signed: bool = True
) -> Profile:
    """Return a strategy for profiles ε(w, x) that are real, finite and not negative on their whole domain, by construction.

    A profile is a sum of up to ``max_terms`` terms, each a coefficient (a number, a statistic, a parameter) times a term of one of the
    growth ``families``: linear, power, root, logarithmic, exponential, saturating, decreasing, kink, piecewise, wave. With
    ``free_parameters`` parameters may be ranges or any positive real; with ``signed`` a statistic may be negative. Conditions such as
    assumption-9 hold for some of them and not for others. Shrinks to ε = w.

    Raises :class:`InvalidArgument` for an unknown family, when an example is drawn.

    >>> from hypothesis import find
    >>> find(profiles(), lambda profile: True).text
    'w'
    """
    to_integer(max_terms, "max_terms", 1)
    if families is not None and (isinstance(families, str) or not isinstance(families, Collection) or not families):
        raise InvalidArgument(
            f"families must be a list of at least one name, but {str(families)[:40]!r} was found; give for example ['linear']"
        )
    chosen = list(FAMILIES) if families is None else list(families)
    for family in chosen:
        if family not in FAMILIES:
            raise InvalidArgument(f"the family {str(family)[:40]!r} is not known; known are {', '.join(FAMILIES)}")
    growths = [term for family in chosen for term in FAMILIES[family]]
    count = draw(st.integers(1, max_terms))
    z = draw(statistics(signed=signed))
    coefficients = ["", "{k}", *(_SIGNED if z.lo < 0 else _NONNEGATIVE), "a", "a*z" if z.lo >= 0 else "a*Abs(z)"]
    terms = [_product(draw, draw(st.sampled_from(coefficients)), draw(st.sampled_from(growths))) for _ in range(count)]
    return _declare(draw, " + ".join(terms), z, free=free_parameters)


@st.composite
def unchecked_profiles(draw: st.DrawFn, *, max_terms: int = 3) -> Profile:
    """Return a strategy for declarations of which nothing is known: some are undefined or negative somewhere, and will be refused."""
    to_integer(max_terms, "max_terms", 1)
    z = draw(statistics())
    coefficients = ["", "{k}", "z", "(1 + z)", "z**2", "a", "a*z", "(exp(1) - 1)"]
    sign = draw(st.sampled_from([" + ", " - "]))
    count = draw(st.integers(1, max_terms))
    text = sign.join(_product(draw, draw(st.sampled_from(coefficients)), draw(st.sampled_from(_WILD))) for _ in range(count))
    wrapper = draw(st.sampled_from(["{}", "{}", "{}", "log(1 + {})", "sqrt({})", "exp(-({}))", "({})/(w + z)"]))
    text = wrapper.format(text)
    return _declare(draw, text if "w" in free_symbols(parse_expression(text)) else f"{text} + w", z, free=True)


def _product(draw: st.DrawFn, coefficient: str, growth: str) -> str:
    if "{k}" in coefficient:
        coefficient = coefficient.replace("{k}", as_factor(draw(positive_numbers())))
    if "{c}" in growth:
        growth = growth.replace("{c}", as_factor(1 + draw(positive_numbers())))
    term = growth.replace("{p}", "p")
    return f"{coefficient}*{term}" if coefficient else term


def _declare(draw: st.DrawFn, text: str, z: Statistic, *, free: bool) -> Profile:
    used = free_symbols(parse_expression(text))
    constants: dict[str, Parameter] = {
        name: draw(parameters(name, free=free, low=Fraction(name == "p"))) for name in ("a", "p") if name in used
    }
    values: dict[str, object] = {
        name: p.value if p.value is not None else "positive" if p.bounds is None else list(p.bounds) for name, p in constants.items()
    }
    record = {"z": [exact_text(z.lo), exact_text(z.hi)]} if "z" in used else {}
    return declare("generated", text, record=record, parameters=values)
