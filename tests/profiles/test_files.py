"""Profile files and references: exact decimals, and a named one-line error for every way to get them wrong."""

from __future__ import annotations

import contextlib
import time
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles import InvalidExpression, InvalidNumber, InvalidProfile, PDPError, Profile, UnreadableFile, load, load_file, parse_file

GOOD = """
name = "weighted DP-Lloyd"
epsilon = "T*w*(1/beta_count + z/beta_sum)"
source = "a paper"
[record]
z = [0, 4.1]
[parameters]
T = 10
beta_count = "20.5"
beta_sum = "positive"
[sampling]
q = "lam*m/n + (1-lam)*m*z**2/(n*xbar)"
lam = 0.1
"""


def test_a_profile_file_is_read_exactly():
    declaration = parse_file(GOOD)
    profile = declaration.profile
    assert profile.name == "weighted DP-Lloyd"
    assert profile.record[0].hi == Fraction(41, 10)
    assert [parameter.value for parameter in profile.parameters] == [Fraction(10), Fraction(41, 2), None]
    assert profile.source == "a paper"
    assert declaration.sampling is not None
    assert dict(declaration.sampling.constants).keys() == {"lam"}


def test_one_tenth_is_one_tenth_everywhere():
    profile = parse_file('name="p"\nepsilon="0.1*w*z*b*c"\n[record]\nz=[0.1,"0.2"]\n[parameters]\nb=0.1\nc="0.1"').profile
    assert profile.record[0].lo == Fraction(1, 10)
    assert profile.record[0].hi == Fraction(1, 5)
    assert [parameter.value for parameter in profile.parameters] == [Fraction(1, 10)] * 2
    assert ("num", Fraction(1, 10)) in (profile.epsilon[1][1][1][1], profile.epsilon)


HEAD = 'name = "p"\nepsilon = "w*z"\n'


@pytest.mark.thorough(quick=16)
@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", InvalidProfile),
        ("name = ", UnreadableFile),
        ("\x00", UnreadableFile),
        ("\ufeff" + HEAD, UnreadableFile),
        ('name = "p"\nname = "q"', UnreadableFile),
        ("[" * 50_000, UnreadableFile),
        (HEAD + "x = " + "[" * 50_000, UnreadableFile),
        (HEAD + "record.z = [0, " + "9" * 5000 + "]", UnreadableFile),
        (HEAD + "record.z = [0, 1e999999999999999999999]", UnreadableFile),
        ("x" * 50_000_000, UnreadableFile),
        ("[" + "a." * 49_000 + "a]", InvalidProfile),
        ('name = "p"', InvalidProfile),
        ('epsilon = "w"', InvalidProfile),
        ('name = 3\nepsilon = "w"', InvalidProfile),
        ('name = "p"\nepsilon = 3', InvalidProfile),
        ('name = "p"\nepsilon = ["w"]', InvalidProfile),
        ('name = ""\nepsilon = "w"', InvalidProfile),
        ('name = "a\\nb"\nepsilon = "w"', InvalidProfile),
        (f'name = "{"x" * 201}"\nepsilon = "w"', InvalidProfile),
        ('name = "p"\nepsilon = "w"\nsource = 3', InvalidProfile),
        (HEAD + "colour = 1", InvalidProfile),
        (HEAD + "[records]\nz = [0, 1]", InvalidProfile),
        (HEAD, InvalidProfile),
        (HEAD + "record = 3", InvalidProfile),
        (HEAD + "record = [1]", InvalidProfile),
        (HEAD + "record.z = 3", InvalidProfile),
        (HEAD + "record.z = []", InvalidProfile),
        (HEAD + "record.z = [0]", InvalidProfile),
        (HEAD + "record.z = [0, 1, 2]", InvalidProfile),
        (HEAD + 'record.z = "01"', InvalidProfile),
        (HEAD + "record.z = {lo = 0, hi = 1}", InvalidProfile),
        (HEAD + "record.z = [2, 1]", InvalidProfile),
        (HEAD + "record.z = [0, inf]", InvalidNumber),
        (HEAD + "record.z = [nan, 1]", InvalidNumber),
        (HEAD + "record.z = [true, 1]", InvalidNumber),
        (HEAD + 'record.z = [0, "four"]', InvalidProfile),
        (HEAD + "record.z = [0, 1e5000]", InvalidNumber),
        (HEAD + "record.z = [1979-05-27, 1]", InvalidNumber),
        (HEAD + "record.w = [1, 2]", InvalidProfile),
        (HEAD + "record.pi = [1, 2]", InvalidProfile),
        (HEAD + "record.exp = [1, 2]", InvalidProfile),
        (HEAD + 'record."z z" = [1, 2]', InvalidProfile),
        (HEAD + 'record."" = [1, 2]', InvalidProfile),
        (HEAD + 'record."__z" = [1, 2]', InvalidProfile),
        (HEAD + 'record."ζ" = [1, 2]', InvalidProfile),
        (HEAD + 'record."lambda" = [1, 2]', InvalidProfile),
        (HEAD + "[record]\nz = [0, 1]\n[parameters]\nz = 1", InvalidProfile),
        (HEAD + "[record]\nz = [0, 1]\n[parameters]\nw = 1", InvalidProfile),
        (HEAD + '[record]\nz = [0, 1]\n[parameters]\nb = "negative"', InvalidNumber),
        (HEAD + "[record]\nz = [0, 1]\n[parameters]\nb = nan", InvalidNumber),
        (HEAD + "[record]\nz = [0, 1]\n[parameters]\nb = true", InvalidNumber),
        (HEAD + "[record]\nz = [0, 1]\n[parameters]\nb = {}", InvalidNumber),
        (HEAD + "[record]\nz = [0, 1]\n[parameters]\nb = [0, 1]", InvalidProfile),
        (HEAD + "[record]\nz = [0, 1]\n[parameters]\nb = [2, 1]", InvalidProfile),
        (HEAD + "[record]\nz = [0, 1]\n[parameters]\nb = [1]", InvalidProfile),
        (HEAD + "[record]\nz = [0, 1]\n[sampling]\nlam = 1", InvalidProfile),
        (HEAD + "[record]\nz = [0, 1]\n[sampling]\nq = 1", InvalidProfile),
        (HEAD + 'sampling = "1/w"\n[record]\nz = [0, 1]', InvalidProfile),
        (HEAD + '[record]\nz = [0, 1]\n[sampling]\nq = "m/n"\nw = 1', InvalidProfile),
        (HEAD + '[record]\nz = [0, 1]\n[sampling]\nq = "m/n"\n"m m" = 1', InvalidProfile),
        (HEAD + '[record]\nz = [0, 1]\n[sampling]\nq = "m.n"', InvalidExpression),
        ('name = "p"\nepsilon = ""', InvalidExpression),
        ('name = "p"\nepsilon = "w # + z"', InvalidExpression),
        ('name = "p"\nepsilon = """w # first\n + w"""', InvalidExpression),
        ('name = "p"\nepsilon = "w.x"', InvalidExpression),
        ('name = "p"\nepsilon = "x*w"', InvalidProfile),
        ('name = "p"\nepsilon = "2"', InvalidProfile),
    ],
    ids=lambda value: repr(value)[-32:] if isinstance(value, str) else value.__name__,
)
def test_every_bad_file_is_named_in_one_line(text, error):
    started = time.process_time()
    with pytest.raises(error) as caught:
        parse_file(text, "p.toml")
    assert time.process_time() - started < 5
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400


