"""Programs of the root image on a network with a policy."""
import os
import pathlib
import socket
import subprocess
import threading

import pytest

from dns import NameServer
from test_broker import ORIGIN, PRIVATE_HOST, Origin

SANDBOX = os.environ["WASM_SANDBOX"]
ROOT = pathlib.Path(SANDBOX).resolve().parent / "share/wasmsand/root.tar"


@pytest.fixture(autouse=True)
def image():
    if not (os.environ.get("WASMSAND_ROOT") or ROOT.exists()):
        pytest.skip("there is no root image")


@pytest.fixture
def names():
    n = NameServer({"web.example": [ORIGIN], "inner.example": [PRIVATE_HOST], "gone.example": None})
    yield n
    n.close()


@pytest.fixture
def origin():
    o = Origin(ORIGIN, 8080)
    yield o
    o.close()


def shell(command, *rules, **more):
    options = [word for rule in rules for word in ("--net", rule)]
    return subprocess.run(
        [SANDBOX, "shell", *options, "--resolvers", "192.0.2.53", "-c", command],
        capture_output=True, text=True, timeout=200, **more)


def python(text, *rules):
    return shell("python3 - <<'END'\n" + text + "\nEND\n", *rules)


ALLOWED = "web.example:8080+private"


def test_without_a_network_it_is_as_before(names):
    r = python("""
import socket
try:
    socket.create_connection(("203.0.113.10", 8080))
except OSError as e:
    print(e.errno)
try:
    socket.gethostbyname("web.example")
except OSError as e:
    print(type(e).__name__)
""")
    assert r.stdout == "101\ngaierror\n"
    assert names.asked == []


def test_a_name_is_resolved_and_connected(origin, names):
    r = shell("exec 3<>/dev/tcp/web.example/8080; read -r x <&3; echo $x; echo hi >&3; read -r y <&3; echo $y", ALLOWED)
    assert (r.stdout, r.stderr) == ("hello\nhi\n", "")


def test_a_denied_host_is_refused_at_connect(origin, names):
    r = python("""
import socket
print(socket.gethostbyname("other.example").startswith("198.18."))
for host in "other.example", "203.0.113.10":
    try:
        socket.create_connection((host, 8080))
    except OSError as e:
        print(e.errno)
""", ALLOWED)
    assert r.stdout == "True\n13\n13\n"
    assert "other.example" not in names.asked


def test_names_have_stable_addresses_and_no_others(origin, names):
    r = python("""
import socket
a = socket.gethostbyname("web.example")
print(a == socket.gethostbyname("WEB.example"), a)
print(socket.gethostbyaddr(a)[0])
for name, family in ("gone.example", 0), ("web.example", socket.AF_INET6):
    try:
        print(socket.getaddrinfo(name, 80, family))
    except socket.gaierror as e:
        print("no address")
""", ALLOWED, "gone.example")
    assert r.stdout == "True 198.18.0.1\nweb.example\nno address\nno address\n", r.stderr


def test_bulk_data_goes_both_ways(origin, names):
    r = python("""
import select, socket
s = socket.create_connection(("web.example", 8080))
assert s.recv(6, socket.MSG_WAITALL) == b"hello\\n"
data, sent, got = bytes(range(256)) * 4096 * 8, 0, bytearray()
s.setblocking(False)
while len(got) < len(data):
    r, w, _ = select.select([s], [s] if sent < len(data) else [], [])
    if w:
        sent += s.send(data[sent:sent + (1 << 18)])
        if sent == len(data):
            s.shutdown(socket.SHUT_WR)
    if r:
        got += s.recv(1 << 16)
print(len(got), bytes(got) == data)
s.setblocking(True)
print(s.recv(1))
""", ALLOWED)
    assert r.stdout == f"{8 << 20} True\nb''\n", r.stderr


def test_a_killed_broker_resets_connections_and_the_next_one_serves(origin, names):
    guest = subprocess.Popen(
        [SANDBOX, "shell", "--net", ALLOWED, "--resolvers", "192.0.2.53", "-c", """python3 -c '
import socket
s = socket.create_connection(("web.example", 8080))
print(s.recv(6), flush=True)
try:
    s.recv(1)
except OSError as e:
    print(e.errno)
print(socket.create_connection(("web.example", 8080)).recv(6))'"""], stdout=subprocess.PIPE, text=True)
    assert guest.stdout.readline() == "b'hello\\n'\n"
    children = [c for f in pathlib.Path(f"/proc/{guest.pid}/task").glob("*/children") for c in f.read_text().split()]
    brokers = [c for c in children if pathlib.Path(f"/proc/{c}/comm").read_text().strip() == "wasmsand-netd"]
    assert len(brokers) == 1
    os.kill(int(brokers[0]), 9)
    assert guest.communicate(timeout=200)[0] == "104\nb'hello\\n'\n"


