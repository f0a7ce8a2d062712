"""Lines, ids, batches and errors, before any sandbox matters."""
import json
import subprocess

import pytest

from rpc import IMAGE, RpcError, needs_image
from sandbox import SANDBOX

pytestmark = needs_image
STATUS = '{"jsonrpc":"2.0","id":%s,"method":"status"}\n'


def error_to(server, line):
    """The error that answers a line which nobody can attribute."""
    server.send_bytes(line if line.endswith(b"\n") else line + b"\n")
    answer = server.next()
    assert answer["jsonrpc"] == "2.0" and answer["id"] is None
    return answer["error"]["code"], answer["error"]["message"]


# --- ids


@pytest.mark.parametrize("id", [
    '"text"', '""', '"\\u00e9\\n\\ud83d\\ude00"', '"a\\u0000b"', "0", "-1", "9007199254740993",
    "9223372036854775807", "-9223372036854775808"])
def test_an_id_comes_back(server, id):
    server.send_bytes((STATUS % id).encode())
    assert server.result(json.loads(id))["ready"] is False


def test_a_number_comes_back_as_it_was_written():
    ids = ["123456789012345678901234567890", "-0", "1.50", "1e5", "1E+400", "-7", "12", "null", '"x"']
    lines = "".join(STATUS % id for id in ids)
    lines += "[" + ",".join((STATUS % id).strip() for id in ids) + "]\n"
    done = subprocess.run(
        [SANDBOX, "--root", IMAGE], input=lines.encode(), capture_output=True, timeout=60)
    assert done.returncode == 0
    *single, batch = done.stdout.decode().splitlines()
    assert [line.split(',"result"')[0] for line in single] == [f'{{"jsonrpc":"2.0","id":{id}' for id in ids]
    for id in ids:
        assert f'"id":{id},"result"' in batch


def test_a_null_id_is_answered(server):
    server.send_bytes((STATUS % "null").encode())
    answer = server.next()
    assert answer["id"] is None and answer["result"]["ready"] is False


@pytest.mark.parametrize("id", ["{}", "[]", "[1]", '{"a":1}', "true", "false"])
def test_other_ids_are_refused(server, id):
    code, message = error_to(server, (STATUS % id).encode())
    assert code == -32600 and message.startswith("Invalid request: id")


def test_a_notification_gets_no_answer(server):
    server.send({"jsonrpc": "2.0", "method": "status"})
    server.send({"jsonrpc": "2.0", "method": "no.such.method"})
    server.send({"jsonrpc": "2.0", "method": "run", "params": {}})
    server.call("status")
    assert server.other.empty()


# --- lines


def test_blank_lines_are_ignored(server):
    server.send_bytes(b"\n\r\n   \n\t\n")
    server.call("status")
    assert server.other.empty()


@pytest.mark.parametrize("line", [
    b"{", b"}", b"nonsense", b'{"jsonrpc":"2.0",}', b"[1,2", b'"open', b"{'a':1}", b"\xff\xfe", b'{"a":"\xc3"}',
    b'{"a":"\xed\xa0\x80"}', b'{"a":"\xc0\x80"}', b'{"jsonrpc":"2.0","id":1,"id":2,"method":"status"}',
    b'{"jsonrpc":"2.0"} x', b'{"a":1e999}', b'{"a":99999999999999999999}', b'{"a":"\\ud800"}', b'{"a":"\\x"}', b'{"a":"\t"}',
    b"[" * 5000, b'{"a":' * 3000 + b"1" + b"}" * 3000, b"{\"a\":01}", b"\x00", b"nul", b"{\"a\":+1}"])
def test_a_malformed_line(server, line):
    code, message = error_to(server, line)
    assert code == -32700 and message.startswith("Parse error: ")
    server.call("status")


@pytest.mark.parametrize("line", [b"{}", b'{"id":1}', b"1", b'"text"', b"null", b"true", b'{"method":"status"}'])
def test_a_line_that_is_no_request(server, line):
    server.send_bytes(line + b"\n")
    answer = server.answer(1) if b'"id"' in line else server.next()
    assert answer["error"]["code"] == -32600 and answer["error"]["message"].startswith("Invalid request")


@pytest.mark.parametrize("request_", [
    {"jsonrpc": "1.0", "method": "status"}, {"jsonrpc": 2.0, "method": "status"}, {"jsonrpc": "2.0"},
    {"jsonrpc": "2.0", "method": 7}, {"jsonrpc": "2.0", "method": None}, {"jsonrpc": "2.0", "result": {}}])
