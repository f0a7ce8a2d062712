"""Clients that mean harm: they cost what is bounded, and others are answered."""
import json
import random
import signal
import socket
import struct

import pytest
from web import Server, is_closed, read_all, request

DROPPED = "wasmsand_http_connections_dropped_total"


@pytest.fixture
def serve(tmp_path):
    servers = []

    def start(*options):
        servers.append(Server(tmp_path, *options))
        return servers[-1]

    yield start
    for s in servers:
        s.stop()


def call(method, **params):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


def reset(s):
    """Closes so that the other side sees an error, not an end."""
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def is_open(s):
    """It has neither been closed nor answered."""
    s.setblocking(False)
    try:
        return s.recv(1, socket.MSG_PEEK) is None
    except BlockingIOError:
        return True
    except ConnectionError:
        return False
    finally:
        s.settimeout(60)


def trickle(server, head):
    """Sends head, then byte after byte, until all have been closed."""
    slow = [server.connect() for _ in range(20)]
    for s in slow:
        s.sendall(head)
    while slow:
        assert server.rpc("echo", x=1) == {"x": 1}
        for s in [s for s in slow if not is_open(s)]:
            slow.remove(s)
            s.close()
        for s in slow:
            try:
                s.send(b"x")
            except ConnectionError:
                pass


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"POST /rpc HTTP/1.1\r\nHost: ",
        request(body="x").replace(b"Length: 1", b"Length: 100000"),
        request(body="x", token="wrong").replace(b"Length: 1", b"Length: 100000"),
    ],
    ids=["nothing", "header", "body", "body without a token"],
)
def test_who_sends_slowly_is_closed(serve, head):
    server = serve("--http-request-s=1")
    trickle(server, head)
    assert server.metrics()[DROPPED, 'reason="slow"'] == 20
    while server.metrics()["wasmsand_http_connections", None] > 1:
        pass


def test_idle_connections_are_closed(serve):
    server = serve("--http-request-s=1")
    with server.connect() as s:
        s.sendall(request(body=call("echo")))
        assert b"result" in read_all(s)


def test_a_long_answer_is_not_an_idle_connection(serve):
    """The time is for the client to do its part, not for us."""
    server = serve("--http-request-s=1")
    with server.connect() as waiting, server.connect() as idle:
        waiting.sendall(request(body=call("hang"), more="Connection: close\r\n"))
        while server.rpc("stats")["clients"] < 2:
            pass
        assert is_closed(idle)
        assert server.rpc("release") == 1
        assert b"released" in read_all(waiting)


@pytest.mark.parametrize("stream", [True, False])
def test_half_closed_clients_have_gone(serve, stream):
    server = serve()
    with server.connect() as s:
        s.sendall(request(body=call("hang", stream=stream)))
        while server.rpc("stats")["clients"] < 2:
            pass
        s.shutdown(socket.SHUT_WR)
        assert b"result" not in read_all(s)
    assert server.rpc("release") == 1
    while server.rpc("stats")["clients"] > 1:
        pass


@pytest.mark.parametrize("part", [0, 5, 60, -1])
def test_half_requests_are_dropped(serve, part):
    server = serve()
    with server.connect() as s:
        s.sendall(request(body=call("echo"))[:part])
        s.shutdown(socket.SHUT_WR)
        assert b"200 OK" not in read_all(s)
    assert server.rpc("echo") == {}


@pytest.mark.parametrize("end", [socket.socket.close, reset])
@pytest.mark.parametrize("stream", [True, False])
def test_clients_that_vanish_take_no_connection(serve, stream, end):
    server = serve()
    gone = [server.connect() for _ in range(20)]
    for s in gone:
        s.sendall(request(body=call("hang", stream=stream)))
    while server.rpc("stats")["clients"] < 21:
        pass
    for s in gone:
        end(s)
    while server.metrics()["wasmsand_http_connections", None] > 1:
        pass
    assert server.rpc("release") == 20
    while server.rpc("stats")["clients"] > 1:
        pass


def test_who_does_not_read_stops_its_stream_alone(serve):
    server = serve()
    with server.connect() as s:
        s.sendall(request(body=call("stream", n=100000, bytes=100000, stream=True)))
        while not server.rpc("stats")["behind"]:
            pass
        assert server.rpc("stats")["streamed"] < 32 << 20
        assert server.metrics()["wasmsand_resident_bytes", None] < 256 << 20
    while server.rpc("stats")["clients"] > 1:
        pass


