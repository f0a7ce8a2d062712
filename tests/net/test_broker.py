"""The broker by its wire: the tests are the sandbox and its owner."""
import errno
import os
import pathlib
import signal
import socket
import ssl
import struct
import subprocess
import threading

import pytest

from dns import NameServer

NETD = pathlib.Path(os.environ["WASM_SANDBOX"]).resolve().parent / "libexec/wasmsand-netd"
CONNECT, LOOKUP, CLOSE, FIRST = 1, 2, 3, 4
ENDED, WANT_FIRST, PASSED = 3, 6, 7
ALLOWED, NO_RULE, DENIED, PRIVATE, LOOPBACK, RESERVED, MAXIMUM, CONNECTIONS, CONNECTS, LOOKUPS, BYTES, TLS = range(12)
OPEN, CLOSED, DENY = 1, 2, 3
BY_GUEST, BY_PEER, BY_POLICY = range(3)
EXIT_IDLE = 3
ORIGIN, PRIVATE_HOST = "203.0.113.10", "10.0.0.5"


class Broker:
    def __init__(self):
        self.requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.policy_end, policy = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.process = subprocess.Popen(
            [NETD, "--resolvers=192.0.2.53"], stdin=theirs, stdout=policy, close_fds=True)
        theirs.close()
        policy.close()
        self.requests.settimeout(30)
        self.last = 0

    def policy(self, *rules, connections=64, connects=1000, lookups=1000, loopback=0,
               maximum=(), idle_s=0, reports=0, size=0, rate=0):
        text, most = ("".join(rule + "\n" for rule in v).encode() for v in (rules, maximum))
        head = struct.pack("=8I2Q", connections, connects, lookups, loopback, len(text), len(most),
                           idle_s, reports, size, rate)
        self.policy_end.send(head + text + most)

    def report(self):
        """(kind, number, reason, host, port, sent, received)"""
        data = self.policy_end.recv(512)
        kind, number, reason, _, ip, port, length, name, sent, received = struct.unpack("=4I16sHH256s4x2Q", data)
        return kind, number, reason, name[:length].decode() or socket.inet_ntoa(ip[12:]), port, sent, received

    def send(self, kind, number, host="", port=0):
        ip, name = bytes(16), b""
        try:
            ip = bytes(10) + b"\xff\xff" + socket.inet_aton(host) if host else ip
        except OSError:
            name = host.encode()
        self.requests.send(struct.pack("=II16sHH256s", kind, number, ip, port, len(name), name))

    def answer(self):
        data, hfds, _, _ = socket.recv_fds(self.requests, 64, 1)
        if not data:
            raise EOFError
        return (*struct.unpack("=IIiI", data), hfds)

    def connect(self, host, port):
        """The connected socket, or (errno, verdict)."""
        self.last += 1
        self.send(CONNECT, self.last, host, port)
        kind, number, error, verdict, hfds = self.answer()
        assert (kind, number) == (CONNECT, self.last)
        if error:
            assert not hfds
            return error, verdict
        s = socket.socket(fileno=hfds[0])
        s.settimeout(30)
        return s

    def lookup(self, name):
        self.last += 1
        self.send(LOOKUP, self.last, name)
        kind, number, error, _, _ = self.answer()
        assert (kind, number) == (LOOKUP, self.last)
        return error

    def ends(self):
        """True if the broker ends by itself."""
        with pytest.raises((EOFError, ConnectionResetError)):
            while True:
                self.answer()
        return self.process.wait(30) == 0

    def close(self):
        self.requests.close()
        self.policy_end.close()
        self.process.wait(30)


class Origin:
    """Answers each connection with its name, then echoes."""

    def __init__(self, address, port, name=b"hello\n"):
        self.listener = socket.create_server((address, port))
        self.name = name
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                c, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(c,), daemon=True).start()

    def serve(self, c):
        try:
            c.sendall(self.name)
            while data := c.recv(65536):
                c.sendall(data)
        except OSError:
            pass
        c.close()

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


@pytest.fixture
def broker():
    b = Broker()
    yield b
    b.close()


@pytest.fixture
def origin():
    o = Origin(ORIGIN, 8080)
    yield o
    o.close()


