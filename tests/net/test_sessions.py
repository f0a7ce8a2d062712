"""The network of sessions: the supervisor's maximum, policies that are kept, events, ports."""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "sessions"))
import supervisor  # noqa: E402
from dns import NameServer  # noqa: E402
from test_broker import ORIGIN, PRIVATE_HOST, Origin  # noqa: E402
from test_ports import SERVER, fetch  # noqa: E402

supervisor.SUPERVISOR = str(pathlib.Path(__file__).parent / "supervisor-as-user")
POLICY = {"allow": [f"{ORIGIN}:8080", "web.example:8080+private"]}
MAXIMUM = ["203.0.113.0/24:*", "10.0.0.0/8:*", "web.example:*+private", "other.example:*+private",
           "inner.example:8080+private"]
READ = "x=; read -r x <&3; echo got=$x"
# By address: a loaded machine may not start a broker within the time limit of a resolver.
OPEN = f"exec 3<>/dev/tcp/{ORIGIN}/8080; " + READ
OPEN_NAME = "until { exec 4<>/dev/tcp/web.example/8080; } 2>/dev/null; do :; done; read -r x <&4; echo got=$x"


@pytest.fixture
def make(tmp_path):
    """Starts supervisors that need no cgroups, which a user's namespace does not have."""
    made = []

    def start(**settings):
        one = supervisor.Supervisor(
            tmp_path, fake=False, **{"backend": "rlimits", "allowUnenforced": ["memory", "cpu"],
                                     "network.resolvers": ["192.0.2.53"], "network.rules": MAXIMUM, **settings})
        del one.settings["cgroup"], one.settings["pool_size"], one.settings["idle_pause_s"]
        one.settings.update(poolSize=1, idlePauseS=0)
        made.append(one)
        return one.start()

    yield start
    for one in made:
        one.end()


@pytest.fixture
def sup(make):
    return make()


@pytest.fixture
def client(sup):
    return sup.client()


@pytest.fixture
def hosts():
    names = NameServer({"web.example": [ORIGIN], "inner.example": [PRIVATE_HOST], "other.example": [ORIGIN]})
    origins = [Origin(ORIGIN, 8080), Origin(PRIVATE_HOST, 8080)]
    yield names
    for origin in origins:
        origin.close()
    names.close()


def brokers(sup):
    found = []
    for listed in pathlib.Path(f"/proc/{sup.process.pid}/task").glob("*/children"):
        for child in listed.read_text().split():
            if pathlib.Path(f"/proc/{child}/comm").read_text().strip() == "wasmsand-netd":
                found.append(int(child))
    return found


def events(session, *kinds):
    """Waits until the events of these kinds have occurred, in this order; returns them."""
    found, after = [], 0
    while len(found) < len(kinds):
        answer = session.client.call("session.events", sessionId=session.id, after=after, waitMs=60000)
        after = answer["last"]
        for event in answer["events"]:
            if len(found) < len(kinds) and event.get("kind") == kinds[len(found)]:
                found.append(event)
    return found


def test_a_session_connects_within_its_policy(sup, client, hosts):
    session = client.create(network=POLICY)
    assert brokers(sup) == []
    assert session.run(OPEN) == "got=hello\n"
    assert len(brokers(sup)) == 1
    assert session.run(OPEN_NAME) == "got=hello\n"
    result = session.call("run", command=f"exec 4<>/dev/tcp/{PRIVATE_HOST}/8080")
    assert result["denied"] == [{"host": PRIVATE_HOST, "port": 8080, "reason": "no-rule"}]
    assert result["errorClass"] == "CAPABILITY_DENIED"


def test_a_session_without_a_policy_has_no_network_and_no_broker(sup, client, hosts):
    session = client.create()
    result = session.call("run", command=OPEN)
    assert result["denied"][0]["reason"] == "off"
    assert brokers(sup) == [] and hosts.asked == []
    assert session.call("network.get") == {"network": "off", "revision": 0, "connections": [], "denied": []}


def test_the_configuration_bounds_every_policy(make, hosts):
    session = make(**{"network.rules": [f"{ORIGIN}:80", "10.0.0.0/8:*", "!10.0.0.5"]}).client().create(
        network={"allow": [f"{ORIGIN}:8080", f"{PRIVATE_HOST}:*"]})
    for host in ORIGIN, PRIVATE_HOST:
        result = session.call("run", command=f"exec 3<>/dev/tcp/{host}/8080")
        assert result["denied"] == [{"host": host, "port": 8080, "reason": "maximum"}]


