"""What others keep of a ledger: its log or its anchor on another machine, and the reply of a time-stamping authority about the log."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from accountant.ledger import Ledger
from accountant.ledger.public import write_public
from accountant.ledger.timestamps import read_reply
from accountant.ledger.witnesses import require_witness
from profiles import UnreadableFile
from profiles.errors import LedgerRejected
from tests.ledger.conftest import PEOPLE, SUM

pytest.importorskip("cryptography")

CONFIG = """
[tsa]
default_tsa = t
[t]
serial = serial
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256, sha384, sha512
ess_cert_id_alg = sha256
[stamps]
extendedKeyUsage = critical,timeStamping
[other]
extendedKeyUsage = critical,serverAuth
"""


@pytest.fixture
def ledger(make):
    made = make(budget="9")
    made.charge("one", SUM, PEOPLE)
    return made


def test_a_ledger_goes_on_from_what_was_kept(ledger, tmp_path):
    log, anchor = tmp_path / "kept.public", tmp_path / "kept.anchor"
    log.write_text(write_public(ledger, root=False))
    shutil.copy(tmp_path / "l.anchor", anchor)
    for name in ("two", "three"):
        ledger.charge(name, SUM, PEOPLE)
    for kept in (log, anchor):
        assert "agrees up to entry 1," in require_witness(ledger, kept)


def test_an_old_copy_with_its_anchor_is_refused_by_a_witness(ledger, tmp_path, make):
    """Somebody puts back the ledger together with its anchor: what is elsewhere is out of reach."""
    ledger.charge("two", SUM, PEOPLE)
    log, anchor = tmp_path / "kept.public", tmp_path / "kept.anchor"
    log.write_text(write_public(ledger, root=False))
    shutil.copy(tmp_path / "l.anchor", anchor)
    del ledger.journal.entries[2:]
    journal = type("Journal", (), {"catch_up": lambda _: None, "entries": ledger.journal.entries})
    old = type("Old", (), {"journal": journal(), "settings": ledger.settings})
    for kept in (log, anchor):
        with pytest.raises(LedgerRejected, match="older than its witness"):
            require_witness(old, kept)
    other = make(name="other", budget="9")
    for kept in (log, anchor):
        with pytest.raises(LedgerRejected, match="another ledger"):
            require_witness(other, kept)


def test_another_history_is_refused(ledger, tmp_path):
    kept = tmp_path / "kept.anchor"
    lines = (tmp_path / "l.anchor").read_text().splitlines()
    place, hashed, rest = lines[2].split(" ", 2)
    kept.write_text("\n".join([*lines[:2], f"{place} {hashed[::-1]} {rest}"]) + "\n")
    with pytest.raises(LedgerRejected, match="has another entry 1"):
        require_witness(ledger, kept)
    for text in ("", "something else\n", lines[0] + "\n"):
        kept.write_text(text)
        with pytest.raises((LedgerRejected, UnreadableFile)):
            require_witness(ledger, kept)
    with pytest.raises(UnreadableFile):
        require_witness(ledger, tmp_path / "none")


def openssl(folder, *words):
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """A time-stamping authority of our own, and another one."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("tsa")
    (folder / "c").write_text(CONFIG)
    (folder / "serial").write_text("01\n")
    for name in ("ca", "else"):
        new = ("-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.pem", "-subj", f"/CN={name}")
        openssl(folder, "req", "-x509", *new, "-days", "9")
    for name, key, usage in (
        ("rsa", ("rsa:2048",), "stamps"),
        ("ec", ("ec", "-pkeyopt", "ec_paramgen_curve:P-256"), "stamps"),
        ("web", ("rsa:2048",), "other"),
    ):
        openssl(folder, "req", "-newkey", *key, "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "c", "-extensions", usage, "-days", "9")
        openssl(folder, "x509", "-req", "-in", f"{name}.csr", *signed, "-out", f"{name}.pem")
    return folder


def stamp(folder, file, signer="rsa", digest="sha256", *more):
    """The reply of the authority about a file."""
    openssl(folder, "ts", "-query", "-data", file, f"-{digest}", *more, "-out", "q.tsq")
    openssl(
        folder,
        "ts",
        "-reply",
        "-queryfile",
        "q.tsq",
        "-config",
        "c",
        "-signer",
        f"{signer}.pem",
        "-inkey",
        f"{signer}.key",
        "-out",
        "r.tsr",
    )
    return (folder / "r.tsr").read_bytes()


@pytest.mark.parametrize("signer", ["rsa", "ec"])
@pytest.mark.parametrize("digest", ["sha256", "sha512"])
@pytest.mark.parametrize("more", [("-cert",), ()])
def test_replies_of_an_authority_are_checked(authority, tmp_path, signer, digest, more):
    file = tmp_path / "file"
    file.write_bytes(b"what was published")
    found = read_reply(stamp(authority, file, signer, digest, *more))
    assert found.algorithm == digest
    found.require_file(b"what was published")
    with pytest.raises(LedgerRejected, match="another file"):
        found.require_file(b"what was published!")
    direct = (authority / f"{signer}.pem").read_bytes()
    assert found.require_signed(direct) == f"CN={signer}"
    if more:  # the certificate is in the reply
        assert found.require_signed((authority / "ca.pem").read_bytes()) == f"CN={signer}"
    for other in ("else", "web"):
        with pytest.raises(LedgerRejected, match="not signed by this authority"):
            found.require_signed((authority / f"{other}.pem").read_bytes())
    with pytest.raises(UnreadableFile):
        found.require_signed(b"no certificate")


def test_changed_replies_are_refused(authority, tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"what was published")
    told, trusted = stamp(authority, file, "rsa", "sha256", "-cert"), (authority / "ca.pem").read_bytes()
    true = read_reply(told)
    true.require_signed(trusted)
    for place in range(len(told)):
        changed = told[:place] + bytes([told[place] ^ 1]) + told[place + 1 :]
        try:
            found = read_reply(changed)
            found.require_file(b"what was published")
            found.require_signed(trusted)
        except (LedgerRejected, UnreadableFile):
            continue
        assert (found.time, found.digest) == (true.time, true.digest), place  # what is not signed: the status, unused parts
    for size in range(0, len(told), 7):
        with pytest.raises(UnreadableFile):
            read_reply(told[:size])


def test_the_command_line(pdp, tmp_path, monkeypatch, authority):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("id,z\nada,1\nben,0.5\n")
    Path("sum.toml").write_text('name = "sum"\nepsilon = "w*z"\n[record]\nz = [0, 1]\n')
    pdp("ledger", "init", "l", "--data", "people.csv", "--key", "id", "--budget", "4", "--anchor", "a")
    pdp("ledger", "export", "l", "--public", "--no-root", "--out", "kept")
    pdp("ledger", "charge", "l", "sum.toml", "--name", "one")
    said = pdp("ledger", "verify", "l", "--witness", "kept", "--witness", "a")
    assert said.code == 0
    assert "agrees up to entry 0" in " ".join(said.out.split())
    pdp("ledger", "export", "l", "--public", "--out", "now")
    assert pdp("ledger", "verify", "l", "--witness", "now", "--json").json()["witnesses"]
    Path("now").write_text(Path("now").read_text().replace('"one"', '"won"'))
    assert pdp("ledger", "verify", "l", "--witness", "now").code == 1
    Path("reply").write_bytes(stamp(authority, tmp_path / "kept", "rsa", "sha256", "-cert"))
    told = pdp("check", "kept", "--timestamp", "reply")
    assert "its signature was not checked" in " ".join(told.out.split())
    told = pdp("check", "kept", "--timestamp", "reply", "--authority", str(authority / "ca.pem"), "--json")
    assert (told.code, told.json()["about"]["timestamp"]["signer"]) == (0, "CN=rsa")
    assert pdp("check", "kept", "--timestamp", "reply", "--authority", str(authority / "else.pem")).code == 1
    assert pdp("check", "kept", "--authority", str(authority / "ca.pem")).refused()
    assert pdp("check", "kept", "--timestamp", "people.csv").refused()
    pdp("ledger", "export", "l", "--public", "--out", "later")
    assert pdp("check", "later", "--timestamp", "reply").code == 1
    with Ledger.open("l") as ledger:
        assert ledger.verify() == 0
