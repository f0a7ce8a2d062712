"""The wire format, against a server of a few lines in Python."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import traceback

import pytest

from wasmsand import RpcError, SandboxClosed, ServerDied
from wasmsand._wire import Connection

ECHO = """
import json, select, signal, sys
for line in iter(sys.stdin.readline, ""):
    m = json.loads(line)
    if m["method"] == "die":
        sys.exit("a reason")
    if m["method"] == "fail":
        answer = {"error": {"code": 1, "message": "ENOENT: no: /p"}}
    elif m["method"] == "output":
        for i in range(3):
            print(json.dumps({"jsonrpc": "2.0", "method": "output", "params":
                {"request_id": m["id"], "stream": "stdout", "seq": i}}))
        answer = {"result": None}
    elif m["method"] == "flood":
        print(json.dumps({"jsonrpc": "2.0", "method": "output", "params":
            {"request_id": m["id"], "data": ""}}), flush=True)
        select.select([0], [], [])
        for i in range(3000):
            print(json.dumps({"jsonrpc": "2.0", "method": "output", "params":
                {"request_id": m["id"], "data": "x" * 1000}}))
        answer = {"result": None}
    elif m["method"] == "stop":
        signal.raise_signal(signal.SIGSTOP)
        answer = {"result": None}
    elif m["method"] == "garbage":
        print(m["params"]["line"], flush=True)
        answer = {"result": None}
    elif m["method"] == "ask":
        print(json.dumps({"jsonrpc": "2.0", "id": "cb_1", "method": "question",
                          "params": {"n": 20}}), flush=True)
        reply = json.loads(sys.stdin.readline())
        answer = {"result": reply}
    else:
        answer = {"result": m}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], **answer}), flush=True)
