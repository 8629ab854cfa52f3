"""Profiles in other notions: declared in Python and in files, written, read back, shown; and what is refused."""

from __future__ import annotations

import json

import pytest
import sympy

from profiles import (
    InvalidExpression,
    InvalidProfile,
    OtherNotion,
    PDPError,
    UnreadableFile,
    declare,
    parse_file,
    read_profile,
    write_profile,
)
from profiles.files import Declaration, write_toml
from profiles.notions import ProfileNotion, to_notion
from profiles.variables import Variable

Z = {"z": [0, 4]}
GAUSSIAN = declare("sum", notion="gaussian", mu="w*z/sigma", record=Z, parameters={"sigma": 3})
RENYI = declare("sum", notion="renyi", rdp="alpha*w**2*z**2/(2*sigma**2)", record=Z, parameters={"sigma": "positive"})
ZCDP = declare("sum", notion="zcdp", rho="w**2*z**2/18", record=Z)
SHARED = declare("sum", notion="gaussian", mu="w*z", record={"z": [0, "2*R"]}, parameters={"R": "positive"})
ALL = [GAUSSIAN, RENYI, ZCDP, SHARED, declare("pure", "w*z", record=Z)]


def test_each_notion_has_its_number():
    assert [profile.notion.value for profile in ALL] == ["gaussian", "renyi", "zcdp", "gaussian", "pure"]
    assert repr(RENYI) == 'Profile("sum": rdp = alpha*w**2*z**2/(2*sigma**2) (renyi), z in [0, 4], sigma > 0)'
    assert repr(SHARED) == 'Profile("sum": mu = w*z (gaussian), z in [0, 2*R], R > 0)'
    assert SHARED.with_parameters(R=2).record == declare("x", "w*z", record=Z).record
    assert SHARED.with_parameters(R=2).notion is ProfileNotion.GAUSSIAN


@pytest.mark.parametrize("profile", ALL, ids=repr)
def test_files_bring_every_notion_back(profile):
    assert read_profile(write_profile(profile)) == profile
    if profile is not SHARED:
        again = parse_file(write_toml(Declaration(profile))).profile
        assert again == profile
        assert again.notion is profile.notion


@pytest.mark.parametrize("profile", ALL[:4], ids=repr)
def test_other_notions_are_no_pure_profiles(profile):
    twin = profile.stand_in()
    assert twin.notion is ProfileNotion.PURE
    assert twin != profile
    assert hash(twin) != hash(profile) or twin != profile
    for read in (lambda: profile.epsilon, lambda: profile.text, profile.numeric_epsilon, profile.expression):
        with pytest.raises(OtherNotion, match=f'in the notion "{profile.notion.value}"'):
            read()


def test_the_order_of_a_stand_in_is_one_more_than_a_positive_number():
    variables = {variable.name: variable for variable in RENYI.stand_in().variables()}
    assert variables["alpha_above_one"] == Variable("alpha_above_one", 0, None, open_below=True)
    found = RENYI.stand_in().expression().subs({"alpha_above_one": 1})
    values = {symbol: {"w": 3, "z": 2, "sigma": 1, "alpha_above_one": 1}[symbol.name] for symbol in found.free_symbols}
    assert found.subs(values) == 2 * 9 * 4 / sympy.Integer(2)


def test_sympy_expressions_declare_every_notion():
    alpha, w, z = sympy.symbols("alpha w z", positive=True)
    found = declare("sum", notion="renyi", rdp=alpha * w**2 * z**2 / 2, record={z: (1, 4)})
    assert found.stand_in().numeric_epsilon() is not None
    with pytest.raises(InvalidProfile, match="alpha"):
        declare("sum", alpha * w)


