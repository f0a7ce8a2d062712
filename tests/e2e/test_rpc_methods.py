"""Every method of JSON-RPC that works on one sandbox."""
import re

import pytest

from rpc import decode, encode, needs_image

pytestmark = needs_image


# --- run


def test_run(client):
    result = client.run("echo out; echo err >&2; exit 3")
    assert (result["exitCode"], result["stdout"], result["stderr"]) == (3, "out\n", "err\n")
    assert result["executionTimeMs"] > 0
    assert not {"truncated", "errorClass", "limit", "background"} & set(result)
    assert {"cpuMs", "maxMemoryBytes"} <= set(result)


def test_run_keeps_the_shell(client):
    client.run("cd /tmp; a=1; f() { echo f$a; }; set -f")
    assert client.out("pwd; f; echo *") == "/tmp\nf1\n*\n"


def test_run_with_folder_variables_and_input(client):
    result = client.run("pwd; echo $A; cat", cwd="/tmp", env={"A": "x y"}, stdin="given\n")
    assert result["stdout"] == "/tmp\nx y\ngiven\n"
    assert client.out("pwd; echo [$A]") == "/home/user\n[]\n"


def test_run_in_a_folder_that_is_not_there(client):
    error = client.fails("run", command="true", cwd="/no/such")
    assert error.code == 1 and error.message.startswith("ENOENT: ")


def test_run_as_base64(client):
    result = client.run("cat; printf '\\xfe' >&2", stdin=encode(b"\xff\0x"), encoding="base64")
    assert decode(result["stdout"]) == b"\xff\0x" and decode(result["stderr"]) == b"\xfe"
    assert result["encoding"] == "base64"
    error = client.fails("run", command="cat", stdin="?", encoding="base64")
    assert "stdin is not base64" in error.message


def test_run_merges_stderr(client):
    result = client.run("echo 1; echo 2 >&2; echo 3", mergeStderr=True)
    assert (result["stdout"], result["stderr"]) == ("1\n2\n3\n", "")


def test_run_streams(client):
    id = client.begin("run", command="echo one; echo two >&2; echo three", stream=True)
    result = client.result(id)
    seen = [client.next() for _ in range(client.other.qsize())]
    assert [message["method"] for message in seen] == ["output"] * len(seen)
    params = [message["params"] for message in seen]
    assert [p["seq"] for p in params] == list(range(len(params)))
    assert {p["request_id"] for p in params} == {id}
    for stream in ("stdout", "stderr"):
        assert "".join(p["data"] for p in params if p["stream"] == stream) == result[stream]


def test_streaming_comes_while_it_runs(client):
    id = client.begin("run", command="echo begun; sleep 1000", stream=True)
    assert client.next()["params"]["data"] == "begun\n"
    client.call("cancel", requestId=id)
    assert client.result(id)["exitCode"] == 130


def test_a_character_is_not_split_between_notifications(client):
    command = r"for b in '\xe2' '\x82' '\xac' 'a' '\xf0\x9f' '\x98\x80' '\xff' '\xc3'; do printf $b; done"
    result = client.run(command, stream=True)
    data = [client.next()["params"]["data"] for _ in range(client.other.qsize())]
    assert "".join(data) == result["stdout"] == "\u20aca\U0001f600\ufffd\ufffd"
    assert len(data) >= 4


def test_a_character_that_another_cuts_off_costs_nothing_else(client):
    command = r"for b in '\xe2' '\xc3\xa9x' '\xf0\x9f' '\xe2\x82' '\xac' '\xc3' 'a'; do printf $b; done"
    result = client.run(command, stream=True)
    data = [client.next()["params"]["data"] for _ in range(client.other.qsize())]
    assert "".join(data) == result["stdout"] == "\ufffd\xe9x\ufffd\u20ac\ufffda"


def test_streaming_as_base64(client):
    result = client.run(r"printf '\xff\xfe'", stream=True, encoding="base64")
    parts = [client.next()["params"] for _ in range(client.other.qsize())]
    assert b"".join(decode(p["data"]) for p in parts) == decode(result["stdout"]) == b"\xff\xfe"
    assert parts[0]["encoding"] == "base64"


