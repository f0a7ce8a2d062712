"""`wasm-sandbox worker`, with a supervisor that keeps the records in a dict."""
import functools
import hashlib
import json
import random
import select
import signal
import socket
import struct
import subprocess
import threading

import pytest

from rpc import IMAGE, PATIENCE_S, Client, RpcError, encode, needs_image
from sandbox import SANDBOX
from test_untrusted import WASI_EXIT_7

pytestmark = needs_image

HEAD = struct.Struct("<cBHI")
PUT, DELETE, END = b"P", b"D", b"E"


@functools.cache
def image_hash():
    with open(IMAGE, "rb") as image:
        return hashlib.file_digest(image, functools.partial(hashlib.blake2b, digest_size=32)).hexdigest()


def frame(op, key=b"", value=b""):
    return HEAD.pack(op, 0, len(key), len(value)) + key + value


def stream(state):
    """A state as the supervisor sends it."""
    frames = [frame(PUT, key, state[key]) for key in sorted(state)]
    return b"".join(frames) + frame(END, value=struct.pack("<Q", 0))


class Worker(Client):
    """Its commits are applied to `state` as they come, `committed` is the
    number of the newest. While `gate` is cleared, nothing is read."""

    def __init__(self, state=None, *options):
        self.records, theirs = socket.socketpair()
        self.state, self.committed, self.sent = dict(state or {}), 0, []
        self.gate = threading.Event()
        self.gate.set()
        self.arrived = threading.Condition()
        script = f'exec 3<&{theirs.fileno()} {theirs.fileno()}<&-; exec "$@"'
        super().__init__(command=["/bin/bash", "-c", script, "bash", SANDBOX, "worker", "--unsealed",
                                  "--image-hash", image_hash(), *options], pass_fds=(theirs.fileno(),))
        theirs.close()
        self.reader = threading.Thread(target=self._read_records)
        self.reader.start()
        assert self.next() == {"jsonrpc": "2.0", "method": "worker.ready"}

    def _exactly(self, size):
        data = b""
        while len(data) < size:
            self.gate.wait()
            more = self.records.recv(size - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def _read_records(self):
        changes = []
        try:
            while True:
                op, zero, key_len, value_len = HEAD.unpack(self._exactly(HEAD.size))
                assert zero == 0
                key, value = self._exactly(key_len), self._exactly(value_len)
                if op != END:
                    changes.append((key, value if op == PUT else None))
                    continue
                with self.arrived:
                    self._apply(changes, struct.unpack("<Q", value)[0])
                    self.arrived.notify_all()
                changes = []
        except (EOFError, ConnectionResetError):
            pass  # what came without an end does not count

    def _apply(self, changes, number):
        assert number == self.committed + 1
        self.committed, self.sent = number, changes
        for key, value in changes:
            if value is None:
                self.state.pop(key, None)
            else:
                self.state[key] = value

    def _wait_for(self, number):
        with self.arrived:
            assert number is None or self.arrived.wait_for(lambda: self.committed >= number, PATIENCE_S)

    def commit_of(self, id):
        """The number in an answer, when its records have come; or None."""
        number = self.answer(id).get("commit")
        self._wait_for(number)
        return number

    def result(self, id):
        answer = self.answer(id)
        self._wait_for(answer.get("commit"))
        if "error" in answer:
            raise RpcError(answer["error"])
        return answer["result"]

    def commits(self, method, **params):
        return self.commit_of(self.begin(method, **params))

    def load(self, state):
        id = self.begin("state.load")
        self.records.sendall(stream(state))
        return self.result(id)

    def end(self, sig=None):
        """The exit status after a signal, or after the end of input."""
        if sig:
            self.process.send_signal(sig)
        status = self.wait() if sig else self.close()
        self.reader.join(PATIENCE_S)
        self.records.close()
        return status


@pytest.fixture
def worker():
    """Starts workers; with a state, they have it."""
    workers = []

    def start_one(state=None, *options):
        w = Worker(state, *options)
        workers.append(w)
        w.call("create")
        if state is not None:
            assert w.load(state) == {"ok": True}
        return w

    yield start_one
    for w in workers:
        if w.process.returncode is None:
            assert w.end() == 0, w.errors.decode(errors="replace")[-3000:]


# --- commits


def test_an_answer_names_what_the_job_has_changed(worker):
    w = worker()
    assert w.committed == 0
    assert w.commits("run", command="echo 1 >/tmp/a; cd /tmp") == 1
    assert {key[:1] for key, _ in w.sent} >= {b"a", b"h", b"i", b"n", b"p", b"x"}
    assert w.commits("files.read", path="/tmp/a") is None
    assert w.commits("files.write", path="/tmp/b", data=encode(b"2")) == 2
    assert sorted(key[:1] for key, _ in w.sent) == [b"i", b"i", b"n", b"x"]
    assert w.commits("env.set", name="A", value="b") == 3
    assert w.commits("state.commit") is None


def test_a_job_that_fails_is_committed_too(worker):
    w = worker()
    assert w.commits("run", command="echo 1 >/tmp/a; exit 3") == 1
    assert w.commits("run", command="echo 2 >/tmp/b; sleep 1000", timeoutMs=2000) == 2
    assert w.commits("files.rm", path="/tmp", recursive=True) == 3
    assert w.commits("files.rm", path="/tmp", recursive=True) is None


def test_records_come_before_the_answer(worker):
    w = worker()
    w.gate.clear()
    w.records.setblocking(True)
    for number in range(1, 20):
        id = w.begin("files.write", path="/tmp/f", data=encode(b"x" * 1000 * number))
        assert w.answer(id)["commit"] == number
    w.gate.set()
    with w.arrived:
        assert w.arrived.wait_for(lambda: w.committed == 19, PATIENCE_S)


def test_a_supervisor_that_does_not_read_stops_the_job_alone(worker):
    w = worker()
    w.gate.clear()
    big = w.begin("run", command="head -c 20000000 /dev/urandom >/tmp/big")
    later = w.begin("run", command="echo later")
    assert w.call("status")["ready"]
    assert w.call("process.list") == {"processes": []}
    assert json.dumps(big) not in w.answers
    w.gate.set()
    assert w.commit_of(big) == 1
    assert w.commit_of(later) == 2


@pytest.mark.long
@pytest.mark.parametrize("sig", [None, signal.SIGTERM])
def test_a_supervisor_that_does_not_read_does_not_keep_a_worker(worker, sig):
    w = worker()
    w.gate.clear()
    w.begin("run", command="head -c 20000000 /dev/urandom >/tmp/big")
    assert select.select([w.records], [], [], PATIENCE_S)[0]
    if sig:
        w.process.send_signal(sig)
    else:
        w.process.stdin.close()
    assert w.process.wait(PATIENCE_S) == 1
    w.gate.set()
    assert w.end() == 1
    assert w.errors == b"wasm-sandbox: a sandbox did not end within 10 s; the server exits anyway\n"


def test_background_processes_are_committed_by_what_follows(worker):
    w = worker()
    w.run("mkfifo /tmp/go; (read x </tmp/go; echo done >/tmp/made; read x </tmp/go) & true")
    w.run("echo >/tmp/go; until [ -s /tmp/made ]; do :; done")
    names = [key[9:] for key in w.state if key[:1] == b"n"]
    assert b"made" in names
    id = w.call("process.start", command="echo 1 >/tmp/beside")["processId"]
    assert w.commits("process.wait", processId=id) is not None
    assert b"beside" in [key[9:] for key in w.state if key[:1] == b"n"]
    id = w.call("process.start", command="echo 2 >/tmp/last; read x", pty=True)["processId"]
    while w.run("[ -s /tmp/last ]")["exitCode"]:
        pass
    w.commits("state.commit")
    assert b"last" in [key[9:] for key in w.state if key[:1] == b"n"]
    w.call("process.kill", processId=id, signal=9)


# --- loading


def test_a_state_is_loaded_into_another_worker(worker):
    w = worker()
    w.run("cd /tmp; x=1; f() { echo f$x; }; mkdir d; echo hello >d/a; ln d/a b; ln -s d c; rm ~/.profile")
    w.run("umask 077; trap 'echo bye' EXIT; exec 5<d/a; false")
    other = worker(w.state)
    assert other.out("echo $? $PWD; f; cat c/a; stat -c %h b; ls -A ~; umask; trap -p; cat <&5") == (
        "1 /tmp\nf1\nhello\n2\n.bashrc\n0077\ntrap -- 'echo bye' EXIT\nhello\n")
    assert [e["command"] for e in other.call("shell.history.list")["entries"]][:2] == [
        e["command"] for e in w.call("shell.history.list")["entries"]]
    assert other.committed == 1


def test_no_records_are_a_new_session(worker):
    w = worker({})
    assert w.out("pwd") == "/home/user\n"


def test_what_was_acknowledged_survives_kills(worker):
    dice = random.Random(4)
    w = worker()
    want = {}
    for life in range(8):
        for step in range(dice.randrange(1, 6)):
            name, size = f"f{dice.randrange(9)}", dice.randrange(20000)
            if dice.random() < 0.3:
                w.run(f"rm -f {name}; n=$((n + 1))")
                want.pop(name, None)
            else:
                w.run(f"head -c {size} /dev/zero >{name}; n=$((n + 1))")
                want[name] = size
        count = w.out("echo $n")
        id = w.begin("run", command="head -c 3000000 /dev/urandom >unacknowledged")
        if dice.random() < 0.5:
            w.commit_of(id)
        assert w.end(signal.SIGKILL) == -signal.SIGKILL
        w = worker(w.state)
        assert w.out("echo $n") == count
        sizes = dict(line.split() for line in w.out("rm -f unacknowledged; stat -c '%n %s' f*").splitlines())
        assert sizes == {name: str(size) for name, size in want.items()}


def test_a_script_is_committed_and_used_by_another_shell(worker):
    w = worker()
    w.run("x='a b'; f() { echo f $x; }; cd /tmp")
    assert w.commits("state.commit", script=True) == 2
    assert [key for key, _ in w.sent] == [b"ascript"]
    other = bytearray(w.state[b"amodule"])
    other[0] ^= 1
    moved = worker({**w.state, b"amodule": bytes(other)})
    assert moved.out("f; pwd") == "f a b\n/tmp\n"
    assert b"ascript" not in moved.state
    assert worker(moved.state).out("f; pwd") == "f a b\n/tmp\n"


HOSTILE = {
    "another image": lambda s: stream({**s, b"aimage": bytes(32)}),
    "no version": lambda s: stream({k: v for k, v in s.items() if k != b"aversion"}),
    "another shell": lambda s: stream({**s, b"amodule": bytes(32)}),
    "an unknown key": lambda s: stream({**s, b"zzz": b""}),
    "an unknown fact": lambda s: stream({**s, b"afact": b"1234"}),
    "a name for nothing": lambda s: stream({**s, b"n" + struct.pack(">Q", 1) + b"x": struct.pack(">QQ", 1 << 40, 99)}),
    "names in the order of sending": lambda s: b"".join(frame(PUT, k, s[k]) for k in sorted(s, reverse=True))
    + frame(END, value=bytes(8)),
    "an unknown op": lambda s: frame(b"X", b"key"),
    "a removal": lambda s: frame(DELETE, b"aimage"),
    "a long key": lambda s: HEAD.pack(PUT, 0, 65535, 0),
    "a long value": lambda s: HEAD.pack(PUT, 0, 6, 1 << 31),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_state_is_refused_and_changes_nothing(worker, name):
    w = worker()
    w.run("x=1; echo 1 >/tmp/a")
    other = worker()
    other.run("y=2")
    id = other.begin("state.load")
    other.records.sendall(HOSTILE[name](w.state))
    answer = other.answer(id)
    assert answer["error"]["code"] == 1 and "commit" not in answer
    assert other.out("echo $x$y; ls /tmp") == "2\n"


def test_what_could_not_be_loaded_is_not_written_over(worker):
    w = worker()
    w.run("x=1; echo 1 >/tmp/a")
    other = worker()
    id = other.begin("state.load")
    other.records.sendall(stream({**w.state, b"aimage": bytes(32)}))
    assert "commit" not in other.answer(id)
    assert other.commits("state.commit") is None and other.committed == 0
    assert other.load(w.state) == {"ok": True}
    assert other.out("echo $x; cat /tmp/a") == "1\n1\n"


def test_a_load_that_is_broken_off_changes_nothing(worker):
    w = worker()
    w.run("x=1; echo 1 >/tmp/a")
    other = worker()
    id = other.begin("state.load")
    whole = [frame(PUT, key, w.state[key]) for key in sorted(w.state)]
    other.records.sendall(b"".join(whole[:-1]) + frame(END, value=struct.pack("<Q", 1)))
    assert other.answer(id)["error"]["message"] == "ECANCELED: the transfer of the state was cancelled"
    assert other.committed == 0
    assert other.load(w.state) == {"ok": True}
    assert other.out("echo $x; cat /tmp/a") == "1\n1\n"


def test_a_state_that_is_cut_is_refused(worker):
    w = worker()
    w.run("x=1")
    other = worker()
    id = other.begin("state.load")
    other.records.sendall(stream(w.state)[:-30])
    other.records.shutdown(socket.SHUT_WR)
    assert other.answer(id)["error"]["message"] == "EIO: the state ends early"
    other.end(signal.SIGKILL)


def test_a_broken_pipe_of_records_ends_the_worker():
    w = Worker()
    w.call("create")
    w.records.shutdown(socket.SHUT_RDWR)
    w.begin("run", command="x=1")
    assert w.wait() == 3
    w.end()
    assert b"cannot send the state" in w.errors


# --- what a session does not have


def test_other_servers_do_not_know_the_methods_of_workers(client):
    assert client.fails("state.load").code == -32601
    assert client.fails("state.commit").code == -32601


@pytest.mark.parametrize("param", [
    {"wasmDir": "/tmp"}, {"shellWasmPath": "/bin/sh"}, {"storage": True}, {"extensions": [{"name": "x"}]}])
def test_create_refuses_the_host_by_name(param):
    w = Worker()
    assert w.fails("create", **param).message == f"EPERM: not in a session: {next(iter(param))}"
    error = w.fails("create", mounts=[{"path": "/m", "hostPath": "/tmp"}])
    assert error.message.startswith("EACCES: ")
    assert w.end() == 0


@pytest.mark.parametrize("method,params", [
    ("mount", {"path": "/m", "files": {}}), ("sandbox.create", {}), ("sandbox.fork", {}), ("sandbox.list", {}),
    ("sandbox.destroy", {"sandboxId": "1"}), ("offload", {}), ("rehydrate", {})])
def test_methods_of_other_servers_are_refused_by_name(worker, method, params):
    assert worker().fails(method, **params).message == f"EPERM: not in a session: {method}"


def test_programs_of_the_guest_are_refused(worker):
    w = worker(None)
    w.call("files.write", path="/tmp/p", data=encode(WASI_EXIT_7), mode="755")
    result = w.run("/tmp/p")
    assert result["exitCode"] == 126 and result["stderr"]


def test_wrong_options_are_refused():
    for options in ["--image-hash", "12"], ["--unknown"], ["more"]:
        done = subprocess.run([SANDBOX, "worker", *options], capture_output=True)
        assert done.returncode == 2 and b"worker" in done.stderr