@pytest.fixture
def names():
    n = NameServer({
        "web.example": [ORIGIN], "alias.example": "web.example", "two.example": ["203.0.113.11", ORIGIN],
        "inner.example": [PRIVATE_HOST], "meta.example": ["169.254.169.254"],
        "mixed.example": [PRIVATE_HOST, ORIGIN], "six.example": ["::1", "::ffff:127.0.0.1"],
        "local.example": ["127.0.0.1"], "gone.example": None})
    yield n
    n.close()


def read_line(s):
    s.setblocking(True)
    return s.makefile("rb").readline()


def test_without_a_policy_everything_is_denied(broker, origin, names):
    assert broker.connect(ORIGIN, 8080) == (errno.EACCES, NO_RULE)
    assert broker.connect("web.example", 8080) == (errno.EACCES, NO_RULE)
    assert broker.lookup("web.example") == 0
    assert names.asked == []


def test_an_allowed_address_is_connected(broker, origin):
    broker.policy(f"{ORIGIN}:8080")
    s = broker.connect(ORIGIN, 8080)
    assert read_line(s) == b"hello\n"
    s.sendall(b"x" * 1000)
    assert len(s.recv(1000, socket.MSG_WAITALL)) == 1000
    assert broker.connect(ORIGIN, 8081) == (errno.EACCES, NO_RULE)
    assert broker.connect("203.0.113.11", 8080) == (errno.EACCES, NO_RULE)


def test_an_allowed_name_is_resolved_and_connected(broker, origin, names):
    broker.policy("web.example:8080+private", "alias.example:8080+private")
    assert read_line(broker.connect("web.example", 8080)) == b"hello\n"
    assert read_line(broker.connect("alias.example", 8080)) == b"hello\n"
    assert set(names.asked) == {"web.example", "alias.example"}


def test_a_denied_name_is_not_sent_to_a_name_server(broker, names):
    broker.policy("web.example:8080+private", "!bad.example")
    assert broker.lookup("secret.attacker.example") == 0
    assert broker.connect("secret.attacker.example", 443) == (errno.EACCES, NO_RULE)
    assert broker.connect("bad.example", 443) == (errno.EACCES, DENIED)
    assert broker.connect("web.example", 22) == (errno.EACCES, NO_RULE)
    assert names.asked == []


def test_a_name_that_does_not_exist_is_reported(broker, names):
    broker.policy("gone.example", "web.example:8080+private")
    assert broker.lookup("gone.example") == errno.ENOENT
    assert broker.lookup("web.example") == 0
    assert broker.connect("gone.example", 443) == (errno.EHOSTUNREACH, ALLOWED)


@pytest.mark.parametrize("name, verdict", [
    ("inner.example", PRIVATE), ("meta.example", RESERVED), ("local.example", LOOPBACK),
    ("six.example", LOOPBACK), ("web.example", PRIVATE)])
def test_a_name_does_not_lead_to_inner_addresses(broker, names, name, verdict):
    broker.policy("public:*", f"{name}:*")
    assert broker.connect(name, 8080) == (errno.EACCES, verdict)


def test_private_addresses_need_the_mark_and_metadata_never_has_it(broker, names):
    broker.policy("inner.example:8080+private", "meta.example:8080+private", "local.example:8080+private")
    inner = Origin(PRIVATE_HOST, 8080, b"inner\n")
    assert read_line(broker.connect("inner.example", 8080)) == b"inner\n"
    assert broker.connect("meta.example", 8080) == (errno.EACCES, RESERVED)
    assert broker.connect("local.example", 8080) == (errno.EACCES, LOOPBACK)
    inner.close()


def test_only_the_allowed_addresses_of_a_name_are_tried(broker, origin, names):
    inner = Origin(PRIVATE_HOST, 8080, b"inner\n")
    broker.policy("mixed.example:8080+private", f"!{PRIVATE_HOST}")
    assert read_line(broker.connect("mixed.example", 8080)) == b"hello\n"
    inner.close()


