"""Reading, derivatives and normal forms: what is written is what is meant, and hostile text is refused."""

from fractions import Fraction
from sys import getrefcount

import mpmath
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from proofs_check.kernel import reading as syntax
from proofs_check.kernel.core import terms
from proofs_check.kernel.core.documents import Meter, Rejected
from proofs_check.kernel.core.rules import equal
from proofs_check.kernel.core.theorems import Range
from proofs_check.kernel.procedures.boxes import enclose
from proofs_check.kernel.procedures.normal import IDENTITIES, Normaliser
from proofs_check.kernel.untrusted.proofs import Session
from proofs_check.kernel.untrusted.showing import show
from proofs_check.kernel.untrusted.upgrade import check, upgrade
from tests.mutants.attacks import document

NAMES = {name: terms.var(name) for name in ("w", "x", "y")}
BOX = {name: Range(Fraction(1, 2), Fraction(3)) for name in NAMES}


def read(text):
    return syntax.read_term(text, {name: terms.var(name) for name in NAMES})


def evaluate(term, point):
    """The value of a term at a point, in mpmath."""
    values = {}
    for node in terms.postorder(term):
        a = [values[arg] for arg in node.args]
        if node.op == "num":
            result = mpmath.mpf(node.value.numerator) / node.value.denominator
        elif node.op == "var":
            result = point[node.value]
        elif node.op == "pi":
            result = mpmath.pi
        elif node.op == "piecewise":
            cases = [(a[3 * i], a[3 * i + 1], sign, a[3 * i + 2]) for i, sign in enumerate(node.value)]
            tests = {"<": lambda x, y: x < y, "<=": lambda x, y: x <= y, ">": lambda x, y: x > y, ">=": lambda x, y: x >= y}
            result = next((v for v, x, sign, y in cases if tests[sign](x, y)), a[-1])
        else:
            table = {"add": mpmath.fadd, "mul": mpmath.fmul, "div": mpmath.fdiv, "pow": mpmath.power, "abs": abs, "max": max}
            result = (table.get(node.op) or getattr(mpmath, node.op))(*a)
        values[node] = result
    return values[term]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", Fraction(1, 10)),
        ("1e-3", Fraction(1, 1000)),
        ("1.50E+2", Fraction(150)),
        (".5", Fraction(1, 2)),
        ("2.", Fraction(2)),
        ("0.1 + 0.2", Fraction(3, 10)),
        ("-2**2", Fraction(-4)),
        ("2**-1", Fraction(1, 2)),
        ("2**3**2", Fraction(512)),
        ("1/3", Fraction(1, 3)),
        ("-1 - -1", Fraction(0)),
        ("8/2/2", Fraction(2)),
        ("1 - 1 - 1", Fraction(-1)),
        ("+3", Fraction(3)),
        ("0**0", Fraction(1)),
        ("9007199254740993", Fraction(9007199254740993)),
        ("0.1000000000000000055511151231257827", Fraction(1000000000000000055511151231257827, 10**34)),
    ],
)
def test_numbers_are_exact(text, value):
    assert terms.number(read(text)) == value


