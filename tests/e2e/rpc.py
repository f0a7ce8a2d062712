"""A client of `wasm-sandbox` on stdin and stdout."""
import base64
import itertools
import json
import os
import queue
import subprocess
import threading

import pytest

from sandbox import ROOT, SANDBOX

IMAGE = os.environ.get("WASMSAND_ROOT", str(ROOT / "build/share/wasmsand/root.tar"))
PATIENCE_S = 120

needs_image = pytest.mark.skipif(
    not os.path.exists(IMAGE), reason="no root image; `make rootfs` builds one"
)


def encode(data):
    return base64.b64encode(data).decode()


def decode(text):
    return base64.b64decode(text, validate=True)


class RpcError(Exception):
    def __init__(self, error):
        super().__init__(error["message"])
        self.code, self.message = error["code"], error["message"]


class Client:
    """Sends lines; a thread sorts what comes back: answers by id, and the
    rest (notifications, errors without an id, batches) in order."""

    def __init__(self, *options, command=None, **popen):
        self.process = subprocess.Popen(
            command or [SANDBOX, *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "WASMSAND_ROOT": IMAGE}, **popen)
        self.watchdog = threading.Timer(PATIENCE_S, self.process.kill)
        self.watchdog.start()
        self.ids = itertools.count(1)
        self.answers, self.other = {}, queue.Queue()
        self.changed = threading.Condition()
        self.is_over = False
        self.handlers = {}
        self.errors = b""
        self.threads = [threading.Thread(target=self._read),
                        threading.Thread(target=self._read_errors)]
        for thread in self.threads:
            thread.start()

    # --- reading

    def _read(self):
        for line in self.process.stdout:
            assert line.endswith(b"\n"), line[-100:]
            self._take(json.loads(line))
        with self.changed:
            self.is_over = True
            self.changed.notify_all()
        self.other.put(None)

    def _read_errors(self):
        self.errors = self.process.stderr.read()

    def _take(self, message):
        is_answer = isinstance(message, dict) and "method" not in message
        if is_answer and message.get("id") is not None:
            with self.changed:
                key = json.dumps(message["id"])
                assert key not in self.answers, f"two answers: {message}"
                self.answers[key] = message
                self.changed.notify_all()
        elif not is_answer and isinstance(message, dict) and message["method"] in self.handlers:
            self._call_back(message)
        else:
            self.other.put(message)

    def _call_back(self, message):
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        answer = self.handlers[message["method"]](message["params"])
        if answer is not None:
            self.send({**reply, **answer})

    def next(self):
        """The next message that is no answer to a request."""
        message = self.other.get(timeout=PATIENCE_S)
        assert message is not None, f"the server has ended: {self.errors}"
        return message

    def answer(self, id):
        key = json.dumps(id)
        with self.changed:
            self.changed.wait_for(lambda: key in self.answers or self.is_over, PATIENCE_S)
            assert key in self.answers, f"no answer to {key}: {self.errors}"
            return self.answers.pop(key)

    # --- writing

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def send_all(self, messages):
        """In one piece."""
        self.send_bytes(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def begin(self, method, _id=None, **params):
        """Sends a request; its id."""
        _id = next(self.ids) if _id is None else _id
        self.send({"jsonrpc": "2.0", "id": _id, "method": method, "params": params})
        return _id

    def result(self, id):
        answer = self.answer(id)
        assert answer["jsonrpc"] == "2.0"
        if "error" in answer:
            assert "result" not in answer
            raise RpcError(answer["error"])
        return answer["result"]

    def call(self, method, **params):
        return self.result(self.begin(method, **params))

    def fails(self, method, **params):
        """The error of a request that must fail."""
        with pytest.raises(RpcError) as info:
            self.call(method, **params)
        return info.value

    def run(self, command, **params):
        return self.call("run", command=command, **params)

    def out(self, command, **params):
        return self.run(command, **params)["stdout"]

    def line(self, type, **fields):
        """A request of the line protocol, and its answer."""
        id = fields.pop("id", f"line-{next(self.ids)}")
        self.send({"type": type, "id": id, **fields})
        answer = self.answer(id)
        assert answer["type"] == type
        return answer

    # --- what it costs the host

    def memory_mb(self, what="VmRSS"):
        """VmRSS: now; VmHWM: at most so far."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith(what)) >> 10

    def n_fds(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    # --- ending

    def wait(self):
        status = self.process.wait(PATIENCE_S)
        for thread in self.threads:
            thread.join(PATIENCE_S)
        self.watchdog.cancel()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                stream.close()
            except BrokenPipeError:
                pass
        return status

    def close(self):
        """The end of input; the exit status."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        return self.wait()

    def check_end(self):
        status = self.close()
        assert status == 0, self.errors.decode(errors="replace")[-3000:]


@pytest.fixture
def start():
    """Starts servers, and looks at how they end."""
    clients = []

    def start_one(*options, **kwargs):
        clients.append(Client(*options, **kwargs))
        return clients[-1]

    yield start_one
    for client in clients:
        if client.process.returncode is None:
            client.check_end()


@pytest.fixture
def server(start):
    """A server without a sandbox."""
    return start()


@pytest.fixture
def client(server):
    """A server after `create`."""
    assert server.call("create") == {"ok": True}
    return server