def test_background_output(client):
    client.run("mkfifo /tmp/fifo; (read x < /tmp/fifo; echo late) &")
    results = [client.run("echo x > /tmp/fifo; wait"), client.run("true")]
    assert "".join(result.get("background", "") for result in results) == "late\n"
    assert results[0]["stdout"] == results[1]["stdout"] == ""


@pytest.mark.parametrize("params, message", [
    ({}, "Missing required param: command"), ({"command": None}, "Missing required param: command"),
    ({"command": 7}, "command must be a string"), ({"command": []}, "command must be a string"),
    ({"command": "true", "stream": 1}, "stream must be true or false"),
    ({"command": "true", "timeoutMs": 0}, "timeoutMs must be an integer from 1 to 86400000"),
    ({"command": "true", "timeoutMs": 1.5}, "timeoutMs must be an integer from 1 to 86400000"),
    ({"command": "true", "timeoutMs": "1"}, "timeoutMs must be an integer from 1 to 86400000"),
    ({"command": "true", "timeoutMs": 1e300}, "timeoutMs must be an integer from 1 to 86400000"),
    ({"command": "true", "env": []}, "env must be an object of strings"),
    ({"command": "true", "env": {"A": 1}}, "env must be a string"),
    ({"command": "true", "env": {"A=B": ""}}, "env has a name that no variable can have"),
    ({"command": "true", "encoding": "hex"}, 'encoding must be "text" or "base64"')])
def test_bad_parameters_of_run(client, params, message):
    error = client.fails("run", **params)
    assert (error.code, error.message) == (-32602, message)


def test_integral_numbers_are_integers(client):
    assert client.run("true", timeoutMs=1e4)["exitCode"] == 0


def test_trace_of_a_command_that_fails(client):
    trace = client.run("cat /nope; exit 3", trace=True)["trace"].splitlines()
    assert any(line.endswith(' = -1 ENOENT') and '"/nope"' in line for line in trace)
    assert all(line.startswith("[") and " = " in line for line in trace)
    assert "trace" not in client.run("true", trace=True)
    assert "trace" not in client.run("false")
    assert "trace" not in client.run("false", trace=False)


# --- cancel


def test_cancel_the_run_that_goes_on(client):
    id = client.begin("run", command="echo begun; sleep 1000", stream=True)
    client.next()
    assert client.call("cancel") == {"ok": True, "cancelled": True}
    result = client.result(id)
    assert (result["exitCode"], result["errorClass"], result["stdout"]) == (130, "CANCELLED", "begun\n")
    assert client.out("echo next") == "next\n"


def test_cancel_at_once(client):
    """However early it comes, the run that was asked for before it ends."""
    for _ in range(20):
        id = client.begin("run", command="sleep 1000")
        assert client.call("cancel", requestId=id)["cancelled"] is True
        assert client.result(id)["errorClass"] == "CANCELLED"


def test_cancel_one_that_waits(client):
    first = client.begin("run", command="echo begun; sleep 1000", stream=True)
    client.next()
    second = client.begin("run", command="echo never > /tmp/never")
    third = client.begin("run", command="ls /tmp")
    assert client.call("cancel", requestId=second)["cancelled"] is True
    assert client.call("cancel", requestId=first)["cancelled"] is True
    assert client.result(second)["exitCode"] == 130
    assert client.result(first)["exitCode"] == 130
    assert client.result(third)["stdout"] == ""


def test_cancel_nothing(client):
    assert client.call("cancel") == {"ok": True, "cancelled": False}
    assert client.call("cancel", requestId="none") == {"ok": True, "cancelled": False}
    assert client.fails("cancel", requestId={}).code == -32602


# --- files


def test_files_write_and_read(client):
    data = bytes(range(256)) * 5000
    assert client.call("files.write", path="/tmp/b", data=encode(data)) == {"ok": True}
    assert decode(client.call("files.read", path="/tmp/b")["data"]) == data
    assert client.call("files.read", path="/tmp/b", offset=255, length=3) == {"data": encode(data[255:258])}
    assert client.call("files.read", path="/tmp/b", offset=1 << 40) == {"data": ""}
    assert client.out("wc -c < /tmp/b; stat -c '%a %u' /tmp/b") == f"{len(data)}\n644 1000\n"


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 191, 192, 193, 100000])
def test_files_of_every_length(client, size):
    data = bytes(i * 7 % 256 for i in range(size))
    client.call("files.write", path="/tmp/b", data=encode(data))
    assert decode(client.call("files.read", path="/tmp/b")["data"]) == data


