"""More requests than the server has under way at a time: what waits, what overtakes, what is refused, and the end."""
import json
import re
import signal
import subprocess
import threading

import pytest

from rpc import IMAGE, PATIENCE_S, encode, needs_image
from sandbox import SANDBOX

pytestmark = needs_image

MANY = 6000  # more than the server has under way at a time


def request(id, method, **params):
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


CROWD = [request(f"stat {i}", "files.stat", path="/tmp") for i in range(MANY)]


@pytest.fixture
def busy(start):
    """A server whose root runs a command for ever, with many requests behind it."""
    client = start()
    client.call("create", timeoutMs=86400000)
    client.begin("run", "endless", command="sleep 100000")
    client.send_all(CROWD)
    return client


def check_crowd(client):
    for line in CROWD:
        assert client.result(line["id"])["type"] == "dir"


def test_20_000_pipelined_requests(client):
    client.send_all([request(f"append {i}", "files.write", path="/tmp/log", data=encode(b"%d\n" % i), append=True)
                     for i in range(20000)])
    for i in range(20000):
        assert client.result(f"append {i}") == {"ok": True}
    assert client.out("cmp /tmp/log <(seq 0 19999) && echo same") == "same\n"


def test_what_is_urgent_overtakes_the_lines_that_wait(busy):
    other = busy.begin("run", command="true")
    assert busy.call("status")["ready"] is True
    assert busy.line("status")["ready"] is True
    assert busy.fails("process.kill", processId=1).message.startswith("ESRCH")
    assert json.dumps(other) not in busy.answers
    assert busy.call("cancel", requestId="endless") == {"ok": True, "cancelled": True}
    assert busy.result("endless")["errorClass"] == "CANCELLED"
    check_crowd(busy)
    assert busy.result(other)["exitCode"] == 0


def test_cancel_without_an_id_means_the_oldest(busy):
    assert busy.call("cancel") == {"ok": True, "cancelled": True}
    assert busy.result("endless")["exitCode"] == 130
    check_crowd(busy)


def test_a_run_can_be_cancelled_while_its_line_waits(busy):
    late = [busy.begin("run", command=f"echo {i} >>/tmp/late") for i in range(4)]
    busy.send([request("in a batch", "run", command="echo b >>/tmp/late"), request("beside", "run", command="true")])
    busy.send({"type": "shell", "id": "line", "command": "echo l >>/tmp/late"})
    for id in (late[1], float(late[3]), "in a batch", "line"):
        assert busy.call("cancel", requestId=id) == {"ok": True, "cancelled": True}
    assert busy.call("cancel", requestId="unknown") == {"ok": True, "cancelled": False}
    assert busy.call("cancel", requestId="stat 5999") == {"ok": True, "cancelled": False}, "not a run"
    busy.call("cancel", requestId="endless")
    check_crowd(busy)
    assert [busy.result(id)["exitCode"] for id in late] == [0, 130, 0, 130]
    assert busy.answer("line")["error"] == "Command execution failed: cancelled"
    batch = {answer["id"]: answer["result"]["exitCode"] for answer in busy.next()}
    assert batch == {"in a batch": 130, "beside": 0}
    assert busy.out("cat /tmp/late") == "0\n2\n"
    # The notes of it are gone with the lines.
    assert busy.result(busy.begin("run", "in a batch", command="echo x"))["stdout"] == "x\n"


def test_the_oldest_run_of_a_sandbox_may_be_one_that_waits(start):
    client = start()
    client.call("create", timeoutMs=86400000)
    box = client.call("sandbox.create")["sandboxId"]
    client.begin("run", "endless", command="sleep 100000")
    client.send_all(CROWD)
    late = client.begin("run", command="true", sandboxId=box)
    assert client.call("cancel", sandboxId=box) == {"ok": True, "cancelled": True}
    assert client.call("cancel") == {"ok": True, "cancelled": True}
    assert client.result(late)["exitCode"] == client.result("endless")["exitCode"] == 130
    check_crowd(client)


def test_a_process_is_killed_at_once(start):
    client = start()
    client.call("create", timeoutMs=86400000)
    id = client.call("process.start", command="sleep 100000")["processId"]
    end = client.begin("process.wait", processId=id)
    client.begin("run", "endless", command="sleep 100000")
    client.send_all(CROWD)
    assert client.call("process.kill", processId=id, signal=9) == {"ok": True}
    assert client.result(end) == {"exitCode": 137}
    client.call("cancel")
    check_crowd(client)