def test_rebinding_does_not_open_an_inner_address(broker, origin):
    addresses = [[ORIGIN], [PRIVATE_HOST]]
    server = NameServer({"turn.example": lambda: addresses[0]})
    broker.policy("turn.example:8080", f"{ORIGIN}:8080")
    assert broker.lookup("turn.example") == 0
    assert read_line(broker.connect("turn.example", 8080)) == b"hello\n"
    addresses[0] = addresses[1]
    fresh = Broker()
    fresh.policy("turn.example:8080", f"{ORIGIN}:8080")
    assert fresh.lookup("turn.example") == 0
    assert fresh.connect("turn.example", 8080) == (errno.EACCES, PRIVATE)
    fresh.close()
    server.close()


def test_the_second_address_is_tried_after_the_first_fails(broker, origin, names):
    broker.policy("two.example:8080+private")
    assert read_line(broker.connect("two.example", 8080)) == b"hello\n"


def test_a_refused_connection_is_reported(broker):
    broker.policy(f"{ORIGIN}:*")
    assert broker.connect(ORIGIN, 9) == (errno.ECONNREFUSED, ALLOWED)


def test_the_loopback_of_the_host_needs_a_rule_and_the_permission(broker):
    local = Origin("127.0.0.1", 8080)
    broker.policy("127.0.0.1:8080")
    assert broker.connect("127.0.0.1", 8080) == (errno.EACCES, LOOPBACK)
    broker.policy("127.0.0.1:8080", loopback=1)
    assert read_line(broker.connect("127.0.0.1", 8080)) == b"hello\n"
    local.close()


def test_a_new_policy_ends_the_connections_that_it_denies(broker, origin):
    broker.policy(f"{ORIGIN}:8080", "203.0.113.11:8080")
    other = Origin("203.0.113.11", 8080)
    kept, ended = broker.connect("203.0.113.11", 8080), broker.connect(ORIGIN, 8080)
    assert read_line(kept) == read_line(ended) == b"hello\n"
    broker.policy("203.0.113.11:8080")
    kind, number, error, _, _ = broker.answer()
    assert (kind, number, error) == (ENDED, 2, errno.EACCES)
    assert ended.recv(1) == b""
    kept.sendall(b"still here")
    assert kept.recv(10, socket.MSG_WAITALL) == b"still here"
    other.close()


def test_the_number_of_connections_is_limited(broker, origin):
    broker.policy(f"{ORIGIN}:8080", connections=3)
    held = [broker.connect(ORIGIN, 8080) for _ in range(3)]
    assert broker.connect(ORIGIN, 8080) == (errno.ENOBUFS, CONNECTIONS)
    held[0].close()
    broker.send(CLOSE, 1)
    assert read_line(broker.connect(ORIGIN, 8080)) == b"hello\n"


def test_the_rate_of_connections_and_lookups_is_limited(broker, origin, names):
    broker.policy(f"{ORIGIN}:8080", "gone.example", connects=1, lookups=1)
    results = [broker.connect(ORIGIN, 8080) for _ in range(20)]
    assert (errno.ENOBUFS, CONNECTS) in results
    assert errno.EAGAIN in [broker.lookup("gone.example") for _ in range(20)]


def test_a_closed_connection_frees_its_place(broker, origin):
    broker.policy(f"{ORIGIN}:8080", connections=1)
    for _ in range(300):
        s = broker.connect(ORIGIN, 8080)
        assert read_line(s) == b"hello\n"
        s.close()
        broker.send(CLOSE, broker.last)


@pytest.mark.parametrize("packet", [
    b"", b"x", struct.pack("=II16sHH256s", 9, 1, bytes(16), 1, 0, b""),
    struct.pack("=II16sHH256s", CONNECT, 1, bytes(16), 0, 0, b""),
    struct.pack("=II16sHH256s", CONNECT, 1, bytes(16), 1, 300, b"a"),
    struct.pack("=II16sHH256s", CONNECT, 1, bytes(16), 1, 5, b"A.com"),
    struct.pack("=II16sHH256s", CONNECT, 1, bytes(16), 1, 3, b"a.b\0x"),
    struct.pack("=II16sHH256s", LOOKUP, 1, bytes(16), 1, 0, b""), bytes(2000),
    struct.pack("=II16sHH256s", FIRST, 1, bytes(16), 1, 0, b""), struct.pack("=II16sHH256s", FIRST, 1, bytes(16), 1, 257, b"x"),
    struct.pack("=II16sHH256s", FIRST, 1, bytes(16), 2, 1, b"x")])