def test_pages_say_which_notion_it_is():
    assert "PDP profile, Gaussian" in GAUSSIAN._repr_html_()
    assert "This μ is not an ε" in GAUSSIAN._repr_html_()
    assert "<mi>μ</mi>" in GAUSSIAN._repr_html_()
    assert GAUSSIAN._repr_latex_() == r"$\displaystyle \mu(w, z) = \frac{w\,z}{\sigma}, \quad w \geq 1, \; z \in [0, 4], \; \sigma = 3$"
    assert r"\mathrm{rdp}(\alpha, w, z)" in RENYI._repr_latex_()
    assert r"\alpha > 1" in RENYI._repr_latex_()
    assert "exp(ε)" not in RENYI._repr_html_()


REFUSED = [
    ({"notion": "gaussian", "epsilon": "w"}, 'epsilon was given in the notion "gaussian", whose number is mu'),
    ({"notion": "gaussian", "mu": "w", "epsilon": "w"}, "epsilon was given in the notion"),
    ({"notion": "gaussian", "mu": "w", "rho": "w"}, "rho was given in the notion"),
    ({"mu": "w"}, 'mu was given in the notion "pure", whose number is epsilon; give epsilon alone, or declare notion = "gaussian"'),
    ({"epsilon": "w", "rdp": "w"}, 'rdp was given in the notion "pure"'),
    ({"notion": "zcdp"}, 'a profile in the notion "zcdp" needs rho'),
    ({"notion": "gauss", "mu": "w"}, "a notion was expected, but 'gauss' was found; known are pure, gaussian, renyi, zcdp"),
    ({"notion": 3, "mu": "w"}, "a notion was expected, but a value of type int was found"),
    ({"notion": "gaussian", "mu": "z"}, "mu does not contain the weight w"),
    ({"notion": "gaussian", "mu": "w*alpha"}, "mu uses the symbol 'alpha'"),
    ({"notion": "renyi", "rdp": "w*alpha", "parameters": {"alpha": 2}}, "belongs to the order"),
    ({"notion": "renyi", "rdp": "w*alpha", "record": {"alpha_above_one": [0, 1]}}, "belongs to the order"),
    ({"notion": "gaussian", "mu": "w*z", "parameters": {"delta": 1}}, "no notion of a profile has a delta"),
    ({"notion": "gaussian", "mu": "__import__('os')"}, "mu"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_is_no_declaration_is_refused_in_one_sentence(given, message):
    with pytest.raises((InvalidProfile, InvalidExpression)) as caught:
        declare("sum", **{"record": Z, **given})
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


FILES = [
    ('notion = "gaussian"\nepsilon = "w"', "epsilon was given in the notion"),
    ('notion = "gaussian"', 'needs mu = "..."'),
    ('notion = "gaussian"\nmu = 3', 'needs mu = "..."'),
    ('mu = "w"', "mu was given in the notion"),
    ('notion = "gaussian"\nmu = "w"\ndelta = 0.1', "no notion of a profile has a delta"),
    ('notion = "gaussian"\nmu = "w"\nsigma = 1', "unknown key 'sigma'"),
    ('notion = 3\nmu = "w"', "a notion was expected"),
    ('notion = "renyi"\nrdp = "w*alpha"\n[parameters]\nalpha = 2', "belongs to the order"),
]


@pytest.mark.parametrize(("text", "message"), FILES, ids=[message for _, message in FILES])
def test_files_are_refused_in_one_sentence(text, message):
    with pytest.raises(PDPError) as caught:
        parse_file(f'name = "sum"\n{text}\n')
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_stored_notion_cannot_be_swapped():
    whole = json.loads(write_profile(GAUSSIAN))
    for change in ({"notion": "pure"}, {"notion": "zcdp"}, {"notion": "none"}):
        with pytest.raises((InvalidProfile, UnreadableFile)):
            read_profile(json.dumps(whole | change))
    del whole["notion"]
    with pytest.raises(UnreadableFile):
        read_profile(json.dumps(whole))


def test_notions_are_found_by_name():
    assert to_notion("pure") is to_notion(ProfileNotion.PURE)
