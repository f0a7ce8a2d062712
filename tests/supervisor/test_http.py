"""HTTP as clients see it: what is answered to what."""
import json
import os
import signal
import socket
import subprocess

import pytest
from web import HOST, TOKEN, Server, check_metrics, read_all, request

JSON = {"Content_Type": "application/json"}


@pytest.fixture
def server(tmp_path):
    s = Server(tmp_path)
    yield s
    s.stop()


def call(method, **params):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


def test_health_needs_no_token(server):
    status, headers, body = server.ask("GET", "/health", token=None)
    assert status == 200 and headers["Content-Type"] == "application/json"
    assert json.loads(body)["status"] == "ok" and json.loads(body)["version"]
    assert server.ask("HEAD", "/health", token=None)[0::2] == (200, b"")


def test_a_request_is_answered(server):
    assert server.rpc("echo", a=[1, "x"]) == {"a": [1, "x"]}


def test_any_type_of_json_is_accepted(server):
    for kind in ("application/json; charset=utf-8", "Application/JSON"):
        assert server.ask("POST", "/rpc", call("echo"), Content_Type=kind)[0] == 200


def test_a_request_may_have_newlines(server):
    body = json.dumps({"id": 1, "method": "echo", "params": {"a": '\\"\n'}}, indent=2)
    status, _, answer = server.ask("POST", "/rpc", body.replace("\n", "\r\n"), **JSON)
    assert json.loads(answer)["result"] == {"a": '\\"\n'}


def test_a_raw_newline_in_a_string_stays_an_error(server):
    _, _, answer = server.ask("POST", "/rpc", '{"id":1,"method":"ec\nho"}', **JSON)
    assert json.loads(answer)["error"]["code"] == -32700


def test_a_batch_is_one_answer(server):
    batch = f"[{call('echo')},{call('echo', b=1)}]"
    _, headers, answer = server.ask("POST", "/rpc", batch, **JSON)
    assert headers["Content-Type"] == "application/json"
    assert [a["result"] for a in json.loads(answer)] == [{}, {"b": 1}]


def test_notifications_have_no_content(server):
    status, _, body = server.ask("POST", "/rpc", '{"method":"echo"}', **JSON)
    assert (status, body) == (204, b"")


@pytest.mark.parametrize("body", ["", "x", "{", "[" * 5000, "null", '"', "\\", '{"a":"\\'])
def test_nonsense_is_answered(server, body):
    status, _, _ = server.ask("POST", "/rpc", body, **JSON)
    assert status in (200, 204)
    assert server.rpc("echo") == {}


def test_streams_come_as_lines(server):
    body = call("stream", n=3, bytes=5, stream=True)
    _, headers, answer = server.ask("POST", "/rpc", body, **JSON)
    assert headers["Content-Type"] == "application/x-ndjson"
    assert headers["Transfer-Encoding"] == "chunked"
    lines = [json.loads(line) for line in answer.splitlines()]
    assert [line.get("params", {}).get("left") for line in lines] == [3, 2, 1, None]
    assert lines[-1]["result"] is True


def test_streams_come_as_events_to_those_who_ask(server):
    body = call("stream", n=2, stream=True)
    _, headers, answer = server.ask(
        "POST", "/rpc", body, Accept="text/event-stream, */*", **JSON
    )
    assert headers["Content-Type"] == "text/event-stream"
    events = answer.decode().split("\n\n")
    assert events.pop() == ""
    assert [json.loads(e.removeprefix("data: ")) for e in events][-1]["result"] is True
    assert len(events) == 3


def test_a_stream_is_sent_while_it_is_made(server):
    with server.connect() as s:
        s.sendall(request(body=call("hang", stream=True)))
        data = b""
        while b"\r\n\r\n" not in data:
            data += s.recv(4096)
        assert b"application/x-ndjson" in data and b"released" not in data
        assert server.rpc("release") == 1
        while b"0\r\n\r\n" not in data:
            data += s.recv(4096)
        assert b"released" in data


def test_without_stream_all_lines_come_at_the_end(server):
    _, headers, answer = server.ask("POST", "/rpc", call("stream", n=2), **JSON)
    assert headers["Content-Type"] == "application/x-ndjson"
    assert len(answer.splitlines()) == 3


def test_an_answer_that_takes_long_delays_nobody(server):
    with server.connect() as s:
        s.sendall(request(body=call("hang"), more="Connection: close\r\n"))
        while server.rpc("stats")["clients"] < 2:
            pass
        assert server.rpc("release") == 1
        assert b"released" in read_all(s)


