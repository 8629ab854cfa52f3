"""The examples of docs/interoperability.md run, those of an extra where it is installed, and its tables are those of the code."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from accountant import derive_epsilon
from accountant.interop import write_guarantee
from accountant.interop.dominating import BITS, MOST_TERMS
from profiles import MissingExtra, UnreadableFile, compose_adaptively, declare, load, write_profile
from profiles.strict_json import MAX_CHARACTERS

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "interoperability.md").read_text(encoding="utf-8")
TRAINERS = (DOCS / "trainers.md").read_text(encoding="utf-8")
OTHERS = [path.read_text(encoding="utf-8") for path in (DOCS / "coming-from.md", DOCS.parent / "README.md")]
BLOCKS = [
    block for text in (PAGE, TRAINERS, *OTHERS) for block in re.findall(r"(?:<!-- needs: (\w+) -->\n)?```python\n(.*?)```", text, re.DOTALL)
]


def test_examples_of_files_run() -> None:
    names: dict[str, object] = {}
    plain = [block for needs, block in BLOCKS if not needs and block in PAGE]
    assert len(plain) == 4
    for block in plain:
        exec(compile(block, "docs/interoperability.md", "exec"), names)


LOOPS = re.findall(r"```python\n((?:(?!```).)*)```\n\n```text\n(.*?)```", TRAINERS, re.DOTALL)


@pytest.mark.thorough
@pytest.mark.parametrize(("loop", "printed"), LOOPS, ids=["NumPy", "random allocation"])
def test_the_loops_of_the_page_print_what_the_page_shows(loop, printed, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(loop, "docs/trainers.md", "exec"), {})
    assert capsys.readouterr().out == printed
    assert sorted(path.name for path in tmp_path.iterdir()) == (["run.certificate.json", "run.guarantee.json"] if "out=" in loop else [])


@pytest.mark.filterwarnings("default")  # Opacus warns of its generator
@pytest.mark.parametrize(("needs", "block"), [(needs, block) for needs, block in BLOCKS if needs], ids=lambda item: item[:13])
def test_examples_of_extras_run(needs: str, block: str) -> None:
    if importlib.util.find_spec(needs) is None:
        pytest.skip(f"needs {needs}: make test-interop")
    exec(compile(block, "docs/interoperability.md", "exec"), {})


def test_the_page_names_every_key() -> None:
    part = declare("sum", "w*z/b", record={"z": [0, 1]}, parameters={"b": 2}, source="s")
    for text in (write_profile(compose_adaptively("both", [part, part])), write_guarantee(derive_epsilon(part, q="1/2").guarantee)):
        for key in json.loads(text):
            assert f"`{key}`" in PAGE, key
    assert f"{MAX_CHARACTERS:,} characters" in PAGE
    assert f"{BITS} bits" in PAGE
    assert f"{MOST_TERMS:,} terms" in PAGE


def test_profile_files_may_be_json(tmp_path: Path) -> None:
    profile = declare("sum", "w*z", record={"z": [0, 1]}, source="s")
    path = tmp_path / "sum.json"
    path.write_text(write_profile(profile), encoding="utf-8")
    assert load(str(path)).profile == profile
    path.write_text(write_profile(profile).replace('"version": 1', '"version": 2'), encoding="utf-8")
    with pytest.raises(UnreadableFile, match="version 1"):
        load(str(path))


@pytest.mark.thorough
@pytest.mark.parametrize(("module", "extra"), [("opendp", "opendp"), ("dp_accounting", "dp-accounting")])
def test_a_missing_extra_is_named_and_nothing_else_needs_it(module: str, extra: str) -> None:
    code = f"""
import sys
sys.modules[{module!r}] = None
import accountant.interop
assert not any(name.split(".")[0] in ("opendp", "dp_accounting") and sys.modules[name] for name in sys.modules)
from profiles import MissingExtra
try:
    import accountant.interop.{module}
except MissingExtra as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"pdp-accountant[{extra}]" in done.stdout
    assert issubclass(MissingExtra, ImportError)
