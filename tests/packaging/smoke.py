"""Use an installed pdp-accountant as a user would: run by install_and_smoke.py in a clean environment and an empty folder."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.resources
import json
import pkgutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROFILE = """
name = "noisy sum"
epsilon = "w*z/b"
[record]
z = ["0.5", 2]
[parameters]
b = 3
"""
TOP = ("accountant", "profiles", "proofs_check")
#: Modules that need an extra, and what their error has to name.
EXTRAS = {
    "accountant.applications.dpsgd.estimator": "pdp-accountant[scikit-learn]",
    "accountant.interop.dp_accounting": "pdp-accountant[dp-accounting]",
    "accountant.interop.dp_events": "pdp-accountant[dp-accounting]",
    "accountant.interop.flower": "pip install flwr",
    "accountant.interop.opacus": "pip install opacus",
    "accountant.interop.opendp": "pdp-accountant[opendp]",
    "accountant.ledger.postgres": "pdp-accountant[postgres]",
    "accountant.testing": "pdp-accountant[testing]",
}
#: Modules behind an entry that names the extra (check_names uses those of accountant), and the one library that they may miss.
BEHIND = {
    "accountant.applications.kmeans.estimator": "sklearn",
    "accountant.applications.kmeans.predicting": "sklearn",
    "accountant.applications.kmeans.private": "sklearn",
    "accountant.applications.sklearn_guards": "sklearn",
    "accountant.ledger.tables.duck": "duckdb",
    "accountant.ledger.tables.polar": "polars",
    "accountant.ledger.tables.spark": "py4j",
    "accountant.report.checking.harness": "kernel",  # which stands beside it in the page that checks itself
}


def require(condition: object, what: str) -> None:
    """Stop with a sentence where something is not as it should be."""
    if not condition:
        sys.exit(f"smoke test: {what}")


def run(*arguments: str, code: int = 0) -> str:
    """Run the installed ``pdp`` and return what it prints."""
    command = str(Path(sys.executable).parent / "pdp")
    done = subprocess.run([command, *arguments], capture_output=True, text=True, timeout=300, check=False)
    require(done.returncode == code, f"pdp {' '.join(arguments)} ended with {done.returncode}: {done.stderr[-500:]}")
    require("Traceback" not in done.stderr, f"pdp {' '.join(arguments)} printed a traceback")
    return done.stdout


def check_modules() -> int:
    """Import every module of the three packages from where it was installed, and nothing besides."""
    count = 0
    for name in TOP:
        package = importlib.import_module(name)
        folder = Path(str(package.__file__)).resolve().parent
        require(folder.is_relative_to(Path(sys.prefix).resolve()), f"{name} was imported from {folder}, not from this environment")
        require((folder / "py.typed").is_file(), f"{name} has no py.typed")
        for found in pkgutil.walk_packages([str(folder)], f"{name}.", onerror=lambda _: None):
            extra = next((needed for module, needed in EXTRAS.items() if found.name == module or found.name.startswith(f"{module}.")), None)
            if found.name.endswith("__main__"):
                continue
            try:
                importlib.import_module(found.name)
            except ImportError as error:
                named = extra is not None and extra in str(error)
                behind = error.name is not None and error.name == BEHIND.get(found.name)
                require(named or behind, f"{found.name} could not be imported: {error}")
            count += 1
    installed = {str(path).split("/")[0] for path in importlib.metadata.files("pdp-accountant") or ()}
    unknown = {name for name in installed if name not in TOP and ".dist-info" not in name and name != ".."}
    require(not unknown, f"the wheel installs {unknown} besides its packages")
    return count


def check_formal_proofs() -> None:
    """Find the files of Coq that the rules' theorems are in, and the table of their hypotheses."""
    statements = importlib.import_module("accountant.guarantees.statements")
    folder = importlib.resources.files("proofs_check")
    texts = "".join(file.read_text(encoding="utf-8") for file in folder.joinpath("formal").iterdir() if file.name.endswith(".v"))
    missing = [name for basis in statements.RULES.values() for name in basis.theorems if f"Theorem {name}" not in texts]
    require(texts and not missing, f"the wheel has no formal proofs of {missing}")
    for name in ("formal/hypotheses.toml", "coq/rules.v", "coq/factors.v", "coq/tactics.v"):
        require(folder.joinpath(*name.split("/")).is_file(), f"the wheel has no proofs_check/{name}")


