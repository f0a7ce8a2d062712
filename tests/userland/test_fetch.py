"""guest/bin/fetch takes nothing into the cache that is not as listed. apt-get is
replaced by a script that puts what it is given into the current folder."""
import hashlib
import os
import pathlib
import shutil
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
LISTED = {"thing_1.tar.xz": b"the source", "thing_1.dsc": b"its description"}


@pytest.fixture
def fetch(tmp_path):
    """Calls fetch with an archive that has the given files."""
    tool = tmp_path / "guest/bin/fetch"
    tool.parent.mkdir(parents=True)
    shutil.copy(TOP / "guest/bin/fetch", tool)
    (tmp_path / "guest/sources.tsv").write_text("".join(
        f"thing\t1\t{name}\t{hashlib.sha256(data).hexdigest()}\n" for name, data in LISTED.items()))
    fake, archive = tmp_path / "fake", tmp_path / "archive"
    fake.mkdir()
    archive.mkdir()
    (fake / "apt-get").write_text(
        f'#!/bin/sh\ncase "$*" in *" source "*) cp {archive}/* . ;; esac\n')
    (fake / "apt-get").chmod(0o755)

    def call(files):
        for name, data in files.items():
            (archive / name).write_bytes(data)
        env = dict(os.environ, PATH=f"{fake}:{os.environ['PATH']}",
                   XDG_CACHE_HOME=str(tmp_path / "cache"))
        done = subprocess.run([tool, "thing"], env=env, capture_output=True, text=True)
        kept = tmp_path / "cache/wasmsand/src"
        return done, {f.name: f.read_bytes() for f in kept.iterdir()}
    return call


def test_listed_files_are_kept(fetch):
    done, kept = fetch(LISTED)
    assert (done.returncode, done.stderr) == (0, "")
    assert kept == LISTED


def test_another_checksum_names_the_file(fetch):
    done, kept = fetch({**LISTED, "thing_1.tar.xz": b"changed"})
    was = hashlib.sha256(b"changed").hexdigest()
    listed = hashlib.sha256(LISTED["thing_1.tar.xz"]).hexdigest()
    assert done.returncode == 1
    assert done.stderr == ("fetch: thing 1: thing_1.tar.xz has the checksum "
                           f"{was} instead of {listed}\n")
    assert kept == {}


def test_missing_and_changed_files_are_all_named(fetch):
    done, kept = fetch({"thing_1.tar.xz": b"changed"})
    assert done.returncode == 1
    assert done.stderr.startswith("fetch: thing 1: thing_1.tar.xz has the checksum ")
    assert done.stderr.endswith("; thing_1.dsc was not found\n")
    assert kept == {}
