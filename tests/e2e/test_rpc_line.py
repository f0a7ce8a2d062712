"""Seed 004: the line protocol."""
import pytest

from rpc import decode, encode, needs_image

pytestmark = needs_image
UUID = "550e8400-e29b-41d4-a716-446655440000"


# --- 1. shell command


def test_shell_has_the_fields_of_the_specification(server):
    answer = server.line("shell", id=UUID, command="ls /", time_limit_ms=3000)
    assert set(answer) == {"type", "id", "stdout", "stderr", "exit_code", "timed_out"}
    assert answer["type"] == "shell" and answer["id"] == UUID
    assert {"bin", "dev", "etc", "home"} <= set(answer["stdout"].split())
    assert (answer["stderr"], answer["exit_code"], answer["timed_out"]) == ("", 0, False)


def test_shell_exit_code_and_stderr(server):
    answer = server.line("shell", command="echo out; echo err >&2; exit 7")
    assert (answer["stdout"], answer["stderr"], answer["exit_code"]) == ("out\n", "err\n", 7)


def test_shell_time_limit(server):
    answer = server.line("shell", command="echo begun; sleep 1000", time_limit_ms=2000)
    assert answer == {
        "type": "shell", "id": answer["id"], "stdout": "begun\n", "stderr": "", "exit_code": None,
        "timed_out": True, "error": "Command execution failed: timeout exceeded"}
    assert server.line("shell", command="echo next")["stdout"] == "next\n"


def test_shell_time_limit_is_5000_ms_by_default(server):
    answer = server.line("shell", command="sleep 1000")
    assert answer["timed_out"] is True


def test_shell_output_as_base64(server):
    answer = server.line("shell", command=r"printf '\xff\0'; printf '\xfe' >&2", encoding="base64")
    assert decode(answer["stdout_base64"]) == b"\xff\0" and decode(answer["stderr_base64"]) == b"\xfe"
    assert "stdout" not in answer
    assert server.line("shell", command=r"printf '\xffx'")["stdout"] == "\ufffdx"


def test_the_shell_stays(server):
    server.line("shell", command="cd /tmp; x=5; f() { echo $x; }")
    assert server.line("shell", command="pwd; f")["stdout"] == "/tmp\n5\n"


# --- 2. write file, 3. read file


def test_write_and_read(server):
    answer = server.line("write_file", path="/tmp/test.txt", content="Hello, world!", mode="0644")
    assert answer == {"type": "write_file", "id": answer["id"], "success": True, "error": None}
    answer = server.line("read_file", path="/tmp/test.txt", encoding="text")
    assert answer == {"type": "read_file", "id": answer["id"], "content": "Hello, world!", "success": True, "error": None}


def test_write_and_read_base64(server):
    data = bytes(range(256)) * 10
    server.line("write_file", path="/tmp/b", content=encode(data), encoding="base64")
    assert decode(server.line("read_file", path="/tmp/b", encoding="base64")["content"]) == data


def test_text_may_contain_anything(server):
    text = "a\0b\n\u00e9\U0001f600" * 200
    server.line("write_file", path="/tmp/t", content=text)
    assert server.line("read_file", path="/tmp/t")["content"] == text


def test_an_empty_file(server):
    assert server.line("write_file", path="/tmp/e", content="")["success"] is True
    assert server.line("read_file", path="/tmp/e")["content"] == ""
    assert server.line("read_file", path="/tmp/e", encoding="base64")["content"] == ""


@pytest.mark.parametrize("mode, shown", [(None, "644"), ("0644", "644"), ("755", "755"), ("0600", "600"), ("1777", "1777")])
def test_mode_is_octal_text(server, mode, shown):
    fields = {} if mode is None else {"mode": mode}
    server.line("write_file", path="/tmp/m", content="x", **fields)
    assert server.line("shell", command="stat -c %a /tmp/m")["stdout"] == f"{shown}\n"


@pytest.mark.parametrize("fields", [
    {"mode": "rwx"}, {"mode": "8"}, {"mode": ""}, {"mode": "77777"}, {"mode": 420}, {"encoding": "utf-16"},
    {"encoding": "base64", "content": "not base64!"}, {"encoding": "base64", "content": "QQ"},
    {"encoding": "base64", "content": "QQ=A"}, {"encoding": "base64", "content": "QR=="}])
def test_a_bad_request_writes_nothing(server, fields):
    answer = server.line("write_file", **{"path": "/tmp/none", "content": "x", **fields})
    assert answer["success"] is False and answer["error"]
    assert server.line("read_file", path="/tmp/none")["success"] is False