"""


@pytest.fixture(name="connection")
def make_connection():
    c = Connection([sys.executable, "-c", ECHO])
    yield c
    c.close()


def handle(connection, handler):
    connection.lease_of_the_test = connection.lease()
    connection.lease_of_the_test.handlers["question"] = handler


def call(connection, method, **params):
    events, over = [], threading.Event()

    def sink(event):
        events.append(event)
        if event[0] != "output":
            over.set()
    connection.send(method, params, sink)
    assert over.wait(30)
    return events


def test_requests_are_json_rpc_with_integer_ids_from_one(connection):
    first = call(connection, "a", x=1)[-1][1]
    assert first == {"jsonrpc": "2.0", "id": 1, "method": "a",
                     "params": {"x": 1}}
    assert call(connection, "b")[-1][1]["id"] == 2


def test_errors_become_exceptions(connection):
    kind, error = call(connection, "fail")[-1]
    assert kind == "error"
    assert isinstance(error, RpcError) and isinstance(error, FileNotFoundError)
    assert error.code == 1 and error.errno_name == "ENOENT"


def test_output_comes_before_the_answer(connection):
    events = call(connection, "output")
    assert [e[0] for e in events] == ["output"] * 3 + ["done"]
    assert [e[1]["seq"] for e in events[:3]] == [0, 1, 2]


def test_requests_of_the_server_are_answered_with_their_id(connection):
    handle(connection, lambda params: {"n": params["n"] + 1})
    reply = call(connection, "ask")[-1][1]
    assert reply == {"jsonrpc": "2.0", "id": "cb_1", "result": {"n": 21}}


def test_a_handler_that_raises_is_an_error_for_the_server(connection):
    handle(connection, lambda params: 1 // 0)
    reply = call(connection, "ask")[-1][1]
    assert "ZeroDivisionError" in reply["error"]["message"]


def test_the_death_of_the_server_reaches_every_caller(connection):
    kind, error = call(connection, "die")[-1]
    assert kind == "error" and isinstance(error, ServerDied)
    assert "a reason" in error.stderr
    with pytest.raises(ServerDied):
        connection.send("a", {}, lambda event: None)


@pytest.mark.parametrize("line", ["no json", "[]", "{}", '{"method": "output"}',
                                  '{"method": "output", "params": {}}'])
def test_a_server_that_talks_nonsense_is_ended(connection, line):
    kind, error = call(connection, "garbage", line=line)[-1]
    assert kind == "error" and isinstance(error, ServerDied)


def test_large_requests_and_large_output_at_the_same_time(connection):
    events, started, over = [], threading.Event(), threading.Event()

    def sink(event):
        events.append(event)
        (started if event[0] == "output" else over).set()
    connection.send("flood", {}, sink)
    assert started.wait(30)
    text = "y" * (4 << 20)
    assert call(connection, "echo", t=text)[-1][1]["params"]["t"] == text
    assert over.wait(30) and len(events) == 3002


def test_a_server_that_has_ended_before_anyone_looks(monkeypatch):
    def run_first(work):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return thread

    monkeypatch.setattr(Connection, "_start", staticmethod(run_first))
    connection = Connection([sys.executable, "-c", "raise SystemExit('no')"])
    with pytest.raises(ServerDied, match="no"):
        connection.send("status", {}, lambda event: None)
    connection.close()


def test_a_server_that_hangs_is_ended(monkeypatch):
    monkeypatch.setattr("wasmsand._wire.END_SECONDS", 0.1)
    connection = Connection([sys.executable, "-c", ECHO])
    events = queue.SimpleQueue()
    connection.send("stop", {}, events.put)
    for _ in range(3):  # more than the pipe holds
        connection.send("echo", {"t": "x" * 100_000}, events.put)
    connection.close()
    assert all(isinstance(events.get(timeout=30)[1], SandboxClosed)
               for _ in range(4))
    assert connection._process.stdin.closed


def test_an_interrupt_while_a_request_is_written(connection):
    """It is sent as a whole, or not at all: what follows is understood."""
    def handler(*_):
        raise KeyboardInterrupt
    old = signal.signal(signal.SIGALRM, handler)
    sent = interrupts = 0
    try:
        while sent < 300 or not interrupts:
            sent += 1
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.00001 * (sent % 50 + 1))
                connection.send("echo", {"t": "x" * 50_000}, lambda e: None)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                interrupts += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert call(connection, "echo", last=True)[-1][1]["params"] == {
        "last": True}


def test_a_child_process_does_not_have_the_connection(connection):
    pid = os.fork()
    if pid == 0:
        try:
            connection.send("a", {}, lambda event: None)
        except SandboxClosed:
            signal.pause()  # and does not keep the server
        os._exit(1)
    try:
        connection.close()
        assert connection._process.returncode == 0
    finally:
        os.kill(pid, signal.SIGKILL)
        assert os.waitpid(pid, 0)[1] == signal.SIGKILL


def test_a_closed_connection_says_so(connection):
    connection.close()
    connection.close()
    with pytest.raises(SandboxClosed):
        connection.send("a", {}, lambda event: None)


def test_answers_find_their_caller_from_many_threads(connection):
    wrong = []

    def work(n):
        for i in range(50):
            got = call(connection, "echo", n=n, i=i)[-1][1]["params"]
            if got != {"n": n, "i": i}:
                wrong.append(got)
    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_lines_are_single_lines_of_json(connection):
    text = "a\nb\u2028c\0d"
    assert call(connection, "echo", t=text)[-1][1]["params"]["t"] == text
    assert "\n" not in json.dumps(text)


@pytest.mark.parametrize("answer", [
    {"n": b"bytes"}, {"n": float("nan")}, {"n": "\udcff"}, {"n": "x" * 9000}])
def test_an_answer_that_cannot_be_sent_is_an_error(connection, answer):
    connection.max_line_bytes = 8192
    handle(connection, lambda params: answer)
    reply = call(connection, "ask")[-1][1]
    assert "Error: " in reply["error"]["message"]


def test_a_handler_that_exits_is_an_error_for_the_server(connection):
    def leave(params):
        raise SystemExit("\udcff")
    handle(connection, leave)
    reply = call(connection, "ask")[-1][1]
    assert reply["error"]["message"] == "SystemExit: \\udcff"


def test_each_caller_has_an_error_of_its_own(connection):
    connection.close()
    errors = []
    for _ in range(3):
        with pytest.raises(SandboxClosed) as caught:
            connection.send("a", {}, lambda event: None)
        errors.append(caught.value)
    assert len(set(map(id, errors))) == 3
    assert len({len(traceback.extract_tb(e.__traceback__))
                for e in errors}) == 1


def test_no_room_for_a_thread_leaves_no_server(monkeypatch):
    started, processes = [], []
    start, popen = Connection._start, subprocess.Popen

    def only_one(work):
        if started:
            raise RuntimeError("can't start new thread")
        started.append(start(work))
        return started[0]

    def remembered(*args, **kwargs):
        processes.append(popen(*args, **kwargs))
        return processes[0]
    monkeypatch.setattr(Connection, "_start", staticmethod(only_one))
    monkeypatch.setattr(subprocess, "Popen", remembered)
    with pytest.raises(RuntimeError, match="new thread"):
        Connection([sys.executable, "-c", ECHO])
    assert processes[0].returncode == -signal.SIGKILL
    started[0].join()


def test_a_cancellation_does_not_overtake_what_it_cancels(connection,
                                                          monkeypatch):
    """A large request is written by a thread, which may have to wait."""
    order, over = [], threading.Event()
    with connection._write_lock:
        writer = connection.send("large", {"t": "x" * 100_000}, lambda e: None)
    monkeypatch.setattr(connection, "_write_now", lambda line: (
        order.append("written"), over.set()))
    join = writer.join
    monkeypatch.setattr(writer, "join", lambda: (join(),
                                                 order.append("joined")))
    connection.post("cancel", {}, writer)
    assert over.wait(30) and order == ["joined", "written"]
