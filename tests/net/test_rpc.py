"""The network of the server: policies that change, forks, and the ends of connections."""
import json
import os
import pathlib
import subprocess

import pytest

from dns import NameServer
from test_broker import ORIGIN, PRIVATE_HOST, Origin
from test_guest import image  # noqa: F401

SANDBOX = os.environ["WASM_SANDBOX"]
POLICY = {"allow": ["web.example:8080+private"]}
READ = "x=; read -r x <&3; echo got=$x"
OPEN = "exec 3<>/dev/tcp/web.example/8080; " + READ


class Server:
    def __init__(self):
        self.process = subprocess.Popen(
            [SANDBOX, "--resolvers", "192.0.2.53"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.last = 0

    def begin(self, method, **params):
        self.last += 1
        self.process.stdin.write(json.dumps(
            {"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}) + "\n")
        self.process.stdin.flush()
        return self.last

    def next(self):
        return json.loads(self.process.stdout.readline())

    def call(self, method, **params):
        number, answer = self.begin(method, **params), self.next()
        assert answer["id"] == number
        return answer["result"]

    def run(self, command, **params):
        return self.call("run", command=command, **params)

    def brokers(self):
        found = []
        for listed in pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/children"):
            for child in listed.read_text().split():
                if pathlib.Path(f"/proc/{child}/comm").read_text().strip() == "wasmsand-netd":
                    found.append(int(child))
        return found

    def close(self):
        self.process.stdin.close()
        self.process.wait(100)


@pytest.fixture
def server():
    s = Server()
    yield s
    s.close()


@pytest.fixture
def hosts():
    names = NameServer({"web.example": [ORIGIN], "inner.example": [PRIVATE_HOST]})
    origin = Origin(ORIGIN, 8080)
    yield names
    origin.close()
    names.close()


def test_a_sandbox_without_network_has_no_broker(server, hosts):
    server.call("create")
    server.run("exec 3<>/dev/tcp/web.example/8080")
    assert server.brokers() == [] and hosts.asked == []


def test_a_sandbox_with_network_starts_its_broker_at_first_use(server, hosts):
    server.call("create", network=POLICY)
    server.run("true")
    assert server.brokers() == []
    assert server.run(OPEN)["stdout"] == "got=hello\n"
    assert len(server.brokers()) == 1


def test_denied_hosts_are_in_the_result(server, hosts):
    server.call("create", network={"allow": ["web.example:8080"], "deny": ["bad.example"]})
    result = server.run("for h in bad.example other.example web.example 127.0.0.2 10.0.0.5 169.254.169.254; do "
                        "(exec 3<>/dev/tcp/$h/8080); done 2>/dev/null; false")
    assert result["errorClass"] == "CAPABILITY_DENIED"
    assert result["denied"] == [
        {"host": "bad.example", "port": 8080, "reason": "denied"},
        {"host": "other.example", "port": 8080, "reason": "no-rule"},
        {"host": "web.example", "port": 8080, "reason": "private"},
        {"host": "10.0.0.5", "port": 8080, "reason": "no-rule"},
        {"host": "169.254.169.254", "port": 8080, "reason": "no-rule"}]
    assert "denied" not in server.run("true")


def test_a_new_policy_ends_a_connection_of_a_running_command(server, hosts):
    server.call("create", network=POLICY)
    number = server.begin("run", command=OPEN + "; read -r y <&3; echo end=$?", stream=True)
    while "got=hello" not in (note := server.next())["params"]["data"]:
        pass
    changed = server.begin("network.set", network={"allow": ["other.example"]})
    answers = {}
    while len(answers) < 2:
        message = server.next()
        if "id" in message:
            answers[message["id"]] = message["result"]
    assert answers[changed] == {"revision": 2}
    assert answers[number]["stdout"].endswith("end=1\n"), note
    assert server.run("exec 4<>/dev/tcp/web.example/8080")["denied"][0]["reason"] == "no-rule"


def test_hosts_can_be_allowed_while_a_command_runs(server, hosts):
    server.call("create", network={"allow": []})
    assert server.run("exec 3<>/dev/tcp/web.example/8080")["denied"][0]["reason"] == "no-rule"
    server.call("network.allow", rules=POLICY["allow"])
    assert server.run(OPEN)["stdout"] == "got=hello\n"
    server.call("network.deny", rules=["web.example"])
    assert server.run("exec 4<>/dev/tcp/web.example/8080")["denied"][0]["reason"] == "denied"


def test_a_network_can_be_turned_on_and_off(server, hosts):
    server.call("create")
    server.call("network.set", network=POLICY)
    assert server.run(OPEN)["stdout"] == "got=hello\n"
    server.call("network.set", network="off")
    assert server.run(READ)["stdout"] == "got=\n"
    assert server.run("exec 4<>/dev/tcp/198.18.0.1/8080")["denied"][0]["reason"] == "off"
    server.call("network.set", network=POLICY)
    assert server.run(OPEN)["stdout"] == "got=hello\n"


def test_a_fork_has_the_policy_and_the_names_but_no_connection(server, hosts):
    server.call("create", network=POLICY)
    server.call("network.deny", rules=["bad.example"])
    assert server.run(OPEN)["stdout"] == "got=hello\n"
    fork = server.call("sandbox.fork")["sandboxId"]
    assert server.call("network.get", sandboxId=fork)["network"]["deny"] == ["bad.example"]
    result = server.run("echo more >&3; " + READ, sandboxId=fork)
    assert result["stdout"] == "got=\n" and "Connection reset by peer" in result["stderr"]
    asked = list(hosts.asked)
    by_address = OPEN.replace("web.example", "198.18.0.1")
    assert server.run(by_address, sandboxId=fork)["stdout"] == "got=hello\n"
    assert set(hosts.asked) == set(asked)
    assert server.run("echo still >&3; " + READ)["stdout"] == "got=still\n"


def test_reset_and_restore_end_connections(server, hosts):
    server.call("create", network=POLICY)
    snapshot = server.call("snapshot.create")["id"]
    server.run(OPEN)
    server.call("snapshot.restore", id=snapshot)
    assert server.run(READ)["stdout"] == "got=\n"
    assert server.run(OPEN)["stdout"] == "got=hello\n"


def test_a_killed_broker_costs_only_the_connections(server, hosts):
    server.call("create", network={**POLICY, "limits": {"connections": 1000, "connects": 1000}})
    many = """
import socket
address = socket.gethostbyname("web.example")
held = [socket.create_connection((address, 8080)) for i in range(200)]
assert all(s.recv(6) == b"hello\\n" for s in held)
print("ready", flush=True)
seen = set()
for s in held:
    try:
        seen.add(s.recv(1))
    except OSError as e:
        seen.add(e.errno)
print(seen)
"""
    server.call("files.write", path="/tmp/many.py", data=__import__("base64").b64encode(many.encode()).decode())
    number = server.begin("run", command="python3 /tmp/many.py", stream=True)
    while "ready" not in server.next()["params"]["data"]:
        pass
    os.kill(server.brokers()[0], 9)
    while (answer := server.next()).get("id") != number:
        pass
    assert answer["result"]["stdout"] == "ready\n{104}\n", answer
    assert server.run(OPEN)["stdout"] == "got=hello\n"


def test_limits_of_connections(server, hosts):
    server.call("create", network={**POLICY, "limits": {"connections": 2}})
    result = server.run("for i in 3 4 5; do eval \"exec $i<>/dev/tcp/web.example/8080\" && echo open; done 2>/dev/null")
    assert result["stdout"] == "open\nopen\n"
    assert result["denied"] == [{"host": "web.example", "port": 8080, "reason": "connections"}]
    server.run("exec 3<&-")
    assert server.run(OPEN)["stdout"] == "got=hello\n"