def test_files_write_in_place(client):
    client.call("files.write", path="/tmp/x", data=encode(b"abc"), mode="0600")
    client.call("files.write", path="/tmp/x", data=encode(b"def"), append=True)
    client.call("files.write", path="/tmp/x", data=encode(b"X"), offset=1)
    assert client.out("cat /tmp/x; stat -c ' %a' /tmp/x") == "aXcdef 600\n"
    client.call("files.write", path="/tmp/x", data="", mode=0o640)
    assert client.out("stat -c '%a %s' /tmp/x") == "640 0\n"


@pytest.mark.parametrize("data", ["?", "QQ", "QQ=", "Q Q=", "QQ==QQ==", "QR==", "\n", "=QQ="])
def test_files_write_of_bad_base64(client, data):
    error = client.fails("files.write", path="/tmp/x", data=data)
    assert (error.code, error.message) == (-32602, "data is not base64")
    assert client.fails("files.stat", path="/tmp/x").code == 1


def test_files_list_and_stat(client):
    client.run("mkdir /tmp/d; cd /tmp/d; printf 12345 > b; mkdir a; ln -s b c; mkfifo d")
    entries = client.call("files.list", path="/tmp/d")["entries"]
    assert [set(entry) for entry in entries] == [{"name", "type", "size"}] * 4
    assert [(e["name"], e["type"]) for e in entries] == [
        ("a", "dir"), ("b", "file"), ("c", "symlink"), ("d", "other")]
    assert [entries[1]["size"], entries[2]["size"]] == [5, 1]
    stat = client.call("files.stat", path="/tmp/d/b")
    assert (stat["name"], stat["type"], stat["size"], stat["mode"]) == ("b", "file", 5, 0o644)
    assert client.call("files.stat", path="/tmp/d/c")["type"] == "symlink"
    assert client.call("files.stat", path="/tmp/d/c", follow=True)["type"] == "file"
    assert client.call("files.stat", path="/tmp/d/a/")["name"] == "a"
    assert client.call("files.stat", path="/")["name"] == "/"


def test_files_mkdir_and_rm(client):
    assert client.call("files.mkdir", path="/tmp/d") == {"ok": True}
    assert client.fails("files.mkdir", path="/tmp/d").message == "EEXIST: file exists: /tmp/d"
    client.call("files.mkdir", path="/tmp/d/e/f", recursive=True, mode="0700")
    assert client.fails("files.rm", path="/tmp/d").message == "ENOTEMPTY: directory not empty: /tmp/d"
    assert client.call("files.rm", path="/tmp/d", recursive=True) == {"ok": True}
    assert client.call("files.list", path="/tmp") == {"entries": []}


def test_files_rename_chmod_symlink(client):
    client.call("files.write", path="/tmp/a", data="")
    client.call("files.rename", **{"from": "/tmp/a", "to": "/tmp/b"})
    client.call("files.chmod", path="/tmp/b", mode="0711")
    client.call("files.symlink", target="b", path="/tmp/c")
    assert client.out("cd /tmp; stat -c '%n %a' b; readlink c") == "b 711\nb\n"
    error = client.fails("files.chmod", path="/tmp/b", mode=4096)
    assert (error.code, error.message) == (-32602, "mode must be an integer from 0 to 4095")
    assert client.fails("files.chmod", path="/tmp/b").message == "Missing required param: mode"


@pytest.mark.parametrize("method, params", [
    ("files.read", {}), ("files.list", {}), ("files.stat", {}), ("files.rm", {}), ("files.chmod", {"mode": "0"}),
    ("files.write", {"data": ""})])
