"""Sessions over HTTP: the same methods, and figures of what happened."""
import http.client
import json
import pathlib
import sys

import pytest
import supervisor

sys.path.append(str(pathlib.Path(__file__).parents[1] / "supervisor"))
from web import check_metrics  # noqa: E402

TOKEN = "a-token-of-the-tests"


class Web:
    def __init__(self, sup):
        self.address = sup.web_address()

    def ask(self, method, path, body=None, **headers):
        c = http.client.HTTPConnection(*self.address, timeout=120)
        names = {k.replace("_", "-"): v for k, v in headers.items()}
        c.request(method, path, body, {"Authorization": f"Bearer {TOKEN}", **names})
        r = c.getresponse()
        answer = r.status, r.headers["Content-Type"], r.read()
        c.close()
        return answer

    def lines(self, method, **params):
        body = json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
        status, kind, text = self.ask("POST", "/rpc", body, Content_Type="application/json")
        assert status == 200, text
        return kind, [json.loads(line) for line in text.splitlines()]

    def call(self, method, **params):
        kind, (answer,) = self.lines(method, **params)
        assert kind == "application/json" and answer["id"] == 7
        if "error" in answer:
            raise supervisor.Error(answer["error"])
        return answer["result"]

    def metrics(self):
        status, _, text = self.ask("GET", "/metrics")
        assert status == 200
        return check_metrics(text.decode())


@pytest.fixture
def with_http(make, tmp_path):
    def start(**settings):
        tokens = tmp_path / "tokens"
        tokens.write_text(f"{TOKEN} tester\n")
        tokens.chmod(0o600)
        return make(**{"http.enabled": True, "http.port": 0,
                       "http.tokens_file": str(tokens)}, **settings)

    return start


@pytest.fixture
def sup(with_http):
    return with_http()


@pytest.fixture
def web(sup):
    return Web(sup)


def test_a_session_over_http(web):
    made = web.call("session.create", label="x")
    number = made["sessionId"]
    assert made["state"] == "active"
    web.call("run", sessionId=number, command="set 1 hello")
    web.call("session.pause", sessionId=number)
    assert web.call("session.run", sessionId=number, command="get 1")["stdout"] == "hello"
    assert web.call("session.end", sessionId=number)["state"] == "ended"


def test_both_doors_lead_to_the_same_sessions(web, client):
    s = client.create()
    s.run("set 1 shared")
    assert web.call("run", sessionId=s.id, command="get 1")["stdout"] == "shared"
    assert [x["sessionId"] for x in web.call("session.list")["sessions"]] == [s.id]


def test_errors_are_those_of_the_socket(web):
    for method, params, code in (
        ("no.such", {}, -32601), ("session.get", {}, -32602),
        ("session.get", {"sessionId": "x"}, -32602), ("kill", {}, -32601),
    ):
        with pytest.raises(supervisor.Error) as error:
            web.call(method, **params)
        assert error.value.code == code, method


def test_a_batch_over_http(web):
    body = json.dumps([{"jsonrpc": "2.0", "id": i, "method": "session.list"} for i in range(3)])
    _, _, text = web.ask("POST", "/rpc", body, Content_Type="application/json")
    assert [a["id"] for a in json.loads(text)] == [0, 1, 2]


def test_a_pretty_request_reaches_the_worker_as_a_line(web):
    number = web.call("session.create")["sessionId"]
    params = {"sessionId": number, "command": "set 1 a"}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "run", "params": params}, indent=1)
    _, _, text = web.ask("POST", "/rpc", body, Content_Type="application/json")
    assert json.loads(text)["result"]["exitCode"] == 0
    assert web.call("run", sessionId=number, command="get 1")["stdout"] == "a"


def test_a_pretty_request_streams_too(web):
    number = web.call("session.create")["sessionId"]
    params = {"sessionId": number, "command": "stream 3000", "stream": True}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "run", "params": params}, indent=1)
    _, kind, text = web.ask("POST", "/rpc", body, Content_Type="application/json")
    lines = [json.loads(line) for line in text.splitlines()]
    assert kind == "application/x-ndjson"
    assert [line["params"]["seq"] for line in lines[:-1]] == list(range(3000))
    assert lines[-1]["result"]["exitCode"] == 0


def test_a_batch_streams_nothing(web):
    number = web.call("session.create")["sessionId"]
    params = {"sessionId": number, "command": "stream 3000", "stream": True}
    body = json.dumps([{"jsonrpc": "2.0", "id": i, "method": "run", "params": params} for i in range(2)])
    _, kind, text = web.ask("POST", "/rpc", body, Content_Type="application/json")
    assert kind == "application/json"
    assert [answer["result"]["exitCode"] for answer in json.loads(text)] == [0, 0]


def test_waiting_for_events_ends_with_the_supervisor(web, sup):
    c = http.client.HTTPConnection(*web.address, timeout=120)
    last = web.call("session.events")["last"]
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "session.events",
                       "params": {"after": last, "waitMs": 600000}})
    c.request("POST", "/rpc", body, {"Authorization": f"Bearer {TOKEN}",
                                     "Content-Type": "application/json"})
    while web.metrics()["wasmsand_clients", None] < 1:
        pass
    assert sup.stop() == 0
    assert c.getresponse().status in (200, 503)
    c.close()


def test_output_streams_over_http(with_http):
    web = Web(with_http(fake=False))
    number = web.call("session.create")["sessionId"]
    kind, lines = web.lines(
        "run", sessionId=number, command="echo a; echo b >&2; echo c", stream=True)
    assert kind == "application/x-ndjson"
    output = [line["params"] for line in lines[:-1]]
    assert "".join(o["data"] for o in output if o["stream"] == "stdout") == "a\nc\n"
    assert "".join(o["data"] for o in output if o["stream"] == "stderr") == "b\n"
    assert {o["request_id"] for o in output} == {7}
    assert lines[-1]["id"] == 7 and lines[-1]["result"]["exitCode"] == 0


def test_figures_tell_what_happened(web):
    number = web.call("session.create")["sessionId"]
    web.call("run", sessionId=number, command="set 1 x")
    web.call("session.run", sessionId=number, command="get 1")
    with pytest.raises(supervisor.Error):
        web.call("session.get", sessionId="none")
    web.call("session.pause", sessionId=number)
    found = web.metrics()
    for name, labels, value in (
        ("sessions", 'state="paused"', 1), ("sessions", 'state="active"', 0),
        ("events_total", 'state="active",cause="started"', 1),
        ("events_total", 'state="paused",cause="requested"', 1),
        ("requests_total", 'method="session.create",outcome="ok"', 1),
        ("requests_total", 'method="run",outcome="ok"', 2),
        ("requests_total", 'method="session.get",outcome="error"', 1),
        ("session_start_seconds_count", None, 1),
        ("workers", 'use="session"', 0),
        ("http_requests_total", 'path="/rpc",code="200"', 5),
    ):
        assert found["wasmsand_" + name, labels] == value, (name, labels)
    assert found["wasmsand_commit_seconds_count", None] >= 1
    assert found["wasmsand_commit_bytes_total", None] > 0
    assert found["wasmsand_store_bytes", None] > 0
    assert 0 < found["wasmsand_resident_bytes", None] < 64 << 20


def test_http_that_cannot_be_had_is_a_refusal_to_start(make, tmp_path):
    with pytest.raises(RuntimeError, match="No such file"):
        make(**{"http.enabled": True, "http.tokens_file": str(tmp_path / "none")})
    with pytest.raises(RuntimeError, match="http.tokensFile: required"):
        make(**{"http.enabled": True})