HOSTILE = [
    "__import__('os')",
    "().__class__",
    "w.real",
    "w.__class__",
    "exp(x=w)",
    "exp(w, w)",
    "exp()",
    "exp",
    "Max(w)",
    "Abs(w, w)",
    "sqrt(w, 2)",
    "exp(*w)",
    "lambda: 0",
    "[w for w in x]",
    "(w for w in x)",
    "(w := 3)",
    "'w'",
    '"w"',
    "w if w else x",
    "w and x",
    "w or x",
    "not w",
    "w < x",
    "w == x",
    "w,",
    "w // x",
    "w % x",
    "w @ x",
    "w | x",
    "~w",
    "w[0]",
    "{w}",
    "w\n",
    "w;x",
    "w # x",
    "1_000",
    "0x10",
    "1j",
    "True",
    "None",
    "inf",
    "nan",
    "Infinity",
    "1e99999",
    "1e",
    "e1",
    "1..2",
    "1.2.3",
    "w w",
    "2w",
    "w(x)",
    "(w)(x)",
    "",
    " ",
    "(",
    ")",
    "w+",
    "*w",
    "unknown",
    "Pi",
    "10**10**10",
    "w**10**7",
    "w**(10000001/1)",
    "Piecewise()",
    "Piecewise((1, w < 2))",
    "Piecewise((1, True), (2, True), (3, w < 2))",
    "Piecewise((1, 1 < w < 2), (2, True))",
    "Piecewise((1, w == 2), (2, True))",
    "Piecewise((1, w), (2, True))",
    "Piecewise(1, True)",
    "Piecewise((1, w < 2, 3), (2, True))",
    "Piecewise((1, w < 2), (2, 1))",
    "Piecewise((1, w < 2), (2, False))",
    "Piecewise((1, w < 2), otherwise=1)",
    "Piecewise((1, w != 1), (1, True))",
    "Piecewise((True, w < 2), (1, True))",
    "wé",
    "ｗ",
    "w\x00",
    "exp(w" + ")" * 300,
    "9" * 2001,
    "0." + "1" * 2000,
    "(" * 100_000 + "w" + ")" * 100_000,
    "(" * 5000 + "w" + ")" * 5000,
    "-" * 10_000 + "w",
    "exp(" * 450 + "w" + ")" * 450,
    "w**" * 450 + "w",
    "w+" * 10_001 + "w",
    "eval(w)",
    "open(w)",
    "Symbol(w)",
    "await w",
    "yield w",
    "print(w)",
    "w.x(1)",
    "3 .real",
    "exp (w) (w)",
    "w + w)(w + w",
    "w) + (w",
    "w - ",
    "w + , w",
    "w, x",
    "(w, x)",
    "exp(w,)",
    "exp(w, x)",
    "exp()",
    "exp",
    "2(w)",
    "(w < x) + 1",
    "-(w < x)",
    "w < x",
    "((w < x) < x)",
    "exp(True)",
    "Max(w)",
    "Max((w, x))",
    "07",
    "w + + ",
    "w ** * x",
    "w * * x",
    "*(w)",
    ",(w)",
    ")(w)",
    "Piecewise((w, x), (1, True))",
    "Piecewise(((w, x < 1), (1, True)))",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_text_outside_the_grammar_is_refused(text):
    with pytest.raises(Rejected):
        read(text)


@pytest.mark.parametrize("value", [None, 1, 1.5, True, ["w"], {"w": 1}, b"w"])
def test_terms_are_text(value):
    with pytest.raises(Rejected):
        read(value)


@pytest.mark.parametrize(
    "value", [0, 1.5, None, True, "", "-", "1/0", "1/-2", "--1", "1e5/", "/2", "0x1", "1_0", " 1", "½", "١", "1e10001", "9" * 2001, "inf"]
)
def test_numbers_are_exact_strings(value):
    with pytest.raises(Rejected):
        syntax.read_number(value)


def test_numbers_may_be_fractions_and_signed():
    assert syntax.read_number("-2.5/5e-1") == -5
    assert syntax.read_number("+1/3") == Fraction(1, 3)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "w",
        "pi",
        "exp",
        "log",
        "sqrt",
        "sin",
        "cos",
        "tan",
        "Abs",
        "abs",
        "Min",
        "Max",
        "min",
        "max",
        "Piecewise",
        "True",
        "1a",
        "a-b",
        "é",
        "a b",
        "a" * 101,
        1,
        None,
        ["a"],
    ],
)
def test_reserved_and_malformed_names_are_refused(name):
    with pytest.raises(Rejected):
        syntax.read_name(name)


def test_long_sums_are_read():
    assert read(" + ".join(["w"] * 1000)).free == {"w"}


def test_equal_terms_are_the_same_object():
    assert read("w*x + exp(w)") is read("(w * x)+exp( w )")
    assert read("w + x") is not read("x + w")


SMOOTH = [
    "w**3*x - w/x",
    "exp(w*x)*log(1 + w)",
    "sqrt(w + x)",
    "(1 + w)**(2/3)",
    "w**x",
    "x**w",
    "(w*x)**(w/x)",
    "sin(w*x)/cos(w/4)",
    "tan(w/4)",
    "1/(1 + w**2)**3",
    "exp(-w)*w**-2",
    "log(log(3 + w))",
    "pi*w + pi**w",
    "(w - 5)**3",
    "2**w*w**2",
    "w**0 + w**1",
    "exp(exp(w/3))",
    "x + 1",
    "1/(x*w) - 1/w",
]


@pytest.mark.parametrize("text", SMOOTH)
@pytest.mark.parametrize("v", ["w", "x"])
def test_derivatives(text, v):
    term = read(text)
    slope = terms.differentiate(term, v)
    with mpmath.workdps(60):
        for point in ({"w": mpmath.mpf(7) / 5, "x": mpmath.mpf(9) / 7}, {"w": mpmath.mpf(5) / 3, "x": mpmath.mpf(3) / 4}):
            true = mpmath.diff(lambda t, at=point: evaluate(term, {**at, v: t}), point[v])
            assert mpmath.almosteq(evaluate(slope, point), true, rel_eps=mpmath.mpf(10) ** -15, abs_eps=mpmath.mpf(10) ** -20)


@pytest.mark.parametrize("text", ["Abs(w)", "Max(w, x)", "Piecewise((w, x < 2), (1, True))", "exp(Min(w, 1))"])
def test_branches_on_the_variable_have_no_derivative(text):
    with pytest.raises(Rejected):
        terms.differentiate(read(text), "w")
    with pytest.raises(Rejected):
        terms.smoothness(read(text), "w")
    assert terms.number(terms.differentiate(read(text), "y")) == 0