def test_connections_are_kept(server):
    c = server.open()
    for i in range(3):
        assert server.rpc("echo", connection=c, i=i) == {"i": i}
    assert server.ask("GET", "/none", connection=c)[0] == 404
    assert server.rpc("echo", connection=c) == {}
    c.close()
    assert server.metrics()["wasmsand_http_connections_total", None] <= 2


def test_what_is_pipelined_is_answered_in_order(server):
    with server.connect() as s:
        many = b"".join(request(body=call("echo", i=i)) for i in range(50))
        s.sendall(many + request(body=call("echo"), more="Connection: close\r\n"))
        answers = read_all(s)
    found = [json.loads(line) for line in answers.splitlines() if line[:1] == b"{"]
    assert [f["result"].get("i") for f in found] == [*range(50), None]


# --- what is refused

def test_wrong_tokens_are_refused(server):
    for token in (None, "wrong", "", TOKEN[:-1], TOKEN + "x", TOKEN + " x"):
        status, headers, _ = server.ask("POST", "/rpc", call("echo"), token=token, **JSON)
        assert (status, headers["WWW-Authenticate"]) == (401, 'Bearer realm="wasmsand"')
    for header in (TOKEN, f"Basic {TOKEN}", f"Bearer{TOKEN}"):
        assert server.ask("GET", "/metrics", token=None, Authorization=header)[0] == 401
    assert server.ask("GET", "/metrics", token=None, Authorization=f"bearer  {TOKEN}")[0] == 200
    assert server.ask("GET", "/metrics", token="another-token-12345")[0] == 200


def test_other_methods_are_refused(server):
    for method, path, allow in (
        ("GET", "/rpc", "POST"), ("HEAD", "/rpc", "POST"), ("PUT", "/rpc", "POST"),
        ("POST", "/health", "GET"), ("DELETE", "/metrics", "GET"), ("OPTIONS", "/rpc", "POST"),
        ("NONSENSE", "/rpc", "POST"),
    ):
        status, headers, _ = server.ask(method, path)
        assert (status, headers["Allow"]) == (405, allow), (method, path)


@pytest.mark.parametrize("path", ["/", "/rpc/", "/rpc2", "/RPC", "/../rpc", "//rpc", "/%00"])
def test_other_paths_are_not_there(server, path):
    assert server.ask("POST", path, call("echo"), **JSON)[0] == 404


@pytest.mark.parametrize(
    "kind", [None, "text/plain", "application/jsonx", "application/x-www-form-urlencoded"]
)
def test_other_types_are_refused(server, kind):
    headers = {"Content_Type": kind} if kind else {}
    assert server.ask("POST", "/rpc", call("echo"), **headers)[0] == 415


def test_long_requests_are_refused(tmp_path):
    server = Server(tmp_path, "--http-body-bytes=2000")
    body = call("echo", a="x" * 2000)
    assert server.ask("POST", "/rpc", body, **JSON)[0] == 413
    assert server.ask("POST", "/rpc", "x" * 10_000_000, **JSON)[0] == 413
    chunks = (b"x" * 1000 for _ in range(3))
    assert server.ask("POST", "/rpc", chunks, **JSON)[0] == 413
    fits = call("echo", a="x" * (2000 - len(call("echo", a=""))))
    assert server.ask("POST", "/rpc", fits, **JSON)[0] == 200
    assert server.ask("POST", "/rpc", iter([fits.encode()]), **JSON)[0] == 200
    server.stop()


@pytest.mark.parametrize(
    "length, token, status", [(5, "wrong", b"401"), (99999999, TOKEN, b"413")]
)
def test_who_waits_for_100_is_told_before_sending(server, length, token, status):
    head = request(token=token, more="Expect: 100-continue\r\n")
    with server.connect() as s:
        s.sendall(head.replace(b"Length: 0", f"Length: {length}".encode()))
        assert s.recv(4096).startswith(b"HTTP/1.1 " + status)


# --- figures

def test_metrics_have_the_format_of_prometheus(server):
    server.rpc("echo")
    server.ask("GET", "/none")
    found = server.metrics()
    assert found["wasmsand_http_requests_total", 'path="/rpc",code="200"'] == 1
    assert found["wasmsand_http_requests_total", 'path="other",code="404"'] == 1
    assert found["wasmsand_http_connections", None] == 1
    assert 1 << 20 < found["wasmsand_resident_bytes", None] < 1 << 30
    assert found["wasmsand_clients", None] == 0


