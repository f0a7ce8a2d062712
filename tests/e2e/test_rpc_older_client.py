"""The Python client of the older dialect, written anew from its description.

It starts the server without arguments and sends `create` without wasmDir; ids
are integers from 1; one request is in flight, and what the server asks in
between is answered with the same id. Lines are read and written by one thread.
"""
import base64
import json
import os
import subprocess
import threading
from dataclasses import dataclass

import pytest

from rpc import IMAGE, PATIENCE_S, needs_image
from sandbox import SANDBOX

pytestmark = needs_image


class RpcError(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code, self.message = code, message


class RpcClient:
    def __init__(self, server):
        self._server = server
        self._process = None
        self._id = 0
        self.handlers = {}

    def start(self):
        self._process = subprocess.Popen(
            [self._server], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
            env={**os.environ, "WASMSAND_ROOT": IMAGE})

    def call(self, method, params):
        self._id += 1
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        while True:
            line = self._process.stdout.readline()
            if not line:
                raise RuntimeError("server closed the connection")
            message = json.loads(line)
            if "method" in message:
                self._serve(message)
                continue
            assert message["id"] == self._id
            if "error" in message:
                raise RpcError(message["error"]["code"], message["error"]["message"])
            return message["result"]

    def _serve(self, message):
        if "id" not in message:
            return
        result = self.handlers[message["method"]](message["params"])
        self._send({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def _send(self, message):
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def stop(self):
        self._process.stdin.close()
        status = self._process.wait(PATIENCE_S)
        self._process.stdout.close()
        return status


@dataclass
class CommandResult:
    stdout: str
    stderr: str
    exit_code: int
    execution_time_ms: float
    truncated: dict = None
    error_class: str = None


@dataclass
class FileInfo:
    name: str
    type: str
    size: int


class Part:
    def __init__(self, client, sandbox_id=None):
        self._client, self._sandbox_id = client, sandbox_id

    def _call(self, method, **params):
        if self._sandbox_id is not None:
            params["sandboxId"] = self._sandbox_id
        return self._client.call(method, params)


class Commands(Part):
    def run(self, command):
        result = self._call("run", command=command)
        return CommandResult(stdout=result["stdout"], stderr=result["stderr"], exit_code=result["exitCode"],
                             execution_time_ms=result["executionTimeMs"], truncated=result.get("truncated"),
                             error_class=result.get("errorClass"))


class Files(Part):
    def read(self, path):
        return base64.b64decode(self._call("files.read", path=path)["data"])

    def write(self, path, data):
        if isinstance(data, str):
            data = data.encode("utf-8")
        self._call("files.write", path=path, data=base64.b64encode(data).decode("ascii"))

    def list(self, path):
        return [FileInfo(name=e["name"], type=e["type"], size=e["size"])
                for e in self._call("files.list", path=path)["entries"]]

    def mkdir(self, path):
        self._call("files.mkdir", path=path)

    def rm(self, path):
        self._call("files.rm", path=path)

    def stat(self, path):
        result = self._call("files.stat", path=path)
        return FileInfo(name=result["name"], type=result["type"], size=result["size"])


class Sandbox(Part):
    def __init__(self, *, timeout_ms=30_000, fs_limit_bytes=256 << 20, _sandbox_id=None, _client=None, **later):
        super().__init__(_client or RpcClient(SANDBOX), _sandbox_id)
        if _client is None:
            self._client.start()
            self._client.call("create", {"timeoutMs": timeout_ms, "fsLimitBytes": fs_limit_bytes, **later})
        self.commands = Commands(self._client, _sandbox_id)
        self.files = Files(self._client, _sandbox_id)

    def snapshot(self):
        return self._call("snapshot.create")["id"]

    def restore(self, snapshot_id):
        self._call("snapshot.restore", id=snapshot_id)

    def set_env(self, name, value):
        self._call("env.set", name=name, value=value)

    def get_env(self, name):
        return self._call("env.get", name=name)["value"]

    def fork(self):
        return Sandbox(_sandbox_id=self._call("sandbox.fork")["sandboxId"], _client=self._client)

    def destroy(self):
        if self._sandbox_id is None:
            raise RuntimeError("Cannot destroy root sandbox; use kill() instead")
        self._client.call("sandbox.destroy", {"sandboxId": self._sandbox_id})

    def kill(self):
        try:
            self._client.call("kill", {})
        except (RuntimeError, OSError):
            pass
        return self._client.stop()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self._sandbox_id is not None:
            self.destroy()
        else:
            self.kill()


@pytest.fixture(name="sb")
def make_sandbox():
    sb = Sandbox()
    watchdog = threading.Timer(PATIENCE_S, sb._client._process.kill)
    watchdog.start()
    yield sb
    watchdog.cancel()
    sb._client._process.kill()
    sb._client.stop()


def test_commands(sb):
    result = sb.commands.run("x=5; echo out; echo err >&2; exit 3")
    assert (result.stdout, result.stderr, result.exit_code) == ("out\n", "err\n", 3)
    assert result.execution_time_ms >= 0 and result.truncated is None and result.error_class is None
    assert sb.commands.run("echo $x | tr 5 6").stdout == "6\n"
    assert sb.commands.run("python3 -c 'print(6 * 7)'").stdout == "42\n"


def test_output_and_command_limits():
    with Sandbox(limits={"stdoutBytes": 5, "commandBytes": 20}) as sb:
        result = sb.commands.run("echo hello world")
        assert (result.stdout, result.truncated) == ("hello", {"stdout": True, "stderr": False})
        result = sb.commands.run("echo this is more than twenty bytes")
        assert (result.exit_code, result.error_class) == (1, "LIMIT_EXCEEDED")
        assert "command too long" in result.stderr


def test_files(sb):
    sb.files.mkdir("/tmp/d")
    sb.files.write("/tmp/d/f", "text é")
    sb.files.write("/tmp/d/g", b"\xff\0")
    assert sb.files.read("/tmp/d/f").decode() == "text é" and sb.files.read("/tmp/d/g") == b"\xff\0"
    assert sorted((f.name, f.type, f.size) for f in sb.files.list("/tmp/d")) == [("f", "file", 7), ("g", "file", 2)]
    assert sb.files.stat("/tmp/d") == FileInfo("d", "dir", sb.files.stat("/tmp/d").size)
    sb.files.rm("/tmp/d/g")
    with pytest.raises(RpcError, match="ENOENT") as caught:
        sb.files.read("/tmp/d/g")
    assert caught.value.code == 1


def test_environment_and_snapshots(sb):
    sb.set_env("A", "1")
    assert sb.get_env("A") == "1" and sb.get_env("NONE") is None
    before = sb.snapshot()
    assert isinstance(before, str)
    sb.commands.run("A=2; echo >/tmp/f")
    sb.restore(before)
    assert sb.commands.run("echo $A; ls /tmp").stdout == "1\n"


def test_forks_share_the_connection(sb):
    sb.commands.run("v=root; echo root >/tmp/f")
    with sb.fork() as fork:
        with fork.fork() as second:
            second.commands.run("v=second; echo second >/tmp/f")
            assert fork.commands.run("echo $v; cat /tmp/f").stdout == "root\nroot\n"
            assert second.commands.run("echo $v; cat /tmp/f").stdout == "second\nsecond\n"
    with pytest.raises(RpcError, match="Unknown sandboxId") as caught:
        fork.commands.run("true")
    assert caught.value.code == -32602
    with pytest.raises(RuntimeError, match="use kill"):
        sb.destroy()
    assert sb.commands.run("echo $v").stdout == "root\n"


def test_kill_ends_the_server(sb):
    sb.fork()
    assert sb.kill() == 0


def test_requests_of_the_server_are_answered_in_between():
    """By the thread that waits for the answer of run."""
    with Sandbox(extensions=[{"name": "shout"}], storage=True) as sb:
        stored = {}
        sb._client.handlers.update({
            "extension.invoke": lambda p: {"stdout": p["stdin"].upper() + p["args"][0] + "\n", "exitCode": 4},
            "storage.save": lambda p: stored.update({p["sandbox_id"]: p["state"]}) or {},
            "storage.load": lambda p: {"state": stored[p["sandbox_id"]]}})
        result = sb.commands.run("echo a | shout b; echo $?")
        assert result.stdout == "A\nb\n4\n"
        with sb.fork() as fork:
            assert fork.commands.run("shout x </dev/null").stdout == "x\n"
        sb._call("offload")
        sb._call("rehydrate")
        assert stored and sb.commands.run("echo back").stdout == "back\n"


def test_one_request_in_flight_with_ids_from_one(sb):
    assert sb._client._id == 1
    for _ in range(200):
        sb.commands.run("true")
    assert sb._client._id == 201
