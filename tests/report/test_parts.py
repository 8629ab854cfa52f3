"""Elements, formulas, charts and numbers."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.report.charts import Chart, ChartLine, draw
from accountant.report.prose import equation
from accountant.report.wording import factor
from profiles import InvalidArgument, parse_expression
from profiles.presenting.elements import make, serialise, visible
from profiles.presenting.mathml import term_math
from tests.report.conftest import Page


@given(st.text(), st.text())
@settings(max_examples=25, deadline=None)
def test_any_text_is_only_text(text, value):
    page = Page(serialise(make("p", text, make("b", value), title=value)))
    assert [tag for tag, _ in page.tags] == ["p", "b"]
    assert page.text == visible(text) + visible(value)
    assert page.all("p") == [{"title": visible(value)}]


def test_names_are_plain():
    for name in ("p onload=x", "P", "", "a>b"):
        with pytest.raises(InvalidArgument):
            make(name)


def _math(text):
    return serialise(term_math(parse_expression(text)))


def _read(element):
    """Return what a MathML element says, fully bracketed."""
    if len(element) == 0:
        return {"−": "-", "·": "*"}.get(element.text, element.text or "*") if element.tag != "mspace" else "*"
    parts = [_read(child) for child in element]
    if element.tag == "mfrac":
        return f"(({parts[0]})/({parts[1]}))"
    if element.tag == "msup":
        return f"(({parts[0]})**({parts[1]}))"
    if element.tag == "msub":
        return "_".join(parts)
    if element.tag == "msqrt":
        return f"sqrt({''.join(parts)})"
    return "".join(parts)


@pytest.mark.parametrize(
    "text",
    [
        "w*(a - (b - 3)) - -2*w", "-(a + b)*w**2/3", "(a/b)**2*(-3)**2", "a - (b + w)", "2*3/4*w", "exp(-a)*log(1 + w)", "sqrt(a + 1)*w",
        "a/(b/w)", "(a*b)**(w + 1)", "-a**2", "(-a)**2", "1/3*w - 2/7", "a*(b*w)", "a - b*(w - 1)",
        "0.00000000000000000000000000000001*w + 1/3",
    ],
)  # fmt: skip
def test_what_is_laid_out_has_the_value_of_the_term(text):
    values = {"w": 1.7, "a": 0.4, "b": 2.3, "exp": math.exp, "log": math.log, "sqrt": math.sqrt}
    read = _read(term_math(parse_expression(text)))
    assert eval(read, {}, values) == pytest.approx(eval(text, {}, values), rel=1e-12)


def test_a_row_of_pieces_has_the_value_of_the_term():
    text = "w*(a + 1)*123456789 - (a - w)*987654321 + a*b*w*11111111 - (b - 22222222)*33333333"
    pieces = [piece for piece in equation(parse_expression(text)) if not isinstance(piece, str)]
    assert len(pieces) > 1
    read = "".join(_read(piece) for piece in pieces)
    values = {"w": 1.7, "a": 0.4, "b": 2.3}
    assert eval(read, {}, values) == pytest.approx(eval(text, {}, values), rel=1e-12)


def test_a_choice_is_a_table():
    shown = _math("Piecewise((w*a, a < 1/2), (w, True))")
    assert shown.count("<mtr>") == 2
    assert "<mtext>if</mtext>" in shown
    assert "<mtext>otherwise</mtext>" in shown


def test_names_with_underscores_are_subscripts_and_greek():
    assert "<msub><mi>β</mi><mtext>sum</mtext></msub>" in _math("w/beta_sum")
    assert "<mi>betasum</mi>" in _math("w/betasum")
    assert "<msub><mi>β</mi><mtext>_sum</mtext></msub>" in _math("w/beta__sum")
    assert "<mi>_sum</mi>" in _math("w/_sum")


def test_a_formula_that_no_page_holds_is_text():
    long = "exp(" + "+".join(f"z{k}*w" for k in range(40)) + ")"
    shown = "".join(
        piece if isinstance(piece, str) else serialise(piece) for piece in equation(parse_expression(long), "<=", ("num", Fraction(1)))
    )
    assert '<code class="formula">' in shown
    assert "z39*w" in shown


def test_charts_are_the_same_every_time_and_stay_inside():
    chart = Chart(
        "c", "t", "d", "x", "y", (ChartLine("a<b", ((0, 1), (1, 1e6), (2, 3))), ChartLine("one", ((1.0, 5.0),))), (("level", 7.0),)
    )
    first = serialise(draw(chart))
    assert first == serialise(draw(chart))
    assert "a&lt;b" in first
    assert "log scale" in first
    for x, y in re.findall(r"[ML]([-\d.]+) ([-\d.]+)", first):
        assert 0 <= float(x) <= 380
        assert 0 <= float(y) <= 270


@pytest.mark.parametrize("points", [((0.0, 0.0),), ((5.0, 5.0), (5.0, 5.0)), ((0.0, 0.0), (1.0, 0.0)), ((1e-300, 1e300), (2e-300, 1e-300))])
def test_degenerate_charts_are_drawn(points):
    shown = serialise(draw(Chart("c", "t", "d", "x", "y", (ChartLine("a", points),))))
    assert "nan" not in shown
    assert "inf" not in shown.replace("infinite", "")


@given(st.fractions(min_value=0, max_value=60))
@settings(max_examples=25, deadline=None)
def test_the_factor_is_rounded_up(epsilon):
    shown = eval(_read(factor(epsilon)).replace("·", "*"))
    assert math.exp(epsilon) * (1 - 1e-12) <= shown <= math.exp(epsilon) * 1.0101
