"""An installation that belongs to root, used by a supervisor without rights."""
import os
import pathlib
import shutil
import subprocess

import pytest
from supervisor import SANDBOX, SUPERVISOR, Client

USER = 12345


def drop_to(user):
    """Also leaves the groups of root."""
    def drop():
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    return drop


@pytest.fixture
def installed(tmp_path):
    """Files of root in folders that everybody can enter."""
    prefix = tmp_path / "usr"
    share = pathlib.Path(SANDBOX).parent / "share/wasmsand"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "libexec").mkdir()
    shutil.copy(SANDBOX, prefix / "bin")
    shutil.copy(SUPERVISOR, prefix / "libexec")
    shutil.copytree(share, prefix / "share/wasmsand")
    for folder in [tmp_path, *tmp_path.parents]:
        if folder.owner() == "root" and not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o011)
    return prefix


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_its_compiled_code_is_used(installed, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, USER, USER)
    with subprocess.Popen(
            [installed / "libexec/wasmsand-supervisor", "serve", "--socket", home / "s.sock", "--store-dir", home / "store",
             "--backend", "rlimits", "--allow-unenforced", "memory,cpu,processes"],
            env={"HOME": str(home), "PATH": os.environ["PATH"]}, preexec_fn=drop_to(USER),
            stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if "serving on" in line:
                break
        client = Client(home / "s.sock")
        session = client.create()
        assert session.run("echo $((6 * 7))") == "42\n"
        process.terminate()
    entries = home.glob(".cache/wasmsand/code/*")  # perhaps links to those of the installation
    assert not [entry for entry in entries if entry.stat().st_uid == USER], "programs were compiled"
