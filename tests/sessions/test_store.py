"""A store that cannot commit: nothing is acknowledged, nothing is lost."""
import resource

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