def test_who_never_reads_is_closed(serve):
    server = serve("--http-request-s=1")
    with server.connect() as s:
        s.sendall(request(body=call("stream", n=100000, bytes=100000, stream=True)))
        while server.rpc("stats")["clients"] > 1 or not server.rpc("stats")["behind"]:
            pass
        assert server.metrics()[DROPPED, 'reason="slow"'] == 1


def test_who_reads_slowly_gets_all(serve):
    server = serve()
    body = call("stream", n=300, bytes=100000, stream=True)
    _, _, answer = server.ask("POST", "/rpc", body, Content_Type="application/json")
    assert server.rpc("stats")["behind"] >= 1
    lines = answer.splitlines()
    assert [json.loads(line)["params"]["left"] for line in lines[:-1]] == [*range(300, 0, -1)]


def test_a_flood_of_connections_makes_room_for_itself(serve):
    server = serve("--http-connections=20")
    with server.connect() as waiting:
        waiting.sendall(request(body=call("hang"), more="Connection: close\r\n"))
        while server.rpc("stats")["clients"] < 2:
            pass
        flood = []
        for i in range(300):
            flood.append(server.connect())
            if i % 3:
                flood[-1].sendall(b"POST /rpc HTTP/1.1\r\n")
            if i % 10 == 0:
                assert server.rpc("echo", i=i) == {"i": i}
        found = server.metrics()
        assert found["wasmsand_http_connections", None] <= 72
        assert found[DROPPED, 'reason="evicted"'] >= 220
        assert is_closed(flood[0])
        assert server.rpc("release") == 1
        assert b"released" in read_all(waiting)
        for s in flood:
            s.close()


def test_too_many_requests_at_once_are_told_so(serve):
    server = serve("--http-connections=20")
    busy = []
    for i in range(19):
        busy.append(server.connect())
        busy[-1].sendall(request(body=call("hang"), more="Connection: close\r\n"))
    while server.rpc("stats")["clients"] < 20:
        pass
    busy.append(server.connect())
    busy[-1].sendall(request(body=call("hang", stream=True), more="Connection: close\r\n"))
    assert busy[-1].recv(12) == b"HTTP/1.1 200"
    status, headers, _ = server.ask(
        "POST", "/rpc", call("echo"), Content_Type="application/json"
    )
    assert (status, headers["Retry-After"]) == (503, "1")
    assert server.ask("GET", "/health", token=None)[0] == 200
    busy[0].close()
    while server.ask("GET", "/metrics")[0] == 503:
        pass
    assert server.rpc("release") == 20
    for s in busy[1:]:
        assert b"released" in read_all(s)
        s.close()


def test_wrong_tokens_wait_and_right_ones_need_not(serve):
    server = serve()
    strangers = [server.connect() for _ in range(40)]
    for s in strangers:
        s.sendall(request(token="a-wrong-token-of-16", more="Connection: close\r\n"))
        assert server.rpc("echo") == {}
    for s in strangers:
        assert read_all(s).startswith(b"HTTP/1.1 401")
        s.close()
    code = 'path="/rpc",code="401"'
    assert server.metrics()["wasmsand_http_requests_total", code] == 40


def test_too_many_wrong_tokens_are_not_answered(serve):
    server = serve()
    strangers = [server.connect() for _ in range(200)]
    # A stopped server reads all of them at once, however slow this program is.
    server.process.send_signal(signal.SIGSTOP)
    for s in strangers:
        s.sendall(request(token="a-wrong-token-of-16"))
    server.process.send_signal(signal.SIGCONT)
    assert any(is_closed(s) for s in reversed(strangers))
    assert server.rpc("echo") == {}
    for s in strangers:
        reset(s)
    assert server.rpc("echo") == {}


def has_read_all(server):
    """No byte that was sent to the server waits in a socket."""
    port = f":{server.port:04X}"
    with open("/proc/net/tcp", encoding="ascii") as table:
        rows = [line.split() for line in table]
    return all(row[4] == "00000000:00000000" for row in rows if port in row[1] + row[2])


