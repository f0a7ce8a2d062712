"""Every state, every change of state, every refusal."""
import json
import pytest
from supervisor import Error, Session, kill


def fork(session, **params):
    return Session(session.client, session.call("session.fork", **params)["sessionId"])


def changes(session):
    events = session.client.call("session.events", sessionId=session.id)["events"]
    return [(e["from"], e["to"], e["cause"]) for e in events]


def refusal(call, *args, **params):
    with pytest.raises(Error) as caught:
        call(*args, **params)
    return caught.value


# --- the ways


def test_create_makes_an_active_session(client):
    info = client.create(label="one").info
    assert (info["state"], info["label"], info["durability"]) == ("active", "one", "full")
    assert info["limits"] == {"memoryMb": 512, "cpuPercent": 100, "diskMb": 1024, "maxProcesses": 64}
    assert len(info["sessionId"]) == 32


def test_create_is_two_events(client):
    assert changes(client.create()) == [
        (None, "starting", "created"), ("starting", "active", "started")]


def test_pause_and_resume_keep_the_state(client):
    s = client.create()
    s.run("set 5 five")
    assert s.call("session.pause")["state"] == "paused"
    assert "use" not in s.info
    assert s.call("session.resume")["state"] == "active"
    assert s.run("get 5") == "five"
    assert changes(s)[2:] == [("active", "paused", "requested"),
                              ("paused", "starting", "requested"),
                              ("starting", "active", "started")]


def test_a_deleted_record_stays_deleted(client):
    s = client.create()
    s.run("set 5 five")
    s.run("set 6 six")
    s.run("del 5")
    s.call("session.pause")
    assert s.run("get 5") == "" and s.run("get 6") == "six"


def test_a_call_resumes_a_paused_session(client):
    s = client.create()
    s.run("set 5 five")
    s.call("session.pause")
    assert s.run("get 5") == "five"
    assert ("paused", "starting", "call") in changes(s)


def test_without_auto_resume_a_call_is_refused(client):
    s = client.create(autoResume=False)
    s.call("session.pause")
    error = refusal(s.run, "get 5")
    assert error.code == 2 and error.message.startswith("Session paused (requested)")
    s.call("session.resume")
    s.run("get 5")


def test_stop_wants_a_resume(client):
    s = client.create()
    s.run("set 5 five")
    assert s.call("session.stop")["state"] == "stopped"
    assert refusal(s.run, "get 5").message.startswith("Session stopped")
    s.call("session.resume")
    assert s.run("get 5") == "five"


def test_stop_of_a_paused_session(client):
    s = client.create()
    s.call("session.pause")
    assert s.call("session.stop")["state"] == "stopped"
    assert changes(s)[-1] == ("paused", "stopped", "requested")


def test_what_is_done_already_is_fine(client):
    s = client.create()
    assert s.call("session.resume")["state"] == "active"
    s.call("session.pause")
    assert s.call("session.pause")["state"] == "paused"
    s.call("session.stop")
    assert s.call("session.stop")["state"] == "stopped"
    assert refusal(s.call, "session.pause").code == 2


@pytest.mark.parametrize("before", ["session.pause", "session.stop", None])
def test_end_is_the_last(client, before):
    s = client.create()
    if before:
        s.call(before)
    assert s.call("session.end")["state"] == "ended"
    assert s.info["state"] == "ended"
    for method in ("session.resume", "session.pause", "session.stop", "session.end",
                   "session.fork", "run", "status"):
        error = refusal(s.call, method)
        assert (error.code, error.message[:13]) == (2, "Session ended")


def test_end_does_not_wait_for_what_runs(client):
    s = client.create()
    hanging = s.ask("run", command="hang")
    assert s.call("session.end")["state"] == "ended"
    assert "interrupted" in refusal(client.wait, hanging).message


