"""Pictures: what is drawn is what was computed, described in words, and Matplotlib is loaded when a picture is asked for."""

from __future__ import annotations

import base64
import re
import subprocess
import sys

import numpy as np
import pytest

from accountant import audit, calibrate, declare, derive_epsilon, optimal_weight, plan_sample, verify
from accountant.applications.clustering.picture import plot_clusters
from accountant.applications.clustering.places import Places, parse_grid
from accountant.applications.clustering.space import read_distances
from accountant.applications.heavyhitters.picture import plot_reports
from accountant.applications.heavyhitters.watching import StepReport
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


def test_verdicts():
    kinked = declare("kink", "Max(w*z, 2*w*z - 1)", record={"z": ["1/4", 1]})
    found = verify(kinked, 2)
    picture = found.plot()
    left, right = picture.figure.axes
    for z, loss, sampled in zip((0.25, 0.625, 1), left.lines, right.lines, strict=False):
        weights = np.asarray(loss.get_xdata())
        assert weights[0] == 1
        exact = np.maximum(weights * z, 2 * weights * z - 1)
        np.testing.assert_allclose(loss.get_ydata(), exact, rtol=1e-12)
        np.testing.assert_allclose(sampled.get_ydata(), np.log1p((np.exp(exact) - 1) / weights), rtol=1e-9)
        assert sampled.get_ydata()[-1] > 2, "followed beyond the target"
    assert set(right.lines[-1].get_ydata()) == {2}
    marks = {tuple(map(float, (*line.get_xdata(), *line.get_ydata()))): line.get_label() for line in left.lines[3:]}
    assert marks[4, 1] == "refuted here: assumption-11, proposition-17"  # z = 1/4 and w = 4: both branches are 1
    assert "proved: assumption-8" in picture.told
    assert "refuted: assumption-11" in picture.told
    with pytest.raises(InvalidProfile, match="b has none"):
        verify(declare("s", "w*z/b", record={"z": [0, 1]}, parameters={"b": "positive"}), 2, ["assumption-8"]).plot()


def test_a_witness_has_a_line_and_losses_that_never_reach_the_target_end_somewhere():
    profile = declare("slow", "log(1 + w*z)", record={"z": [0, 1]})
    picture = verify(profile, 3, ["assumption-9", "assumption-11"]).plot()
    left, _ = picture.figure.axes
    assert left.get_xscale() == "log"
    assert max(max(line.get_xdata()) for line in left.lines) <= 2**20
    assert all(np.isfinite(line.get_ydata()).all() for line in left.lines)


@pytest.mark.thorough
def test_noise_is_drawn_at_certified_bounds_around_the_least():
    template = declare("sum", "w*z/b", record={"z": [0, 1]}, parameters={"b": "positive"})
    found = calibrate(template, 2, rules=["uniform"], rate="0.5")
    picture = found.plot()
    (axes,) = picture.figure.axes
    line, mark = axes.lines[:2]
    noise, bounds = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    exact = np.log1p(0.5 * np.expm1(2 / noise))  # q = 1/2, so that the weight is 2: a bound lies above the loss at z = 1
    assert (bounds >= exact * (1 - 1e-12)).all()
    np.testing.assert_allclose(bounds, exact, rtol=2e-3)
    scale = float(found.choices[0].calibration.scale)
    assert (float(mark.get_xdata()[0]), float(mark.get_ydata()[0])) == pytest.approx((scale, 2), rel=1e-5)
    assert mark.get_ydata()[0] <= 2
    assert noise[0] < mark.get_xdata()[0] < noise[-1]


@pytest.mark.thorough
def test_probabilities_are_those_of_the_sampler():
    profile = declare("sum", "w*z/3", record={"z": ["1/2", 2]})
    picture = plan_sample(profile, q="1/10 + z/50").plot()
    (axes,) = picture.figure.axes
    z, q = (np.asarray(values) for values in axes.lines[0].get_data())
    assert (z[0], z[-1]) == (0.5, 2)
    np.testing.assert_allclose(q, 0.1 + z / 50, rtol=1e-9)
    with pytest.raises(InvalidArgument, match="statistic with a range"):
        plan_sample(declare("one", "w*z/3", record={"z": [1, 1]}), q="1/2").plot()


def test_centres_and_reports():
    space = parse_grid("0:4,0:2", "4,2", "2", ["a", "b"])
    picture = plot_clusters(space, (0, 7))
    candidates, rings = picture.figure.axes[0].lines
    assert sorted(zip(*candidates.get_data(), strict=True)) == [(a + 0.5, b + 0.5) for a in range(4) for b in range(2)]
    assert list(zip(*rings.get_data(), strict=True)) == [tuple(space.space.candidates[place]) for place in (0, 7)]
    assert "2 released centres among 8 candidates in a, b" in picture.told
    flat = plot_clusters(parse_grid("0:4", "4", "2", ["a"]), (1,)).figure.axes[0]
    assert flat.get_ylabel() == ""
    with pytest.raises(InvalidArgument, match="coordinates"):
        plot_clusters(Places(read_distances(np.array([[0.0, 1.0], [1.0, 0.0]]))), (0,))
    reports = [StepReport(3, ("tea",)), StepReport(4, ()), StepReport(5, ("jam", "tea"))]
    picture = plot_reports(reports)
    (axes,) = picture.figure.axes
    assert [list(line.get_xdata()) for line in axes.lines] == [[3, 5], [5]]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["tea", "jam"]
    assert picture.told == "Reported items: tea at 2 of 3 time steps; jam at 1 of 3 time steps"
    assert "nothing was reported" in plot_reports([StepReport(0, ())]).told


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


@pytest.mark.thorough
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
