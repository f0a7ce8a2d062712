"""A store and a root image that were written before guest programs had threads."""
import base64
import contextlib
import lzma
import os
import pathlib
import sqlite3
import subprocess

import pytest
from supervisor import ROOT, SANDBOX, Session

OLD = pathlib.Path(__file__).parent / "old"
IMAGE = os.path.abspath(os.environ.get("WASMSAND_ROOT") or ROOT / "build/share/wasmsand/root.tar")
EAGAIN = 11


def old_image():
    return lzma.decompress(base64.b64decode((OLD / "image.tar.xz.base64").read_text(encoding="ascii")))


def write_store(folder):
    """Returns the id of the session in it."""
    (folder / "images").mkdir(parents=True)
    with contextlib.closing(sqlite3.connect(folder / "store.db")) as db:
        db.executescript((OLD / "store.sql").read_text(encoding="utf-8"))
        session, image = db.execute("select id, image from session").fetchone()
    (folder / "images" / image).write_bytes(old_image())
    return session


@pytest.fixture
def session(make, tmp_path):
    number = write_store(tmp_path / "store")
    return Session(make(fake=False, root_image=IMAGE).client(), number)


def test_a_session_resumes_with_its_files_and_its_shell(session):
    assert session.state == "paused"
    assert [session.run(c) for c in ("get", "cat f", "cat /tmp/g")] == ["before\n", "one\n", "two\n"]
    assert [session.run(c) for c in ("set after", "append f more")] == ["", ""]
    assert [session.run(c) for c in ("get", "cat f")] == ["after\n", "onemore\n"]


def test_its_programs_start_without_threads(session):
    assert session.run("start child") == "child\n"
    assert session.call("run", command="thread")["exitCode"] == EAGAIN


def test_its_fork_has_the_same_state(session):
    fork = Session(session.client, session.call("session.fork")["sessionId"])
    assert fork.run("append f more") == ""
    assert [s.run("cat f") for s in (fork, session)] == ["onemore\n", "one\n"]
    assert fork.run("get") == "before\n"


def test_an_old_program_runs_by_itself(tmp_path):
    (tmp_path / "image.tar").write_bytes(old_image())
    done = subprocess.run([SANDBOX, "exec", "--root", tmp_path / "image.tar", "/bin/old", "word"],
                          capture_output=True, timeout=120, check=False)
    assert (done.stdout, done.returncode) == (b"word\n", 0), done.stderr
