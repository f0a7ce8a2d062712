"""The wire format, against a server of a few lines in Python."""

import json
import sys
import threading

import pytest

from wasmsand import RpcError, SandboxClosed, ServerDied
from wasmsand._wire import Connection

ECHO = """
import json, sys
for line in sys.stdin:
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
    connection.handle("question", lambda params: {"n": params["n"] + 1})
    reply = call(connection, "ask")[-1][1]
    assert reply == {"jsonrpc": "2.0", "id": "cb_1", "result": {"n": 21}}


def test_a_handler_that_raises_is_an_error_for_the_server(connection):
    connection.handle("question", lambda params: 1 // 0)
    reply = call(connection, "ask")[-1][1]
    assert "ZeroDivisionError" in reply["error"]["message"]


def test_the_death_of_the_server_reaches_every_caller(connection):
    kind, error = call(connection, "die")[-1]
    assert kind == "error" and isinstance(error, ServerDied)
    assert "a reason" in error.stderr
    with pytest.raises(ServerDied):
        connection.send("a", {}, lambda event: None)


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