def test_a_malformed_request_ends_the_broker(broker, packet):
    broker.requests.send(packet)
    assert broker.ends()


def test_a_number_in_use_ends_the_broker(broker, origin):
    broker.policy(f"{ORIGIN}:8080")
    broker.connect(ORIGIN, 8080)
    broker.send(CONNECT, 1, ORIGIN, 8080)
    assert broker.ends()


def head(rules=0, maximum=0, connections=64, loopback=0, reports=0):
    return struct.pack("=8I2Q", connections, 1, 1, loopback, rules, maximum, 0, reports, 0, 0)


@pytest.mark.parametrize("packet", [
    b"x", bytes(20), bytes(48), head(7) + b"*.com\n", head(6) + b"*.com\n", head(0, 6) + b"*.com\n", head(0, 7) + b"a.b:1\n",
    head(loopback=2), head(connections=1 << 20), head(reports=2)])
def test_a_malformed_policy_ends_the_broker(broker, packet):
    broker.policy_end.send(packet)
    assert broker.ends()


def test_the_broker_ends_with_its_sandbox(broker):
    broker.requests.close()
    assert broker.process.wait(30) == 0


def test_the_broker_has_no_rights(broker):
    broker.policy()
    assert broker.connect("1.1.1.1", 443) == (errno.EACCES, NO_RULE)  # it is sealed by now
    status = dict(line.split(":\t", 1) for line in
                  pathlib.Path(f"/proc/{broker.process.pid}/status").read_text().splitlines() if ":\t" in line)
    assert status["NoNewPrivs"].strip() == "1" and status["Seccomp"].strip() == "2"
    assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == 0


def test_a_killed_broker_is_noticed(broker, origin):
    broker.policy(f"{ORIGIN}:8080")
    s = broker.connect(ORIGIN, 8080)
    assert read_line(s) == b"hello\n"
    broker.process.send_signal(signal.SIGKILL)
    with pytest.raises((EOFError, ConnectionResetError)):
        broker.answer()


def test_a_maximum_restricts_every_rule(broker, origin, names):
    broker.policy(f"{ORIGIN}:8080", "web.example:8080+private", maximum=[f"{ORIGIN}:9000", "other.example:*"])
    assert broker.connect(ORIGIN, 8080) == (errno.EACCES, MAXIMUM)
    assert broker.connect("web.example", 8080) == (errno.EACCES, MAXIMUM)
    assert broker.lookup("web.example") == 0 and names.asked == []
    broker.policy(f"{ORIGIN}:8080", maximum=[f"{ORIGIN}:*"])
    assert broker.connect(ORIGIN, 8080).recv(6) == b"hello\n"


def test_a_denial_by_the_maximum_overrides_the_rules(broker, origin):
    broker.policy(f"{ORIGIN}:8080", maximum=["203.0.113.0/24:*", f"!{ORIGIN}"])
    assert broker.connect(ORIGIN, 8080) == (errno.EACCES, MAXIMUM)


def test_the_owner_gets_reports(broker, origin):
    broker.policy(f"{ORIGIN}:8080", reports=1)
    with broker.connect(ORIGIN, 8080) as s:
        assert s.recv(6) == b"hello\n"
        s.sendall(b"x" * 1000)
        assert len(s.recv(1000, socket.MSG_WAITALL)) == 1000
        assert broker.report()[:5] == (OPEN, 1, 0, ORIGIN, 8080)
        broker.send(CLOSE, broker.last)
        assert broker.report() == (CLOSED, 1, BY_GUEST, ORIGIN, 8080, 1000, 1006)
    assert broker.connect(ORIGIN, 8081) == (errno.EACCES, NO_RULE)
    assert broker.report()[:5] == (DENY, 0, NO_RULE, ORIGIN, 8081)


def test_a_connection_that_a_policy_ends_is_reported(broker, origin):
    broker.policy(f"{ORIGIN}:8080", reports=1)
    s = broker.connect(ORIGIN, 8080)
    broker.report()
    broker.policy(reports=1)
    assert broker.report()[:3] == (CLOSED, 1, BY_POLICY)
    s.close()


def test_an_owner_that_does_not_read_loses_reports_only(broker, origin):
    broker.policy(f"{ORIGIN}:8080", reports=1)
    for _ in range(3000):
        assert broker.connect(ORIGIN, 8081) == (errno.EACCES, NO_RULE)
    assert broker.connect(ORIGIN, 8080).recv(6) == b"hello\n"


