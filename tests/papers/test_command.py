"""pdp claims: the stable JSON, the table, one claim in full, exit codes."""

import json

import pytest

from accountant.cli.main import invoke


@pytest.mark.thorough
@pytest.mark.parametrize("options", [["--paper", "fay-2024"], []])
def test_json_is_a_list_with_the_stable_keys(capsys, options):
    assert invoke(["claims", *options, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {tuple(item) for item in found} == {("id", "source", "statement", "verdict", "witness", "correction")}
    by_id = {item["id"]: item for item in found}
    assert by_id["fay-2024-equation-4"]["verdict"] == "refuted"
    assert by_id["fay-2024-equation-4"]["witness"] == {"T": "1", "a": "0.5", "w": "1"}
    assert by_id["fay-2024-equation-4-corrected"]["verdict"] == "proved"


@pytest.mark.thorough
def test_refuted_and_paper_select(capsys):
    assert invoke(["claims", "--paper", "fay-2023", "--refuted", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found
    assert all(item["verdict"] == "refuted" and item["witness"] and item["id"].startswith("fay-2023-") for item in found)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("options", [["--paper", "fay-2024"], [], ["--refuted"], ["--explain", "fay-2024-algorithm-1-bracket"]])
def test_people_get_lines_of_at_most_100_columns(capsys, options):
    assert invoke(["claims", *options]) == 0
    text = capsys.readouterr().out
    assert "fay-2024-algorithm-1-bracket" in text
    assert max(map(len, text.splitlines())) <= 100


def test_explain_shows_goals_rules_and_what_it_corrects(capsys):
    assert invoke(["claims", "--explain", "fay-2024-algorithm-1-bracket-tight"]) == 0
    text = capsys.readouterr().out
    assert "kernel: manifest" in text
    assert "corrects:" in text


@pytest.mark.parametrize("options", [["--paper", "nobody-1999"], ["--explain", "fay-2024-equation-44"]])
def test_unknown_names_are_exit_code_two_and_one_line(capsys, options):
    assert invoke(["claims", *options]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