def check_names() -> None:
    """Use every public name, and the example of the README."""
    accountant, profiles = importlib.import_module("accountant"), importlib.import_module("profiles")
    for name in accountant.__all__:
        try:
            require(getattr(accountant, name) is not None, f"accountant.{name} is None")
        except ImportError as error:
            require("pdp-accountant[" in str(error), f"accountant.{name}: {error}")
    for name in profiles.__all__:
        require(getattr(profiles, name) is not None, f"profiles.{name} is None")
    interop = importlib.import_module("accountant.interop")
    profile = profiles.declare("noisy sum", "w*z/b", record={"z": ["0.5", 2]}, parameters={"b": 3})
    made = accountant.derive_epsilon(profile, rule="uniform", constants={"rate": "0.1"}).guarantee
    found = interop.replay(interop.read_guarantee(interop.write_guarantee(made)))
    require(found.bound.upper == made.bound.upper, "a guarantee was not replayed")


def check_commands() -> None:
    """Verify, bound and check a profile with the commands."""
    require("verify" in run("--help"), "pdp --help does not name its commands")
    with tempfile.TemporaryDirectory() as folder:
        profile, certificate = Path(folder) / "sum.toml", Path(folder) / "sum.json"
        profile.write_text(PROFILE, encoding="utf-8")
        asked = ["--target-epsilon", "2", "--condition", "assumption-11", "--certificate", str(certificate)]
        verdicts = json.loads(run("verify", str(profile), *asked, "--json"))
        require(verdicts["conditions"]["assumption-11"]["verdict"] == "proved", "assumption-11 is not proved")
        require(json.loads(run("check", str(certificate), "--json"))["accepted"], "the kernel rejects the certificate")
        certificate.write_text(certificate.read_text(encoding="utf-8").replace("w*z/b", "w**2*z/b"), encoding="utf-8")
        run("check", str(certificate), code=1)
        require("upper" in json.loads(run("epsilon", str(profile), "--q", "1/2", "--json"))["epsilon"], "no epsilon")
        run("weight", str(profile), "--target-epsilon", "2", "--at", "z=1")
        run("verify", str(Path(folder) / "nothing.toml"), "--target-epsilon", "2", code=2)
        run("report", str(profile), "--target-epsilon", "2", "--out", str(Path(folder) / "report.html"))
        require("<style>" in (Path(folder) / "report.html").read_text(encoding="utf-8"), "the report has no style sheet")
    require("Laplace" in run("mechanisms"), "no catalogue")
    require("count" in run("release", "--count", "--epsilon", "1", "--plan"), "no plan of a release")
    pair = ("--dataset", "[1, 2.5]", "--neighbor", "[1]")
    # at 99% one true claim in a hundred may be refuted, and with this seed it is
    asked = ["--samples", "2000", "--seed", "1", "--confidence", "0.999999"]
    run("audit", "profiles.mechanisms.laplace_sum:default", *pair, *asked)
    run("weight", "profiles.mechanisms.laplace_sum:default", "--target-epsilon", "2", "--at", "z=1")


def main() -> None:
    """Run everything."""
    version = importlib.metadata.version("pdp-accountant")
    require(len(sys.argv) < 2 or sys.argv[1] == version, f"version {sys.argv[1:]} was built, but {version} is installed")
    require(importlib.util.find_spec("tests") is None, "the wheel installs the tests")
    modules = check_modules()
    check_names()
    check_formal_proofs()
    check_commands()
    print(f"pdp-accountant {version} on Python {sys.version.split()[0]}: {modules} modules, commands and names work")


if __name__ == "__main__":
    main()