def test_the_limit_of_bytes_ends_all_connections(broker, origin):
    broker.policy(f"{ORIGIN}:8080", size=1 << 20)
    first, second = (broker.connect(ORIGIN, 8080) for _ in range(2))
    # A greeting that arrives after the end would reset the connection.
    assert read_line(first) == read_line(second) == b"hello\n"
    threading.Thread(target=first.sendall, args=(bytes(1 << 20),), daemon=True).start()
    while second.recv(65536):
        pass
    broker.requests.setblocking(False)  # the reasons are sent before the connections end
    assert {broker.answer()[:4] for _ in range(2)} == {(ENDED, n, errno.ENETDOWN, BYTES) for n in (1, 2)}
    broker.requests.settimeout(30)
    assert broker.connect(ORIGIN, 8080) == (errno.ENETDOWN, BYTES)


def test_limits_are_named(broker, origin, names):
    broker.policy(f"{ORIGIN}:8080", "web.example:*+private", connections=1, lookups=1)
    with broker.connect(ORIGIN, 8080):
        assert broker.connect(ORIGIN, 8080) == (errno.ENOBUFS, CONNECTIONS)
    for i in range(20):
        broker.send(LOOKUP, 100 + i, "web.example")
    answers = [broker.answer()[2:4] for _ in range(20)]
    assert (errno.EAGAIN, LOOKUPS) in answers


def test_an_idle_broker_ends_and_says_so(broker):
    broker.policy(idle_s=1)
    assert broker.process.wait(30) == EXIT_IDLE


def test_connections_do_not_outlive_the_broker_of_a_hostile_sandbox(broker, origin):
    broker.policy(f"{ORIGIN}:8080")
    s = broker.connect(ORIGIN, 8080)
    assert s.recv(6) == b"hello\n"
    broker.requests.send(b"nonsense")
    assert s.recv(1) == b""
    with pytest.raises(BrokenPipeError):
        s.sendall(b"x")


def hello(name, *options):
    """The first bytes of a TLS client."""
    out = ssl.MemoryBIO()
    context = ssl.create_default_context()
    if options:
        context.set_alpn_protocols(options)
    client = context.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return out.read()


def add_extension(data, kind, content):
    """Appends an extension to a hello in one record."""
    new = data + struct.pack("!HH", kind, len(content)) + content
    more = len(new) - len(data)
    at = 43 + 1 + new[43]
    at += 2 + struct.unpack("!H", new[at:at + 2])[0]
    at += 1 + new[at]
    numbers = [(3, 2), (6, 3), (at, 2)]
    for where, size in numbers:
        value = int.from_bytes(new[where:where + size], "big") + more
        new = new[:where] + value.to_bytes(size, "big") + new[where + size:]
    return new


class Recorder(Origin):
    """Keeps the first bytes of each connection, and echoes."""

    def __init__(self, address, port):
        self.seen = []
        super().__init__(address, port)

    def serve(self, c):
        try:
            data = c.recv(65536)
            self.seen.append(data)
            while data:
                c.sendall(data)
                data = c.recv(65536)
        except OSError:
            pass
        c.close()


@pytest.fixture(name="secure")
def start_secure():
    o = Recorder(ORIGIN, 443)
    yield o
    o.close()


def begin(broker, host="web.example", port=443):
    broker.last += 1
    broker.send(CONNECT, broker.last, host, port)
    assert broker.answer() == (WANT_FIRST, broker.last, 0, ALLOWED, [])


def send_first(broker, data, step=256):
    for at in range(0, len(data), step):
        piece = data[at:at + step]
        broker.requests.send(struct.pack(
            "=II16sHH256s", FIRST, broker.last, bytes(16), at + step >= len(data), len(piece), piece))


def test_tls_for_the_allowed_name_is_passed(broker, secure, names):
    broker.policy("web.example:443+private", reports=1)
    for data in hello("web.example"), hello("WEB.example", *(["x" * 250] * 9)):
        begin(broker)
        send_first(broker, data)
        kind, number, error, _, hfds = broker.answer()
        assert (kind, number, error) == (PASSED, broker.last, 0)
        with socket.socket(fileno=hfds[0]) as s:
            s.setblocking(True)
            assert s.recv(len(data), socket.MSG_WAITALL) == data
            s.sendall(b"more")
            assert s.recv(4, socket.MSG_WAITALL) == b"more"
    assert len(data) > 1024


