"""Clients of all kinds on the socket."""
import json
import os
import resource
import socket
import stat
import subprocess
import sys
import threading

import pytest
from supervisor import Error, Gone


def test_the_socket_is_private(sup):
    assert stat.S_IMODE(os.stat(sup.socket).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(sup.socket.parent).st_mode) == 0o700


def test_the_store_is_private_in_any_folder(make, tmp_path):
    (tmp_path / "store").mkdir(mode=0o755)
    make().client().create().run("set 1 a")
    files = [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) & 0o77 for path in files
            if path.parent.name != "images"} == {0}
    assert stat.S_IMODE((tmp_path / "store/store.db").stat().st_mode) == 0o600


ASK = """
import os, socket, sys
os.chdir(sys.argv[1])
os.setresuid(65534, 65534, 65534)
s = socket.socket(socket.AF_UNIX)
s.connect("s.sock")
try:
    s.sendall(b'{"jsonrpc":"2.0","id":1,"method":"session.list"}\\n')
    print(s.recv(100))
except ConnectionError:
    print(b"")
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_another_user_is_not_served(sup):
    """Even one who can open the socket."""
    sup.socket.parent.chmod(0o755)
    sup.socket.chmod(0o666)
    done = subprocess.run([sys.executable, "-c", ASK, sup.socket.parent], capture_output=True, check=True)
    assert done.stdout == b"b''\n", done


def test_one_supervisor_on_a_socket(sup):
    other = type(sup)(sup.folder, **{"store.dir": str(sup.folder / "other")})
    with pytest.raises(RuntimeError, match="in use"):
        other.start()
    sup.client().create()


@pytest.mark.parametrize("make_other", [
    lambda path: path.write_text("mine"), lambda path: path.mkdir(),
    lambda path: path.symlink_to("/dev/null")])
def test_what_is_no_socket_is_not_replaced(make, tmp_path, make_other):
    path = tmp_path / "run/s.sock"
    path.parent.mkdir()
    make_other(path)
    before = path.lstat().st_ino
    with pytest.raises(RuntimeError, match=f"{path}: File exists"):
        make()
    assert path.lstat().st_ino == before


def test_one_supervisor_on_a_store(sup):
    other = type(sup)(sup.folder)
    other.socket = sup.folder / "run/t.sock"
    with pytest.raises(RuntimeError, match="store"):
        other.start()


def test_clients_wait_where_there_is_no_descriptor(sup):
    first = sup.client()
    first.call("session.list")
    pid = sup.process.pid
    _, most = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    last = max(map(int, os.listdir(f"/proc/{pid}/fd")))
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (last + 2, most))
    crowd = [socket.socket(socket.AF_UNIX) for _ in range(last + 3)]
    for s in crowd:
        s.connect(str(sup.socket))
    for _ in range(3):
        first.call("session.list")
    for s in crowd:
        s.close()
    sup.client().call("session.list")
    sup.stop()
    assert "cannot accept a connection: Too many open files" in sup.log.read_text()


@pytest.mark.parametrize("line, code", [
    (b"what?", -32700), (b"{", -32700), (b'"x"', -32600), (b"5", -32600), (b"[]", -32600),
    (b"{}", -32600), (b'{"jsonrpc":"1.0","id":1,"method":"x"}', -32600),
    (b'{"jsonrpc":"2.0","id":{},"method":"x"}', -32600),
    (b'{"jsonrpc":"2.0","id":1,"method":5}', -32600),
    (b'{"jsonrpc":"2.0","id":1,"method":"session.list","params":[1]}', -32602),
    (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"session.list"}', -32700),
    (b"\xff\xfe", -32700), (b"[" * 100000, -32700),
    (b'{"type":"shell","id":"1","command":"ls"}', -32600)])
def test_garbage_is_answered(client, line, code):
    client.send(line + b"\n")
    assert client.line()["error"]["code"] == code
    assert client.call("session.list") == {"sessions": []}


def test_blank_lines_and_notifications_are_not(client):
    client.send(b"\n  \r\n" + b'{"jsonrpc":"2.0","method":"session.list"}\n'
                + b'{"jsonrpc":"2.0","method":"nonsense"}\n')
    assert client.call("session.list") == {"sessions": []}


def test_a_line_that_is_too_long_is_skipped(client):
    client.send(b"x" * (9 << 20) + b"\n")
    assert client.line()["error"]["message"].startswith("Request too large")
    assert client.call("session.list") == {"sessions": []}


def test_ids_come_back_as_they_were(client):
    for number in ("5", '"five"', "null", "1.50", "123456789012345678901234567890"):
        client.send(b'{"jsonrpc":"2.0","id":%s,"method":"session.list"}\n' % number.encode())
        while b"\n" not in client.data:
            client.data += client.socket.recv(4096)
        line, _, client.data = client.data.partition(b"\n")
        assert line.startswith(b'{"jsonrpc":"2.0","id":%s,' % number.encode())


def test_batches(client):
    s = client.create()
    batch = [{"jsonrpc": "2.0", "id": i, "method": "run",
              "params": {"sessionId": s.id, "command": f"quiet {i}"}} for i in range(20)]
    batch += [{"jsonrpc": "2.0", "method": "session.list"}, 5,
              {"jsonrpc": "2.0", "id": "e", "method": "kill"}]
    client.send(json.dumps(batch).encode() + b"\n")
    answers = {a["id"]: a for a in client.line()}
    assert len(answers) == 22
    assert all(answers[i]["result"]["stdout"] == str(i) for i in range(20))
    assert answers["e"]["error"]["code"] == -32601 and answers[None]["error"]["code"] == -32600


def test_half_closed_clients_get_their_answers(sup):
    client = sup.client()
    s = client.create()
    asked = [s.ask("run", command=f"set 1 {i}") for i in range(20)]
    client.socket.shutdown(1)
    for number in asked:
        client.wait(number)
    with pytest.raises(Gone):
        client.line()


def test_a_client_that_goes_leaves_its_work(sup, client):
    other = sup.client()
    s = other.create()
    s.ask("run", command="set 1 done")
    other.close()
    s.client = client
    assert s.run("get 1") == "done"


def test_two_clients_on_one_session(sup, client):
    s = client.create()
    other = sup.client()
    mine = [s.ask("run", command=f"quiet {i}") for i in range(100)]
    theirs = [other.ask("run", sessionId=s.id, command=f"quiet o{i}") for i in range(100)]
    assert [client.wait(n)["stdout"] for n in mine] == [f"{i}" for i in range(100)]
    assert [other.wait(n)["stdout"] for n in theirs] == [f"o{i}" for i in range(100)]


def test_streams_go_to_who_asked(sup, client):
    s = client.create()
    other = sup.client()
    stream = s.ask("run", command="stream 10", stream=True)
    quiet = other.ask("run", sessionId=s.id, command="quiet x")
    client.wait(stream)
    other.wait(quiet)
    assert other.notes == []
    assert [n["seq"] for n in client.notes] == list(range(10))
    assert {(n["request_id"], n["sessionId"]) for n in client.notes} == {(stream, s.id)}


def test_a_slow_reader_waits_alone(sup, client):
    slow = sup.client()
    s = slow.create()
    other = client.create()
    stream = s.ask("run", command="stream 20000", stream=True)  # 20 MB
    assert [other.run(f"quiet {i}") for i in range(20)] == [str(i) for i in range(20)]
    slow.wait(stream)
    assert [n["seq"] for n in slow.notes] == list(range(20000))


def test_memory_of_a_client_that_never_reads(sup, client):
    slow = sup.client()
    s = slow.create()

    def rss():
        with open(f"/proc/{sup.process.pid}/status") as status:
            return next(int(l.split()[1]) for l in status if l.startswith("VmRSS"))

    other = client.create()
    other.run("quiet x")
    before = rss()
    s.ask("run", command="stream 100000", stream=True)  # 100 MB
    for i in range(200):
        other.run(f"quiet {i}")
    assert rss() < before + 16000
    slow.close()
    s.client = client
    assert s.run("quiet x") == "x"


def test_many_requests_at_once(client):
    s = client.create()
    lines = b"".join(
        json.dumps({"jsonrpc": "2.0", "id": i, "method": "run",
                    "params": {"sessionId": s.id, "command": f"quiet {i}"}}).encode() + b"\n"
        for i in range(20000))
    sender = threading.Thread(target=client.send, args=(lines,))
    sender.start()
    assert [client.line()["id"] for _ in range(20000)] == list(range(20000))
    sender.join()


# --- more requests than are under way at a time


def crowd(session, n=3000):
    """A session that serves nothing any more, and requests that wait for it."""
    return [session.ask("run", command="hang"), *(session.ask("run", command="quiet x") for _ in range(n))]


def check_interrupted(client, asked):
    for number in asked:
        with pytest.raises(Error, match="Session"):
            client.wait(number)


def test_what_is_urgent_overtakes_the_lines_that_wait(client):
    s, other = client.create(), client.create()
    asked = crowd(s)
    for method, params in (("status", {}), ("process.kill", {"processId": 1}), ("cancel", {}), ("session.status", {})):
        assert other.call(method, **params)["ok"] is True
    with pytest.raises(Error, match="session.end"):
        client.call("kill")
    later = other.ask("run", command="quiet later")
    assert s.call("session.end")["state"] == "ended"
    check_interrupted(client, asked)
    assert client.wait(later)["stdout"] == "later"


def test_a_run_can_be_cancelled_while_its_line_waits(client):
    s, other = client.create(), client.create()
    asked = crowd(s)
    late = [other.ask("run", command=f"quiet {i}") for i in range(3)]
    assert client.call("cancel", sessionId=other.id, requestId=late[1]) == {"ok": True, "cancelled": True}
    assert client.call("cancel", sessionId=other.id, requestId=late[0] + 0.0) == {"ok": True, "cancelled": True}
    # The worker is asked for others.
    assert client.call("cancel", sessionId=other.id, requestId=10**6)["params"] == {"requestId": 0}
    s.call("session.end")
    check_interrupted(client, asked)
    assert [client.wait(n)["stdout"] for n in late] == ["0", "1", "2"]


def test_requests_beyond_what_may_wait_are_refused(client):
    s = client.create()
    asked = crowd(s)
    large = [s.ask("run", command="quiet " + "x" * (1 << 20)) for _ in range(70)]
    with pytest.raises(Error, match=r"^Too many requests: \d+ wait for an answer$") as refused:
        client.wait(large[-1])
    assert refused.value.code == -32600
    assert client.call("session.end", sessionId=s.id)["state"] == "ended"
    for number in asked + large[:-1]:
        with pytest.raises(Error, match="Session|Too many"):
            client.wait(number)
    assert client.call("session.list")["sessions"] == []


def test_a_client_that_asks_without_reading_is_not_read_for_ever(sup, client):
    deaf = sup.client()
    deaf.socket.settimeout(2)
    line = b'{"jsonrpc":"2.0","id":1,"method":"session.get","params":{"sessionId":"%s"}}\n' % (b"x" * 900)
    sent = 0
    with pytest.raises(Gone):
        while sent < 200 << 20:
            deaf.send(line * 1000)
            sent += len(line) * 1000
    with open(f"/proc/{sup.process.pid}/status") as status:
        assert next(int(text.split()[1]) for text in status if text.startswith("VmHWM")) < 250 << 10
    assert client.create().run("quiet x") == "x"
    deaf.close()


def test_many_clients(sup):
    clients = [sup.client() for _ in range(300)]
    s = clients[0].create()
    asked = [(c, c.ask("run", sessionId=s.id, command=f"quiet {i}")) for i, c in enumerate(clients)]
    assert [c.wait(n)["stdout"] for c, n in asked] == [str(i) for i in range(300)]
    for c in clients:
        c.close()


def test_cancel_finds_the_request_of_its_client(client):
    s = client.create()
    hanging = s.ask("run", command="hang")
    # the worker hangs; what it was sent tells nothing: the session must end
    s.call("session.end")
    with pytest.raises(Error):
        client.wait(hanging)


def test_a_process_of_a_client_that_went_while_it_was_behind(sup, client):
    deaf = sup.client()
    s = client.create()
    deaf.ask("process.start", sessionId=s.id, command="8000")
    asked = s.ask("run", command="quiet x")
    for _ in range(300):  # until the supervisor reads no more of the worker
        s.call("session.get")
    deaf.close()
    assert client.wait(asked)["stdout"] == "x"
    assert s.run("quiet y") == "y"