def test_parents_are_not_made(server):
    answer = server.line("write_file", path="/tmp/no/such", content="x")
    assert answer["success"] is False
    assert answer["error"] == "ENOENT: no such file or directory: /tmp/no/such"


def test_reading_what_is_not_there(server):
    answer = server.line("read_file", path="/no/such")
    assert answer["success"] is False and answer["content"] is None
    assert answer["error"] == "ENOENT: no such file or directory: /no/such"


def test_reading_what_is_no_text(server):
    server.line("shell", command=r"printf '\xff' > /tmp/f")
    answer = server.line("read_file", path="/tmp/f")
    assert answer["success"] is False and '"encoding":"base64"' in answer["error"]


# --- 4. reset


def test_reset_restores_the_state_at_start(server):
    server.line("shell", command="echo x > /tmp/x; cd /tmp; export A=1; sleep 1000 & sleep 1000 &")
    answer = server.line("reset")
    assert answer == {"type": "reset", "id": answer["id"], "success": True}
    answer = server.line("shell", command="ls /tmp; pwd; echo \"[$A]\"; jobs")
    assert answer["stdout"] == "/home/user\n[]\n"
    assert server.line("status")["processes"] <= 1


def test_reset_of_a_fresh_sandbox(server):
    assert server.line("reset")["success"] is True


# --- 5. status


def test_status_has_the_fields_of_the_specification(server):
    status = server.line("status")
    assert status["ready"] is True
    assert status["memory_limit_bytes"] == 67108864
    assert status["uptime_ms"] >= 0 and status["memory_used_bytes"] >= 0
    server.line("shell", command="echo 12345 > /tmp/x")
    after = server.line("status")
    assert after["files"] == status["files"] + 1 and after["file_bytes"] >= status["file_bytes"] + 6


def test_memory_limit_in_megabytes(start):
    assert start("--memory-limit", "128").line("status")["memory_limit_bytes"] == 128 << 20


# --- errors


def test_an_unknown_type(server):
    answer = server.line("no_such_type")
    assert answer["error"] == "Unknown type: no_such_type"


@pytest.mark.parametrize("type", [7, None, [], {}, True])
def test_a_type_that_is_no_string(server, type):
    server.send({"type": type, "id": "x"})
    answer = server.answer("x")
    assert answer["type"] == "error" and answer["error"]


@pytest.mark.parametrize("type, field", [
    ("shell", "command"), ("write_file", "path"), ("write_file", "content"), ("read_file", "path")])
def test_a_field_that_is_missing_or_wrong(server, type, field):
    fields = {"command": "true", "path": "/tmp/x", "content": "x"}
    for value in (None, 7, [], {}, True):
        answer = server.line(type, **{**fields, field: value})
        assert field in answer["error"]
        if type == "shell":
            assert answer["exit_code"] is None and answer["timed_out"] is False
        else:
            assert answer["success"] is False
    del fields[field]
    assert field in server.line(type, **fields)["error"]


@pytest.mark.parametrize("limit", [0, -1, 1.5, "100", 1e300])
def test_a_time_limit_out_of_range(server, limit):
    assert "time_limit_ms" in server.line("shell", command="true", time_limit_ms=limit)["error"]


@pytest.mark.parametrize("type", ["shell", "write_file", "read_file", "reset", "status"])
def test_the_id_is_required(server, type):
    server.send({"type": type, "command": "true", "path": "/tmp/x", "content": "x"})
    answer = server.next()
    assert answer["type"] == type and answer["id"] is None and "id" in answer["error"]
    server.send({"type": type, "command": "true", "path": "/tmp/x", "content": "x", "id": 7})
    answer = server.answer(7)
    assert answer["type"] == type and "id must be a string" == answer["error"]


def test_a_nul_in_a_command(server):
    assert "NUL" in server.line("shell", command="a\0b")["error"]


# --- the example of the specification


def test_the_example_session(start):
    server = start("--memory-limit", "128")
    server.send_bytes(b"""\
{"type":"shell","command":"echo 'Hello'","id":"1","time_limit_ms":1000}
{"type":"write_file","path":"/tmp/test","content":"data","id":"2"}
{"type":"shell","command":"cat /tmp/test","id":"3","time_limit_ms":1000}
{"type":"reset","id":"4"}
""")
    assert server.answer("1")["stdout"] == "Hello\n"
    assert server.answer("2")["success"] is True
    assert server.answer("3")["stdout"] == "data"
    assert server.answer("4")["success"] is True