def test_errors_begin_with_the_name_of_the_errno(client, method, params):
    error = client.fails(method, path="/no/such", **params)
    assert (error.code, error.message) == (1, "ENOENT: no such file or directory: /no/such")
    error = client.fails(method, path="no/such", **params)
    assert error.message == "ENOENT: no such file or directory: no/such"
    assert client.fails(method, path="/a\0b", **params).code == -32602


def test_long_paths(client):
    path = "/tmp/" + "n" * 255
    client.call("files.write", path=path, data=encode(b"x"))
    assert client.call("files.stat", path=path)["name"] == "n" * 255
    assert client.fails("files.read", path="/" + "n" * 5000).message.startswith("ENAMETOOLONG: ")


# --- the environment


def test_env(client):
    assert client.call("env.get", name="A") == {"value": None}
    assert client.call("env.set", name="A", value="x\u00e9 'y'\n") == {"ok": True}
    assert client.call("env.get", name="A") == {"value": "x\u00e9 'y'\n"}
    assert client.out("printenv A") == "x\u00e9 'y'\n\n"
    client.run("export B=from-the-shell")
    env = client.call("env.list")["env"]
    assert env["B"] == "from-the-shell" and env["HOME"] == "/home/user"
    assert client.call("env.unset", name="A") == {"ok": True}
    assert client.call("env.get", name="A") == {"value": None}
    error = client.fails("env.set", name="not a name", value="")
    assert error.code == 1 and error.message.startswith("EINVAL: ")
    assert client.fails("env.set", name="A").message == "Missing required param: value"


# --- snapshots


def test_snapshots(client):
    client.run("echo 1 > /tmp/x; cd /tmp; a=1")
    first = client.call("snapshot.create")["id"]
    client.run("echo 2 > /tmp/x; cd /; a=2")
    second = client.call("snapshot.create")["id"]
    assert client.call("snapshot.list") == {"snapshots": [{"id": first}, {"id": second}]}
    for _ in range(2):
        assert client.call("snapshot.restore", id=first) == {"ok": True}
        assert client.out("cat x; echo $a; echo 3 > x") == "1\n1\n"
    client.call("snapshot.restore", id=int(second))
    assert client.out("cat /tmp/x; pwd; echo $a") == "2\n/\n2\n"
    assert client.call("snapshot.delete", id=first) == {"ok": True}
    assert client.fails("snapshot.restore", id=first).message.startswith("ENOENT: ")


def test_whole_numbers_are_integers_however_they_are_written(client):
    client.run("echo 1 >/tmp/f")
    assert client.call("snapshot.create") == {"id": "1"}
    client.run("echo 2 >/tmp/f")
    for id in ("1.0", "1e0", "10e-1", '"1"', "1"):
        client.send_bytes(b'{"jsonrpc":"2.0","id":"x","method":"snapshot.restore","params":{"id":%s}}\n' % id.encode())
        assert client.result("x") == {"ok": True}
    assert client.out("cat /tmp/f") == "1\n"
    assert client.fails("snapshot.restore", id=1.5).message == "id must be a string or an integer"
    assert client.call("files.read", path="/tmp/f", offset=1.0, length=1e3) == {"data": encode(b"\n")}
    error = client.fails("files.read", path="/tmp/f", offset=0.5)
    assert error.message.startswith("offset must be an integer")
    run = client.begin("run", _id=7.0, command="sleep 1000")
    assert client.call("cancel", requestId=7) == {"ok": True, "cancelled": True}
    assert client.result(run)["exitCode"] == 130


# --- a limit of memory

TOO_SMALL = r"EINVAL: limit memory: 8388608 bytes are too few for the shell; the minimum is (\d+) bytes \((\d+) MiB\)"


def test_memory_that_is_too_little_for_the_shell(start):
    server = start()
    refused = re.fullmatch(TOO_SMALL, server.fails("create", limits={"memoryBytes": 8 << 20}).message)
    least = int(refused[1])
    assert least == int(refused[2]) << 20
    assert server.fails("create", limits={"memoryBytes": least - 1}).code == 1
    server.call("create", limits={"memoryBytes": least})
    assert server.out("echo fine") == "fine\n"
    files = start()
    files.call("create", limits={"memoryBytes": 8 << 20, "uncheckedMemory": True})
    files.call("files.write", path="/tmp/f", data=encode(b"x"))


