"""``--ledger`` of ``pdp kmeans``, ``select``, ``cover``, ``cluster`` and ``sample``: one group of options, the same refusals everywhere."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMANDS = {
    "kmeans": ["kmeans", "people.csv", "-k", "2", "-e", "1/2", "-r", "4", "--method", "lloyd", "--out", "answer.csv"],
    "select": ["select", "rows.csv", "--user", "id", "--candidates", "4", "-k", "2", "-e", "1/2"],
    "cover": ["cover", "rows.csv", "--element", "id", "--set", "item", "--sets", "4", "-e", "1/2"],
    "monitor": ["monitor", "stream.csv", "--domain", "2", "--times", "0:2", "-k", "1", "-e", "1/2", "--threshold", "9", "--user", "id"],
    "cluster": ["cluster", "people.csv", "--points", "grid.csv", "--columns", "x,y", "-k", "1", "-e", "1/2", "--n-bound", "100"],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    numbers = random.Random(1)
    people = [f"p{number},{numbers.uniform(-1, 1)},{numbers.uniform(-1, 1)}" for number in range(60)]
    Path("people.csv").write_text("\n".join(["id,x,y", *people]) + "\n")
    Path("rows.csv").write_text("\n".join(["id,item", *(f"p{number},{number % 3}" for number in range(60))]) + "\n")
    Path("stream.csv").write_text("\n".join(["id,time,item", *(f"p{number},{number // 30},1" for number in range(60))]) + "\n")
    Path("grid.csv").write_text("x,y\n0,0\n1,1\n-1,1\n")
    return tmp_path


def init(pdp, name="l", *more):
    words = ["ledger", "init", name, "--data", "people.csv", "--key", "id", "--budget", "2", "--anchor", f"{name}.anchor"]
    assert pdp(*words, *more).code == 0


def refuse(result):
    """The one line of a refusal."""
    assert result.refused(), result.err
    return result.err


def spent(pdp, unit="p3"):
    return pdp("ledger", "report", "l", "--unit", unit, "--json").json()["private"]["spent"]


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("command", ["select", "kmeans", "cover", "cluster", "monitor"])
def test_a_release_is_charged_once_and_served_again(pdp, folder, command):
    init(pdp)
    words = [*COMMANDS[command], "--ledger", "l", "--name", "july"]
    first, second = pdp(*words, "--json"), pdp(*words, "--anchor", "l.anchor", "--json")
    assert first.code == second.code == 0, first.err + second.err
    assert spent(pdp) == "0.5"
    told, again = first.json(), second.json()
    assert again.pop("ledger") == told.pop("ledger") | {"served": True}
    assert told == again
    assert told["guarantee"]["epsilon"]["upper"] == "2"
    assert told["guarantee"]["unit"] == "user"
    assert "served again" in pdp(*words).out
    other = [word if word != "1/2" else "1/4" for word in words]
    assert "other arguments" in refuse(pdp(*other))
    assert spent(pdp) == "0.5"
    report = pdp("ledger", "report", "l", "--public", "--json").json()
    assert [entry["kind"] for entry in report["entries"]] == ["open", "charge", "output"]


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("command", ["select", "kmeans", "cover", "cluster", "monitor"])
def test_refusals_are_the_same_everywhere_and_cost_nothing(pdp, folder, command):
    init(pdp)
    words = COMMANDS[command]
    assert "go together" in refuse(pdp(*words, "--ledger", "l"))
    assert "go together" in refuse(pdp(*words, "--name", "july"))
    assert "belongs to a ledger" in refuse(pdp(*words, "--anchor", "l.anchor"))
    assert "name of 1 to 100" in refuse(pdp(*words, "--ledger", "l", "--name", "x" * 101))
    assert pdp(*words, "--ledger", "nothing", "--name", "july").refused()
    assert pdp(*words, "--ledger", "people.csv", "--name", "july").refused()
    kept = [word if word != "answer.csv" else "l" for word in words]
    more = [] if command == "kmeans" else ["--out", "l"]
    assert pdp(*kept, *more, "--ledger", "l", "--name", "july").refused()
    if command in ("kmeans", "cluster"):
        assert "belongs to a ledger" in refuse(pdp(*words, "--key", "id"))
        assert pdp(*words, "--ledger", "l", "--name", "july", "--key", "nobody").refused()
        assert "identified by 1 columns" in refuse(pdp(*words, "--ledger", "l", "--name", "july", "--key", "id,x"))
    assert spent(pdp) == "0"


@pytest.mark.thorough
def test_centres_leave_out_the_ids_and_what_is_about_one_row(pdp, folder):
    init(pdp, "l", "--mode", "individual")
    init(pdp, "one", "--records", "1", "--mode", "individual")
    words = COMMANDS["kmeans"]
    charged = [*words, "--name", "july", "--partial", "--ledger"]
    assert pdp(*charged, "l").code == 0
    assert Path("answer.csv").read_text().splitlines()[0].replace('"', "") == "x,y"
    assert "about one row" in refuse(pdp(*charged, "l", "--certificate", "c.json"))
    assert "about one row" in refuse(pdp(*charged, "one", "--report", "r.html"))
    assert "column of ids" in refuse(pdp(*charged, "l", "--columns", "id,x"))
    assert "not even how many" in refuse(pdp(*charged, "one", "--public", "n"))
    assert "notion zcdp" in refuse(pdp(*charged, "one", "--delta", "1e-6"))
    for _ in range(2):  # also served
        assert pdp(*charged, "one", "--certificate", "c.json").code == 0
        assert pdp("check", "c.json").code == 0


@pytest.mark.thorough
def test_normal_noise_is_charged_by_its_rho(pdp, folder):
    init(pdp, "z", "--notion", "zcdp")
    result = pdp(*COMMANDS["kmeans"], "--delta", "1e-6", "--ledger", "z", "--name", "july", "--json")
    assert result.code == 0, result.err
    assert float(result.json()["ledger"]["cost"]) < 0.02


@pytest.mark.thorough
def test_users_of_several_columns_and_lists_without_ids_are_refused(pdp, folder):
    Path("months.csv").write_text("id,month,x\np1,1,0\np1,2,0\n")
    words = ["ledger", "init", "m", "--data", "months.csv", "--key", "id,month", "--budget", "2", "--anchor", "m.anchor"]
    assert pdp(*words).code == 0
    assert "part of a user" in refuse(pdp(*COMMANDS["select"], "--ledger", "m", "--name", "july"))
    init(pdp)
    words = ["monitor", *COMMANDS["monitor"][2:], "--ledger", "l", "--name", "july"]
    assert "has to be over" in refuse(pdp(*words))
    assert "has to be over" in refuse(pdp(*COMMANDS["monitor"], "--ledger", "l", "--name", "july", "--state", "s"))
    Path("lists.json").write_text("[[0], [1, 2]]")
    words = ["select", "lists.json", "--candidates", "4", "-k", "1", "-e", "1", "--ledger", "l", "--name", "july"]
    assert "who the users are" in refuse(pdp(*words))


@pytest.mark.thorough
def test_public_mode_refuses_as_a_whole(pdp, folder):
    init(pdp, "l", "--mode", "public")
    for name in "abcd":
        assert pdp(*COMMANDS["select"], "--ledger", "l", "--name", name).code == 0
    refused = pdp(*COMMANDS["select"], "--ledger", "l", "--name", "e", "--json")
    assert refused.code == 1
    assert refused.json()["verdict"] == "over budget"


@pytest.mark.thorough
def test_a_composition_of_a_ledger_is_about_a_user(pdp, folder):
    init(pdp)
    assert pdp("ledger", "report", "l", "--composition", "c.toml").code == 0
    assert pdp("account", "c.toml", "--delta", "1e-6", "--json").json()["unit"] == "user"
    assert "of one record" not in pdp("account", "c.toml", "--delta", "1e-6").out
    assert pdp("account", "c.toml", "--calibrate", "count", "--delta", "1e-6", "--epsilon", "99", "--json").json()["unit"] == "user"


@pytest.mark.thorough
@pytest.mark.parametrize("rule", [["--rule", "coreset-l2", "--constant", "m=50"], ["--rule", "uniform", "--constant", "m=9"], []])
def test_a_sample_by_private_statistics_is_charged_as_a_whole(pdp, folder, rule):
    profile = str(EXAMPLES / "lloyd.toml")
    words = ["sample", profile, "-e", "5", "--private-statistics", "1", *rule, "--data", "people.csv", "--statistic", "z=l2"]
    opened = ["ledger", "init", "l", "--data", "people.csv", "--key", "id", "--budget", "8", "--anchor", "l.anchor"]
    assert pdp(*opened, "--mode", "individual", "--records", "1").code == 0
    first = pdp(*words, "--out", "a.csv", "--seed", "1", "--ledger", "l", "--name", "july", "--json")
    assert first.code == 0, first.err
    assert spent(pdp) == "5"
    assert pdp("check", "a.csv.certificate.json").code == 0
    # what is public of the charge says how the statistic was read, and that the ids are not in it
    report = pdp("ledger", "report", "l", "--public", "--json").json()
    assert any("but 'id'" in item for item in report["guarantee"]["hypotheses"])
    assert abs(first.json()["released"]["records"] - 60) < 40
    # nobody has room for another 5: no row is counted or drawn, and a unit that sits out pays nothing
    again = [*words, "--out", "b.csv", "--seed", "2", "--ledger", "l", "--name", "august", "--json"]
    assert "--partial" in pdp(*again).err
    second = pdp(*again, "--partial")
    assert second.code == 0, second.err
    assert second.json()["private"]["sample_size"] == 0
    assert abs(second.json()["released"]["records"]) < 40
    assert len(Path("b.csv").read_text().splitlines()) == 1
    assert spent(pdp) == "5"
    assert "charged it before" in refuse(pdp(*words, "--out", "c.csv", "--ledger", "l", "--name", "july"))
    assert "go together" in refuse(pdp(*words, "--out", "c.csv", "--ledger", "l"))
    assert "would be lost" in refuse(pdp(*words, "--out", "l", "--ledger", "l", "--name", "september"))
    assert not Path("c.csv").exists()


@pytest.mark.thorough
def test_what_would_be_refused_for_all_data_is_not_charged(pdp, folder):
    init(pdp)
    words = ["sample", str(EXAMPLES / "lloyd.toml"), "--data", "people.csv", "--out", "a.csv", "--ledger", "l", "--name", "july"]
    small = ["-e", "0.2", "--private-statistics", "0.1", "--rule", "uniform", "--constant", "m=9", "--statistic", "z=l2"]
    assert pdp(*words, *small).code != 0
    assert pdp(*words, "-e", "5", "--private-statistics", "1", "--statistic", "z=id").refused()
    assert pdp(*words, "-e", "5", "--private-statistics", "1", "--target-size", "5", "--statistic", "z=l2").refused()
    assert spent(pdp) == "0"