def test_without_rules_in_the_configuration_a_policy_is_refused(make):
    client = make(**{"network.rules": []}).client()
    with pytest.raises(supervisor.Error, match="network.rules of the configuration is empty"):
        client.create(network=POLICY)
    session = client.create()
    with pytest.raises(supervisor.Error, match="network.rules of the configuration is empty"):
        session.call("network.set", network="public")


@pytest.mark.parametrize("policy, why", [
    ({"allow": ["*.com"]}, "the rule '\\*.com'"), ({"deny": ["a b"]}, "the rule '!a b'"), (7, "must be"),
    ({"allow": [], "limits": {"connections": 500}}, "at most 256"), (True, "for a command only")])
def test_a_policy_that_is_not_valid_is_refused(client, policy, why):
    with pytest.raises(supervisor.Error, match=why):
        client.create(network=policy)


def test_a_repeatable_session_has_no_network(client):
    with pytest.raises(supervisor.Error, match="deterministic"):
        client.create(network=POLICY, seed=1)


def test_a_policy_changes_while_a_command_runs(client, hosts):
    session = client.create()
    assert session.call("network.set", network=POLICY)["revision"] == 1
    number = session.ask("run", command=OPEN + "; read -r x <&3; echo end=$?", stream=True)
    while not client.notes:
        client.notes += [client.line()["params"]]
    session.call("network.deny", rules=[ORIGIN])
    assert client.wait(number)["stdout"].endswith("end=1\n")
    result = session.call("run", command=OPEN)
    assert result["denied"] == [{"host": ORIGIN, "port": 8080, "reason": "denied"}]
    session.call("network.set", network="off")
    assert session.call("run", command=OPEN)["denied"][0]["reason"] == "off"
    assert session.call("network.get")["revision"] == 3


def test_a_policy_is_kept_by_pause_fork_and_restart(sup, client, hosts):
    session = client.create(network={**POLICY, "limits": {"connections": 3}})
    session.call("network.allow", rules=["other.example:8080+private"])
    assert session.run(OPEN) == "got=hello\n"
    session.call("session.pause")
    assert brokers(sup) == []
    assert session.run(READ) == "got=\n"  # the connection was not copied
    assert session.run(OPEN) == "got=hello\n"
    fork = supervisor.Session(client, session.call("session.fork")["sessionId"])
    assert fork.run(OPEN) == "got=hello\n"
    sup.kill()
    sup.start()
    for one in session, fork:
        one.client = sup.client()
        assert one.call("network.get")["network"] == {
            "allow": [*POLICY["allow"], "other.example:8080+private"], "deny": [],
            "limits": {"connections": 3}}
        assert one.run(OPEN) == "got=hello\n"


def test_events_of_the_network(client, hosts):
    session = client.create(network=POLICY)
    assert session.run(OPEN + "; exec 3<&-") == "got=hello\n"
    opened, closed = events(session, "net.open", "net.close")
    assert (opened["host"], opened["address"], opened["port"]) == (ORIGIN, ORIGIN, 8080)
    assert (closed["connection"], closed["cause"]) == (opened["connection"], "guest")
    assert closed["received"] in (6, 7)  # the end of the stream may count
    session.call("run", command=f"exec 3<>/dev/tcp/{PRIVATE_HOST}/8080")
    denied, = events(session, "net.deny")
    assert (denied["host"], denied["port"], denied["reason"], denied["count"]) == (PRIVATE_HOST, 8080, "no-rule", 1)
    session.call("network.set", network="off")
    assert events(session, "net.policy")[0]["revision"] == 2
    assert session.call("network.get")["denied"] == [
        {"host": PRIVATE_HOST, "port": 8080, "reason": "no-rule", "count": 1}]


def test_open_connections_are_listed(client, hosts):
    session = client.create(network=POLICY)
    session.run(OPEN_NAME)
    events(session, "net.open")
    connection, = session.call("network.get")["connections"]
    assert (connection["host"], connection["address"], connection["port"]) == ("web.example", ORIGIN, 8080)


def test_a_session_survives_the_death_of_its_broker(sup, client, hosts):
    session = client.create(network=POLICY)
    assert session.run(OPEN) == "got=hello\n"
    os.kill(brokers(sup)[0], signal.SIGKILL)
    assert events(session, "net.open", "net.close")[1]["cause"] == "broker"
    assert session.run(READ) == "got=\n"
    assert session.run(OPEN) == "got=hello\n"


def test_each_session_has_a_broker_of_its_own(sup, client, hosts):
    sessions = [client.create(network=POLICY) for _ in range(2)]
    for session in sessions:
        assert session.run(OPEN) == "got=hello\n"
    assert len(brokers(sup)) == 2
    sessions[0].call("session.end")
    assert sessions[1].run(OPEN) == "got=hello\n"
    assert len(brokers(sup)) == 1


