"""Previews: servers inside of sessions, on host names of their own."""
import http.client
import json
import re
import socket

import pytest
import supervisor

DOMAIN = "preview.test"
SETTINGS = {"network.previewDomain": DOMAIN, "network.previewPort": 0}
SERVER = r"""
import http.server, json

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.headers.get("Upgrade"):
            self.send_response(101)
            self.send_header("Upgrade", self.headers["Upgrade"])
            self.send_header("Connection", "Upgrade")
            self.end_headers()
            while line := self.rfile.readline():
                self.wfile.write(line.upper())
            self.close_connection = True
            return
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        answer = json.dumps({"path": self.path, "method": self.command, "headers": dict(self.headers.items()),
                             "bytes": len(body)}).encode()
        if self.path == "/large":
            answer = bytes(range(256)) * 16384
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_POST = do_GET

http.server.ThreadingHTTPServer(("127.0.0.1", 8000), Handler).serve_forever()
"""
WAIT = "until (exec 3<>/dev/tcp/127.0.0.1/8000) 2>/dev/null; do sleep 0.02; done"


@pytest.fixture(scope="module", name="sup")
def start_supervisor(tmp_path_factory):
    one = supervisor.Supervisor(tmp_path_factory.mktemp("previews"), fake=False, **SETTINGS).start()
    yield one
    one.end()


def serve(session):
    session.write("/tmp/server.py", SERVER.encode())
    session.call("process.start", command="exec python3 /tmp/server.py")
    session.run(WAIT)


@pytest.fixture(scope="module", name="session")
def make_session(sup):
    session = sup.client().create()
    serve(session)
    return session


class Preview:
    def __init__(self, sup, session, port=8000, **params):
        said = re.search(rb"serving previews of \S+ on ([\d.]+), port (\d+)", sup.said)
        self.address = said[1].decode(), int(said[2])
        self.made = session.call("preview.create", port=port, **params)
        self.host, self.token = self.made["host"], self.made["token"]

    def raw(self, data):
        s = socket.create_connection(self.address, timeout=120)
        s.sendall(data)
        return s

    def ask(self, path="/", method="GET", body=None, host=None, token=True, **headers):
        c = http.client.HTTPConnection(*self.address, timeout=120)
        names = {k.replace("_", "-"): v for k, v in headers.items()}
        if token:
            names["X-Wasmsand-Preview-Token"] = self.token
        c.request(method, path, body, {"Host": host or self.host, **names})
        r = c.getresponse()
        answer = r.status, r.read(), r.headers
        c.close()
        return answer

    def json(self, *args, **kwargs):
        status, text, _ = self.ask(*args, **kwargs)
        assert status == 200, text
        return json.loads(text)


@pytest.fixture(name="preview")
def make_preview(sup, session):
    return Preview(sup, session)


def test_the_answer_names_host_and_token(preview, session):
    assert preview.host == f"8000-{session.id}.{DOMAIN}"
    assert preview.made["url"] == f"http://{preview.host}:{preview.address[1]}/?wasmsand-token={preview.token}"


def test_a_request_reaches_the_server(preview):
    got = preview.json("/a/b?c=d", Accept="text/html", Connection="keep-alive")
    assert (got["path"], got["method"]) == ("/a/b?c=d", "GET")
    assert got["headers"]["Accept"] == "text/html" and got["headers"]["Connection"] == "close"
    assert got["headers"]["Host"] == preview.host and preview.token not in json.dumps(got)


def test_large_bodies_go_both_ways(preview):
    assert preview.json("/", "POST", b"x" * 3_000_000)["bytes"] == 3_000_000
    assert preview.ask("/large")[1] == bytes(range(256)) * 16384


def test_a_link_with_the_token_sets_a_cookie(preview):
    status, _, headers = preview.ask(f"/x?a=b&wasmsand-token={preview.token}", token=False)
    assert (status, headers["Location"]) == (302, "/x?a=b")
    cookie = headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie
    got = preview.json("/x?a=b", token=False, Cookie=f"own=1; {cookie.split(';')[0]}")
    assert got["headers"]["Cookie"] == "own=1"


