"""Seeds 000, 001 and 003: each requirement, by the name it has there."""
import pytest

import wasm
from rpc import decode, encode, needs_image
from wasm import FUNCTION, I32, call, const, leb, module, signature

pytestmark = needs_image


def tool(status):
    """A program that exits with this status."""
    return module(
        const(94) + const(status) + const(0) * 5 + call(0) + wasm.DROP,
        types=[signature([I32] * 7, [I32])],
        imports=[("sys", "call", FUNCTION, leb(1))])


def write(client, path, size=1, **params):
    return client.call("files.write", path=path, data=encode(bytes(size)), **params)


def full(client, method, **params):
    """The error of something that has no room."""
    error = client.fails(method, **params)
    assert error.code == 1 and error.message.startswith("ENOSPC: "), error.message
    return error.message


# --- seed 001, task 1: file-count tracking


def test_rejects_file_creation_when_file_count_limit_reached(server):
    server.call("create", limits={"fileCount": 3})
    for name in "abc":
        write(server, f"/tmp/{name}.txt")
    message = full(server, "files.write", path="/tmp/d.txt", data="")
    assert message.startswith("ENOSPC: file count limit reached (max: 3)")


def test_rejects_mkdir_when_file_count_limit_reached(server):
    server.call("create", limits={"fileCount": 1})
    server.call("files.mkdir", path="/tmp/sub")
    full(server, "files.mkdir", path="/tmp/sub2")
    full(server, "files.symlink", target="x", path="/tmp/link")


def test_allows_creation_after_deletion_frees_a_slot(server):
    server.call("create", limits={"fileCount": 1})
    write(server, "/tmp/a.txt")
    full(server, "files.write", path="/tmp/b.txt", data="")
    server.call("files.rm", path="/tmp/a.txt")
    write(server, "/tmp/b.txt")
    assert decode(server.call("files.read", path="/tmp/b.txt")["data"]) == b"\0"


def test_overwriting_existing_file_does_not_increment_count(server):
    server.call("create", limits={"fileCount": 1})
    write(server, "/tmp/a.txt", 1)
    write(server, "/tmp/a.txt", 2)
    assert server.call("files.stat", path="/tmp/a.txt")["size"] == 2


def test_no_small_limit_when_file_count_is_undefined(client):
    for i in range(100):
        write(client, f"/tmp/f{i}.txt")
    assert client.call("limits.get")["fileCount"] == 10000


def test_the_guest_meets_the_file_count_limit_too(server):
    server.call("create", limits={"fileCount": 2})
    result = server.run("cd /tmp; touch a b c")
    assert result["exitCode"] != 0 and "No space left" in result["stderr"]
    assert result["errorClass"] == "LIMIT_EXCEEDED" and result["limit"] == "files"


# --- seed 001, task 2: clones keep limits and usage


def fork(client, **params):
    return client.call("sandbox.fork", **params)["sandboxId"]


def test_propagates_fs_limit_bytes_to_the_clone(server):
    server.call("create", fsLimitBytes=1024)
    write(server, "/tmp/a.txt", 800)
    child = fork(server)
    full(server, "files.write", path="/tmp/b.txt", data=encode(bytes(300)), sandboxId=child)
    write(server, "/tmp/b.txt", 224, sandboxId=child)
    assert server.call("status", sandboxId=child)["fileBytes"] == 1024
    assert server.call("status")["fileBytes"] == 800


def test_propagates_max_file_count_to_the_clone(server):
    server.call("create", limits={"fileCount": 2})
    write(server, "/tmp/a.txt"), write(server, "/tmp/b.txt")
    child = fork(server)
    full(server, "files.write", path="/tmp/c.txt", data="", sandboxId=child)


def test_propagates_writable_paths_to_the_clone(server):
    server.call("create", writablePaths=["/tmp"])
    child = fork(server)
    error = server.fails("files.write", path="/home/user/test.txt", data="", sandboxId=child)
    assert error.code == 1 and error.message.startswith("EROFS: ")
    write(server, "/tmp/test.txt", sandboxId=child)
    assert server.run("echo x > /home/user/x", sandboxId=child)["exitCode"] != 0
    assert server.run("echo x > /tmp/x", sandboxId=child)["exitCode"] == 0


# --- seed 001, task 4: limits of run


def test_rejects_command_exceeding_command_bytes_limit(server):
    server.call("create", limits={"commandBytes": 10})
    result = server.run("echo this is a long command that exceeds the limit")
    assert result["exitCode"] == 1 and result["errorClass"] == "LIMIT_EXCEEDED"
    assert result["stderr"].strip() == "command too long (50 bytes, limit: 10)"
    assert result["executionTimeMs"] == 0 and result["stdout"] == ""
    assert server.out("echo short") == "short\n"