def test_answers_to_requests_of_the_server_overtake_too(start):
    client = start()
    may_answer = threading.Event()

    def invoke(params):
        may_answer.wait(PATIENCE_S)
        return {"result": {"stdout": "answered\n", "exitCode": 3.0}}

    client.handlers["extension.invoke"] = invoke
    client.call("create", timeoutMs=86400000, extensions=[{"name": "ext"}])
    run = client.begin("run", command="ext; echo $?")
    client.send_all(CROWD)
    may_answer.set()
    assert client.result(run)["stdout"] == "answered\n3\n"
    check_crowd(client)


# --- refusals


def test_requests_beyond_what_may_wait_are_refused(busy):
    data = encode(bytes(3 << 18))  # 1 MiB
    large = [busy.begin("files.write", path="/tmp/large", data=data) for _ in range(80)]
    busy.send({"type": "write_file", "id": "line", "path": "/tmp/x", "content": data})
    busy.send({"jsonrpc": "2.0", "method": "files.write", "params": {"path": "/tmp/unasked", "data": data}})
    error = busy.answer(large[-1])["error"]
    assert error["code"] == -32600
    waiting = re.fullmatch(r"Too many requests: (\d+) wait for an answer", error["message"])
    assert MANY < int(waiting[1]) < MANY + 80
    assert busy.answer("line")["error"].startswith("Too many requests: ")
    assert busy.call("status")["ready"] is True
    busy.call("cancel")
    check_crowd(busy)
    answers = [busy.answer(id) for id in large[:-1]]
    n_kept = sum("result" in answer for answer in answers)
    assert 60 <= n_kept <= 64
    assert all("result" in answer for answer in answers[:n_kept])
    assert busy.out("ls -A /tmp") == "large\n"


# --- the end


@pytest.mark.parametrize("end", [lambda p: p.stdin.close(), lambda p: p.send_signal(signal.SIGTERM)])
def test_the_end_is_seen_and_everything_is_answered(tmp_path, end):
    out = tmp_path / "out"
    lines = [request("create", "create", timeoutMs=86400000), request("endless", "run", command="sleep 100000"),
             *CROWD, request("late", "run", command="true"), request("last", "status")]
    with open(out, "wb") as stdout:
        process = subprocess.Popen([SANDBOX, "--root", IMAGE], stdin=subprocess.PIPE, stdout=stdout)
    process.stdin.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    process.stdin.flush()
    while b'"last"' not in out.read_bytes() and process.poll() is None:
        pass
    end(process)
    assert process.wait(PATIENCE_S) == 0
    process.stdin.close()
    answers = [json.loads(line) for line in out.read_bytes().splitlines()]
    assert sorted(answer["id"] for answer in answers) == sorted(line["id"] for line in lines)
    by_id = {answer["id"]: answer for answer in answers}
    assert by_id["endless"]["result"]["errorClass"] == by_id["late"]["result"]["errorClass"] == "CANCELLED"


def test_kill_overtakes_and_everything_is_answered(busy):
    late = busy.begin("run", command="true")
    assert busy.call("kill") == {"ok": True}
    assert busy.wait() == 0
    assert busy.result("endless")["exitCode"] == busy.result(late)["exitCode"] == 130
    assert all(json.dumps(line["id"]) in busy.answers for line in CROWD)


def test_what_takes_long_is_refused_at_the_end(client):
    """A shell that never answers is asked for 5 s; those behind it are not."""
    client.run("trap 'while :; do :; done' DEBUG")
    asked = [client.begin("env.list") for _ in range(50)]
    client.process.stdin.close()
    assert client.wait() == 0
    errors = [client.answer(id)["error"]["message"] for id in asked]
    assert "ECANCELED: the server is ending" in errors


@pytest.mark.parametrize("streams, text", [
    ("</", "cannot read standard input: Is a directory"), ("<&-", "cannot read standard input: Bad file descriptor"),
    (">/dev/full", "cannot write standard output: No space left on device"),
    (">&-", "cannot write standard output: Bad file descriptor")])
def test_streams_that_cannot_be_used(streams, text):
    done = subprocess.run(["/bin/sh", "-c", f'exec "$0" "$@" {streams}', SANDBOX, "--root", IMAGE], timeout=PATIENCE_S,
                          input=b'{"jsonrpc":"2.0","id":1,"method":"create"}\n', capture_output=True)
    assert (done.returncode, done.stderr.decode()) == (1, f"wasm-sandbox: {text}\n")


def test_a_client_that_is_gone_is_no_failure():
    process = subprocess.Popen([SANDBOX, "--root", IMAGE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    _, errors = process.communicate(b'{"jsonrpc":"2.0","id":1,"method":"create"}\n', PATIENCE_S)
    assert (process.returncode, errors) == (0, b"")
