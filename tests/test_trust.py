"""docs/trust.md says what the code says, and the command prints what a certificate rests on."""

import re
from pathlib import Path

import pytest

from proofs_check.kernel.procedures.rules import RULES
from proofs_check.kernel.theories.profiles.claims import CLAIMS
from tests.documentation.pages import site_module

SITE = site_module("trust")
PAGE = Path(__file__).parents[1] / "docs" / "trust.md"


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


@pytest.mark.thorough
def test_every_rule_and_claim_states_its_axiom():
    for function in (*RULES.values(), *CLAIMS.values()):
        assert function.__doc__.strip().endswith("."), function
    for name in (*RULES, *CLAIMS):
        assert f"| `{name}` |" in SITE.trust_text()


def test_lines_are_counted_without_blanks_and_comments():
    assert SITE.count_lines('"""Doc."""\n\n# note\nx = 1\n\n\ndef f():\n    """Two\n\n    lines."""\n    return x\n') == (6, 4)
