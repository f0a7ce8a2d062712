"""A store that cannot commit: nothing is acknowledged, nothing is lost."""
import random
import resource
import subprocess

import pytest
from supervisor import Error


def limit_files(sup, size):
    resource.prlimit(sup.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@pytest.fixture(params=["full", "interval"])
def session(request, client):
    s = client.create(durability=request.param)
    s.run("set 1 kept")
    return s


def test_a_full_disk(sup, client, session):
    limit_files(sup, 4096)
    with pytest.raises(Error) as caught:
        for i in range(1000):
            session.run(f"set {i + 2} {i}" + "x" * 3000)
    assert "store" in caught.value.message
    limit_files(sup, resource.RLIM_INFINITY)
    assert session.wait_for("paused")["cause"] == "store"  # saved in the end
    assert session.run("get 1") == "kept"
    last = [n for n in range(1000) if session.run(f"get {n + 2}")]
    # what was acknowledged is there, and nothing after the refusal
    assert last == list(range(len(last)))
    session.run("set 1 again")
    session.call("session.pause")
    assert session.run("get 1") == "again"


def test_nothing_is_created_on_a_full_disk(sup, client):
    limit_files(sup, 4096)
    with pytest.raises(Error) as caught:
        client.create()
    assert "not created" in caught.value.message
    limit_files(sup, resource.RLIM_INFINITY)
    assert client.call("session.list")["sessions"] == []
    client.create().run("set 1 x")


@pytest.fixture
def small(make, tmp_path):
    """A supervisor whose store is alone on a small disk."""
    disk = tmp_path / "store"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "store", disk], check=True)
    sup = make()
    yield sup
    sup.end()
    subprocess.run(["umount", "--lazy", disk], check=True)


def fill_disk(session):
    """Until the store refuses it; how many commands it has."""
    n = 0
    with pytest.raises(Error) as caught:
        while n < 5000:
            session.run(f"set {n} {n} " + str(random.Random(n).randbytes(100000).hex()))
            n += 1
    assert "store" in caught.value.message
    return n


def test_a_session_can_be_ended_on_a_full_disk(small):
    client = small.client()
    s, other = client.create(), client.create(durability="full")
    other.run("set 1 kept")
    fill_disk(s)
    assert s.call("session.end")["state"] == "ended"
    assert [x["sessionId"] for x in client.call("session.list")["sessions"]] == [other.id]
    # its space is there again, and the reserve is filled before it is used
    last = fill_disk(other)
    assert last > 20
    assert other.call("session.end")["state"] == "ended"


def test_a_session_can_be_stopped_and_made_smaller_on_a_full_disk(small):
    client = small.client()
    s = client.create()
    n = fill_disk(s)
    assert s.run("get 0").startswith("0 ")
    assert s.call("session.stop")["state"] == "stopped"
    s.call("session.resume")
    with pytest.raises(Error):
        for i in range(100):
            s.run(f"set {n + i} more " + str(random.Random(-i).randbytes(100000).hex()))
    for i in range(5, n):
        s.run(f"del {i}")
    assert s.run("get 4").startswith("4 ")
    assert s.run("get 5") == ""
    s.run("set 5 new")


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_supervisor_starts_on_a_full_disk(small, end):
    s = small.client().create()
    fill_disk(s)
    getattr(small, end)()
    small.start()
    s.client = small.client()
    assert s.call("session.end")["state"] == "ended"
    s.client.create().run("set 1 x")


def test_a_refused_end_changes_nothing(sup, client):
    """Not even the reserve helps where no file may be written."""
    s = client.create()
    s.run("set 1 kept")
    limit_files(sup, 4096)
    with pytest.raises(Error) as caught:
        s.call("session.end")
    assert "not ended" in caught.value.message
    assert s.state == "active"
    assert s.run("get 1") == "kept"
    limit_files(sup, resource.RLIM_INFINITY)
    assert s.call("session.end")["state"] == "ended"


def test_a_disk_without_space_for_a_reserve_is_named(make, tmp_path):
    disk = tmp_path / "store"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "store", disk], check=True)
    try:
        sup = make()
        assert b"cannot reserve space" in sup.said
        sup.client().create().run("set 1 x")
        sup.end()
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)
