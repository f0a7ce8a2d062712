"""Servers inside that the host connects to."""
import socket

import pytest

from test_guest import image  # noqa: F401
from test_rpc import Server

SERVER = """
import http.server, os
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = ("%s %s" % (self.path, self.client_address[0])).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_POST(self):
        data = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def log_message(self, *a):
        pass
s = http.server.HTTPServer(("%s", 8000), H)
print("listening", flush=True)
s.serve_forever()
"""


@pytest.fixture
def server():
    s = Server()
    s.call("create")
    yield s
    s.close()


def start(server, bind="127.0.0.1"):
    text = SERVER.replace('("%s", 8000)', f'("{bind}", 8000)')
    number = server.begin("process.start", command=f"python3 -c '{text}'")
    seen = [server.next()]
    while not any("listening" in str(m) for m in seen) or not any(m.get("id") == number for m in seen):
        seen.append(server.next())


def fetch(address, method="GET", body=b""):
    with socket.create_connection(address, timeout=100) as s:
        s.sendall(f"{method} /x HTTP/1.0\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        data = b""
        while piece := s.recv(1 << 16):
            data += piece
    return data.split(b"\r\n\r\n", 1)[1]


@pytest.mark.parametrize("bind", ["127.0.0.1", "0.0.0.0"])
def test_a_server_inside_is_reached_from_the_host(server, bind):
    start(server, bind)
    where = server.call("port.forward", port=8000)
    assert where["address"] == "127.0.0.1" and where["port"]
    address = (where["address"], where["port"])
    assert fetch(address) == b"/x 127.0.0.1"
    big = bytes(range(256)) * 16384
    assert fetch(address, "POST", big) == big
    for _ in range(50):
        assert fetch(address) == b"/x 127.0.0.1"
    assert server.call("port.list") == {
        "ports": [{"port": 8000, "address": "127.0.0.1", "hostPort": where["port"]}]}


def test_a_port_without_a_server_closes_the_connection(server):
    where = server.call("port.forward", port=9000)
    with socket.create_connection((where["address"], where["port"]), timeout=100) as s:
        try:
            assert s.recv(1) == b""
        except ConnectionResetError:
            pass


def test_a_forward_ends(server):
    start(server)
    where = server.call("port.forward", port=8000)
    address = (where["address"], where["port"])
    assert fetch(address) == b"/x 127.0.0.1"
    assert server.call("port.unforward", port=8000) == {"ok": True}
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address)
    assert server.call("port.list") == {"ports": []}
    again = server.call("port.forward", port=8000, hostPort=where["port"])
    assert again == where and fetch(address) == b"/x 127.0.0.1"


def test_several_connections_at_a_time_and_a_running_command(server):
    start(server)
    where = server.call("port.forward", port=8000)
    number = server.begin("run", command="while ! [ -e /tmp/stop ]; do :; done; echo over")
    for _ in range(10):
        assert fetch((where["address"], where["port"])) == b"/x 127.0.0.1"
    server.begin("files.write", path="/tmp/stop", data="", concurrent=True)
    while (answer := server.next()).get("id") != number:
        pass
    assert answer["result"]["stdout"] == "over\n"


def fails(server, **params):
    number = server.begin("port.forward", **params)
    answer = server.next()
    assert answer["id"] == number
    return answer["error"]["message"]


def test_bad_forwards_are_refused(server):
    taken = socket.create_server(("127.0.0.1", 0))
    assert "EADDRINUSE" in fails(server, port=8000, hostPort=taken.getsockname()[1])
    assert "is not an address" in fails(server, port=8000, address="localhost")
    assert "EADDRNOTAVAIL" in fails(server, port=8000, address="8.8.8.8")
    server.call("port.forward", port=8000)
    assert "forwarded already" in fails(server, port=8000)
    assert fails(server, port=0) and fails(server, port=70000)
    taken.close()


def test_a_fork_has_no_forward(server):
    server.call("port.forward", port=8000)
    fork = server.call("sandbox.fork")["sandboxId"]
    assert server.call("port.list", sandboxId=fork) == {"ports": []}


def test_a_deterministic_sandbox_has_no_forward():
    s = Server()
    s.call("create", seed=1)
    assert "deterministic" in fails(s, port=8000)
    s.close()