@pytest.mark.parametrize("calls", range(0, 500, 50))
def test_end_while_a_pause_is_being_stored(client, calls):
    s, other = client.create(), client.create()
    s.run("owe 700")
    paused = s.ask("session.pause")
    for _ in range(calls):  # with some of these, the worker has answered and the store has not
        other.call("session.get")
    ended = s.ask("session.end")
    client.wait(paused)
    assert client.wait(ended)["state"] == "ended"
    assert client.create().run("quiet x") == "x"


def test_a_worker_that_dies_is_paused(client):
    s = client.create()
    s.run("set 1 kept")
    assert refusal(s.run, "die").message.startswith("Session interrupted: crashed")
    event = s.wait_for("paused")
    assert event["cause"] == "crashed" and event["figures"]["signal"] == 11
    assert s.run("get 1") == "kept"


def test_a_worker_that_exits_has_crashed(client):
    s = client.create()
    assert "crashed" in refusal(s.run, "exit 3").message
    event = s.wait_for("paused")
    assert event["cause"] == "crashed" and event["figures"]["exitStatus"] == 3


def test_a_worker_killed_from_outside(client):
    s = client.create(autoResume=False)
    s.run("set 1 kept")
    kill(s.pid)
    assert s.wait_for("paused")["cause"] == "killed"
    s.call("session.resume")
    assert s.run("get 1") == "kept"


def test_a_create_that_fails_leaves_nothing(client):
    error = refusal(client.create, env={"FAIL": "1"})
    assert (error.code, error.message) == (1, "EINVAL: told to fail")
    assert client.call("session.list")["sessions"] == []
    last = client.call("session.events")["events"][-1]
    assert (last["to"], last["cause"]) == ("ended", "failed")
    assert "told to fail" in last["reason"]


def test_a_resume_that_fails_is_an_error_with_its_reason(client):
    s = client.create()
    s.run("set 1 no load")
    s.call("session.pause")
    assert "told to fail" in refusal(s.call, "session.resume").message
    info = s.info
    assert (info["state"], info["cause"]) == ("error", "failed") and "told to fail" in info["reason"]
    event = s.wait_for("error")
    assert event["from"] == "starting" and "told to fail" in event["reason"]
    assert "told to fail" in refusal(s.run, "get 1").message
    assert refusal(s.call, "session.stop").code == refusal(s.call, "session.pause").code == 2
    assert "told to fail" in refusal(s.call, "session.resume").message  # it is tried again
    assert fork(s).state == "paused"
    assert s.call("session.end")["state"] == "ended"


def test_a_call_whose_resume_fails(client):
    s = client.create()
    s.run("set 1 no load")
    s.call("session.pause")
    assert "told to fail" in refusal(s.run, "get 1").message


def test_workers_that_are_not_born_keep_sessions_starting(sup, client):
    s = client.create()
    s.run("set 1 kept")
    s.call("session.pause")
    sup.stop()
    fake = sup.settings.pop("worker")
    sup.settings["worker"] = "/bin/false"
    sup.start()
    s.client = sup.client()
    s.ask("session.resume")
    assert s.state == "starting"
    assert sup.stop() == 0
    sup.settings["worker"] = fake
    sup.start()
    s.client = sup.client()
    assert s.run("get 1") == "kept"


# --- idle


def test_idle_sessions_are_paused(make):
    client = make(idle_pause_s=1).client()
    s = client.create()
    s.run("set 1 kept")
    assert s.wait_for("paused")["cause"] == "idle"
    assert s.run("get 1") == "kept"


# --- fork


@pytest.mark.parametrize("before", [None, "session.pause", "session.stop"])
def test_fork_has_the_same_state(client, before):
    s = client.create(label="old")
    s.run("set 1 both")
    if before:
        s.call(before)
    f = fork(s, label="new")
    assert f.id != s.id
    info = f.info
    assert (info["state"], info["cause"], info["label"]) == ("paused", "forked", "new")
    s.call("session.resume")
    s.run("set 1 old")
    assert f.run("get 1") == "both"
    f.run("set 1 new")
    assert (s.run("get 1"), f.run("get 1")) == ("old", "new")


