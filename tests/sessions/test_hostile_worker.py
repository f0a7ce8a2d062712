"""A worker that breaks the protocol is killed; its session is paused, and the
others notice nothing."""
import pytest
from supervisor import Error

BREACHES = [
    "garbage", "binary", "not-utf8", "surrogate", "unknown-id", "unasked", "twice", "no-version",
    "two-kinds", "neither-kind", "more-members", "text-id", "callback", "commit-text", "deep",
    "long-line", "output-form", "other-method", "record-garbage", "record-key", "record-long-key",
    "record-long-value", "record-order", "record-end", "record-pages"]


@pytest.mark.parametrize("breach", BREACHES)
def test_a_breach_is_the_end_of_the_worker(client, breach):
    other = client.create()
    s = client.create(limits={"memoryMb": 64})
    s.run("set 7 kept")
    asked = s.ask("run", command=breach)
    event = s.wait_for("paused")
    assert (event["cause"], event["from"]) == ("crashed", "active") and event["reason"]
    if breach == "twice":
        client.wait(asked)
    else:
        with pytest.raises(Error) as caught:
            client.wait(asked)
        assert caught.value.code == 2 and "crashed" in caught.value.message
    assert s.run("get 7") == "kept"
    assert s.run("get 1") == ""
    assert other.run("quiet x") == "x"


def test_output_is_never_that_of_another_session(client):
    s, other = client.create(), client.create()
    s.run(f"pretend {other.id}", stream=True)
    (note,) = client.notes
    assert note == {"sessionId": s.id, "request_id": client.last, "stream": "stdout", "data": "x", "seq": 0}


def test_an_answer_waits_for_its_commit(client):
    s = client.create()
    assert s.run("late x") == ""
    s.call("session.pause")
    assert s.run("get 1") == "x"


def test_an_answer_whose_commit_never_comes_is_not_given(sup, client):
    s = client.create()
    lied = s.ask("run", command="lie")
    s.client = sup.client()
    s.call("session.end")
    with pytest.raises(Error):
        client.wait(lied)


def test_half_a_commit_is_nothing(client):
    s = client.create()
    s.run("set 1 kept")
    with pytest.raises(Error):
        s.run("half 2000")  # 8 MB: several parts were taken
    assert s.run("get 1") == "kept" and s.run("get 0") == ""
    s.run("set 1 changed")
    s.call("session.pause")
    assert s.run("get 1") == "changed" and s.run("get 1999") == ""


def test_a_commit_in_many_parts(client):
    s = client.create()
    s.run("fill 3000 4000")  # 12 MB
    s.call("session.pause")
    assert s.run("get 2999") == chr(97 + 2999 % 26) * 4000


def test_an_answer_that_is_too_long(client):
    s = client.create()
    with pytest.raises(Error) as caught:
        s.run(f"big {40 << 20}")
    assert caught.value.message.startswith("EFBIG")
    assert s.run("quiet x") == "x"


def test_a_worker_does_not_know_the_supervisors_environment(make, monkeypatch):
    monkeypatch.setenv("WASMSAND_TEST_SECRET", "secret")
    session = make(fake=False).client().create()
    with open(f"/proc/{session.pid}/environ", "rb") as f:
        names = {entry.partition(b"=")[0] for entry in f.read().split(b"\0") if entry}
    assert names <= {b"HOME", b"XDG_CACHE_HOME", b"PATH"}