def test_bodies_that_never_end_take_bounded_memory(serve):
    server = serve("--http-body-bytes=8388608")
    size = 8388608
    greedy = []
    for _ in range(9):
        greedy.append(server.connect())
        greedy[-1].sendall(request(body="x").replace(b"Length: 1", b"Length: %d" % size))
        greedy[-1].sendall(b"x" * (size - 2))
        assert server.metrics()["wasmsand_resident_bytes", None] < 400 << 20
    while not has_read_all(server):  # what was not read does not count
        assert server.metrics()["wasmsand_resident_bytes", None] < 400 << 20
    for s in greedy:
        s.sendall(b"x")
    statuses = [s.recv(12) for s in greedy]
    assert statuses.count(b"HTTP/1.1 503") >= 1 and statuses[0] == b"HTTP/1.1 200"
    for s in greedy:
        s.close()
    body = call("echo", a="x" * 8000000)
    assert server.ask("POST", "/rpc", body, Content_Type="application/json")[0] == 200


GARBAGE = {
    "nothing": b"",
    "newlines": b"\r\n" * 100,
    "zeros": b"\0" * 1000,
    "tls": bytes.fromhex("1603010200010001fc0303") + b"\x55" * 512,
    "http2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "http09": b"GET /health\r\n",
    "version": b"GET /health HTTP/9.9\r\nHost: x\r\n\r\n",
    "no version": b"GET /health HTTP\r\n\r\n",
    "long path": b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    "long header": b"GET /health HTTP/1.1\r\nX: " + b"a" * 100000 + b"\r\n\r\n",
    "many headers": b"GET /health HTTP/1.1\r\n" + b"X: y\r\n" * 20000 + b"\r\n",
    "no colon": b"GET /health HTTP/1.1\r\nHost x\r\n\r\n",
    "folded": b"GET /health HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n",
    "nul": b"GET /health HTTP/1.1\r\nHost: x\0y\r\n\r\n",
    "no host": b"GET /health HTTP/1.1\r\n\r\n",
    "negative length": request().replace(b"Length: 0", b"Length: -1"),
    "huge length": request().replace(b"Length: 0", b"Length: 99999999999999999999"),
    "no length": request().replace(b"Length: 0", b"Length: "),
    "two lengths": request(body="xx", more="Content-Length: 1\r\n"),
    "chunks and length": request(body="0\r\n\r\n", more="Transfer-Encoding: chunked\r\n"),
    "bad chunk": request(more="Transfer-Encoding: chunked\r\n") + b"zz\r\n",
    "huge chunk": request(more="Transfer-Encoding: chunked\r\n") + b"ffffffffffffffffff\r\n",
    "negative chunk": request(more="Transfer-Encoding: chunked\r\n") + b"-1\r\n",
    "other coding": request(more="Transfer-Encoding: gzip\r\n"),
    "path of bytes": b"GET /\xff\xfe%zz%00 HTTP/1.1\r\nHost: x\r\n\r\n",
    "absolute": b"GET http://x/health HTTP/1.1\r\nHost: x\r\n\r\n",
    "connect": b"CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n",
    "expect": b"GET /health HTTP/1.1\r\nHost: x\r\nExpect: the-unexpected\r\n\r\n",
    "upgrade": b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
}


@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=GARBAGE)
def test_garbage_is_survived(serve, garbage):
    server = serve()
    with server.connect() as s:
        try:
            s.sendall(garbage)
            s.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        read_all(s)
    assert server.rpc("echo", a=1) == {"a": 1}


@pytest.mark.parametrize("more", ["Content-Length: 3\r\n", "Transfer-Encoding: chunked\r\n"])
def test_two_lengths_are_refused(serve, more):
    """What follows is nothing that somebody in front of us could have taken for a body."""
    server = serve()
    with server.connect() as s:
        s.sendall(request(body=call("echo"), more=more) + request("/health", method="GET"))
        answer = read_all(s)
    assert answer.startswith(b"HTTP/1.1 400 ") and answer.count(b"HTTP/1.1") == 1
    assert server.rpc("echo", a=1) == {"a": 1}


def test_requests_with_random_faults_are_survived(serve):
    """Not a fuzzer: some hundred faults in places that matter, always the same."""
    server = serve()
    rng = random.Random(7)
    good = request(body=call("echo", a="b"), more="Connection: close\r\n")
    for _ in range(500):
        bad = bytearray(good)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(bad))
            bad[at : at + rng.randint(0, 2)] = rng.randbytes(rng.randint(0, 3))
        with server.connect() as s:
            s.sendall(bad)
            assert server.rpc("echo") == {}
    while server.rpc("stats")["clients"] > 1:
        pass