def test_fork_of_a_fork_outlives_both(client):
    s = client.create()
    s.run("set 1 a")
    f = fork(s)
    f.run("set 2 b")
    g = fork(f)
    s.call("session.end")
    f.call("session.end")
    assert (g.run("get 1"), g.run("get 2")) == ("a", "b")


# --- order


def test_calls_wait_while_a_session_starts(client):
    s = client.create()
    s.run("set 1 kept")
    s.call("session.pause")
    asked = [s.ask("session.resume")] + [s.ask("run", command="get 1") for _ in range(5)]
    answers = [client.wait(n) for n in asked]
    assert [a["stdout"] for a in answers[1:]] == ["kept"] * 5


def test_calls_to_one_session_are_in_order(client):
    s = client.create()
    asked = []
    for i in range(50):
        asked += [s.ask("run", command=f"set 1 {i}"), s.ask("run", command="get 1")]
    assert [client.wait(n)["stdout"] for n in asked][1::2] == [str(i) for i in range(50)]


def test_pause_waits_for_what_was_asked_before(client):
    s = client.create()
    written, paused = s.ask("run", command="set 1 kept"), s.ask("session.pause")
    client.wait(written)
    assert client.wait(paused)["state"] == "paused"
    assert s.run("get 1") == "kept"


@pytest.mark.parametrize("auto", [True, False])
def test_a_call_that_comes_during_a_pause_is_served(client, auto):
    """The session was not paused yet when it came."""
    s = client.create(autoResume=auto)
    s.run("set 1 kept")
    batch = [{"jsonrpc": "2.0", "id": i, "method": method, "params": {"sessionId": s.id, **params}}
             for i, (method, params) in enumerate([("session.pause", {}), ("run", {"command": "get 1"})])]
    client.send(json.dumps(batch).encode() + b"\n")
    paused, run = sorted(client.line(), key=lambda answer: answer["id"])
    assert paused["result"]["state"] == "paused"
    assert run.get("result", run)["stdout"] == "kept"


# --- refusals


@pytest.mark.parametrize("method, instead", [
    ("kill", "session.end"), ("create", "session.create"), ("sandbox.create", "session.create"),
    ("sandbox.fork", "session.fork"), ("sandbox.list", "session.list"),
    ("sandbox.destroy", "session.end"), ("sandbox.remove", "session.end"),
    ("mount", "files.write"), ("offload", "session.pause"),
    ("rehydrate", "session.resume"), ("session.kill", "session.end"),
    ("session.mount", "files.write"), ("session.sandbox.fork", "session.fork")])
def test_methods_of_the_server_that_are_not_here(client, method, instead):
    error = refusal(client.call, method, sessionId="x" * 32)
    assert error.code == -32601 and instead in error.message


@pytest.mark.parametrize("method", ["shell", "write_file", "state.load", "state.commit", "nonsense",
                                    "session.", "session.state.load", "session.session.get"])
def test_methods_that_there_are_not(client, method):
    assert refusal(client.call, method).message == f"Method not found: {method}"


@pytest.mark.parametrize("number", ["", "x", "f" * 32, "f" * 33, "../../etc"])
def test_unknown_sessions(client, number):
    error = refusal(client.call, "run", sessionId=number, command="x")
    assert (error.code, error.message) == (-32602, f"Unknown sessionId: {number}")


def test_the_session_must_be_named(client):
    assert refusal(client.call, "run", command="x").message == "Missing required param: sessionId"
    assert refusal(client.call, "run", sessionId=5).message == "sessionId must be a string"
    assert refusal(client.call, "session.get").message == "Missing required param: sessionId"