def test_the_command_limit_counts_bytes(server):
    server.call("create", limits={"commandBytes": 10})
    assert server.out("echo \u00e9\u00e9") == "\u00e9\u00e9\n"
    assert "11 bytes" in server.run("echo \u00e9\u00e9\u00e9")["stderr"]


def test_truncates_stdout_exceeding_stdout_bytes_limit(server):
    server.call("create", limits={"stdoutBytes": 5})
    result = server.run("echo hello world; exit 3")
    assert result["stdout"] == "hello" and result["exitCode"] == 3
    assert result["truncated"] == {"stdout": True, "stderr": False}


def test_truncates_stderr_exceeding_stderr_bytes_limit(server):
    server.call("create", limits={"stderrBytes": 5})
    result = server.run("echo error message >&2")
    assert result["stderr"] == "error" and result["truncated"] == {"stdout": False, "stderr": True}


def test_truncation_never_splits_a_character(server):
    server.call("create", limits={"stdoutBytes": 6})
    assert server.run("echo hello\u00e9")["stdout"] == "hello"


def test_output_up_to_the_limit_is_not_truncated(server):
    server.call("create", limits={"stdoutBytes": 6})
    assert "truncated" not in server.run("echo hello")


def test_passes_file_count_limit_to_vfs(server):
    server.call("create", limits={"fileCount": 1})
    write(server, "/tmp/a.txt")
    full(server, "files.write", path="/tmp/b.txt", data="")


def test_sets_error_class_timeout_on_timeout(server):
    server.call("create", timeoutMs=2000)
    result = server.run("echo begun; while :; do :; done")
    assert result["exitCode"] == 124 and result["errorClass"] == "TIMEOUT"
    assert result["stdout"] == "begun\n" and result["stderr"].endswith("command timed out\n")
    assert result["executionTimeMs"] == 2000
    assert server.out("echo next") == "next\n"


def test_timeout_of_one_run(client):
    result = client.run("sleep 1000", timeoutMs=50)
    assert (result["exitCode"], result["executionTimeMs"]) == (124, 50)


def test_no_truncation_when_output_is_within_limits(server):
    server.call("create", limits={"stdoutBytes": 1000000})
    assert "truncated" not in server.run("echo hello")


def test_past_its_limit_output_is_discarded_and_the_command_runs_on(client):
    result = client.run("head -c 100000000 /dev/zero | tr '\\0' x; echo $? >&2")
    assert result["exitCode"] == 0 and result["stderr"] == "0\n"
    assert result["stdout"] == "x" * 1048576 and result["truncated"]["stdout"] is True


# --- seed 001, task 5, and seed 000: the size of a request


def test_the_default_line_is_8_mb(client):
    assert client.call("limits.get")["rpcBytes"] == 8388608
    write(client, "/tmp/large", 6000000)
    assert client.call("files.stat", path="/tmp/large")["size"] == 6000000


# --- seed 001, task 6: fork routing


def test_sandbox_fork_returns_a_sandbox_id(client):
    assert isinstance(fork(client), str)


def test_routes_run_to_forked_sandbox_via_sandbox_id(client):
    client.run("a=root; echo root > /tmp/x")
    child = fork(client)
    client.run("a=child; echo child > /tmp/x", sandboxId=child)
    assert client.out("cat /tmp/x; echo $a", sandboxId=child) == "child\nchild\n"
    assert client.out("cat /tmp/x; echo $a") == "root\nroot\n"


def test_routes_every_method_to_forked_sandbox_via_sandbox_id(client):
    child = fork(client)
    write(client, "/tmp/test.txt", 3, sandboxId=child)
    assert decode(client.call("files.read", path="/tmp/test.txt", sandboxId=child)["data"]) == bytes(3)
    assert len(client.call("files.list", path="/tmp", sandboxId=child)["entries"]) == 1
    client.call("files.mkdir", path="/tmp/d", sandboxId=child)
    client.call("env.set", name="A", value="child", sandboxId=child)
    assert client.call("env.get", name="A", sandboxId=child) == {"value": "child"}
    id = client.call("snapshot.create", sandboxId=child)["id"]
    client.call("files.rm", path="/tmp/d", sandboxId=child)
    client.call("snapshot.restore", id=id, sandboxId=child)
    assert client.call("files.stat", path="/tmp/d", sandboxId=child)["type"] == "dir"
    assert client.call("files.list", path="/tmp") == {"entries": []}
    assert client.call("env.get", name="A") == {"value": None}


def test_routes_to_root_sandbox_when_no_sandbox_id(client):
    fork(client)
    assert client.out("echo hello") == client.out("echo hello", sandboxId=None) == "hello\n"