def test_the_limit_of_bytes_is_the_configured_one(make, hosts):
    session = make(**{"network.totalMb": 1}).client().create(network=POLICY)
    result = session.call("run", command=f"exec 3<>/dev/tcp/{ORIGIN}/8080; "
                          "head -c 3000000 /dev/zero >&3 & cat <&3 >/dev/null; wait")
    assert {"host": ORIGIN, "port": 8080, "reason": "bytes"} in result["denied"]
    result = session.call("run", command=OPEN)
    assert result["denied"] == [{"host": ORIGIN, "port": 8080, "reason": "bytes"}]


def test_a_native_session_keeps_its_meaning_of_network(make):
    client = make(commandNetwork=True).client()
    assert client.call("session.create", command=["/bin/true"], network=True)["sessionId"]
    with pytest.raises(supervisor.Error, match="must be true or false"):
        client.create(command=["/bin/true"], network=POLICY)


def listen(session):
    text = SERVER.replace('("%s", 8000)', '("127.0.0.1", 8000)')
    session.client.wait(session.ask("process.start", command=f"python3 -c '{text}'"))
    while not any("listening" in str(n) for n in session.client.notes):
        session.client.notes.append(session.client.line()["params"])


def test_a_port_is_forwarded(client):
    session = client.create()
    listen(session)
    forwarded = session.call("port.forward", port=8000)
    address = forwarded["address"], forwarded["port"]
    body = os.urandom(1 << 20)
    assert fetch(address).endswith(b"/x 127.0.0.1")
    assert fetch(address, "POST", body).endswith(body)
    assert session.call("port.list")["ports"] == [
        {"port": 8000, "address": "127.0.0.1", "hostPort": forwarded["port"]}]
    session.call("port.unforward", port=8000)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address)


def test_a_forward_is_kept_by_pause_and_restart_but_not_by_a_fork(sup, client):
    session = client.create()
    forwarded = session.call("port.forward", port=8000)
    fork = supervisor.Session(client, session.call("session.fork")["sessionId"])
    assert fork.call("port.list")["ports"] == []
    session.call("session.pause")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((forwarded["address"], forwarded["port"]))
    sup.kill()
    sup.start()
    session.client = sup.client()
    session.call("session.resume")
    with socket.create_connection((forwarded["address"], forwarded["port"]), timeout=100) as s:
        assert s.recv(1) == b""  # nothing listens inside


@pytest.mark.parametrize("params, why", [
    ({"port": 8000, "address": "nowhere"}, "not an address"),
    ({"port": 8000, "address": "198.51.100.1"}, "EADDRNOTAVAIL")])
def test_a_forward_that_cannot_listen_is_refused(client, params, why):
    session = client.create()
    with pytest.raises(supervisor.Error, match=why):
        session.call("port.forward", **params)
    assert session.call("port.list")["ports"] == []


def test_metrics_count_the_network(make, tmp_path, hosts):
    tokens = tmp_path / "tokens"
    tokens.write_text("a-secret-of-24-characters\n")
    tokens.chmod(0o600)
    sup = make(**{"http.enabled": True, "http.port": 0, "http.tokensFile": str(tokens)})
    session = sup.client().create(network=POLICY)
    session.run(OPEN + "; exec 3<&-")
    events(session, "net.close")
    host, port = sup.web_address()
    text = urllib.request.urlopen(urllib.request.Request(
        f"http://{host}:{port}/metrics", headers={"Authorization": "Bearer a-secret-of-24-characters"})).read().decode()
    assert "network_connections_total 1\n" in text
    assert re.search(r'network_bytes_total{direction="received"} [67]\n', text)


def command(sup, *args):
    return subprocess.run([supervisor.SANDBOX, "session", args[0], "--socket", str(sup.socket), *args[1:]],
                          capture_output=True, text=True, check=True).stdout


def test_the_command_line_sets_and_shows_policies(sup, hosts):
    command(sup, "create", "--label", "work", "--net", f"{ORIGIN}:8080", "--net", "!10.0.0.0/8")
    assert command(sup, "run", "work", OPEN) == "got=hello\n"
    shown = json.loads(command(sup, "net", "work", "--deny", "web.example", "--allow", "other.example"))
    assert shown["network"] == {"allow": [f"{ORIGIN}:8080", "other.example"], "deny": ["10.0.0.0/8", "web.example"]}
    assert "net.open" in command(sup, "events", "work")
    assert json.loads(command(sup, "net", "work", "--net", "off"))["network"] == "off"
