"""What results show of themselves: as people write it, escaped, self-contained, with all hypotheses and nothing private."""

from __future__ import annotations

import re
from fractions import Fraction
from html.parser import HTMLParser

import numpy as np
import pytest
import sympy

from accountant import audit, compose, declare, derive_epsilon, optimal_weight, verify
from accountant.guarantees import base_profile
from profiles.composition import compose_adaptively
from proofs_check.audit import Claim, claim_of_record

_VOID = {"img"}
_HOSTILE = "<script>alert(1)</script>&\"'"


class Reader(HTMLParser):
    """Reads a card: its tags, attributes and visible text; elements must be closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.tags, self.attributes, self.text, self._open = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if not self._open or self._open[-1] != "style":
            self.text.append(data)

    def words(self) -> str:
        assert not self._open
        return " ".join("".join(self.text).split())


def read(shown: str) -> Reader:
    reader = Reader()
    reader.feed(shown)
    reader.close()
    return reader


def noisy_sum(records, rng, size):
    return sum(records) + rng.laplace(0, 3, size)


@pytest.fixture(scope="module")
def profile():
    return declare("noisy sum", "w*z/b", record={"z": ["1/2", 2]}, parameters={"b": 3})


@pytest.fixture(scope="module")
def results(profile):
    verified = verify(profile, 2)
    audited = audit(noisy_sum, [1.0], [], Claim(1), rng=np.random.default_rng(1), samples=1_000)
    derived = derive_epsilon(profile, rule="uniform", constants={"rate": "0.1"})
    made = [profile, verified, *verified.decisions.values(), optimal_weight(profile, 2, {"z": 1}, digits=12), derived, derived.guarantee]
    return [*made, compose(derived.guarantee, derived.guarantee), base_profile(profile, ()), audited]


def test_a_profile_is_written_as_people_write_it(profile):
    assert repr(profile) == 'Profile("noisy sum": epsilon = w*z/b, z in [0.5, 2], b = 3)'
    made = declare("s", "w*z/b", record={"z": [0, 1]}, parameters={"b": "positive"})
    assert str(made) == 'Profile("s": epsilon = w*z/b, z in [0, 1], b > 0)'
    assert repr(made.with_parameters(b=(1, 2))) == 'Profile("s": epsilon = w*z/b, z in [0, 1], b in [1, 2])'
    assert repr(declare("c", "w")) == 'Profile("c": epsilon = w)'
    long = declare("long", " + ".join(f"w*z**{k}" for k in range(2, 200)), record={"z": [0, 1]})
    assert len(repr(long)) < 600
    assert "..." in repr(long)


def test_ranges_with_parameters_are_shown_as_they_were_written():
    made = declare("s", "w*z/b", record={"z": [0, "2*R"], "y": [1, 2]}, parameters={"R": "positive", "b": 3})
    assert repr(made) == 'Profile("s": epsilon = w*z/b, z in [0, 2*R], y in [1, 2], R > 0, b = 3)'
    latex = made._repr_latex_()
    assert r"\varepsilon(w, z, y) = \frac{w\,z}{b}" in latex
    assert r"z \in [0, 2\,R], \; y \in [1, 2], \; R > 0" in latex
    shown = made._repr_html_()
    assert "for all w ≥ 1, z in [0, 2R], y in [1, 2]; R > 0, b = 3" in read(shown).words()
    assert "share" not in repr(made) + latex + shown
    assert repr(made.with_parameters(R=2)) == 'Profile("s": epsilon = w*z/b, z in [0, 4], y in [1, 2], R = 2, b = 3)'
    other = declare("t", "w*x", record={"x": ["-1", "c"]}, parameters={"c": "positive"})
    assert "epsilon = w*z/b + w*x, z in [0, 2*R], y in [1, 2], x in [-1, c]" in repr(compose_adaptively("both", [made, other]))


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("w*z/b", r"\frac{w\,z}{b}"),
        ("sqrt(w)*Abs(z - b)", r"\sqrt{w}\,\left|z - b\right|"),
        ("Max(w, 2)**2 + exp(z)*b", r"{\max\left(w, 2\right)}^{2} + \exp\left(z\right)\,b"),
        ("Piecewise((w, z < b), (2*w, True))", r"\begin{cases} w & \text{if}\ z < b \\ 2\,w & \text{otherwise} \end{cases}"),
    ],
)
def test_a_profile_in_latex(text, latex):
    made = declare("s", text, record={"z": ["1/3", 2]}, parameters={"b": 3})
    shown = made._repr_latex_()
    assert shown.startswith("$")
    assert shown.endswith("$")
    assert latex in shown
    assert r"z \in [\frac{1}{3}, 2]" in shown
    assert shown.count("{") == shown.count("}")


@pytest.mark.thorough
def test_every_card_is_whole_and_loads_and_runs_nothing(results):
    for item in results:
        reader = read(item._repr_html_())
        assert reader.words()
        assert "script" not in reader.tags
        assert not {"link", "iframe", "object", "img"} & set(reader.tags)
        assert not [name for name, _ in reader.attributes if name.startswith("on") or name in ("src", "href", "style")]
        assert "http" not in item._repr_html_()
        assert "\n" not in repr(item)


def test_what_is_named_is_escaped():
    made = declare(_HOSTILE, "w*z", record={"z": [0, 1]}, source=_HOSTILE)
    guarantee = derive_epsilon(made, q="1/2")
    for item in (made, verify(made, 2, ["assumption-8"]), optimal_weight(made, 2, {"z": 1}, digits=5), guarantee, guarantee.guarantee):
        reader = read(item._repr_html_())
        assert "script" not in reader.tags
        assert "alert(1)" in reader.words()


def test_no_colour_is_fixed_against_the_page(profile):
    """A card inherits the ink and paper of its page; what colours a badge is translucent."""
    style = re.search(r"<style>(.*?)</style>", profile._repr_html_(), re.DOTALL)[1]
    assert not re.search(r"#[0-9a-f]{3,6}\b", style)
    for name, value in re.findall(r"(background|color|border|border-bottom): ([^;}]+)", style):
        assert re.search(r"inherit|transparent|currentColor|rgba\(|^0$", value), name


def test_a_bound_never_stands_without_its_hypotheses(results):
    for item in results:
        guarantee = getattr(item, "guarantee", item)
        if not hasattr(guarantee, "hypotheses") or not hasattr(guarantee, "derivation"):
            continue
        reader = read(item._repr_html_())
        assert guarantee.hypotheses
        for hypothesis in guarantee.hypotheses:
            assert " ".join(hypothesis.sentence.split()) in reader.words()
            assert hypothesis.id in repr(item)
        # in full: what is open does not stand in a part that is closed
        shown = item._repr_html_().partition("<details")[0]
        assert all(hypothesis.sentence.split("'")[0][:30] in read_text(shown) for hypothesis in guarantee.hypotheses)


def read_text(shown: str) -> str:
    reader = Reader()
    reader.feed(shown)
    return " ".join("".join(reader.text).split())


def test_a_bound_is_rounded_up_and_says_so(profile):
    derived = derive_epsilon(profile, rule="uniform", constants={"rate": "0.1"})
    (shown,) = re.findall(r"epsilon &lt;= ([0-9.]+)", derived._repr_html_())
    assert Fraction(shown) >= derived.bound.upper
    assert f"epsilon <= {shown}" in repr(derived)


def test_a_verdict_shows_its_word_witness_and_check(profile):
    found = verify(profile, 2)
    words = read(found._repr_html_()).words()
    for name, decision in found.decisions.items():
        assert f"{name} {decision.verdict.value}" in words or f"{name}{decision.verdict.value}" in words
        own = read(decision._repr_html_()).words()
        assert decision.verdict.value in own
    assert "z = 0.5" in words
    assert "accepted by the proof checker" in read(found.decisions["assumption-8"]._repr_html_()).words()
    assert repr(found).startswith("Verification('noisy sum', target epsilon 2: assumption-8 proved")


def test_a_verdict_about_shares_says_what_they_stand_for():
    found = verify(declare("s", "w*z", record={"z": [0, "2*R"]}, parameters={"R": "positive"}), 2, ["assumption-8"])
    words = read(found._repr_html_()).words()
    assert "In proofs and witnesses z stands as 2*R*z_share, with z_share in [0, 1]." in words
    share, largest, meant = re.search(r"witness: z_share = (\S+), R = (\S+), that is z = (\S+?)(?= |$)", words).groups()
    assert 2 * Fraction(largest) * Fraction(share) == Fraction(meant)


def test_a_weight_is_rounded_down(profile):
    found = optimal_weight(profile, 2, {"z": 1}, digits=12)
    words = read(found._repr_html_()).words()
    assert f"w* ≥ {found.to_json()['weight']}" in words
    assert Fraction(found.to_json()["weight"]) <= found.lower
    assert "z = 1" in words
    assert "target ε* = 2" in words
    infinite = optimal_weight(declare("nothing", "w*z", record={"z": [0, 1]}), 2, {"z": 0})
    assert "may be dropped" in read(infinite._repr_html_()).words()
    assert "infinite" in repr(infinite)


@pytest.mark.thorough
def test_an_audit_tells_nothing_of_its_data_sets():
    profile = declare("noisy sum", "w*z/b", record={"z": [0, 4]}, parameters={"b": 3})
    claim = claim_of_record(profile, {"z": "1.2345"})
    found = audit(noisy_sum, [1.2345, 0.5], [0.5], claim, rng=np.random.default_rng(1), samples=2_000)
    assert found.events
    for shown in (repr(found), read(found._repr_html_()).words()):
        assert "1.2345" not in shown
        assert claim.private not in shown
        assert all(event.words not in shown for event in found.events)
        assert "consistent" in shown
        assert "99%" in shown
    words = read(found._repr_html_()).words()
    assert "Consistent does not mean that the claim is true" in words
    assert "independent draws" in words
    assert "for your eyes only" in words


def test_sympy_names_in_cards():
    z_1, beta = sympy.symbols("z_1 beta")
    made = declare("s", sympy.Symbol("w") * z_1 / beta, record={z_1: (0, 1)}, parameters={beta: 2})
    assert "β" in read(made._repr_html_()).words()
    assert r"\beta" in made._repr_latex_()