def test_roots_need_positive_arguments_for_a_derivative():
    assert [show(t) for t in terms.smoothness(read("sqrt(w) + sqrt(x) + w**2 + (1 + w)**(-1/3)"), "w")] != []
    assert set(terms.smoothness(read("sqrt(w) + sqrt(x) + w**2"), "w")) == {read("w")}


LEAVES = st.sampled_from(["w", "x", "y", "1", "2", "1/3", "0.7", "pi", "0"])


def combine(inner):
    pairs = st.tuples(inner, inner)
    return st.one_of(
        pairs.map(lambda p: f"({p[0]} + {p[1]})"),
        pairs.map(lambda p: f"({p[0]} - {p[1]})"),
        pairs.map(lambda p: f"({p[0]} * {p[1]})"),
        pairs.map(lambda p: f"({p[0]} / {p[1]})"),
        st.tuples(inner, st.sampled_from(["2", "3", "-1", "-2", "(1/2)", "(-3/2)", "(5/2)", "0", "(2/3)"])).map(
            lambda p: f"({p[0]})**{p[1]}"
        ),
        pairs.map(lambda p: f"(1 + {p[0]}**2)**({p[1]})"),
        inner.map(lambda t: f"exp({t}/4)"),
        inner.map(lambda t: f"log({t})"),
        inner.map(lambda t: f"exp(2*log({t}))"),
        st.tuples(st.sampled_from(["sin", "cos", "Abs", "sqrt"]), inner).map(lambda p: f"{p[0]}({p[1]})"),
        pairs.map(lambda p: f"Max({p[0]}, {p[1]})"),
        st.tuples(inner, inner, inner).map(lambda p: f"Piecewise(({p[0]}, {p[1]} < {p[2]}), ({p[1]}, True))"),
    )


TEXTS = st.recursive(LEAVES, combine, max_leaves=8)
COORDINATES = st.fractions(min_value=Fraction(1, 2), max_value=3, max_denominator=50)


@pytest.mark.thorough
@given(TEXTS, COORDINATES, COORDINATES, COORDINATES)
def test_normal_forms_and_enclosures_keep_the_value(text, w, x, y):
    session = Session()
    with mpmath.workdps(60):
        point = {name: mpmath.mpf(q.numerator) / q.denominator for name, q in (("w", w), ("x", x), ("y", y))}
        try:
            term = read(text)
            true = evaluate(term, point)
        except (Rejected, ZeroDivisionError, ValueError, TypeError, OverflowError, MemoryError):
            assume(False)
        assume(isinstance(true, mpmath.mpf) and mpmath.isfinite(true) and abs(true) < mpmath.mpf(10) ** 20)
        values = [evaluate(node, point) for node in terms.postorder(term)]
        assume(all(isinstance(value, mpmath.mpf) and mpmath.isfinite(value) for value in map(mpmath.mpmathify, values)))
        # roots of numbers that are zero up to rounding are undecided here
        sizes = [abs(evaluate(node, point)) for node in terms.postorder(term)]
        assume(all(size == 0 or size > mpmath.mpf(10) ** -30 for size in sizes))
        at = {name: Range(q, q) for name, q in (("w", w), ("x", x), ("y", y))}
        for box in (BOX, at):
            low, high = enclose(term, box, session.meter)
            assert mpmath.mpf(str(low).replace("Infinity", "inf")) <= true + mpmath.mpf(10) ** -40
            assert true - mpmath.mpf(10) ** -40 <= mpmath.mpf(str(high).replace("Infinity", "inf"))
        normaliser = Normaliser(BOX, session.meter)
        try:
            form = normaliser.poly(term)
            back = evaluate(normaliser.term(form), point)
        except (Rejected, ZeroDivisionError):
            assume(False)
        assert mpmath.almosteq(back, true, rel_eps=mpmath.mpf(10) ** -20, abs_eps=mpmath.mpf(10) ** -20), (
            text,
            show(normaliser.term(form)),
        )
        sign = normaliser.manifest(form)
        assert sign == 0 or true >= -(mpmath.mpf(10) ** -40)
        assert sign < 2 or true > 0
        if not normaliser.cleared(form, signed=False):
            assert abs(true) < mpmath.mpf(10) ** -40
        if normaliser.manifest(normaliser.cleared(form, signed=True)) == 2:
            assert true > 0


@pytest.mark.thorough
@pytest.mark.parametrize(
    "text",
    [
        "(w + x + y + 1)**12*(w - x + 2*y)**12*(1 + w*x*y)**12*(1 + sin(w) + cos(x) + y)**12",
        "*".join(f"(w**{i} + x + {i})" for i in range(1, 60)),
    ],
)
def test_large_normal_forms_are_refused_quickly(text):
    session = Session()
    term = read(text)
    with pytest.raises(Rejected):
        Normaliser(BOX, session.meter).poly(term)