@pytest.mark.parametrize(
    "text",
    [
        "a 1",
        "a 1\n",
        "# HELP a x\n# TYPE a gauge\nb 1\n",
        "# HELP a x\n# TYPE a counter\na 1\n",
        "# HELP a x\n# TYPE a gauge\na 1\na 1\n",
        "# HELP a x\n# TYPE a gauge\na{b=c} 1\n",
        "# HELP a x\n# TYPE a gauge\na one\n",
        '# HELP a x\n# TYPE a histogram\na_bucket{le="1"} 1\na_sum 1\na_count 1\n',
        '# HELP a x\n# TYPE a histogram\na_bucket{le="+Inf"} 1\na_sum 1\na_count 2\n',
    ],
)
def test_the_checker_finds_faults(text):
    with pytest.raises((AssertionError, KeyError, ValueError)):
        check_metrics(text)


# --- tokens that change

def test_tokens_are_read_again_when_their_file_changes(server):
    server.tokens.write_text("a-new-token-of-ours\n")
    assert server.ask("GET", "/metrics")[0] == 401
    assert server.ask("GET", "/metrics", token="a-new-token-of-ours")[0] == 200


def test_a_file_of_tokens_that_is_wrong_changes_nothing(server):
    server.tokens.write_text("short\n")
    assert server.ask("GET", "/metrics")[0] == 200
    server.tokens.unlink()
    assert server.ask("GET", "/metrics")[0] == 200


# --- beginning and end

def start(*options):
    done = subprocess.run([HOST, *options], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "has no token"),
        ("# only a comment\n", "has no token"),
        ("short\n", "line 1: a token must have at least 16 characters"),
        ("\nlong-enough-but-\x01\n", "line 2: a token must have"),
        ("a-good-token-here\nbad name\n", "line 2: a token must have"),
        ("a-good-token-here\0\n", "not a text"),
        pytest.param("#" * (1 << 20), "not a text of at most 1 MiB", id="a long file"),
        ("a-good-token-here\n" * 1025, "line 1025: more than 1024 tokens"),
    ],
)
def test_bad_tokens_are_refused(tmp_path, text, said):
    path = tmp_path / "tokens"
    path.write_text(text)
    path.chmod(0o600)
    status, err = start("--http-enabled", "--http-port=0", "--http-tokens-file", path)
    assert status == 2 and f"{path}: " in err and said in err


def test_tokens_that_others_can_read_are_refused(tmp_path):
    path = tmp_path / "tokens"
    path.write_text("a-good-token-here\n")
    options = ("--http-enabled", "--http-port=0", "--http-tokens-file")
    for mode in (0o640, 0o604, 0o620, 0o601):
        path.chmod(mode)
        status, err = start(*options, path)
        assert status == 2 and f"has mode {mode:04o}" in err
    assert "No such file" in start(*options, tmp_path / "none")[1]
    os.mkfifo(tmp_path / "fifo", 0o600)
    assert "not a regular file" in start(*options, tmp_path / "fifo")[1]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_tokens_of_somebody_else_are_refused(tmp_path):
    path = tmp_path / "tokens"
    path.write_text("a-good-token-here\n")
    path.chmod(0o600)
    os.chown(path, 1234, 1234)
    status, err = start("--http-enabled", "--http-port=0", "--http-tokens-file", path)
    assert status == 2 and "belongs to somebody else" in err


def test_a_port_that_is_taken_is_an_error(server):
    status, err = start(
        "--http-enabled", f"--http-port={server.port}", "--http-tokens-file", server.tokens
    )
    assert status == 2 and f"127.0.0.1, port {server.port}: Address already in use" in err


def test_it_listens_on_the_loopback_alone(server):
    addresses = {a[4][0] for a in socket.getaddrinfo(socket.gethostname(), None)}
    for address in addresses - {"127.0.0.1", "::1", "127.0.1.1"}:
        with pytest.raises(OSError):
            socket.create_connection((address, server.port), 60).close()


def test_it_can_listen_on_ipv6(tmp_path):
    server = Server(tmp_path, "--http-address=::1")
    with socket.create_connection(("::1", server.port), 60) as s:
        s.sendall(request("/health", method="GET", more="Connection: close\r\n"))
        assert read_all(s).startswith(b"HTTP/1.1 200")
    server.stop()


def test_the_end_comes_with_calls_and_streams_open(tmp_path):
    server = Server(tmp_path)
    with server.connect() as a, server.connect() as b, server.connect() as c:
        a.sendall(request(body=call("hang")))
        b.sendall(request(body=call("hang", stream=True)))
        c.sendall(b"POST /rpc")
        while server.rpc("stats")["clients"] < 3:
            pass
        server.stop()  # checks that nothing is left
        assert read_all(a).startswith(b"HTTP/1.1 503")


def test_a_signal_at_any_time_is_a_clean_end(tmp_path):
    server = Server(tmp_path)
    with server.connect() as s:
        s.sendall(request(body=call("stream", n=100000, bytes=1000, stream=True)))
        s.recv(10)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(60) == 0
