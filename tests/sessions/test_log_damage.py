"""A write-ahead log of the store that is not what was written: nothing is lost without a report."""
import os
import random
import shutil
import sqlite3
import subprocess

import pytest
import supervisor
from supervisor import Error

FRAME = 24 + 4096


def make_sessions(client):
    """Each is in commits of its own, one after another, as is the last one's end."""
    made = [client.create(label=f"s{i}") for i in range(4)]
    for i, s in enumerate(made):
        for n in range(6):
            s.run(f"set {n} s{i} " + "x" * 3000)
    return made


def log_of(sup):
    return sup.folder / "store/store.db-wal"


def used(log):
    data = log.read_bytes()
    at = 32
    while data[at + 8:at + 16] == data[16:24]:
        at += FRAME
    return at


def flip(path, at):
    with open(path, "r+b") as f:
        f.seek(at)
        byte = f.read(1)[0]
        f.seek(at)
        f.write(bytes([byte ^ 4]))


def fsck(sup, *options):
    done = subprocess.run([supervisor.SUPERVISOR, "fsck", "--store", str(sup.folder / "store"), *options],
                          capture_output=True, text=True)
    return done.returncode, done.stdout


def damages(client, session):
    return [e["reason"] for e in client.call("session.events", sessionId=session.id, limit=1000)["events"]
            if e["cause"] == "damaged"]


def contents(client, session):
    session.client = client
    try:
        return [session.run(f"get {n}") for n in range(6)]
    except Error:
        return None


def check(sup, client, sessions):
    """All is there, or reported; how many sessions have all."""
    whole = 0
    listed = {s["sessionId"] for s in client.call("session.list")["sessions"]}
    for i, s in enumerate(sessions):
        wanted = [f"s{i} " + "x" * 3000] * 6
        found = contents(client, s) if s.id in listed else None
        whole += found == wanted
        if found != wanted:
            reasons = damages(client, s)
            assert reasons and "lost" in reasons[0]
            # a state that it had: commands without a gap
            n = sum(map(bool, found or []))
            assert found is None or found == wanted[:n] + [""] * (6 - n)
    return whole


def test_bits_that_flip(sup, client):
    sessions = make_sessions(client)
    sup.kill()
    saved = sup.folder / "saved"
    shutil.copytree(sup.folder / "store", saved)
    end = used(log_of(sup))
    places = random.Random(7)
    whole = []
    for _ in range(8):
        shutil.rmtree(sup.folder / "store")
        shutil.copytree(saved, sup.folder / "store")
        flip(log_of(sup), places.randrange(32, end))
        sup.start()
        assert b"the store: the log does not have all that was acknowledged" in sup.said
        whole.append(check(sup, sup.client(), sessions))
        sup.kill()
    assert max(whole) == 4


@pytest.mark.parametrize("how", ["emptied", "removed", "garbage"])
def test_a_log_that_is_gone(sup, client, how):
    sessions = make_sessions(client)
    sup.kill()
    log = log_of(sup)
    if how == "emptied":
        os.truncate(log, 0)
    elif how == "removed":
        log.unlink()
    else:
        log.write_bytes(b"garbage" * 1000)
    status, found = fsck(sup)
    assert status == 1
    for s in sessions:
        assert f"session {s.id}: the log was damaged: the session is lost" in found
    sup.start()
    client = sup.client()
    for s in sessions:
        assert f"session {s.id}: the log was damaged".encode() in sup.said
        assert len(damages(client, s)) == 1
    sup.stop()
    assert fsck(sup) == (0, "0 found, 0 repaired\n")


def test_an_orderly_stop_needs_no_log(sup, client):
    sessions = make_sessions(client)
    assert sup.stop() == 0
    log_of(sup).unlink()
    assert fsck(sup) == (0, "0 found, 0 repaired\n")
    sup.start()
    assert check(sup, sup.client(), sessions) == 4
    assert all(damages(sup.client(), s) == [] for s in sessions)


def test_copies_are_no_damage(sup, client, make, tmp_path):
    """Those that docs/sessions.md describes, of a store that was killed."""
    sessions = make_sessions(client)
    sup.kill()
    both, backup = tmp_path / "both", tmp_path / "backup"
    for folder in (both, backup):
        (folder / "store").mkdir(parents=True)
        shutil.copytree(sup.folder / "store/images", folder / "store/images", dirs_exist_ok=True) \
            if (sup.folder / "store/images").exists() else None
    for name in ("store.db", "store.db-wal"):
        shutil.copy(sup.folder / "store" / name, both / "store")
    # as `.backup` of the program sqlite3, which need not be installed
    with sqlite3.connect(sup.folder / "store/store.db") as db, sqlite3.connect(backup / "store/store.db") as to:
        db.backup(to)
    db.close()
    to.close()
    for folder in (both, backup, sup.folder):
        copy = supervisor.Supervisor(folder).start()
        try:
            assert b"the store:" not in copy.said
            assert check(copy, copy.client(), sessions) == 4
            assert copy.stop() == 0
            assert fsck(copy) == (0, "0 found, 0 repaired\n")
        finally:
            copy.end()