def test_an_object_that_is_no_request(server, request_):
    server.send({**request_, "id": "mine"})
    with pytest.raises(RpcError) as info:
        server.result("mine")
    assert info.value.code == -32600 and info.value.message.startswith("Invalid request")


def test_unknown_methods(server):
    error = server.fails("no.such.method")
    assert (error.code, error.message) == (-32601, "Method not found: no.such.method")
    assert server.fails("").code == -32601
    assert server.fails("shell").code == -32601, "a request of the other protocol"


@pytest.mark.parametrize("params", [[], [1], "text", 7, True])
def test_params_are_an_object(server, params):
    server.send({"jsonrpc": "2.0", "id": 1, "method": "status", "params": params})
    with pytest.raises(RpcError) as info:
        server.result(1)
    assert (info.value.code, info.value.message) == (-32602, "params must be an object")


def test_the_last_line_needs_no_newline(server):
    server.process.stdin.write((STATUS % "5").strip().encode())
    server.process.stdin.close()
    assert server.result(5)["ready"] is False
    assert server.wait() == 0


def test_a_line_in_many_pieces(server):
    for byte in (STATUS % "77").encode():
        server.send_bytes(bytes([byte]))
    server.result(77)


def test_a_line_that_is_too_long(server):
    line = b'{"jsonrpc":"2.0","id":1,"method":"status","params":{"x":"' + b"x" * 8388608 + b'"}}\n'
    code, message = error_to(server, line)
    assert code == -32700 and message.startswith("Request too large")
    server.call("status")


def test_a_line_of_the_largest_length(server):
    head, tail = b'{"jsonrpc":"2.0","id":1,"method":"cancel","params":{"requestId":"', b'"}}'
    server.call("create")
    server.send_bytes(head + b"x" * (8388608 - len(head) - len(tail)) + tail + b"\n")
    assert server.result(1)["cancelled"] is False


def test_a_very_long_line_is_not_stored(server):
    for _ in range(64):
        server.send_bytes(b"x" * (4 << 20))
    code, message = error_to(server, b"\n")
    assert code == -32700 and message.startswith("Request too large")
    with open(f"/proc/{server.process.pid}/status") as status:
        peak_kb = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    assert peak_kb < 512 << 10
    server.call("status")


def test_rpc_bytes_is_a_parameter_of_create(server):
    server.call("create", limits={"rpcBytes": 2000})
    assert server.call("limits.get")["rpcBytes"] == 2000
    code, message = error_to(server, b" " * 2000 + b"{}\n")
    assert code == -32700 and message == "Request too large (limit: 2000 bytes)"


# --- which protocol


def test_errors_are_json_rpc_before_any_line(server):
    assert error_to(server, b"nonsense")[0] == -32700


def test_errors_follow_the_last_valid_line(server):
    server.line("status")
    server.send_bytes(b"nonsense\n")
    answer = server.next()
    assert answer["type"] == "error" and answer["id"] is None and "Parse error" in answer["error"]
    server.send_bytes(b'{"id":"me"}\n')
    assert server.answer("me")["type"] == "error"
    server.call("status")
    assert error_to(server, b"nonsense")[0] == -32700


def test_both_protocols_see_one_sandbox(server):
    assert server.line("write_file", path="/tmp/x", content="from the line protocol")["success"] is True
    assert server.out("cat /tmp/x") == "from the line protocol"
    server.run("echo more >> /tmp/x; export A=1")
    assert server.line("shell", command="cat /tmp/x; echo $A")["stdout"] == "from the line protocolmore\n1\n"
    error = server.fails("create")
    assert (error.code, error.message) == (-32600, "Sandbox already created")


def test_jsonrpc_wins_over_type(server):
    server.send({"jsonrpc": "2.0", "id": 3, "type": "status", "method": "status"})
    assert "ready" in server.result(3)


# --- batches


def test_a_batch_gets_one_array(client):
    client.send([
        {"jsonrpc": "2.0", "id": 1, "method": "run", "params": {"command": "echo one"}},
        {"jsonrpc": "2.0", "method": "run", "params": {"command": "echo silent"}},
        {"jsonrpc": "2.0", "id": "two", "method": "no.such.method"},
        7,
        {"type": "status", "id": "x"},
        {"jsonrpc": "2.0", "id": "cb_99", "result": {}},
    ])
    answers = client.next()
    assert len(answers) == 4
    by_id = {answer["id"]: answer for answer in answers}
    assert by_id[1]["result"]["stdout"] == "one\n"
    assert by_id["two"]["error"]["code"] == -32601
    assert by_id["x"]["error"]["code"] == -32600


