"""A disk that changes what was written to it: it costs what is damaged, no more."""
import sqlite3

import pytest
from supervisor import Error, Session

LONG = "x" * 5000  # a chunk of its own


def damage(sup, session, *statements):
    """Changes the store while nobody uses it."""
    sup.stop()
    with sqlite3.connect(sup.folder / "store/store.db") as db:
        for sql in statements:
            assert db.execute(sql).rowcount
    db.close()
    sup.start()
    session.client = sup.client()


def damage_chunk(sup, session, content):
    damage(sup, session, "UPDATE chunk SET data = zeroblob(length(data)) "
           f"WHERE data = x'{content.hex()}'")


def damages(session):
    return [e for e in session.client.call("session.events", sessionId=session.id, limit=1000)["events"]
            if e["cause"] == "damaged"]


def test_a_damaged_chunk_costs_what_it_was(sup, client):
    s = client.create(label="mine")
    s.run("set 1 kept")
    s.run(f"set 2 {LONG}")
    s.run("set 3 kept too")
    damage_chunk(sup, s, LONG.encode())
    assert [s.run(f"get {i}") for i in (1, 2, 3)] == ["kept", "", "kept too"]
    event, = damages(s)
    assert event["reason"] == "a command of the history is damaged"
    assert (event["from"], event["to"], event["label"]) == ("starting", "starting", "mine")
    s.call("session.pause")
    assert s.run("get 3") == "kept too"
    assert len(damages(s)) == 1


def test_what_a_worker_was_sent_before_the_damage_is_sent_again(sup, client):
    s = client.create()
    s.run("fill 60 30000")
    s.run(f"set 70 {LONG}")
    damage_chunk(sup, s, LONG.encode())
    assert s.run("get 70") == ""
    assert s.run("get 59") == "h" * 30000
    assert s.run("get 0") == "a" * 30000


def test_each_fork_is_repaired_by_itself(sup, client):
    s = client.create()
    s.run(f"set 1 {LONG}")
    fork = Session(client, s.call("session.fork")["sessionId"])
    damage_chunk(sup, s, LONG.encode())
    assert s.run("get 1") == ""
    fork.client = s.client
    assert damages(fork) == []
    assert fork.run("get 1") == ""
    assert len(damages(fork)) == 1


def test_much_damage_is_a_bounded_number_of_events(sup, client):
    s = client.create()
    s.run("fill 150 5000")
    damage(sup, s, "UPDATE chunk SET data = x'00'")
    assert s.run("get 149") == ""
    found = damages(s)
    assert (len(found), found[-1]["reason"]) == (101, "and 50 more")


def test_what_cannot_be_repaired_is_an_error_with_its_reason(sup, client):
    s = client.create()
    s.run("set 1 x")
    damage(sup, s, "UPDATE record SET key = x'00'", "CREATE TRIGGER no BEFORE DELETE ON record BEGIN SELECT RAISE(FAIL, 'not today'); END")
    with pytest.raises(Error) as caught:
        s.run("get 1")
    assert "could not be repaired" in caught.value.message
    assert (s.state, "could not be repaired" in s.info["reason"]) == ("error", True)