@pytest.mark.parametrize("id", ["", "x", "0", "-1", "1x", "99999999999999999999", 7, -1, "\u00e9" * 500])
def test_a_snapshot_that_is_not_there(client, id):
    error = client.fails("snapshot.restore", id=id)
    assert error.code == 1 and error.message.startswith("ENOENT: no such snapshot: ")
    assert len(str(id)) > 9 or error.message.endswith(f": {id}") or id == -1


def test_snapshots_are_limited(server):
    server.call("create", limits={"snapshots": 2})
    server.call("snapshot.create"), server.call("snapshot.create")
    assert server.fails("snapshot.create").message.startswith("ENOSPC: ")


def test_sandbox_reset(client):
    client.run("echo x > /tmp/x; cd /tmp; export A=1")
    child = client.call("sandbox.fork")["sandboxId"]
    client.run("echo y > /tmp/y", sandboxId=child)
    assert client.call("sandbox.reset") == {"ok": True}
    assert client.out('ls /tmp; pwd; echo "[$A]"') == "/home/user\n[]\n"
    client.call("sandbox.reset", sandboxId=child)
    assert client.out("ls /tmp; pwd", sandboxId=child) == "x\n/tmp\n", "the state that the fork began with"


# --- status, limits


def test_status(server):
    assert server.call("status")["ready"] is False
    server.call("create")
    before = server.call("status")
    assert before["ready"] is True and before["memoryLimitBytes"] == 512 << 20
    server.run("printf 12345 > /tmp/x; sleep 1000 &")
    status = server.call("status")
    assert status["files"] == before["files"] + 1 and status["fileBytes"] >= before["fileBytes"] + 5
    assert status["processes"] > before["processes"]
    assert status["version"] and status["sandboxes"] == 1


def test_status_and_limits_do_not_wait(client):
    id = client.begin("run", command="echo begun; sleep 1000", stream=True)
    client.next()
    assert client.call("status")["ready"] is True
    assert client.call("limits.get")["timeoutMs"] == 30000
    client.call("cancel")
    client.result(id)


def test_limits_get(client, start):
    rest = {"timeoutMs": 30000, "fsLimitBytes": 268435456}
    defaults = {"stdoutBytes": 1048576, "stderrBytes": 1048576, "commandBytes": 65536, "rpcBytes": 8388608,
                "fileCount": 10000, "memoryBytes": 536870912, "processes": 64, "cpuMs": 0, "snapshots": 64}
    assert client.call("limits.get") == {**defaults, **rest}
    same = start()
    same.call("create", limits=defaults, **rest)
    assert same.call("limits.get") == {**defaults, **rest}
    limits = {"stdoutBytes": 1, "stderrBytes": 2, "commandBytes": 3, "rpcBytes": 4096, "fileCount": 5,
              "memoryBytes": 67108864, "processes": 7, "cpuMs": 8, "snapshots": 9}
    other = start()
    other.call("create", limits=limits, timeoutMs=10, fsLimitBytes=11)
    assert other.call("limits.get") == {**limits, "timeoutMs": 10, "fsLimitBytes": 11}


@pytest.mark.parametrize("params, message", [
    ({"limits": 7}, "limits must be an object"),
    ({"allow_tools": []}, "Unknown param: allow_tools"), ({"limits": {"memory": 1}}, "Unknown param: limits.memory"),
    ({"mounts": [{"path": "/x", "file": {}}]}, "Unknown param: mounts[].file"),
    ({"x" * 200: 1}, "Unknown param: " + "x" * 127),
    ({"limits": {"stdoutBytes": 0}}, "limits.stdoutBytes must be an integer from 1 to 1073741824"),
    ({"limits": {"processes": 100000}}, "limits.processes must be an integer from 1 to 30000"),
    ({"timeoutMs": -1}, "timeoutMs must be an integer from 1 to 86400000"),
    ({"wasmDir": 7}, "wasmDir must be a string"), ({"writablePaths": "/tmp"}, "writablePaths must be an array of strings"),
    ({"writablePaths": [1]}, "writablePaths must be a string"), ({"mounts": {}}, "mounts must be an array of objects"),
    ({"mounts": [1]}, "mounts must be an array of objects"), ({"mounts": [{}]}, "Missing required param: mounts[].path"),
    ({"mounts": [{"path": "/x", "files": {"a": 1}}]}, "mounts[].files must be a string"),
    ({"extensions": [{"name": "x", "pythonPackage": {}}]}, "Missing required param: extensions[].pythonPackage.version"),
    ({"seed": -1}, "seed must be an integer from 0 to 9223372036854775807")])
