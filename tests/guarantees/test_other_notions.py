"""No μ, rdp or ρ is taken for an ε: every consumer of pure profiles refuses the other notions by name, and serves the pure twin."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import accountant
import accountant.guarantees as rules
from accountant import onesided
from accountant.calibration.template import make_template
from accountant.cli.main import invoke
from accountant.data import parse_statistic
from accountant.guarantees.measures import ProfileBound, SampledBound
from accountant.report.evidence import gather
from accountant.rules import make_rule
from accountant.rules.closed_form import end_point_epsilon
from accountant.samples import compose_on_one_sample
from accountant.weights.convexity import prove_convexity
from accountant.weights.fast import prepare_solver
from accountant.weights.precise import optimal_weight
from profiles import Declaration, OtherNotion, compose_adaptively, declare
from profiles.files import write_toml
from profiles.notions import ProfileNotion
from proofs_check.audit.claims import claim_of_record
from proofs_check.suprema.bound import bound_sampled
from proofs_check.verify import verify

WRITTEN = {"pure": "epsilon", "gaussian": "mu", "renyi": "rdp", "zcdp": "rho"}
OTHERS = [notion.value for notion in ProfileNotion if notion is not ProfileNotion.PURE]
RULE = {"q": "1/4 + z/8"}
SPEC = [parse_statistic("z=l1")]
DATA = np.array([[0.5], [1.0], [1.5]])


def make(notion, expression="w*z/b", name="noisy sum", b=2):
    """The same text in each notion."""
    return declare(name, record={"z": ["1/4", 2]}, parameters={"b": b}, notion=notion, **{WRITTEN[notion]: expression})


#: What takes a profile and needs an ε. Each serves a pure profile, as the test below asks of it, so that its refusals mean something.
CONSUMERS = {
    "verify": lambda p: verify(p, 3, ["assumption-8"]),
    "derive_epsilon": lambda p: accountant.derive_epsilon(p, **RULE),
    "bound_sampled": lambda p: bound_sampled(p, make_rule("uniform", p, {"m": 1, "n": 4}).q),
    "optimal_weight": lambda p: optimal_weight(p, 3, {"z": 1}, 5),
    "optimal_weights": lambda p: accountant.optimal_weights(p, 3, {"z": [0.5, 1]}, convexity=prove_convexity(make("pure"), 3)),
    "prepare_solver": lambda p: prepare_solver(p, 3, convexity=prove_convexity(make("pure"), 3)),
    "prove_convexity": lambda p: prove_convexity(p, 3),
    "feasible_weights": lambda p: onesided.feasible_weights(p, None, 3, {"z": 1}),
    "feasible_weights, coming": lambda p: onesided.feasible_weights(make("pure"), p, 3, {"z": 1}),
    "worst_case_directions": lambda p: onesided.worst_case_directions(p, None, "1/4 + z/8"),
    "worst_case_directions, coming": lambda p: onesided.worst_case_directions(make("pure"), p, "1/4 + z/8"),
    "base_profile": rules.base_profile,
    "derive_profile": rules.derive_profile,
    "adaptive_composition": lambda p: rules.adaptive_composition(
        replace(compose_adaptively("noisy sum", [make("pure")]), notion=p.notion), [rules.base_profile(make("pure"))]
    ),
    "ProfileBound": ProfileBound,
    "SampledBound": lambda p: SampledBound(p, make_rule("uniform", p, {"m": 1, "n": 4})),
    "bound_epsilon": lambda p: rules.bound_epsilon(p, make_rule("uniform", p, {"m": 1, "n": 4})),
    "compose_adaptively": lambda p: compose_adaptively("both", [p, make("pure")]),
    "compose_on_one_sample": lambda p: compose_on_one_sample([p, make("pure", name="another")]),
    "amplify_once": lambda p: accountant.amplify_once([p], q="1/2"),
    "plan_sample": lambda p: accountant.plan_sample(p, rule="uniform", constants={"m": 1, "n": 4}),
    "draw_sample": lambda p: accountant.draw_sample(p, DATA, specs=SPEC, rule="uniform", constants={"m": 1, "n": 4}),
    "prepare_selection": lambda p: accountant.prepare_selection(p, make_rule("uniform", p, {"m": 1, "n": 4})),
    "end_point_epsilon": lambda p: end_point_epsilon(p, make_rule("uniform", p, {"m": 1, "n": 4})),
    "calibrate": lambda p: accountant.calibrate(
        p.with_parameters(b="positive"), 2, rules="uniform", constants={"n": 100}, target_size=10, noise_norm="l1", dimension=1
    ),
    "calibrate_noise": lambda p: accountant.calibrate_noise(p.with_parameters(b="positive"), make_rule("uniform", p, {"m": 1, "n": 4}), 2),
    "make_template": lambda p: make_template(p.with_parameters(b="positive"), None).prove_falling(),
    "gather": lambda p: gather(p, 3, **RULE),
    "claim_of_record": lambda p: claim_of_record(p, {"z": 1}),
    "write_toml of the text": lambda p: write_toml(Declaration(declare("copy", p.text, record={"z": [0, 1]}, parameters={"b": 1}))),
    "text": lambda p: p.text,
    "epsilon": lambda p: p.epsilon,
    "expression": lambda p: p.expression(),
    "numeric_epsilon": lambda p: p.numeric_epsilon(),
}


@pytest.mark.thorough(quick=12)
@pytest.mark.parametrize("name", CONSUMERS)
def test_consumers_of_pure_profiles_serve_them(name):
    CONSUMERS[name](make("pure"))


@pytest.mark.parametrize("notion", OTHERS)
@pytest.mark.parametrize("name", CONSUMERS)
def test_consumers_of_pure_profiles_refuse_every_other_notion_by_name(name, notion):
    with pytest.raises(OtherNotion) as caught:
        CONSUMERS[name](make(notion))
    message = str(caught.value)
    assert f'notion "{notion}"' in message
    assert "'noisy sum'" in message
    assert "\n" not in message


#: Each command that reads a profile and needs an ε, with what it needs beside the profile to serve a pure one.
COMMANDS = {
    "epsilon": ["epsilon", "{profile}", "--q", "1/4 + z/8"],
    "weight": ["weight", "{profile}", "-e", "3", "--at", "z=1"],
    "weights": ["weights", "{profile}", "-e", "3", "--data", "{data}", "--out", "{out}.csv", "-s", "z=z"],
    "weights by size": ["weights", "{profile}", "--target-size", "0.3", "--data", "{data}", "--out", "{out}.csv", "-s", "z=z"],
    "sample": ["sample", "{profile}", "--q", "1/2", "--data", "{data}", "--out", "{out}.csv", "-s", "z=z"],
    "calibrate": ["calibrate", "{open}", "-e", "2", "--q", "1/2", "--parameter", "b"],
    "report": ["report", "{profile}", "-e", "3", "--q", "1/2", "--out", "{out}.html"],
}


@pytest.fixture
def words(tmp_path):
    """Return the words of a command about a profile file in a notion."""

    def made(name, notion):
        files = {"data": tmp_path / "records.csv", "out": tmp_path / "out"}
        files["data"].write_text("z\n0.3\n0.4\n1.5\n")
        for key, b in (("profile", "2"), ("open", '"positive"')):
            files[key] = tmp_path / f"{key}.toml"
            text = f'name = "noisy sum"\nnotion = "{notion}"\n{WRITTEN[notion]} = "w*z/b"\n[record]\nz = [0.25, 2]\n[parameters]\nb = {b}\n'
            files[key].write_text(text)
        return [word.format(**files) for word in COMMANDS[name]]

    return made


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("name", COMMANDS)
def test_commands_about_an_epsilon_serve_pure_profiles(name, words, capsys):
    assert invoke(words(name, "pure")) == 0, capsys.readouterr()


@pytest.mark.parametrize("notion", OTHERS)
@pytest.mark.parametrize("name", COMMANDS)
def test_commands_about_an_epsilon_refuse_every_other_notion_in_one_line(name, notion, words, capsys, tmp_path):
    assert invoke(words(name, notion)) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert f'notion "{notion}"' in printed.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["open.toml", "profile.toml", "records.csv"]


#: Where the promise of a profile may be read whatever its notion is; everything else reads ε, which is refused in other notions.
READERS = {
    "profiles/profile.py", "profiles/files.py", "profiles/stored.py", "profiles/composition.py", "profiles/presenting/describing.py",
    "proofs_check/admission.py", "proofs_check/certificates.py", "proofs_check/conditions/homogeneous.py", "accountant/samples/once.py",
    "accountant/report/sections.py", "accountant/weights/gaussian/weight.py", "accountant/weights/gaussian/proved.py",
    "accountant/guarantees/gaussian.py", "accountant/guarantees/gaussian_samples.py", "accountant/selection/mu_lookup.py",
    "accountant/samples/sample.py", "accountant/weights/gaussian/cover_certificate.py", "accountant/applications/kmeans/certifying.py",
    "accountant/cli/mechanisms.py", "profiles/mechanisms/catalogue.py", "profiles/mechanisms/gaussian_lloyd.py",
    "profiles/mechanisms/gaussian_sum.py", "accountant/ledger/charges.py", "accountant/ledger/notions.py", "accountant/ledger/report.py",
    "accountant/applications/kmeans/certificate.py",
}  # fmt: skip


def test_nobody_else_reads_what_is_promised_without_looking_at_the_notion():
    root = Path(accountant.__file__).parents[1]
    found = set()
    for package in ("profiles", "proofs_check", "accountant"):
        for path in (root / package).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            if re.search(
                r"\b(profile|self|mine|declared|again|written|plain|whole)\.promise\b|\.stand_in\(|\.at_weight_one\(|\bas_declared\(", text
            ):
                found.add(path.relative_to(root).as_posix())
    assert found <= READERS, "read epsilon, or handle every notion and list the module here"
    assert found >= READERS - {"profiles/files.py"}
