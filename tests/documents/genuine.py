"""A genuine file of each format, made by the commands that people run."""

from __future__ import annotations

import contextlib
import io
import os
import random
import shlex
from collections.abc import Iterator
from pathlib import Path

from accountant.cli.main import invoke
from accountant.compositions.toml_format import read_composition, write_composition
from profiles import load, write_profile

EXAMPLES = Path(__file__).parents[2] / "examples"
_LEDGER = "ledger init l --data people.csv --key id --budget 2 --anchor l.anchor"
_TABLED = "ledger init t --data people.csv --key id --budget 2 --anchor t.anchor --table folder"
_SAMPLE = "sample lloyd.toml --data points.csv --statistic z=l1 --out sample.csv --seed 3"
_WITHIN = "-e 5 --private-statistics 1 --rule uniform --constant m=9"
_KMEANS = "kmeans points.csv -k 2 -e 2 -r 4 --out centres.csv --certificate kmeans.json --report page.html"
_WEIGHTS = "weights gaussian.toml -e 1 --target-delta 1e-5 --data mu.csv --out w.csv --certificate table.json"
_MONITOR = "monitor stream.csv --domain 2 --times 0:2 -k 1 -e 1/2 --threshold 9 --user id --state state --guarantee once.json"

_DECLARED = """
name = "survey"
unit = "user"
neighbors = "replace-one"
[[event]]
mechanism = "pure"
epsilon = "1/2"
[[hypothesis]]
id = "stated"
sentence = "nobody answers twice"
"""

#: The commands behind a file, by its name, and its format.
COMMANDS: dict[str, tuple[str, list[str]]] = {
    "conditions.json": ("pdp-certificate", ["verify lloyd.toml -e 20 -c assumption-8 --certificate conditions.json"]),
    "events.json": ("pdp-certificate", ["account --gaussian 2 --count 3 --delta 1e-5 --certificate events.json"]),
    "epsilon.json": ("pdp-certificate", ["epsilon lloyd.toml --q 1/10 --certificate epsilon.json"]),
    "guarantee.json": ("pdp-guarantee", ["epsilon lloyd.toml --q 1/10 --guarantee guarantee.json"]),
    "events-guarantee.json": ("pdp-guarantee", ["account --gaussian 2 --count 3 --delta 1e-5 --guarantee events-guarantee.json"]),
    "ledger-guarantee.json": ("pdp-guarantee", [_LEDGER, "ledger report l --guarantee ledger-guarantee.json"]),
    "sample.csv.certificate.json": ("pdp-sample-certificate", [f"{_SAMPLE} -e 9"]),
    "sample.csv": ("data", [f"{_SAMPLE} -e 9"]),
    "within.csv.certificate.json": ("pdp-statistics-certificate", [f"{_SAMPLE.replace('sample.csv', 'within.csv')} {_WITHIN}"]),
    "kmeans.json": ("pdp-kmeans-certificate", [_KMEANS]),
    "page.html": ("report", [_KMEANS]),
    "table.json": ("pdp-weight-table", [_WEIGHTS]),
    "cover.json": ("pdp-weight-cover", ["epsilon gaussian.toml --q '1/10 + z/50' --delta 1e-5 --certificate cover.json"]),
    "report.html": ("report", ["report lloyd.toml -e 20 --out report.html"]),
    "c.toml": ("composition file", [_LEDGER, "ledger report l --composition c.toml"]),
    "declared.toml": ("composition file", []),
    "lloyd.toml": ("profile file", []),
    "profile.json": ("pdp-profile", []),
    "l": ("ledger", [_LEDGER]),
    "l.key": ("ledger secret", [_LEDGER]),
    "l.anchor": ("pdp-ledger-anchor", [_LEDGER]),
    "l.log": ("pdp-ledger-log", [_LEDGER, "ledger backup l --log l.log"]),
    "l.public": ("pdp-ledger-public", [_LEDGER, "ledger export l --public --out l.public"]),
    "p0.json": ("pdp-ledger-statement", [_LEDGER, "ledger root l", "ledger statement l --unit p0 --out p0.json"]),
    "folder/pdp-ledger-table": ("pdp-ledger-table", [_TABLED]),
    "state": ("pass state", [_MONITOR]),
    "curve.svg": ("picture", ["account --gaussian 2 --count 3 --delta 1e-5 --plot curve.svg"]),
    "checker.pyz": ("checker", ["check --export checker.pyz"]),
}
#: JSON files with claims that can be checked.
CLAIMING = [
    name for name, (kind, _) in COMMANDS.items() if kind.startswith("pdp-") and "ledger" not in kind + name and "profile" not in kind
]
#: Files about a ledger that are checked by hashes and signatures, and have no claim of the kernel.
SIGNED = ["l.public", "p0.json"]
#: Files that come back as they are.
READ = [*CLAIMING, *SIGNED, "ledger-guarantee.json", "profile.json", "lloyd.toml", "c.toml", "declared.toml", "report.html"]
#: What no command of a test writes: Coq may not be there.
UNMADE = {"Coq file"}


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Work in a folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def prepare(folder: Path) -> None:
    """Write the inputs of the commands."""
    numbers = random.Random(1)
    rows = [(numbers.uniform(-1, 1) / 2, numbers.uniform(-1, 1) / 2) for _ in range(60)]
    (folder / "people.csv").write_text("id,x,y\n" + "".join(f"p{place},{x},{y}\n" for place, (x, y) in enumerate(rows)))
    (folder / "points.csv").write_text("x,y\n" + "".join(f"{x},{y}\n" for x, y in rows))
    (folder / "mu.csv").write_text("z\n" + "".join(f"{abs(x)}\n" for x, _ in rows))
    (folder / "stream.csv").write_text("id,time,item\n" + "".join(f"p{place},{place // 30},1\n" for place in range(60)))
    for name in ("lloyd.toml", "gaussian.toml"):
        (folder / name).write_text((EXAMPLES / name).read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "declared.toml").write_text(write_composition(read_composition(_DECLARED)), encoding="utf-8")
    (folder / "profile.json").write_text(write_profile(load(str(EXAMPLES / "lloyd.toml")).profile), encoding="utf-8")


class Maker:
    """Makes each file once, when it is asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._done = folder, set[str]()
        prepare(folder)

    def make(self, name: str) -> Path:
        """Return the path of a genuine file."""
        with inside(self.folder):
            for command in COMMANDS[name][1]:
                if command not in self._done:
                    errors = io.StringIO()
                    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
                        code = invoke(shlex.split(command))
                    assert code in (0, 1, 3), f"{command}: {errors.getvalue()}"
                    self._done.add(command)
        return self.folder / name