@pytest.mark.parametrize("params, said", [
    ({"label": 5}, "label must be a string"),
    ({"label": "x" * 257}, "label must have at most 256 bytes"),
    ({"durability": "sometimes"}, "durability must be"),
    ({"autoResume": "yes"}, "autoResume must be true or false"),
    ({"command": []}, "command must not be empty"),
    ({"command": "ls"}, "command must be an array of strings"),
    ({"limits": {"memoryMb": 0}}, "memoryMb"),
    ({"limits": {"memoryMb": 10**9}}, "memoryMb"),
    ({"limits": {"memory": 512}}, "memory"),
    ({"limits": 5}, "limits must be an object"),
    ({"agent": "nobody"}, "agent"),
    ({"agent": "../../etc"}, "agent"),
    ({"timeoutMs": 0}, "timeoutMs must be an integer"),
    ({"mounts": []}, "Unknown param: mounts"),
    ({"sessionId": "x"}, "Unknown param: sessionId"),
    ({"memoryMb": 64}, "Unknown param: memoryMb"),
])
def test_parameters_of_create(client, params, said):
    error = refusal(client.create, **params)
    assert error.code == -32602 and said in error.message
    assert client.call("session.list")["sessions"] == []


@pytest.mark.parametrize("method", ["get", "pause", "resume", "stop", "end", "fork", "output"])
def test_parameters_that_there_are_not(client, method):
    s = client.create()
    error = refusal(s.call, f"session.{method}", lable="x")
    assert (error.code, error.message) == (-32602, "Unknown param: lable")
    assert s.state == "active"


def test_limits_of_a_session(client):
    limits = {"memoryMb": 64, "cpuPercent": 50, "diskMb": 20, "maxProcesses": 8}
    assert client.create(limits=limits).info["limits"] == limits


def test_what_the_worker_is_given(client):
    s = client.create(env={"A": "b\n"}, timeoutMs=1234)
    passed = s.call("status", detail={"a": [1, None, "x" * 300, {"b": 1.5}], "c": "\u00e9\n"})
    assert passed["params"] == {"detail": {"a": [1, None, "x" * 300, {"b": 1.5}], "c": "\u00e9\n"}}
    assert s.info["options"]["create"] == {"env": {"A": "b\n"}, "timeoutMs": 1234}


def test_both_names_of_a_method(client):
    s = client.create()
    assert s.call("run", command="quiet x") == s.call("session.run", command="quiet x")
    assert s.call("session.files.read", path="/x")["method"] == "files.read"


# --- bounds


def test_no_more_sessions_than_allowed(make):
    client = make(max_sessions=2).client()
    first = client.create()
    client.create()
    assert "maxSessions" in refusal(client.create).message
    assert "maxSessions" in refusal(first.call, "session.fork").message
    first.call("session.end")
    client.create()


def test_no_more_active_sessions_than_allowed(make):
    client = make(max_active=2).client()
    first, second = client.create(), client.create()
    assert "maxActive" in refusal(client.create).message
    first.call("session.pause")
    third = client.create()
    assert "maxActive" in refusal(first.run, "get 1").message
    third.call("session.end")
    first.run("get 1")
    second.call("session.end")


# --- lists


def test_list_in_pages_and_by_filter(client):
    made = [client.create(label=f"{i}").id for i in range(3)]
    last = Session(client, made[2])
    made += [fork(last, label=f"f{i}").id for i in range(4)]
    found, after = [], 0
    while after is not None:
        page = client.call("session.list", limit=3, after=after)
        found += [s["sessionId"] for s in page["sessions"]]
        after = page.get("next")
    assert found == made
    listed = client.call("session.list", state="paused")["sessions"]
    assert [s["sessionId"] for s in listed] == made[3:]
    last.call("session.end")
    assert len(client.call("session.list")["sessions"]) == 6
    assert len(client.call("session.list", ended=True)["sessions"]) == 7
    ended = client.call("session.list", state="ended")["sessions"]
    assert [s["sessionId"] for s in ended] == [last.id]
    assert "state must be" in refusal(client.call, "session.list", state="odd").message