@pytest.mark.parametrize("id", ["999", "", "0", "01", "x", "1 ", "-1", "root", "9" * 400, "\u0000"])
def test_rejects_unknown_sandbox_id(client, id):
    fork(client)
    error = client.fails("run", command="echo hello", sandboxId=id)
    assert error.code == -32602 and error.message.startswith("Unknown sandboxId: ")


@pytest.mark.parametrize("id", [1, 1.0, True, {}, ["1"]])
def test_rejects_a_sandbox_id_that_is_no_string(client, id):
    fork(client)
    error = client.fails("run", command="echo hello", sandboxId=id)
    assert (error.code, error.message) == (-32602, "sandboxId must be a string")


def test_sandbox_fork_from_a_fork_works(client):
    client.run("echo 0 >> /tmp/x")
    first = fork(client)
    client.run("echo 1 >> /tmp/x", sandboxId=first)
    second = fork(client, sandboxId=first)
    assert second != first
    assert client.out("cat /tmp/x", sandboxId=second) == "0\n1\n"


def test_sandbox_destroy_removes_a_fork(client):
    child = fork(client)
    assert client.call("sandbox.destroy", sandboxId=child) == {"ok": True}
    error = client.fails("run", command="echo hello", sandboxId=child)
    assert (error.code, error.message) == (-32602, f"Unknown sandboxId: {child}")
    assert fork(client) != child, "ids are never reused"


def test_sandbox_destroy_requires_sandbox_id(client):
    error = client.fails("sandbox.destroy")
    assert (error.code, error.message) == (-32602, "Missing required param: sandboxId")


def test_sandbox_destroy_of_an_unknown_one(client):
    error = client.fails("sandbox.destroy", sandboxId="7")
    assert (error.code, error.message) == (-32602, "Unknown sandboxId: 7")


def test_sandbox_destroy_is_served_in_order(client):
    child = fork(client)
    run = client.begin("run", command="echo served", sandboxId=child)
    destroy = client.begin("sandbox.destroy", sandboxId=child)
    after = client.begin("run", command="true", sandboxId=child)
    assert client.result(run)["stdout"] == "served\n"
    assert client.result(destroy) == {"ok": True}
    assert client.answer(after)["error"]["message"] == f"Unknown sandboxId: {child}"


def test_forks_are_independent_of_their_parents_life(client):
    first = fork(client)
    client.run("echo kept > /tmp/x", sandboxId=first)
    second = fork(client, sandboxId=first)
    client.call("sandbox.destroy", sandboxId=first)
    assert client.out("cat /tmp/x", sandboxId=second) == "kept\n"


def test_kill_destroys_all_forks(client):
    child = fork(client)
    runs = [client.begin("run", command="echo begun; sleep 1000", stream=True, sandboxId=id) for id in (child, None)]
    assert {client.next()["params"]["data"] for _ in runs} == {"begun\n"}
    assert client.call("kill") == {"ok": True}
    for id in runs:
        assert client.result(id)["exitCode"] == 130
    assert client.wait() == 0


def test_kill_before_create(server):
    assert server.call("kill") == {"ok": True}
    assert server.wait() == 0


# --- seed 001, task 7: what run passes through


def test_passes_through_truncated_and_error_class_fields(server):
    server.call("create", limits={"stdoutBytes": 10}, timeoutMs=2000)
    result = server.run("printf %0100d 0; sleep 1000")
    assert result["exitCode"] == 124 and result["errorClass"] == "TIMEOUT"
    assert result["truncated"] == {"stdout": True, "stderr": False}


def test_omits_truncated_when_not_present(client):
    result = client.run("echo hello")
    assert "truncated" not in result and "errorClass" not in result


# --- seed 001, task 8: what the Python client sends and expects


def test_the_python_client(server, tmp_path):
    (tmp_path / "shell.wasm").write_bytes(tool(0))
    params = {"wasmDir": str(tmp_path), "shellWasmPath": str(tmp_path / "shell.wasm"), "timeoutMs": 30000,
              "fsLimitBytes": 256 << 20}
    assert server.call("create", **params) == {"ok": True}
    result = server.run("echo hi")
    assert {"stdout", "stderr", "exitCode", "executionTimeMs"} <= set(result)
    assert isinstance(server.call("snapshot.create")["id"], str)
    server.send({"jsonrpc": "2.0", "id": 100, "method": "snapshot.create", "params": {}})
    assert "id" in server.result(100)


# --- seed 000


def test_create_twice(client):
    error = client.fails("create")
    assert (error.code, error.message) == (-32600, "Sandbox already created")


@pytest.mark.parametrize("method, params", [
    ("run", {"command": "true"}), ("files.read", {"path": "/x"}), ("sandbox.fork", {}), ("sandbox.create", {}),
    ("sandbox.list", {}), ("sandbox.destroy", {"sandboxId": "1"}), ("cancel", {}), ("limits.get", {}), ("env.list", {}),
    ("process.list", {}), ("snapshot.create", {})])