def test_asyncio_connects_without_blocking(origin, names):
    r = python("""
import asyncio, socket
async def one(i):
    reader, writer = await asyncio.open_connection(socket.gethostbyname("web.example"), 8080)
    assert await reader.readline() == b"hello\\n"
    writer.write(b"%d\\n" % i)
    line = await reader.readline()
    writer.close()
    await writer.wait_closed()
    return int(line)
async def main():
    print(sum(await asyncio.gather(*(one(i) for i in range(20)))))
    try:
        await asyncio.open_connection(socket.gethostbyname("other.example"), 8080)
    except OSError as e:
        print(e.errno)
asyncio.run(main())
""", ALLOWED)
    assert r.stdout == "190\n13\n", r.stderr


@pytest.mark.parametrize("how, expected", [
    ("select", "in"), ("poll", "in"), ("epoll", "in")])
def test_readiness_is_reported(origin, names, how, expected):
    r = python(f"""
import select, socket
s = socket.socket()
s.setblocking(False)
assert s.connect_ex((socket.gethostbyname("web.example"), 8080)) == 115
how = {how!r}
if how == "select":
    assert select.select([], [s], [], 30)[1]
    assert s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
    assert select.select([s], [], [], 30)[0]
else:
    p = select.poll() if how == "poll" else select.epoll()
    p.register(s, 4)
    assert p.poll(30000 if how == "poll" else 30)[0][1] & 4
    assert s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
    p.modify(s, 1)
    assert p.poll(30000 if how == "poll" else 30)[0][1] & 1
print(s.recv(100).decode().strip(), "in")
""", ALLOWED)
    assert r.stdout == f"hello {expected}\n", r.stderr


def test_an_edge_triggered_epoll_sees_every_change(origin, names):
    r = python("""
import select, socket
s = socket.create_connection(("web.example", 8080))
s.setblocking(False)
e = select.epoll()
e.register(s, select.EPOLLIN | select.EPOLLET)
for i in range(50):
    assert e.poll(30), i
    while True:
        try:
            s.recv(4)
        except BlockingIOError:
            break
    s.send(b"again")
print("done")
""", ALLOWED)
    assert r.stdout == "done\n", r.stderr


def test_errors_of_hosts_are_those_of_linux(names):
    listener = socket.create_server((ORIGIN, 8081))

    def reset():
        c, _ = listener.accept()
        c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        c.recv(1)
        c.close()
        c, _ = listener.accept()
        c.close()

    threading.Thread(target=reset, daemon=True).start()
    r = python("""
import socket
try:
    socket.create_connection(("web.example", 9))
except OSError as e:
    print(e.errno)
s = socket.create_connection(("web.example", 8081))
print(s.getpeername()[0], s.getsockname()[0])
s.send(b"x")
try:
    s.recv(1)
except OSError as e:
    print(e.errno)
s = socket.create_connection(("web.example", 8081))
print(s.recv(1))
""", "web.example:*+private")
    listener.close()
    assert r.stdout == "111\n198.18.0.1 10.0.2.15\n104\nb''\n", r.stderr


def test_ipv6_and_udp_are_refused(names):
    r = python("""
import socket
for s, to in ((socket.socket(socket.AF_INET6), ("2606:4700::1111", 443)),
              (socket.socket(socket.AF_INET, socket.SOCK_DGRAM), ("203.0.113.10", 443))):
    try:
        s.connect(to)
    except OSError as e:
        print(e.errno)
""", "public:*", "203.0.113.10:*")
    assert r.stdout == "97\n13\n", r.stderr


def test_many_connections_in_a_row_leave_nothing(origin, names):
    r = python("""
import socket
address = socket.gethostbyname("web.example")
for i in range(90):
    s = socket.create_connection((address, 8080))
    assert s.recv(6) == b"hello\\n"
    s.close()
print("done")
""", ALLOWED)
    assert r.stdout == "done\n", r.stderr


@pytest.mark.parametrize("rule, reason", [
    ("*.com", "top-level domain"), ("*", "use public"), ("10.0.0.0/33", "from 0 to 32"), ("a.example:0", "ports")])
def test_a_bad_rule_is_an_error_with_its_text(rule, reason):
    r = shell("true", rule)
    assert r.returncode != 0 and f"'{rule}'" in r.stderr and reason in r.stderr


def test_a_deterministic_sandbox_has_no_network():
    r = subprocess.run([SANDBOX, "shell", "--seed", "1", "--net", "public", "-c", "true"], capture_output=True, text=True)
    assert r.returncode != 0 and "deterministic" in r.stderr


@pytest.mark.parametrize("rules, found", [(["public"], "1 1"), (["off"], "0 0"), ([], "0 0")])
def test_a_network_is_visible_as_a_default_route(rules, found):
    r = shell("echo $(grep -c '^eth0.00000000' /proc/net/route) $(grep -c eth0: /proc/net/dev)", *rules)
    assert r.stdout == found + "\n"


def test_off_is_the_last_word():
    r = shell("exec 3<>/dev/tcp/203.0.113.10/8080", "203.0.113.10:8080", "off")
    assert "Network unreachable" in r.stderr or "Network is unreachable" in r.stderr