def test_nothing_is_served_without_a_valid_token(sup, session, preview):
    other = Preview(sup, session, 8001)
    for token in "", "x", "1-00", preview.token[:-1] + "g", "9" + preview.token, other.token:
        status, text, _ = preview.ask(token=False, X_Wasmsand_Preview_Token=token)
        assert (status, text) == (401, b"the token of the preview is missing or invalid\n")
    assert preview.ask(token=False)[0] == 401


@pytest.mark.parametrize("host", [
    "localhost", DOMAIN, "8000." + DOMAIN, "x-{id}." + DOMAIN, "8000-{id}.other.test", "8000-{id}x." + DOMAIN,
    "70000-{id}." + DOMAIN])
def test_other_hosts_are_not_found(preview, session, host):
    assert preview.ask(host=host.format(id=session.id))[0] == 404


def test_the_api_is_not_here(preview):
    assert preview.ask("/rpc", "POST", b"{}", host="localhost")[0] == 404
    assert preview.json("/rpc", "POST", b"{}")["path"] == "/rpc"


def test_a_closed_port_is_reported(sup, session):
    assert Preview(sup, session, 9999).ask()[:2] == (502, b"port is not open\n")


def test_a_websocket_is_passed_through(preview):
    s = preview.raw(f"GET /?wasmsand-token={preview.token} HTTP/1.1\r\nHost: {preview.host}\r\n"
                    "Connection: Upgrade\r\nUpgrade: echo\r\n\r\nearly\n".encode())
    file = s.makefile("rb")
    head = [file.readline() for _ in range(6)]
    assert head[0].startswith(b"HTTP/1.1 101") and b"Upgrade: echo\r\n" in head
    while head[-1] != b"\r\n":
        head.append(file.readline())
    assert file.readline() == b"EARLY\n"
    for i in range(100):
        s.sendall(b"line %d\n" % i)
        assert file.readline() == b"LINE %d\n" % i
    s.shutdown(socket.SHUT_WR)
    assert file.read() == b""


def test_a_second_request_of_a_connection_does_not_reach_the_server(preview):
    head = f"GET /%s HTTP/1.1\r\nHost: {preview.host}\r\nX-Wasmsand-Preview-Token: {preview.token}\r\n\r\n"
    s = preview.raw((head % "one" + head % "two").encode())
    got = s.makefile("rb").read()
    assert b"/one" in got and b"/two" not in got


@pytest.mark.parametrize("head, status", [
    ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
    ("GET / HTTP/1.1\r\nX: " + "x" * 40000, 431),
    ("nonsense\r\n\r\n", 400),
])
def test_malformed_requests_are_rejected(preview, head, status):
    assert preview.raw(head.encode()).recv(100).startswith(b"HTTP/1.1 %d " % status)


def test_a_request_resumes_a_paused_session(sup):
    client = sup.client()
    session = client.create()
    preview = Preview(sup, session)
    session.call("session.pause")
    assert preview.ask()[:2] == (502, b"port is not open\n")
    assert session.state == "active"
    serve(session)
    assert preview.json()["path"] == "/"
    session.call("session.end")
    assert preview.ask()[0] == 503


def test_without_auto_resume_a_paused_session_stays_paused(sup):
    session = sup.client().create(autoResume=False)
    preview = Preview(sup, session)
    session.call("session.pause")
    status, text, _ = preview.ask()
    assert status == 503 and b"Session paused" in text
    assert session.state == "paused"


def test_tokens_survive_a_restart(make):
    sup = make(fake=False, **SETTINGS)
    session = sup.client().create()
    before = Preview(sup, session)
    assert sup.stop() == 0
    sup.start()
    after = Preview(sup, supervisor.Session(sup.client(), session.id))
    after.token = before.token
    assert after.ask()[:2] == (502, b"port is not open\n")


def test_without_a_domain_there_are_no_previews(make):
    session = make(fake=False).client().create()
    with pytest.raises(supervisor.Error, match="network.previewDomain"):
        session.call("preview.create", port=8000)


def test_connections_without_a_token_make_way(make):
    sup = make(fake=False, **SETTINGS, **{"network.previewConnections": 2})
    session = sup.client().create()
    preview = Preview(sup, session)
    idle = [preview.raw(b"GET /") for _ in range(3)]
    assert idle[0].recv(1) == b""
    assert preview.ask()[0] == 502
