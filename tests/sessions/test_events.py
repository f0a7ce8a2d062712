"""session.events: what happened, in order, and waiting for it."""


def test_events_have_all_members(client):
    s = client.create(label="x")
    s.call("session.pause")
    events = client.call("session.events")["events"]
    assert [e["seq"] for e in events] == sorted(e["seq"] for e in events)
    last = events[-1]
    assert set(last) == {"seq", "time", "sessionId", "agent", "label", "from", "to", "cause", "figures"}
    assert (last["label"], last["from"], last["to"]) == ("x", "active", "paused")
    assert last["figures"]["livedMs"] >= 0


def test_after_and_limit(client):
    client.create()
    client.create()
    first = client.call("session.events", limit=1)
    assert len(first["events"]) == 1
    rest = client.call("session.events", after=first["last"])
    assert rest["events"][0]["seq"] > first["last"] and len(rest["events"]) == 3
    again = client.call("session.events", after=rest["last"])
    assert again == {"events": [], "last": rest["last"]}


def test_only_of_one_session(client):
    s, _ = client.create(), client.create()
    events = client.call("session.events", sessionId=s.id)["events"]
    assert {e["sessionId"] for e in events} == {s.id}


def test_waiting_for_the_next(sup, client):
    s = client.create()
    last = client.call("session.events")["last"]
    other = sup.client()
    waiting = other.ask("session.events", after=last, waitMs=60000)
    s.call("session.pause")
    assert other.wait(waiting)["events"][0]["to"] == "paused"


def test_waiting_in_vain(client):
    assert client.call("session.events", after=10**9, waitMs=1) == {"events": [], "last": 10**9}


def test_a_waiting_client_that_goes(sup, client):
    other = sup.client()
    other.ask("session.events", after=10**9, waitMs=600000)
    other.close()
    client.create()
    assert sup.stop() == 0


def test_waiting_ends_with_the_supervisor(sup, client):
    waiting = client.ask("session.events", after=10**9, waitMs=600000)
    client.call("session.list")
    assert sup.stop() == 0
    assert client.wait(waiting)["events"] == []
