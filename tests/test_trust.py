"""docs/trust.md says what the code says, and the command prints what a certificate rests on."""

import json
import re
import sys
from pathlib import Path

import pytest

from proofs_check.kernel import checker
from proofs_check.kernel.procedures.rules import RULES
from proofs_check.kernel.theories.profiles.claims import CLAIMS
from proofs_check.kernel.untrusted.proofs import Session
from proofs_check.kernel.untrusted.upgrade import find_choices
from tests.documentation.pages import site_module
from tests.mutants.corpus import texts

SITE = site_module("trust")
PAGE = Path(__file__).parents[1] / "docs" / "trust.md"
_EVENT = {"mechanism": "laplace", "scale": "1", "sampling_probability": "1/2", "count": 3}
_GRID = {"digits": 20, "unit": "1/10", "tails": ["0", "0"], "events": [{"offset": "0", "start": -12, "steps": [[0, 24]], "floors": [0]}]}
_CLAIM = {"claim": "delta-upper", "verdict": "proved", "direction": "remove", "epsilon": "1", "bound": "0.3", "grid": _GRID}
COMPOSITION = {"format": "pdp-certificate", "version": 2, "composition": {"name": "x", "events": [_EVENT]}, "claims": [_CLAIM]}


def test_the_pages_say_what_exact_mode_changed() -> None:
    """Exact real arithmetic is a hypothesis of most guarantees, and no longer of every one; low bits are audited there, too."""
    howto = (PAGE.parent / "audit-howto.md").read_text(encoding="utf-8")
    assert "hypotheses that every guarantee carries" not in PAGE.read_text(encoding="utf-8")
    assert "use it for discrete or snapped noise" not in howto
    for text in (howto, PAGE.read_text(encoding="utf-8")):
        assert "catalogue in exact mode" in " ".join(text.split())


def test_the_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == SITE.trust_text(), "run: python docs/_site/trust.py > docs/trust.md"


def test_other_pages_say_about_how_long_the_kernel_is():
    """To 50 lines: the trust page says it exactly."""
    [exact] = re.findall(r"The kernel is ([\d,]+) lines of code", PAGE.read_text(encoding="utf-8"))
    for page in (PAGE.parents[1] / "README.md", PAGE.parent / "certificates.md"):
        [said] = re.findall(r"about ([\d,]+) lines of code", " ".join(page.read_text(encoding="utf-8").split()))
        assert abs(int(said.replace(",", "")) - int(exact.replace(",", ""))) <= 50, page.name


@pytest.mark.parametrize("kind", ["profile", "composition"])
def test_a_certificate_is_judged_by_the_lines_that_are_counted_for_it(kind):
    """No function of another module runs."""
    text = texts()["huber"] if kind == "profile" else json.dumps(COMPOSITION)
    folder, ran = Path(checker.__file__).parent, set()

    def note(frame, _event, _argument):
        ran.add(Path(frame.f_code.co_filename))

    choices = find_choices(text, Session())[0] if kind == "profile" else ()
    sys.setprofile(note)
    try:
        report = checker.check(text, Session(given=iter(choices)))
    finally:
        sys.setprofile(None)
    assert report.accepted, report
    used = {path.relative_to(folder) for path in ran if path.is_relative_to(folder)}
    believed = {path.relative_to(folder) for path in folder.rglob("*.py") if path.parent.name != "untrusted"}
    other = {place for place in believed if "compositions" in place.parts}
    counted = believed - other if kind == "profile" else SITE.needed_for_compositions(folder, sorted(believed))
    assert used & believed <= counted
    assert len(used & believed) > 4


@pytest.mark.thorough
def test_every_rule_and_claim_states_its_axiom():
    for function in (*RULES.values(), *CLAIMS.values()):
        assert function.__doc__.strip().endswith("."), function
    for name in (*RULES, *CLAIMS):
        assert f"| `{name}` |" in SITE.trust_text()


def test_lines_are_counted_without_blanks_and_comments():
    assert SITE.count_lines('"""Doc."""\n\n# note\nx = 1\n\n\ndef f():\n    """Two\n\n    lines."""\n    return x\n') == (6, 4)
