"""Sessions of programs of the host."""
import base64

import pytest
from supervisor import Error, Session


def output(session):
    return base64.b64decode(session.call("session.output")["data"]).decode()


def test_a_command_that_ends(client):
    s = client.create(command=["sh", "-c", "echo out; echo err >&2; exit 3"])
    event = s.wait_for("stopped")
    assert event["cause"] == "exited" and event["figures"]["exitStatus"] == 3
    assert sorted(output(s).split()) == ["err", "out"]
    assert s.state == "stopped"


def test_a_command_that_is_stopped(client):
    s = client.create(command=["sleep", "1000"])
    assert s.state == "active"
    assert s.call("session.stop")["state"] == "stopped"
    s.call("session.resume")
    assert s.state == "active"
    assert s.call("session.end")["state"] == "ended"


def test_a_command_that_does_not_want_to_stop(client):
    s = client.create(command=["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done"])
    assert s.call("session.end")["state"] == "ended"


def test_a_command_is_jailed(client, tmp_path):
    (tmp_path / "secret").write_text("x")
    s = client.create(command=["sh", "-c", f"cat {tmp_path}/secret; cat /proc/net/dev | wc -l; id -u"])
    s.wait_for("stopped")
    said = output(s)
    assert "No such file" in said and "1000" in said


INTERFACES = ["sh", "-c", "grep -c : /proc/net/dev"]


def test_a_command_has_a_network_if_it_may_and_asks(make):
    sup = make(command_network=True)
    client = sup.client()
    host = open("/proc/net/dev").read().count(":")
    for network in (False, True):
        s = client.create(command=INTERFACES, network=network)
        s.wait_for("stopped")
        assert output(s) == f"{host if network else 1}\n"
    sup.stop()
    sup.settings["command_network"] = False
    s.client = sup.start().client()
    with pytest.raises(Error, match="not permitted"):
        s.call("session.resume")
    assert s.state == "error"


@pytest.mark.parametrize("params, said", [
    ({"command": ["true"], "network": True}, "network needs commandNetwork in the configuration"),
    ({"network": True}, "network true is for a command only"),
    ({"command": ["true"], "env": {"A": "b"}}, "env is not for a command"),
    ({"command": ["true"], "timeoutMs": 5}, "timeoutMs is not for a command"),
])
def test_parameters_that_are_not_for_it(client, params, said):
    with pytest.raises(Error, match=said):
        client.create(**params)


def test_a_command_over_its_memory(client):
    s = client.create(limits={"memoryMb": 16, "diskMb": 1},
                      command=["sh", "-c", "head -c 100m /dev/zero | tail"])
    event = s.wait_for("paused")
    assert event["cause"] == "oom"
    s.call("session.resume")


@pytest.mark.parametrize("signal, cause", [("XCPU", "cpu"), ("SEGV", "crashed"), ("KILL", "killed")])
def test_a_command_that_a_signal_ends(client, signal, cause):
    s = client.create(command=["sh", "-c", f"kill -{signal} $$"])
    event = s.wait_for("paused")
    assert event["cause"] == cause and "exitStatus" not in event["figures"]


def test_a_command_that_is_not_there(client):
    try:
        s = client.create(command=["/nowhere"])
    except Error as error:  # known before the answer
        assert "No such file" in error.message
    else:
        assert "No such file" in s.wait_for("error")["reason"]


def test_what_a_command_has_not(client):
    s = client.create(command=["sleep", "1000"])
    for method in ("run", "files.read", "session.pause", "session.fork"):
        with pytest.raises(Error, match="runs a command"):
            s.call(method)
    s.call("session.end")
    wasm = client.create()
    with pytest.raises(Error, match="no command"):
        wasm.call("session.output")


def test_commands_that_are_over_at_once(client):
    asked = [client.ask("session.create", command=["true"]) for _ in range(20)]
    for number in asked:
        session = Session(client, client.wait(number)["sessionId"])
        assert session.wait_for("stopped")["cause"] == "exited"
