"""docs/engines.md: every example runs, and each engine gives the pairs (w, q) of the single-machine path, bit for bit.

An engine that is not installed is skipped: ``make test-engines`` installs them all.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import profiles
from accountant.data import compute_weights_file, open_dataset, parse_statistic
from accountant.weights.convexity import prove_convexity

PAGE = Path(__file__).parents[2] / "docs" / "engines.md"


def blocks(section: str) -> list[str]:
    text = PAGE.read_text(encoding="utf-8")
    found = re.search(rf"^## {section}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    return re.findall(r"^```python\n(.*?)^```$", found[1], re.MULTILINE | re.DOTALL)


def run(section: str, names: dict[str, Any]) -> None:
    for number, block in enumerate(blocks(section)):
        exec(compile(block, f"docs/engines.md, {section}, block {number}", "exec"), names)


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the first example leaves, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    made: dict[str, Any] = {"__name__": "__main__"}
    run("A data set and a map", made)
    return made


def expected(names: dict[str, Any]) -> pa.Table:
    """Return the data with the pairs of the single-machine path, which reads the file in batches of another size."""
    parts = []
    for batch in open_dataset("points.parquet", batch_rows=3_333).batches([parse_statistic("z=l2(x,y)")]):
        found = names["plan"].selector.select(batch.statistics)
        parts.append(pa.table({"weight": found.weights, "q": found.probabilities}))
    single, pairs = pq.read_table("points.parquet"), pa.concat_tables(parts)
    return single.append_column("weight", pairs["weight"]).append_column("q", pairs["q"])


def same_bits(path: str, single: pa.Table) -> None:
    found = pq.read_table(path).sort_by("id")
    assert found.schema.names == ["id", "x", "y", "weight", "q"]
    for name in found.schema.names:
        assert found[name].to_numpy().tobytes() == single[name].to_numpy().tobytes(), name


def plausible_sample(path: str, single: pa.Table, among: Any = None) -> None:
    """Every row is one of the data set with its own pair; the size is within 5.2 standard deviations, which fails with less than 1e-6."""
    found = pq.read_table(path).sort_by("id")
    ids = found["id"].to_numpy()
    assert len(set(ids.tolist())) == ids.size
    assert found.equals(single.take(pa.array(ids)).cast(found.schema))
    q = single["q"].to_numpy() if among is None else single["q"].to_numpy()[among]
    assert abs(ids.size - q.sum()) < 5.2 * ((q * (1 - q)).sum()) ** 0.5 + 1


def test_the_first_example_runs(names: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert len(blocks("A data set and a map")) == 1
    assert names["pairs"].selector.rule.target_epsilon == 2


def test_the_other_map_gives_the_weights_of_pdp_weights(names: dict[str, Any]) -> None:
    run("The other map: the weights of `pdp weights`", names)
    lloyd, specs = names["lloyd"], [parse_statistic("z=l2(x,y)")]
    compute_weights_file(lloyd, "points.parquet", "single.parquet", convexity=prove_convexity(lloyd, 2), target_epsilon=2, specs=specs)
    assert names["weighed"].equals(pq.read_table("single.parquet"))


def test_duckdb(names: dict[str, Any]) -> None:
    duckdb = pytest.importorskip("duckdb")
    single = expected(names)
    run("DuckDB", names)
    same_bits("duckdb.parquet", single)
    plausible_sample("duckdb-sample.parquet", single, single["x"].to_numpy() > 0)
    query = names["connection"].cursor()
    for text, match in [
        ("SELECT pair(2.0, 1.0)", r"InvalidData: row 0 is outside the declared range \[0, 1.5\] of 'z'"),
        ("SELECT pair(x, NULL) FROM 'points.parquet'", r"InvalidData: the column 'y' .* missing value in row 0"),
        ("SELECT pair('nan', 1.0)", "InvalidData: the column 'x' .* finite numbers"),
    ]:
        with pytest.raises(duckdb.Error, match=match):
            query.execute(text).fetchall()
    query.execute("SET threads = 2")
    query.execute("COPY (SELECT id, x, y, unnest(pair(x, y)) FROM 'points.parquet' ORDER BY y) TO 'other.parquet'")
    same_bits("other.parquet", single)
    names["connection"].remove_function("pair")
    names["connection"].close()


def test_polars(names: dict[str, Any]) -> None:
    pl = pytest.importorskip("polars")
    single = expected(names)
    run("Polars", names)
    same_bits("polars.parquet", single)
    plausible_sample("polars-sample.parquet", single)
    wide = names["frame"].with_columns(x=pl.col("x") * 10).map_batches(names["weigh"], schema=names["schema"])
    with pytest.raises(profiles.InvalidData, match="outside the declared range"):
        wide.collect()
    holes = names["frame"].with_columns(y=pl.when(pl.col("id") != 7).then("y")).map_batches(names["weigh"], schema=names["schema"])
    with pytest.raises(profiles.InvalidData, match="missing value in row 7"):
        holes.collect()


@pytest.fixture
def spark_cluster(names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    pyspark = pytest.importorskip("pyspark")
    pytest.importorskip("pandas")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, which is not installed (Debian: apt-get install openjdk-17-jre-headless)")
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.setenv("PYTHONPATH", str(PAGE.parents[1]))
    monkeypatch.setenv("PYSPARK_PYTHON", "")  # so that what the example sets is taken back
    yield names
    if "spark" in names:
        home, application = Path(pyspark.__file__).parent, names["spark"].sparkContext.applicationId
        names["spark"].stop()
        shutil.rmtree(home / "work" / application, ignore_errors=True)


@pytest.mark.filterwarnings("ignore")
def test_spark(spark_cluster: dict[str, Any]) -> None:
    names = spark_cluster
    single = expected(names)
    run("Spark", names)
    same_bits("spark.parquet", single)
    plausible_sample("spark-sample.parquet", single)
    plausible_sample("spark-seeded.parquet", single)
    spark, schema = names["spark"], names["schema"]
    assert len(spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()) == 3  # two executors and the driver
    again = names["fixed"].mapInArrow(names["arrow_sample"](names["pairs"], names["open_seeded"]), schema).toArrow()
    assert sorted(again["id"].to_pylist()) == pq.read_table("spark-seeded.parquet").sort_by("id")["id"].to_pylist()
    wide = names["rows"].withColumn("x", names["rows"].x * 10).mapInArrow(names["pairs"].stream, schema)
    with pytest.raises(
        Exception, match=r"profiles.errors.InvalidData: rows [\d, ]+ and others are outside the declared range \[0, 1.5\] of 'z'"
    ):
        wide.count()