@pytest.mark.thorough
@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_a_profile_or_a_named_error(text):
    with contextlib.suppress(PDPError):
        assert isinstance(parse_file(text).profile, Profile)


@pytest.mark.thorough
@settings(deadline=None)
@given(st.text(max_size=60), st.text(max_size=20), st.text(max_size=20))
def test_any_strings_in_the_fields_are_a_profile_or_a_named_error(epsilon, statistic, value):
    def quote(text: str) -> str:
        return '"' + "".join(c if c.isalnum() and c.isascii() else f"\\U{ord(c):08x}" for c in text if not 0xD800 <= ord(c) < 0xE000) + '"'

    with contextlib.suppress(PDPError):
        parse_file(f'name = "p"\nepsilon = {quote(epsilon)}\n[record]\n{quote(statistic)} = [{quote(value)}, 1]')


def test_files(tmp_path):
    good = tmp_path / "good.toml"
    good.write_text(GOOD)
    assert load(str(good)) == load_file(good) == parse_file(GOOD)
    (tmp_path / "latin.toml").write_bytes(b'name = "caf\xe9"')
    (tmp_path / "large.toml").write_bytes(b"#" * 50_000_000)
    (tmp_path / "folder.toml").mkdir()
    for name in ("latin.toml", "large.toml", "folder.toml", "absent.toml", "nul\x00.toml", "x" * 5000 + ".toml"):
        with pytest.raises(UnreadableFile) as caught:
            load(str(tmp_path / name))
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "reference",
    [
        "a:" + "b" * 5000,
        "a:\x00",
        ":",
        "a:",
        ":a",
        "a b:c",
        "no_such_module_here:thing",
        "profiles:no_such_name",
        "profiles:declare",
        "profiles:PDPError",
        "profiles.mechanisms.lloyd:WeightedLloyd",
        "profiles.numbers:MAX_DIGITS",
        "math:pi",
        "../x:y",
        "",
        "profiles",
        "/dev/null",
        "/dev/zero",
        "/",
    ],
    ids=lambda reference: repr(reference[:24]),
)
def test_unusable_references_are_named(reference):
    with pytest.raises(UnreadableFile) as caught:
        load(reference)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_references_to_objects(tmp_path, monkeypatch):
    (tmp_path / "my_profiles_for_loading.py").write_text(
        "from profiles import declare, Declaration, InvalidProfile\n"
        "profile = declare('mine', 'w')\n"
        "declaration = Declaration(profile)\n"
        "def make(): return profile\n"
        "def broken(): raise RuntimeError('line one\\nline two')\n"
        "def refused(): return declare('mine', '2')\n"
        "class Holder: profile = profile\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("profile", "declaration", "make", "Holder"):
        assert load(f"my_profiles_for_loading:{name}").profile.name == "mine"
    with pytest.raises(UnreadableFile) as caught:
        load("my_profiles_for_loading:broken")
    assert "\n" not in str(caught.value)
    with pytest.raises(InvalidProfile):
        load("my_profiles_for_loading:refused")