def test_bad_parameters_of_create(server, params, message):
    error = server.fails("create", **params)
    assert (error.code, error.message) == (-32602, message)
    server.call("create")


def test_create_with_variables(server):
    server.call("create", env={"A": "x=y", "B": ""})
    assert server.out('echo "$A" "[$B]"') == "x=y []\n"


def test_deterministic_sandboxes(start):
    commands = ["date +%s%N", "echo $RANDOM $RANDOM", "head -c 8 /dev/urandom | od -An -tx1", "echo $$"]
    seen = []
    for _ in range(2):
        client = start()
        client.call("create", seed=42, clock=1600000000000)
        seen.append([client.out(command) for command in commands])
    assert seen[0] == seen[1] and seen[0][0].startswith("16000000")


def test_the_network_is_off_by_default(server):
    server.call("create")
    assert server.call("network.get") == {"network": "off", "revision": 0}
    result = server.call("run", command="exec 3<>/dev/tcp/192.0.2.9/80")
    assert result["errorClass"] == "CAPABILITY_DENIED"
    assert result["denied"] == [{"host": "192.0.2.9", "port": 80, "reason": "off"}]


def test_a_denied_name_is_in_the_result(server):
    server.call("create")
    result = server.call("run", command="python3 -c 'import socket; socket.gethostbyname(\"index.example\")'")
    assert result["denied"] == [{"host": "index.example", "reason": "off"}]


@pytest.mark.parametrize("network, message", [
    ("all", "must be \"off\""), (True, "must be \"off\""), ({"alow": []}, "must be \"off\""),
    ({"allow": "x.example"}, "must be \"off\""), ({"allow": [1]}, "must be \"off\""),
    ({"allow": ["*"]}, "the rule '*' is a wildcard"), ({"deny": ["10.0.0.0/33"]}, "the rule '!10.0.0.0/33' has a prefix"),
    ({"limits": {"connections": 0}}, "limits.connections must be a positive number"),
    ({"limits": {"connections": 1 << 20}}, "connections must be at most"), ({"limits": {"x": 1}}, "limits has")])
def test_a_bad_network_policy_is_refused(server, network, message):
    error = server.fails("create", network=network)
    assert error.code == 1 and error.message.startswith("EINVAL: network: ") and message in error.message
    server.call("create")
    if network not in (True, {"limits": {"connections": 1 << 20}}) and "limits" not in network:
        assert message in server.fails("network.set", network=network).message


def test_a_network_policy_is_read_and_changed(server):
    server.call("create", network={"allow": ["Web.Example:443"], "deny": ["10.0.0.0/8"]})
    assert server.call("network.get") == {
        "network": {"allow": ["web.example:443"], "deny": ["10.0.0.0/8"]}, "revision": 1}
    assert server.call("network.allow", rules=["*.files.example", "public:25"]) == {"revision": 2}
    assert server.call("network.deny", rules=["bad.files.example"]) == {"revision": 3}
    assert server.call("network.get")["network"] == {
        "allow": ["web.example:443", "*.files.example", "public:25"], "deny": ["10.0.0.0/8", "bad.files.example"]}
    assert "'*'" in server.fails("network.allow", rules=["*"]).message
    assert server.call("network.set", network="public") == {"revision": 4}
    assert server.call("network.get")["network"] == {"allow": ["public"], "deny": []}
    assert server.call("network.set", network="off") == {"revision": 5}
    assert server.call("network.get")["network"] == "off"
    assert server.call("run", command="exec 3<>/dev/tcp/192.0.2.9/80")["denied"][0]["reason"] == "off"


def test_a_network_is_not_for_deterministic_sandboxes(server):
    assert "deterministic" in server.fails("create", network="public", seed=1).message
