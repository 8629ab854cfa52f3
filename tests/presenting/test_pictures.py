"""Pictures: what is drawn is what was computed, described in words, and Matplotlib is loaded when a picture is asked for."""

from __future__ import annotations

import base64
import re
import subprocess
import sys

import numpy as np
import pytest

from accountant import audit, declare, derive_epsilon, optimal_weight, verify
from accountant.curves import account, curve_of, make_event
from profiles import InvalidArgument, InvalidProfile, MissingExtra
from proofs_check.audit import Claim

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def profile():
    return declare("noisy sum", "w*z/b", record={"z": ["1/2", 2]}, parameters={"b": 3})


def noisy_sum(records, rng, size):
    return sum(records) + rng.laplace(0, 3, size)


def test_a_profile(profile):
    picture = profile.plot()
    left, right = picture.figure.axes
    for z, line, sampled in zip((0.5, 1.25, 2), left.lines, right.lines, strict=True):
        weights, losses = line.get_xdata(), line.get_ydata()
        assert (weights[0], round(weights[-1], 6)) == (1, 20)
        np.testing.assert_allclose(losses, weights * z / 3)
        np.testing.assert_allclose(sampled.get_ydata(), np.log1p((np.exp(losses) - 1) / weights), rtol=1e-9)
    assert "z = 1.25" in picture.told
    (one,) = profile.plot([{"z": 1}], largest_weight=5).figure.axes[0].lines
    assert one.get_xdata()[-1] == pytest.approx(5)
    assert len(declare("constant", "3 + 0*w").plot().figure.axes[0].lines) == 1


@pytest.mark.parametrize(
    "options",
    [{"records": []}, {"records": [{}]}, {"records": [{"z": 3}]}, {"records": [{"z": 1}] * 5}, {"largest_weight": 1},
     {"records": [{"y": 1}]}, {"records": [3]}],
)  # fmt: skip
def test_unusable_pictures_are_refused_in_words(profile, options):
    with pytest.raises(InvalidArgument, match=";"):
        profile.plot(**options)


def test_parameters_need_numbers():
    made = declare("s", "w*z/b", record={"z": [0, 1]}, parameters={"b": "positive"})
    with pytest.raises(InvalidProfile, match=r"with_parameters\(b=1\)"):
        made.plot()


def test_a_weight(profile):
    found = optimal_weight(profile, 2, {"z": 1}, digits=12)
    picture = found.plot()
    (axes,) = picture.figure.axes
    sampled = axes.lines[0]
    x, y = sampled.get_xdata(), sampled.get_ydata()
    np.testing.assert_allclose(y, np.log1p((np.exp(np.asarray(x) / 3) - 1) / np.asarray(x)), rtol=1e-9)
    assert np.interp(float(found.lower), x, y) == pytest.approx(2, rel=1e-3)
    assert picture.told.endswith("13.3799")
    infinite = optimal_weight(declare("nothing", "w*z", record={"z": [0, 1]}), 2, {"z": 0})
    with pytest.raises(InvalidArgument, match="finite"):
        infinite.plot()


def test_a_bound(profile):
    derived = derive_epsilon(profile, rule="uniform", constants={"rate": "0.1"})
    picture = derived.plot()
    (axes,) = picture.figure.axes
    sampled, plain, level = axes.lines
    assert max(sampled.get_ydata()) <= float(derived.bound.upper)
    assert set(level.get_ydata()) == {float(derived.bound.upper)}
    np.testing.assert_allclose(plain.get_ydata(), np.asarray(plain.get_xdata()) / 3, rtol=1e-9)
    count = len(derived.guarantee.hypotheses)
    assert f"under {count} unverified assumptions" in level.get_label()
    assert f"under {count} unverified assumptions" in picture.told
    constrained = derive_epsilon(profile, rule="privacy-constrained", target_epsilon=2).plot().figure.axes[0].lines[0]
    assert max(constrained.get_ydata()) == pytest.approx(2)
    with pytest.raises(InvalidArgument, match="statistic"):
        derive_epsilon(declare("count", "w"), q="1/2").plot()


def test_an_audit():
    found = audit(noisy_sum, [1.0], [], Claim(1), rng=np.random.default_rng(1), samples=1_000)
    picture = found.plot()
    assert "consistent" in picture.told
    assert "99%" in picture.told
    assert len(picture.figure.axes) == 1  # no outputs


@pytest.mark.thorough
def test_a_notebook_shows_an_image_with_words(profile, tmp_path):
    picture = profile.plot()
    shown = picture._repr_html_()
    data = re.search(r'src="data:image/png;base64,([^"]+)"', shown)
    assert base64.b64decode(data[1]).startswith(b"\x89PNG")
    assert 'alt="The loss of noisy sum' in shown
    assert shown == profile.plot()._repr_html_()
    picture.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8").startswith("<?xml")
    with pytest.raises(InvalidArgument, match=r"\.png"):
        picture.save(tmp_path / "a.exe")


@pytest.mark.thorough
def test_matplotlib_is_an_extra(profile, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    found = audit(noisy_sum, [1.0], [], Claim(1), rng=np.random.default_rng(1), samples=500)
    for item in (profile, optimal_weight(profile, 2, {"z": 1}), derive_epsilon(profile, q="1/2"), found):
        with pytest.raises(MissingExtra, match=r"pdp-accountant\[plots\]"):
            item.plot()
    assert verify(profile, 2, ["assumption-8"])._repr_html_()


@pytest.mark.thorough
def test_cards_load_no_matplotlib():
    program = (
        "import sys; from accountant import declare, derive_epsilon, verify\n"
        "profile = declare('s', 'w*z', record={'z': [0, 1]})\n"
        "for item in (profile, verify(profile, 2, ['assumption-8']), derive_epsilon(profile, q='1/2')): item._repr_html_(); repr(item)\n"
        "print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == "False"


def test_epsilon_over_steps_is_drawn_at_the_ends_that_were_computed():
    curve = curve_of(make_event("gaussian", {"noise_multiplier": 2}, sampling_probability="0.1", count=200))
    picture, found = account(curve, delta="1e-5", gap="1e-2").plot_steps(), curve.over_steps("1e-5")
    (axes,) = picture.figure.axes
    for line, ends in zip(axes.lines, (found.upper, found.lower), strict=True):
        assert list(line.get_xdata()) == [0, *found.steps]
        np.testing.assert_allclose(line.get_ydata(), [0, *map(float, ends)])
    assert [line.get_linestyle() for line in axes.lines] == ["-", "--"]  # told apart without colours
    assert axes.get_ylabel() == "ε in nats"
    (epochs,) = axes.child_axes
    assert "epochs" in epochs.get_xlabel()
    assert "after 200 steps" in picture.told
