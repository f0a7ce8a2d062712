"""HTTP from the tests: a server, raw connections, and a checker of the format
that Prometheus reads."""
import http.client
import json
import re
import socket
import subprocess

from jail import ROOT

HOST = ROOT / "build/tests/supervisor/http_host"
TOKEN = "a-token-of-the-tests"
TIMEOUT = 60


class Server:
    """Answers that take longer than TIMEOUT fail the test."""

    def __init__(self, tmp_path, *options, command=(HOST,)):
        tokens = tmp_path / "tokens"
        tokens.write_text(f"# tests\n\n{TOKEN} tester\nanother-token-12345\n")
        tokens.chmod(0o600)
        self.tokens = tokens
        self.process = subprocess.Popen(
            [*map(str, command), "--http-enabled", "--http-port=0",
             "--http-tokens-file", str(tokens), *options],
            stdout=subprocess.PIPE, text=True,
        )
        self.port = int(self.process.stdout.readline())

    def stop(self):
        self.process.terminate()
        assert self.process.wait(TIMEOUT) == 0
        self.process.stdout.close()

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), TIMEOUT)

    def open(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)

    def ask(self, method, path, body=None, token=TOKEN, connection=None, **headers):
        """Status, headers, body."""
        c = connection or self.open()
        names = {k.replace("_", "-"): v for k, v in headers.items()}
        if token:
            names["Authorization"] = f"Bearer {token}"
        c.request(method, path, body, names)
        r = c.getresponse()
        answer = r.status, r.headers, r.read()
        if not connection:
            c.close()
        return answer

    def rpc(self, method, connection=None, **params):
        """The result of one call."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        status, headers, text = self.ask(
            "POST", "/rpc", body, connection=connection, Content_Type="application/json"
        )
        assert status == 200, text
        assert headers["Content-Type"] == "application/json"
        return json.loads(text)["result"]

    def metrics(self):
        status, headers, text = self.ask("GET", "/metrics")
        assert status == 200
        assert headers["Content-Type"].startswith("text/plain; version=0.0.4")
        return check_metrics(text.decode())


def request(path="/rpc", body="", token=TOKEN, method="POST", more=""):
    """The bytes of a request, to be sent in whatever pieces."""
    return (
        f"{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {token}\r\n{more}Content-Length: {len(body)}\r\n\r\n{body}"
    ).encode()


def read_all(s):
    """What comes until the other side closes; a reset counts as that."""
    data = b""
    try:
        while piece := s.recv(65536):
            data += piece
    except ConnectionError:
        pass
    return data


def is_closed(s):
    """Waits until the other side has closed, and sent nothing before."""
    return read_all(s) == b""


NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)")
TYPES = {"counter", "gauge", "histogram", "summary", "untyped"}


def check_histogram(name, samples):
    rows = [(l, v) for (n, l), v in samples.items() if n == f"{name}_bucket"]
    bounds = [float(re.search(r'le="([^"]*)"', l).group(1)) for l, _ in rows]
    counts = [v for _, v in rows]
    assert bounds == sorted(bounds) and bounds[-1] == float("inf"), name
    assert counts == sorted(counts), name
    assert counts[-1] == samples[f"{name}_count", None], name
    assert (f"{name}_sum", None) in samples, name


def check_metrics(text):
    """Checks the text format, version 0.0.4; returns {(name, labels): value}."""
    assert text.endswith("\n")
    samples, types, helped, family = {}, {}, set(), None
    for line in text.splitlines():
        if m := re.fullmatch(rf"# HELP ({NAME}) (.*)", line):
            assert m[1] not in helped, f"two helps: {line}"
            helped.add(m[1])
            continue
        if m := re.fullmatch(rf"# TYPE ({NAME}) (\w+)", line):
            assert m[2] in TYPES and m[1] not in types, line
            assert m[1] in helped, f"no help: {line}"
            family = m[1]
            types[family] = m[2]
            continue
        m = SAMPLE.fullmatch(line)
        assert m, f"no sample: {line!r}"
        name, labels, value = m.groups()
        suffixes = ("_bucket", "_sum", "_count") if types[family] == "histogram" else ("",)
        assert name in {family + s for s in suffixes}, f"{line!r} in family {family}"
        assert (name, labels) not in samples, f"twice: {line!r}"
        if types[family] == "counter":
            assert name.endswith("_total") and float(value) >= 0, line
        samples[name, labels] = float(value)
    for name, kind in types.items():
        if kind == "histogram":
            check_histogram(name, samples)
    return samples