def test_a_hello_may_come_byte_by_byte(broker, secure, names):
    broker.policy("web.example:443+private")
    begin(broker)
    data = hello("web.example")
    for i in range(len(data) - 1):
        send_first(broker, data[i:i + 1])
        assert broker.answer()[:4] == (WANT_FIRST, broker.last, 0, ALLOWED)
    assert secure.seen == []
    send_first(broker, data[-1:])
    with socket.socket(fileno=broker.answer()[4][0]) as s:
        s.setblocking(True)
        assert s.recv(len(data), socket.MSG_WAITALL) == data


@pytest.mark.parametrize("data", [
    hello("other.example"), hello("203.0.113.10"), add_extension(hello("web.example"), 0xfe0d, b"hidden"),
    b"CONNECT other.example:443 HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nHost: other.example\r\n\r\n",
    b"SSH-2.0-client\r\n", bytes(100), b"\x16\x03\x01\x40\x00" + bytes(16384)],
    ids=["other name", "no name", "hidden name", "proxy", "http", "ssh", "zeros", "endless"])
def test_a_connection_for_another_name_does_not_reach_the_host(broker, secure, names, data):
    broker.policy("web.example:443+private", reports=1)
    begin(broker)
    assert broker.report()[0] == OPEN
    send_first(broker, data)
    assert broker.answer() == (ENDED, broker.last, errno.EACCES, TLS, [])
    assert broker.report()[:5] == (DENY, 0, TLS, "web.example", 443)
    assert broker.report()[:3] == (CLOSED, 1, BY_POLICY)
    with socket.create_connection((ORIGIN, 443)) as s:  # the host has seen nothing but this one
        s.sendall(b"last")
        assert s.recv(4, socket.MSG_WAITALL) == b"last"
    assert {data for data in secure.seen if data} == {b"last"}


@pytest.mark.parametrize("rules, maximum, is_checked", [
    (["web.example:443+private+raw"], [], False), (["web.example:443+private", f"{ORIGIN}:443"], [], False),
    (["web.example:443+private+raw"], ["web.example:*+private"], True),
    (["web.example:443+private+raw"], ["web.example:*+private+raw"], False)])
def test_a_mark_turns_the_check_off(broker, secure, names, rules, maximum, is_checked):
    broker.policy(*rules, maximum=maximum)
    broker.send(CONNECT, 1, "web.example", 443)
    kind, _, error, _, hfds = broker.answer()
    assert error == 0 and (kind, len(hfds)) == ((WANT_FIRST, 0) if is_checked else (CONNECT, 1))
    for hfd in hfds:
        os.close(hfd)


def test_a_host_that_speaks_first_does_not_speak_tls(broker, names):
    greeter = Origin(ORIGIN, 443)
    broker.policy("web.example:443+private")
    begin(broker)
    assert broker.answer() == (ENDED, 1, errno.EACCES, TLS, [])
    greeter.close()


def test_a_host_that_closes_first_is_reported(broker, names):
    listener = socket.create_server((ORIGIN, 443))
    broker.policy("web.example:443+private")
    begin(broker)
    listener.accept()[0].close()
    assert broker.answer() == (ENDED, 1, 0, ALLOWED, [])
    listener.close()


def test_a_new_policy_ends_a_connection_before_its_first_bytes(broker, secure, names):
    broker.policy("web.example:443+private", connections=1)
    begin(broker)
    broker.policy("other.example")
    assert broker.answer() == (ENDED, 1, errno.EACCES, NO_RULE, [])
    send_first(broker, hello("web.example"))  # was on its way
    broker.policy("web.example:443+private", connections=1)
    begin(broker)
    broker.send(CLOSE, broker.last)
    begin(broker)


def test_first_bytes_that_nobody_wants_end_the_broker(broker, origin):
    broker.policy(f"{ORIGIN}:8080")
    broker.connect(ORIGIN, 8080)
    send_first(broker, b"x")
    assert broker.ends()