def test_an_empty_batch(server):
    code, message = error_to(server, b"[]")
    assert code == -32600 and message.startswith("Invalid request")


def test_a_batch_of_notifications_gets_no_answer(server):
    server.send([{"jsonrpc": "2.0", "method": "status"}] * 3)
    server.call("status")
    assert server.other.empty()


def test_a_batch_is_bounded(server):
    code, message = error_to(server, b"[" + b",".join([b"1"] * 1001) + b"]")
    assert code == -32600 and "1000" in message
    server.send_bytes(b"[" + b",".join([b"1"] * 1000) + b"]\n")
    assert len(server.next()) == 1000


def test_a_batch_may_kill(client):
    client.send([{"jsonrpc": "2.0", "id": 1, "method": "run", "params": {"command": "echo x"}},
                 {"jsonrpc": "2.0", "id": 2, "method": "kill"}])
    assert len(client.next()) == 2
    assert client.wait() == 0


# --- pipelines


def test_pipelined_requests_are_served_in_order(server):
    server.begin("create", "create")
    ids = [server.begin("run", command=f"echo {i} >> /tmp/log; wc -l < /tmp/log") for i in range(200)]
    assert server.result("create") == {"ok": True}
    for i, id in enumerate(ids):
        assert int(server.result(id)["stdout"]) == i + 1


def test_what_comes_before_create_is_refused_and_what_comes_after_waits(server):
    error = server.fails("run", command="true")
    assert (error.code, error.message) == (-32600, "Sandbox not created")
    ids = [server.begin(method, **params) for method, params in [
        ("create", {}), ("run", {"command": "echo x"}), ("status", {}), ("limits.get", {}), ("sandbox.create", {})]]
    results = [server.result(id) for id in ids]
    assert results[1]["stdout"] == "x\n" and results[2]["ready"] is True


def test_requests_behind_a_create_that_fails(server):
    create = server.begin("create", wasmDir="/no/such/folder")
    run = server.begin("run", command="true")
    with pytest.raises(RpcError) as info:
        server.result(create)
    assert info.value.code == 1 and info.value.message.startswith("ENOENT: ")
    with pytest.raises(RpcError) as info:
        server.result(run)
    assert info.value.message == "Sandbox not created"
    server.call("create")


def test_many_sandboxes_by_pipelined_requests(client):
    ids = [client.begin("sandbox.create") for _ in range(200)]
    names = {client.result(id)["sandboxId"] for id in ids}
    assert len(names) == 200
    runs = {name: client.begin("run", command=f"echo {name}", sandboxId=name) for name in names}
    for name, id in runs.items():
        assert client.result(id)["stdout"] == f"{name}\n"


# --- strings


@pytest.mark.parametrize("size", [255, 256, 257, 4000, 60000])
def test_long_commands(client, size):
    text = "x" * size
    assert client.out(f"echo {text}") == f"{text}\n"
    assert client.out(f"echo '{text}\u00e9'") == f"{text}\u00e9\n"


def test_a_nul_in_a_command_is_named(client):
    error = client.fails("run", command="echo a\0b")
    assert (error.code, error.message) == (-32602, "command must not contain NUL")
    error = client.fails("run", command="x" * 300 + "\0")
    assert error.message == "command must not contain NUL"


def test_strings_that_look_like_ours(client):
    """A string that begins with NUL, as marks of strings that were cut do."""
    text = "y" * 500
    client.send({"jsonrpc": "2.0", "id": "\u00000", "method": "run", "params": {"command": f"echo {text}"}})
    assert client.result("\u00000")["stdout"] == f"{text}\n"
    assert client.run("cat", stdin="\u00000" + text)["stdout"] == "\u00000" + text


def test_bytes_that_are_no_utf8(client):
    result = client.run(r"printf 'a\xffb\xc3\xa9\xe2\x82'; printf '\xf0\x9f' >&2")
    assert result["stdout"] == "a\ufffdb\u00e9\ufffd" and result["stderr"] == "\ufffd"


def test_control_characters(client):
    assert client.out(r"printf '\0\1\b\f\n\r\t\"\\\177'") == "\0\1\b\f\n\r\t\"\\\177"
