"""select, cover, cluster and monitor: from tables to answers with guarantees, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from accountant.cli.monitor import read_lines
from tests.documentation.pages import ROOT

EXAMPLES = ROOT / "examples"
SELECT = ("--user", "image", "--item", "pixel", "--candidates", "64", "-k", "5", "-e", "1", "--seed", "1")
STREAM = ("--domain", "8", "--times", "0:8", "-k", "2", "-e", "1", "--threshold", "60")


def rows_of(path):
    return list(csv.DictReader(path.read_text().splitlines()))


def test_select_gives_the_same_from_every_format(pdp, tmp_path):
    pixels = rows_of(EXAMPLES / "pixels.csv")
    table = pa.table({"image": [int(row["image"]) for row in pixels], "pixel": [int(row["pixel"]) for row in pixels]})
    pa.parquet.write_table(table, tmp_path / "pixels.parquet")
    (tmp_path / "rows.json").write_text(json.dumps(table.to_pylist()))
    sets = [[int(row["pixel"]) for row in pixels if int(row["image"]) == image] for image in range(300)]
    (tmp_path / "sets.json").write_text(json.dumps(sets))
    found = [
        pdp("select", path, *SELECT, "--json").json()
        for path in (EXAMPLES / "pixels.csv", tmp_path / "pixels.parquet", tmp_path / "rows.json", tmp_path / "sets.json")
    ]
    assert all(item == found[0] for item in found)
    assert found[0]["answer"]["rank"] == [1, 2, 3, 4, 5]
    assert len(set(found[0]["answer"]["candidate"])) == 5
    assert found[0]["choice"]["method"] == "kept"
    assert found[0]["guarantee"]["epsilon"]["upper"] == "1"
    assert found[0]["utility"]["void"] is False


def test_answers_and_guarantees_are_files(pdp, tmp_path):
    names = tmp_path / "names.txt"
    names.write_text("\n".join(f"p{number}" for number in range(64)))
    data = tmp_path / "named.csv"
    data.write_text("user,item,ink\n" + "\n".join(f"{r['image']},p{r['pixel']},{r['ink']}" for r in rows_of(EXAMPLES / "pixels.csv")))
    command = ("select", data, "--candidates", names, "-k", "3", "-e", "0.5", "--value", "ink", "--seed", "3")
    for name in ("out.csv", "out.json", "out.parquet"):
        result = pdp(*command, "--out", tmp_path / name, "--guarantee", tmp_path / "promise.json")
        assert result.code == 0
        assert "quality               value >= 0.5321" in result.out
    chosen = [row["candidate"] for row in rows_of(tmp_path / "out.csv")]
    assert [row["candidate"] for row in json.loads((tmp_path / "out.json").read_text())] == chosen
    assert pa.parquet.read_table(tmp_path / "out.parquet").column("candidate").to_pylist() == chosen
    assert all(name.startswith("p") for name in chosen)
    whole = pdp("compose", tmp_path / "promise.json", tmp_path / "promise.json", "--json").json()
    assert whole["epsilon"]["upper"] == "1"


def test_cover_orders_all_sets(pdp, tmp_path):
    out = tmp_path / "order.csv"
    command = ("cover", EXAMPLES / "pixels.csv", "--element", "image", "--set", "pixel", "--sets", "64", "-e", "1", "--seed", "1")
    for more in ((), ("--algorithm", "one-sample", "--max-elements", "1000"), ("--algorithm", "fresh-samples")):
        found = pdp(*command, *more, "--out", out, "--json").json()
        assert sorted(found["answer"]["set"]) == list(range(64))
        assert [int(row["set"]) for row in rows_of(out)] == found["answer"]["set"]
        assert found["guarantee"]["epsilon"]["upper"] == "1"


def test_cluster_finds_places_in_all_three_forms(pdp, tmp_path):
    points = pdp("cluster", EXAMPLES / "petals.csv", "--points", EXAMPLES / "grid.csv", "--columns", "length,width", "-k", "3", "-e", "2",
                 "--n-bound", "1000", "--seed", "1", "--json").json()  # fmt: skip
    assert points["choice"]["method"] == "everything"
    assert any(length < 2.5 for length in points["answer"]["length"])  # setosa
    assert set(points["answer"]) == {"centre", "length", "width"}
    graph = pdp("cluster", EXAMPLES / "travellers.csv", "--graph", EXAMPLES / "roads.csv", "--columns", "place", "-k", "2", "-e", "3",
                "--n-bound", "1000", "--seed", "1", "--json").json()  # fmt: skip
    assert set(graph["answer"]["place"]) < {"Aven", "Beck", "Corn", "Dale", "Esk", "Ford", "Glen", "Holm"}
    np.save(tmp_path / "matrix.npy", np.abs(np.subtract.outer(np.arange(9.0), np.arange(9.0))))
    (tmp_path / "at.csv").write_text("at\n" + "\n".join(["2"] * 400 + ["7"] * 400))
    matrix = (
        "cluster",
        tmp_path / "at.csv",
        "--distances",
        tmp_path / "matrix.npy",
        "--columns",
        "at",
        "-k",
        "2",
        "-e",
        "1",
        "--seed",
        "2",
    )
    assert pdp(*matrix, "--method", "everything", "--json").json()["answer"]["place"] == [2, 7]
    assert pdp(*matrix, "--rounds", "4", "--json").json()["choice"]["method"] == "selection"


def test_places_and_streams_come_in_every_format(pdp, tmp_path):
    def convert(name, suffix):
        table = pa.csv.read_csv(EXAMPLES / f"{name}.csv")
        path = tmp_path / f"{name}.{suffix}"
        if suffix == "json":
            path.write_text(json.dumps(table.to_pylist()))
        else:
            pa.parquet.write_table(table, path)
        return path

    ways = {
        "points": lambda get: ("cluster", get("petals"), "--points", get("grid"), "--columns", "length,width", "-k", "3", "-e", "2",
                               "--n-bound", "1000", "--seed", "1", "--json"),
        "graph": lambda get: ("cluster", get("travellers"), "--graph", get("roads"), "--columns", "place", "-k", "2", "-e", "3",
                              "--n-bound", "1000", "--seed", "1", "--json"),
        "stream": lambda get: ("monitor", get("lines"), *STREAM, "--seed", "1", "--json"),
    }  # fmt: skip
    for words in ways.values():
        found = [
            pdp(*words(get)).json()
            for get in (lambda name: EXAMPLES / f"{name}.csv", lambda name: convert(name, "parquet"), lambda name: convert(name, "json"))
        ]
        assert found[0]["answer"] == found[1]["answer"] == found[2]["answer"]
        assert found[0]["utility"]["side"] in ("upper", "both")
    (tmp_path / "matrix.json").write_text(json.dumps(np.abs(np.subtract.outer(np.arange(9), np.arange(9))).tolist()))
    (tmp_path / "at.json").write_text(json.dumps([{"at": 2}] * 400 + [{"at": 7}] * 400))
    words = ("--columns", "at", "-k", "2", "-e", "1", "--seed", "2", "--method", "everything")
    found = pdp("cluster", tmp_path / "at.json", "--distances", tmp_path / "matrix.json", *words, "--json").json()
    assert found["answer"]["place"] == [2, 7]
    for text in ("{", "[1, 2]", '[{"at": 1}, {}]', '[{"at": 1}, {"at": "x"}]', "[[1, 2], [3]]", '{"at": 3}', "", "[[[1]]]", "[[NaN]]"):
        (tmp_path / "odd.json").write_text(text)
        assert pdp("cluster", tmp_path / "odd.json", "--distances", tmp_path / "matrix.json", *words).refused()
        assert pdp("cluster", tmp_path / "at.json", "--distances", tmp_path / "odd.json", *words).refused()
        assert pdp("monitor", tmp_path / "odd.json", *STREAM).refused()
        if text != "[[1, 2], [3]]":  # two users with their items
            assert pdp("select", tmp_path / "odd.json", *SELECT).refused()


def test_parts_of_a_network_need_a_diameter(pdp, tmp_path):
    (tmp_path / "roads.csv").write_text("from,to,length\na,b,0\nb,c,2\nd,e,1\n")
    (tmp_path / "at.csv").write_text("at\n" + "a\n" * 300 + "d\n" * 300)
    command = ("cluster", tmp_path / "at.csv", "--graph", tmp_path / "roads.csv", "--columns", "at", "-k", "2", "-e", "2", "--seed", "2")
    result = pdp(*command, "--method", "everything")
    assert result.code == 2
    assert "not connected; give a public diameter" in result.err
    found = pdp(*command, "--method", "everything", "--diameter", "10", "--json").json()
    assert len(found["answer"]["place"]) == 2


@pytest.mark.thorough
def test_monitor_reads_files_and_standard_input(pdp, tmp_path):
    shown = pdp("monitor", EXAMPLES / "lines.csv", *STREAM, "--seed", "1", "--out", tmp_path / "reports.csv", "--json").json()
    assert shown["steps"] == list(range(8))
    assert [(int(row["time"]), int(row["item"])) for row in rows_of(tmp_path / "reports.csv")] == list(
        zip(shown["answer"]["time"], shown["answer"]["item"], strict=True)
    )
    assert not any("sees when a report appears" in sentence for sentence in shown["guarantee"]["hypotheses"])
    live = stream(*STREAM, "--seed", "1", text=(EXAMPLES / "lines.csv").read_text())
    assert live.returncode == 0
    assert "time 0: " in live.stdout
    assert "sees when a report appears" in " ".join(live.stdout.split())
    planned = pdp("monitor", EXAMPLES / "lines.csv", *STREAM[:-2], "--beta", "0.05", "--seed", "1")
    assert "except with probability 0.0348" in planned.out


@pytest.mark.thorough
def test_a_stream_without_records_is_reported_on(pdp, tmp_path):
    """Neighbors of a stream of one user: a refusal would tell that nobody is there."""
    (tmp_path / "nobody.csv").write_text("user,time,item\n")
    pq = pa.table({"user": pa.array([], pa.string()), "time": pa.array([], pa.int64()), "item": pa.array([], pa.int64())})
    pa.parquet.write_table(pq, tmp_path / "nobody.parquet")
    for name in ("nobody.csv", "nobody.parquet"):
        assert pdp("monitor", tmp_path / name, *STREAM, "--seed", "1", "--json").json()["steps"] == list(range(8))


def stream(*arguments, text):
    command = [sys.executable, "-m", "accountant.cli", "monitor", *map(str, arguments)]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "80"})


@pytest.mark.thorough
def test_a_pass_goes_on_after_a_restart(tmp_path):
    state = tmp_path / "pass.state"
    lines = (EXAMPLES / "lines.csv").read_text().splitlines()
    cut = [line for line in lines[1:] if line.split(",")[1] in "0123"]
    first = stream(*STREAM, "--state", state, "--keep-open", text="\n".join([lines[0], *cut]))
    assert first.returncode == 0, first.stderr
    assert state.stat().st_mode & 0o077 == 0
    assert "time 3" not in first.stdout  # step 3 is not over
    second = stream(*STREAM, "--state", state, text="\n".join(lines))
    assert second.returncode == 0, second.stderr
    times = [int(line.split()[1][:-1]) for line in (first.stdout + second.stdout).splitlines() if line.startswith("time ")]
    assert times == sorted(set(times))
    assert "no state of it was used twice" in " ".join(second.stdout.split())
    third = stream(*STREAM, "--state", state, text="\n".join(lines))
    assert third.returncode == 2
    assert "is over" in third.stderr


def test_lines_come_whole():
    read, write = os.pipe()
    os.write(write, b"a,b\nc")
    lines = read_lines(read)
    assert next(lines) == b"a,b\n"
    os.write(write, b",d\ne")
    assert next(lines) == b"c,d\n"
    os.close(write)
    assert list(lines) == [b"e"]
    os.close(read)


def test_parts_are_put_together_where_each_one_costs_a_write(monkeypatch):
    read, write = os.pipe()
    waits = []

    def has_more(_descriptor, wait) -> bool:
        waits.append(wait)
        if len(waits) == 1:
            os.write(write, b"c,d\n")
        return len(waits) == 1

    monkeypatch.setattr("accountant.cli.monitor._has_more", has_more)
    os.write(write, b"a,b\n")
    assert next(read_lines(read, lambda: 10_000.0)) == b"a,b\nc,d\n"
    assert min(waits) > 1_000
    os.write(write, b"e,f\n")
    assert next(read_lines(read)) == b"e,f\n"
    assert waits[-1] == 0
    for end in (read, write):
        os.close(end)


REFUSED = [
    (("select", "pixels.csv", *SELECT, "--combine", "sum"), "--combine was given"),
    (("select", "pixels.csv", *SELECT, "--seed", "-1"), "a seed must be"),
    (("select", "pixels.csv", *SELECT, "--method", "best"), "method must be one of"),
    (("select", "none.csv", *SELECT), "none.csv"),
    (("select", "pixels.csv", *SELECT[:-8], "--candidates", "20", "-k", "2", "-e", "1"), "candidates are 0 to 19"),
    (("select", "pixels.csv", *SELECT, "--out", "pixels.csv"), "input"),
    (("select", "pixels.csv", *SELECT, "--out", "new.csv", "--guarantee", "new.csv"), "two outputs"),
    (("cover", "pixels.csv", "--sets", "64", "-e", "1", "--algorithm", "best"), "algorithm must be"),
    (("cover", "pixels.csv", "--sets", "64", "-e", "1", "--max-elements", "5"), "needs no guess"),
    (("cover", "pixels.csv", "--sets", "64", "-e", "1000"), "epsilon must lie in (0, 100], but 1000 was found"),
    (("cluster", "petals.csv", "-k", "2", "-e", "1", "--columns", "length", "--points", "grid.csv", "--no-triangle"), "for a matrix"),
    (("cluster", "petals.csv", "-k", "2", "-e", "1", "--columns", "length"), "exactly one of --points"),
    (("cluster", "petals.csv", "-k", "2", "-e", "1", "--columns", "length,width", "--graph", "roads.csv"), "one column of places"),
    (
        ("cluster", "petals.csv", "-k", "2", "-e", "1", "--columns", "length", "--distances", "grid.csv", "--rounds", "2"),
        "not a square matrix",
    ),
    (("cluster", "petals.csv", "-k", "2", "-e", "1", "--columns", "length", "--graph", "roads.csv", "--rounds", "2"), "no public place"),
    (("cluster", "petals.csv", "-k", "2", "-e", "1", "--columns", "length", "--distances", "nothing.csv"), "square"),
    (("monitor", "lines.csv", *STREAM, "--beta", "0.1"), "not both"),
    (("monitor", "lines.csv", *STREAM, "--keep-open"), "without --state"),
    (("monitor", "lines.csv", *STREAM, "--state", "s", "--seed", "1"), "--seed was given with --state"),
    (("select", "pixels.csv", *SELECT, "--value", "pixel"), "one of them twice"),
    (("monitor", "lines.csv", *STREAM, "--times", "5"), "--times must be A:B"),
    (("monitor", "lines.csv", *STREAM, "--times", "0:99999999999999999999"), "--times must be A:B"),
    (("monitor", "lines.csv", *STREAM, "--times", "0:999999999"), "give at most 10000000"),
    (("monitor", "lines.csv", *STREAM, "--state", "roads.csv"), "is not the state of a pass"),
]


@pytest.mark.parametrize(("command", "words"), REFUSED, ids=lambda item: item if isinstance(item, str) else item[0])
def test_what_is_refused(pdp, command, words, tmp_path, monkeypatch):
    for file in EXAMPLES.glob("*.csv"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "nothing.csv").touch()
    monkeypatch.chdir(tmp_path)
    result = pdp(*command)
    assert result.code == 2
    assert words in result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    "text",
    [
        "",
        "user,time\n1,2\n",
        "user,time,item\n1,x,2\n",
        "user,time,item\n1,1,2\n1,0,2\n",
        "user,time,item\n,0,1,5\n",
        "user,time,item\n,0,1\n",
        "\n",
    ],
)
def test_streams_that_are_none_are_refused_in_one_line(text, monkeypatch, pdp):
    class Input:
        buffer = io.BytesIO(text.encode())

    read, write = os.pipe()
    os.write(write, text.encode())
    os.close(write)
    Input.buffer.fileno = lambda: read
    monkeypatch.setattr(sys, "stdin", Input)
    result = pdp("monitor", *STREAM)
    os.close(read)
    assert result.code == (2 if text.strip() else 0), result.err
    assert len(result.err.splitlines()) == (1 if text.strip() else 0)


def test_the_tables_are_what_their_script_makes():
    pytest.importorskip("sklearn")
    script = {"__name__": "made", "__file__": str(EXAMPLES / "make_onesided.py")}
    exec(compile((EXAMPLES / "make_onesided.py").read_text(encoding="utf-8"), "make_onesided.py", "exec"), script)
    for name, text in script["make_tables"]().items():
        assert (EXAMPLES / name).read_text(encoding="utf-8") == text
