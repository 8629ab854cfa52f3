"""The user page runs, and its numbers are those of the code."""

import re
from fractions import Fraction

from accountant.applications.submodular.matroids import PrivateMatroidGreedy, UniformMatroid
from accountant.applications.submodular.matroids.utility import bound_utility
from tests.documentation.pages import DOCS, split_page

_, PAGE = split_page(DOCS / "submodular.md", "Matroid constraints")


def test_the_examples_run(capsys):
    names: dict[str, object] = {}
    examples = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    for example in examples:
        exec(compile(example, "docs/submodular.md", "exec"), names)
    printed = re.findall(r"^# (.*)$", examples[-1], re.MULTILINE)
    assert printed == [capsys.readouterr().out.splitlines()[-1]]
    assert names["answer"].guarantee.bound.epsilon <= 1


def test_the_ratios_on_the_page():
    for rounds, shown in ((1, "0.5"), (2, "0.556"), (3, "0.578"), (4, "0.590")):
        assert f"{1 - (1 + 1 / rounds) ** -rounds:.3f}".startswith(shown)
        assert shown in PAGE


def test_a_step_of_eta_leaves_the_polytope():
    """Algorithm 5 as printed, η = 0.4."""
    eta = Fraction(2, 5)
    rounds = -(-1 // eta)
    assert rounds * eta == Fraction(6, 5)
    assert "η = 0.4 gives T = 3 and Σ_u y_u = 1.2k" in PAGE


def test_a_smaller_share_is_better():
    errors = [
        bound_utility(
            PrivateMatroidGreedy(matroid=UniformMatroid(1000, 10), epsilon=1, rounds=4, roundings=64, selection_share=share),
            beta="0.05",
            users=10**6,
        ).error
        for share in ("1/2", "1/10")
    ]
    assert 1.2 < errors[0] / errors[1] < 2
