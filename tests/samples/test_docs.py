"""The examples of the Poisson sampler in docs/sampling.md run, and the page names what is public."""

from __future__ import annotations

import re

import pytest

from accountant.samples.certificate import to_certificate
from accountant.samples.plan import plan_sample
from profiles.mechanisms import LaplaceSum
from tests.documentation.pages import DOCS, split_page

PAGE = "".join(split_page(DOCS / "sampling.md", "From a Parquet file to centres", "The Poisson sampler")[1:])
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("number", range(3))
def test_examples_of_the_page(number, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert len(BLOCKS) == 3
    names: dict[str, object] = {}
    exec(compile(BLOCKS[number], "docs/sampling.md", "exec"), names)
    printed = capsys.readouterr().out
    assert ("1.60943791389" in printed, "1.386" in printed) == ((True, True) if number == 1 else (False, False))
    if number == 0:
        assert names["release"].output.shape == (2, 2)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["points.parquet", "sample.parquet", "sample.parquet.certificate.json"]
    if number == 2:
        assert "composed and then amplified once" in printed


def test_every_field_of_a_certificate_is_in_the_table():
    plan = plan_sample(LaplaceSum(b=20, radius=4), q="1/2")
    fields = {*to_certificate(plan, plan.derived.guarantee, "secure"), "private"}
    listed = {name for line in PAGE.splitlines() if line.startswith("| `") for name in re.findall(r"`([a-z_]+)`", line.split("|")[1])}
    assert fields <= listed