def test_nothing_works_before_create(server, method, params):
    error = server.fails(method, **params)
    assert (error.code, error.message) == (-32600, "Sandbox not created")


# --- seed 003: the sandbox API


def test_create_discovers_tools(server, tmp_path):
    (tmp_path / "five.wasm").write_bytes(tool(5))
    (tmp_path / "true-cmd.wasm").write_bytes(tool(6))
    (tmp_path / "false-cmd.wasm").write_bytes(tool(7))
    (tmp_path / "ls.wasm").write_bytes(tool(8))
    (tmp_path / "README").write_text("no program")
    server.call("create", wasmDir=str(tmp_path))
    assert server.run("five")["exitCode"] == 5
    assert server.run("env true")["exitCode"] == 6
    assert server.run("env false")["exitCode"] == 7
    assert server.run("ls")["exitCode"] == 8, "before the built-in ones"
    assert server.run("cat /dev/null")["exitCode"] == 0, "the others are there"
    assert server.run("true-cmd")["exitCode"] == 127


def test_create_without_wasm_dir(client):
    assert client.out("ls / | grep -c .") != "0\n"


def test_create_with_a_shell_that_is_not_there(server):
    for name in ("shellWasmPath", "wasmDir"):
        error = server.fails("create", **{name: "/no/such"})
        assert (error.code, error.message) == (1, "ENOENT: no such file or directory: /no/such")
    server.call("create")


def test_run_echo_hello(client):
    assert client.out("echo hello") == "hello\n"


def test_write_file_then_run_cat(client):
    client.call("files.write", path="/tmp/x", data=encode(b"data"))
    assert client.out("cat /tmp/x") == "data"


def test_set_env_flows_through_to_commands(client):
    client.call("env.set", name="A", value="b")
    assert client.out("printenv A") == "b\n"


def test_destroy_is_idempotent(client):
    child = fork(client)
    for _ in range(3):
        assert client.call("sandbox.destroy", sandboxId=child) == {"ok": True}
    assert client.fails("files.list", path="/", sandboxId=child).code == -32602


def test_vfs_limit(server):
    server.call("create", fsLimitBytes=1 << 20)
    full(server, "files.write", path="/tmp/x", data=encode(bytes(2 << 20)))
    write(server, "/tmp/x", 1 << 19)
    result = server.run("head -c 2000000 /dev/zero > /tmp/y")
    assert result["exitCode"] != 0 and result["limit"] == "file_bytes"


def test_pipelines_chaining_and_python(client):
    assert client.out("printf 'b\\na\\n' | sort | head -n 1 && echo and || echo or; echo end") == "a\nand\nend\n"
    assert client.out("echo 6 | python3 -c 'print(7 * int(input()))'", timeoutMs=120000) == "42\n"


# --- later clients: sandbox.create, sandbox.list, sandbox.remove


def test_sandbox_create_list_remove(client):
    client.run("echo root > /tmp/x")
    first = client.call("sandbox.create", label="one \u00e9")["sandboxId"]
    second = client.call("sandbox.create")["sandboxId"]
    assert client.call("files.list", path="/tmp", sandboxId=first) == {"entries": []}
    listed = {entry["sandboxId"]: entry for entry in client.call("sandbox.list")}
    assert set(listed) == {first, second}
    assert listed[first]["label"] == "one \u00e9" and "label" not in listed[second]
    assert listed[first]["createdAt"].endswith("Z")
    assert client.call("sandbox.remove", sandboxId=first) == {"ok": True}
    assert [entry["sandboxId"] for entry in client.call("sandbox.list")] == [second]


def test_sandboxes_run_side_by_side(client):
    """Each waits for the other: they would hang if they ran in turn."""
    ids = [client.call("sandbox.create")["sandboxId"] for _ in range(4)]
    runs = [client.begin("run", command="echo begun; sleep 1000", stream=True, sandboxId=id) for id in ids]
    assert [client.next()["params"]["data"] for _ in ids] == ["begun\n"] * 4
    for id in ids:
        client.call("cancel", sandboxId=id)
    for run in runs:
        assert client.result(run)["exitCode"] == 130


def test_sandbox_create_has_the_parameters_of_create(server):
    server.call("create", limits={"fileCount": 7}, timeoutMs=1234, env={"A": "b"})
    id = server.call("sandbox.create")["sandboxId"]
    limits = server.call("limits.get", sandboxId=id)
    assert limits["fileCount"] == 7 and limits["timeoutMs"] == 1234
    assert server.out("echo $A", sandboxId=id) == "b\n"