@pytest.mark.parametrize("text", ["(10**9000)**5000*w", "(w*10**9000)**1000", "2**40000*2**40000*2**40000*w"])
def test_large_numbers_are_refused(text):
    normaliser = Normaliser(BOX, Meter())
    with pytest.raises(Rejected):
        normaliser.poly(read(text))


def vanishes(term, box):
    """Whether the kernel shows that a term is 0."""
    try:
        Session().run(equal(term, terms.num(0), box, "it is not"))
    except Rejected:
        return False
    return True


def test_squares_of_unsigned_variables_keep_their_sign():
    box = {name: Range(Fraction(-1), Fraction(1)) for name in NAMES}
    for text in ("sqrt(w**2) - w", "(w**2)**(3/2) - w**3", "(w**4)**(1/4) - w", "sqrt(w**2*x**2) - w*x", "log(w**2 + 1 - 1) - 2*log(w)"):
        assert not vanishes(read(text), box), text
    for text in ("sqrt(w**2) - w", "sqrt(w**2*x**2) - w*x", "(w*x)**(3/2) - w**(3/2)*x**(3/2)"):
        assert vanishes(read(text), BOX), text


@pytest.mark.parametrize(
    ("term", "zero"),
    [
        ("log(1/37) + log(37)", True),
        ("log(2/37) + log(37) - log(2)", True),
        ("log(41/37) + log(37/41)", True),
        ("sqrt(41/37) - sqrt(41)/sqrt(37)", True),
        ("log(1/37) - log(37)", False),
        ("sqrt(41/37) - sqrt(37/41)", False),
        ("sqrt(1e20) - 1e10", True),
        ("sqrt(1e20) - 1e9", False),
    ],
)
def test_numbers_are_taken_apart_in_one_way(run, term, zero):
    assert run(epsilon=f"0*w + {term}", nonnegative={"rule": "zero"}).accepted is zero


#: Two sides of each identity that normal forms use, at x, y > 0.
EXAMPLES = {
    "polynomials": ("(x + y)*(x - y)", "x**2 - y**2"),
    "exp of a sum": ("exp(x)*exp(y)", "exp(x + y)"),
    "exp of a logarithm": ("exp(3*log(x)/2)", "x**(3/2)"),
    "log of an exponential": ("log(exp(x)*y)", "x + log(y)"),
    "sum of exponents": ("x**(1/3)*x**(2/3)", "x"),
    "power of a product": ("sqrt(6)*(x*y)**(1/2)", "sqrt(2)*sqrt(3)*x**(1/2)*y**(1/2)"),
    "log of a product": ("log(6)", "log(2) + log(3)"),
    "square of an Abs": ("abs(x - y)**2", "(x - y)**2"),
    "Abs by sign": ("abs(x*(x - y)) + abs(x)", "x*abs(y - x) + x"),
    "order of a Max": ("Max(x, Max(y, 1))", "Max(Max(1, x), y)"),
    "factor of a Max": ("Max(x*y, x)", "x*Max(1, y)"),
    "Max by an Abs": ("Max(x, y) + Min(x, y)", "x + y"),
    "turns": ("sin(pi/3)", "cos(pi/6)"),
    "squares of cosines": ("cos(pi/6)**2", "3/4"),
}


@pytest.mark.parametrize("name", IDENTITIES)
def test_each_identity_is_used_and_a_false_one_is_not(name):
    box = {"x": Range(Fraction(0), open=True), "y": Range(Fraction(0), open=True)}
    one, other = (syntax.read_term(text, syntax.variables(box)) for text in EXAMPLES[name])
    assert vanishes(one - other, box)
    assert not vanishes(one - other - one, box)
    assert not vanishes(one - other + terms.num(Fraction(1, 10**9)), box)


def test_no_term_is_freed_inside_another_one(monkeypatch):
    def count(objects):
        return [getrefcount(each) for each in objects]

    def watch(term):
        inside.extend(arg.op for arg, held in zip(term.args, count(term.args), strict=True) if held == alone)  # it goes with this one

    inside, alone = [], count((object(),))[0]
    monkeypatch.setattr(terms.Term, "__del__", watch, raising=False)
    terms.forget()
    text = document("+".join(["w"] * 2_400), {"rule": "boxes", "budget": 9})
    assert [check(each).accepted for each in (text, upgrade(text), text.replace("3", "-3"), document("w"))] == [True, True, False, True]
    terms.forget()
    assert inside == []
    chain = read("+".join(["w"] * 9))
    terms.forget()
    terms.forget()
    assert inside == []
    del chain
    assert inside == ["add"] * 7  # a term that outlives its table: the test sees that
