"""What goes both ways: processes, commands of the client, exports, storage."""
import io
import queue
import tarfile

import pytest

from rpc import PATIENCE_S, RpcError, decode, encode, needs_image

pytestmark = needs_image


# --- processes


def outputs(client, process, enough):
    """Output of a process, by stream, until `enough` says so."""
    seen = {"stdout": "", "stderr": ""}
    while not enough(seen):
        params = client.next()["params"]
        assert params["process_id"] == process
        seen[params["stream"]] += params["data"]
    return seen


def test_a_process_beside_run(client):
    id = client.call("process.start", command="read x; echo got $x; echo err >&2; exit 3")["processId"]
    assert client.out("echo beside") == "beside\n"
    wait = client.begin("process.wait", processId=id)
    listed = client.call("process.list")["processes"]
    assert [(p["processId"], p["running"], p["pty"]) for p in listed] == [(id, True, False)]
    client.call("process.write", processId=id, data="line\n")
    seen = outputs(client, id, lambda seen: seen["stdout"] and seen["stderr"])
    assert seen == {"stdout": "got line\n", "stderr": "err\n"}
    assert client.result(wait) == {"exitCode": 3}
    assert client.call("process.wait", processId=id) == {"exitCode": 3}
    assert client.call("process.list")["processes"][0]["exitCode"] == 3


def test_a_process_starts_while_a_command_runs(client):
    client.run("export A=before")
    run = client.begin("run", command="export A=meanwhile; echo; for ((;;)); do :; done", stream=True)
    assert client.next()["params"]["request_id"] == run
    id = client.call("process.start", command="echo $A; read x; exit $x")["processId"]
    assert outputs(client, id, lambda out: out["stdout"])["stdout"] == "before\n"
    client.call("process.write", processId=id, data="4\n")
    assert client.call("process.wait", processId=id) == {"exitCode": 4}
    error = client.fails("process.start", command="true", cwd="/nope")
    assert error.message == "ENOENT: /nope: No such file or directory"
    client.call("cancel", requestId=run)
    assert client.result(run)["exitCode"] == 130


def test_a_process_is_answered_before_its_output(client, monkeypatch):
    known, take = set(), client._take

    def look(message):
        if "result" in message:
            known.add(message["result"].get("processId"))
        elif "process_id" in message["params"]:
            assert message["params"]["process_id"] in known
        take(message)

    monkeypatch.setattr(client, "_take", look)
    run = client.begin("run", command="echo; for ((;;)); do :; done", stream=True)
    client.next()
    started = [client.begin("process.start", command="echo out") for _ in range(5)]
    processes = {client.result(id)["processId"] for id in started}
    assert {client.next()["params"]["process_id"] for _ in range(5)} == processes
    client.call("cancel", requestId=run)
    client.result(run)


def test_a_process_has_folder_and_variables(client):
    id = client.call("process.start", command="pwd; echo $A", cwd="/tmp", env={"A": "x y"})["processId"]
    assert outputs(client, id, lambda seen: seen["stdout"].count("\n") == 2)["stdout"] == "/tmp\nx y\n"


@pytest.mark.parametrize("pty", [False, True])
def test_all_output_of_a_process_arrives(client, pty):
    command = "head -c 30000000 /dev/zero | tr '\\0' x; echo end >&2"
    id = client.call("process.start", command=command, pty=pty)["processId"]
    seen = {"stdout": 0, "stderr": 0}
    while sum(seen.values()) < 30000004 + pty:
        params = client.next()["params"]
        seen[params["stream"]] += len(params["data"])
    assert seen == ({"stdout": 30000005, "stderr": 0} if pty else {"stdout": 30000000, "stderr": 4})
    assert client.call("process.wait", processId=id) == {"exitCode": 0}


def test_the_end_of_input_of_a_process(client):
    id = client.call("process.start", command="cat")["processId"]
    client.call("process.write", processId=id, data=encode(b"bytes"), encoding="base64", eof=True)
    assert client.call("process.wait", processId=id) == {"exitCode": 0}
    assert outputs(client, id, lambda seen: seen["stdout"])["stdout"] == "bytes"


def test_killing_a_process(client):
    id = client.call("process.start", command="echo begun; sleep 1000")["processId"]
    outputs(client, id, lambda seen: seen["stdout"])
    assert client.call("process.kill", processId=id, signal=9) == {"ok": True}
    assert client.call("process.wait", processId=id) == {"exitCode": 137}
    assert client.fails("process.kill", processId=id).message.startswith("ESRCH: ")


def test_tail_follows_a_file(client):
    client.run("seq 20 >f")
    id = client.call("process.start", command="exec tail -n 1 -f f")["processId"]

    def writes(text):
        seen = outputs(client, id, lambda seen: len(seen["stdout"]) >= len(text) or seen["stderr"])
        assert seen == {"stdout": text, "stderr": ""}

    writes("20\n")
    for more in ("21\n", "22\n23\n"):
        client.run(f"printf '{more}' >>f")
        writes(more)
    client.call("process.kill", processId=id)
    assert client.call("process.wait", processId=id) == {"exitCode": 143}
    assert client.other.empty()


def test_a_process_on_a_terminal(client):
    id = client.call("process.start", pty=True, rows=30, cols=100)["processId"]
    client.call("process.write", processId=id, data="stty size; tty\n")
    outputs(client, id, lambda seen: "30 100" in seen["stdout"] and "/dev/pts/" in seen["stdout"])
    assert client.call("process.resize", processId=id, rows=40, cols=90) == {"ok": True}
    client.call("process.write", processId=id, data="stty size; exit 5\n")
    outputs(client, id, lambda seen: "40 90" in seen["stdout"])
    assert client.call("process.wait", processId=id) == {"exitCode": 5}


def test_process_requests_do_not_wait_for_a_run(client):
    id = client.call("process.start", command="read x; echo got $x")["processId"]
    run = client.begin("run", command="sleep 1000")
    client.call("process.write", processId=id, data="now\n")
    assert outputs(client, id, lambda seen: seen["stdout"])["stdout"] == "got now\n"
    assert client.call("process.wait", processId=id) == {"exitCode": 0}
    client.call("cancel", requestId=run)
    client.result(run)


@pytest.mark.parametrize("method, params", [
    ("process.write", {"data": "x"}), ("process.resize", {"rows": 1, "cols": 1}), ("process.kill", {}), ("process.wait", {})])
def test_a_process_that_is_not_there(client, method, params):
    error = client.fails(method, processId=99, **params)
    assert error.code == 1 and error.message.startswith("ESRCH: ")


def test_bad_processes(client):
    assert client.fails("process.start").message == "Missing required param: command"
    assert client.fails("process.start", command="true", rows=0).code == -32602
    assert client.fails("process.start", command="true", cwd="/no/such").message.startswith("ENOENT: ")


def test_waiting_for_a_process_at_the_end(client):
    id = client.call("process.start", command="sleep 1000")["processId"]
    wait = client.begin("process.wait", processId=id)
    assert client.call("kill") == {"ok": True}
    assert client.answer(wait)["error"]["message"].startswith("ECANCELED: ")
    assert client.wait() == 0


def test_processes_belong_to_their_sandbox(client):
    child = client.call("sandbox.fork")["sandboxId"]
    id = client.call("process.start", command="echo x; sleep 1000", sandboxId=child)["processId"]
    params = client.next()["params"]
    assert params["sandbox_id"] == child and params["process_id"] == id
    assert client.call("process.list")["processes"] == []
    wait = client.begin("process.wait", processId=id, sandboxId=child)
    client.call("sandbox.destroy", sandboxId=child)
    assert client.answer(wait)["error"]["message"].startswith("ECANCELED: ")


# --- extensions


def with_extension(server, handler, **fields):
    server.handlers["extension.invoke"] = handler
    server.call("create", extensions=[{"name": "ext", **fields}], timeoutMs=60000)


def test_an_extension_is_a_command(server):
    seen = []

    def handler(params):
        seen.append(params)
        return {"result": {"stdout": "out\n", "stderr": "err\n", "exitCode": 3}}

    with_extension(server, handler)
    result = server.run("cd /tmp; export A=b; printf 'in\\xff' | ext one 'two three'")
    assert (result["stdout"], result["stderr"], result["exitCode"]) == ("out\n", "err\n", 3)
    params = seen[0]
    assert params["name"] == "ext" and params["args"] == ["one", "two three"]
    assert params["stdin"] == "in\ufffd" and decode(params["stdinBase64"]) == b"in\xff"
    assert params["env"]["A"] == "b" and params["cwd"] == "/tmp"


def test_an_extension_in_pipes_and_on_path(server):
    with_extension(server, lambda params: {"result": {"stdout": params["stdin"].upper(), "exitCode": 0}},
                   description="makes it loud", usage="ext < text", examples=["echo hi | ext"], category="text")
    assert server.out("echo hello | ext | tr L l") == "HEllO\n"
    assert server.out("which ext").strip().endswith("/ext")
    text = server.out("ext --help")
    for word in ("makes it loud", "ext < text", "echo hi | ext", "text"):
        assert word in text


def test_an_extension_that_fails(server):
    with_extension(server, lambda params: {"error": {"code": 1, "message": "cannot do it"}})
    result = server.run("ext; echo $?")
    assert result["stderr"] == "ext: cannot do it\n" and result["stdout"] == "1\n"


def test_an_extension_without_a_result(server):
    with_extension(server, lambda params: {"result": 7})
    result = server.run("ext")
    assert result["exitCode"] == 1 and result["stderr"].startswith("ext: ")


def test_an_extension_that_does_not_answer(server):
    with_extension(server, lambda params: None)
    result = server.run("ext; echo status $?", timeoutMs=5000)
    assert result["stdout"] == "status 1\n"
    assert result["stderr"] == "ext: no answer from the client within the time limit\n"


def test_cancelling_an_extension(server):
    import threading
    called = threading.Event()
    with_extension(server, lambda params: called.set())
    id = server.begin("run", command="ext")
    assert called.wait(60)
    server.call("cancel", requestId=id)
    assert server.result(id)["exitCode"] == 130
    assert server.out("echo next") == "next\n"


def test_an_extension_when_the_client_goes(server):
    import threading
    called = threading.Event()
    with_extension(server, lambda params: called.set())
    id = server.begin("run", command="ext")
    assert called.wait(60)
    server.process.stdin.close()
    assert server.result(id)["exitCode"] in (1, 130)
    assert server.wait() == 0


def test_extensions_in_forks(server):
    with_extension(server, lambda params: {"result": {"stdout": "called\n", "exitCode": 0}})
    child = server.call("sandbox.fork")["sandboxId"]
    assert server.out("ext", sandboxId=child) == "called\n"


def test_answers_that_nobody_waits_for(client):
    for id in ("cb_1", "cb_99", "cb_x"):
        client.send({"jsonrpc": "2.0", "id": id, "result": {}})
        client.send({"jsonrpc": "2.0", "id": id, "error": {"code": 1, "message": "x"}})
    client.call("status")
    assert client.other.empty() and not client.answers


def test_python_packages(server):
    server.call("create", pythonPath=["/workspace/lib"], extensions=[
        {"name": "tool", "pythonPackage": {"version": "1.2", "summary": "a tool",
                                            "files": {"__init__.py": "x = 1\n", "sub/m.py": ""}}}])
    assert server.call("env.get", name="PYTHONPATH") == {"value": "/workspace/lib:/usr/lib/python"}
    assert server.out("cat /usr/lib/python/tool/__init__.py; ls /usr/lib/python/tool/sub") == "x = 1\nm.py\n"
    metadata = server.out("cat /usr/lib/python/tool-1.2.dist-info/METADATA").splitlines()
    assert {"Name: tool", "Version: 1.2", "Summary: a tool"} <= set(metadata)
    assert server.run("tool")["exitCode"] == 127, "it has no command"


# --- mounts, tools, history


def test_mount(client):
    files = {"a.txt": encode(b"one"), "sub/b.txt": encode(b"two")}
    assert client.call("mount", path="/mnt/x", files=files) == {"ok": True}
    assert client.out("cat /mnt/x/a.txt /mnt/x/sub/b.txt") == "onetwo"
    assert client.run("echo x > /mnt/x/new")["exitCode"] != 0
    assert client.fails("mount", path="/mnt/x", files={}).message.startswith("EBUSY: ")
    assert client.fails("mount", path="/mnt/y", files={"a": "?"}).message == "EINVAL: not base64: a"
    assert client.fails("mount", path="/mnt/y", files={"../a": ""}).message.startswith("EINVAL: ")


def test_mounts_of_create(server):
    server.call("create", mounts=[{"path": "/data", "files": {"x": encode(b"x" * 1000)}, "writable": True},
                                  {"path": "/other", "files": {"y": ""}}])
    assert server.out("wc -c < /data/x; echo new > /data/new; cat /data/new; ls /other") == "1000\nnew\ny\n"


def test_allow_tools(server):
    server.call("create", allowTools=["ls", "cat"])
    assert server.run("ls / | cat")["exitCode"] == 0
    result = server.run("sort /etc/passwd")
    assert (result["exitCode"], result["errorClass"]) == (126, "CAPABILITY_DENIED")


def test_history(client):
    client.run("echo one"), client.run("echo two")
    entries = client.call("shell.history.list")["entries"]
    assert [entry["command"] for entry in entries] == ["echo one", "echo two"]
    assert [entry["index"] for entry in entries] == [1, 2]
    assert client.call("shell.history.clear") == {"ok": True}
    assert client.call("shell.history.list") == {"entries": []}


# --- exports


def fill(client, **params):
    client.run("echo kept > /tmp/x; export A=b; v=1; f() { echo f; }; cd /tmp", **params)
    client.call("files.rm", path="/etc/passwd", **params)


def check(client, **params):
    assert client.out("pwd; cat /tmp/x; echo $A $v; f; ls /etc/passwd", **params) == "/tmp\nkept\nb 1\nf\n"


def test_export_and_import(client, start):
    fill(client)
    data = client.call("persistence.export")["data"]
    names = tarfile.open(fileobj=io.BytesIO(decode(data))).getnames()
    assert "tmp/x" in [name.lstrip("./") for name in names]
    other = start()
    other.call("create")
    other.run("echo gone > /tmp/other")
    assert other.call("persistence.import", data=data) == {"ok": True}
    check(other)
    assert other.run("ls /tmp/other")["exitCode"] != 0


def test_export_and_import_in_parts(client, start):
    fill(client)
    whole = client.call("persistence.export")["data"]
    part = client.call("persistence.export", partBytes=1000)
    parts = [part]
    while not part["last"]:
        part = client.call("persistence.export", transferId=part["transferId"], seq=part["seq"] + 1)
        parts.append(part)
    assert [p["seq"] for p in parts] == list(range(len(parts))) and len(parts) > 2
    assert len(b"".join(decode(p["data"]) for p in parts)) == len(decode(whole))
    id = parts[0]["transferId"]
    assert client.call("persistence.export", transferId=id, seq=0)["data"] == parts[0]["data"]
    assert client.fails("persistence.export", transferId=id, seq=len(parts)).code == -32602
    assert client.fails("persistence.export", transferId="x").message == "Unknown transferId: x"
    other = start()
    other.call("create")
    for p in parts:
        other.call("persistence.import", data=p["data"], transferId="mine", seq=p["seq"], last=p["last"])
    check(other)
    assert other.fails("persistence.import", data="", transferId="mine", seq=1).message == "Unknown transferId: mine"


ATTRIBUTES = """python3 -c '
import os
for name in ("/tmp/d", "/tmp/f", "/tmp"):
    print(*[(each, os.getxattr(name, each)) for each in sorted(os.listxattr(name))])' """


def test_export_and_import_keep_extended_attributes(client, start):
    client.run("""mkdir /tmp/d; echo x >/tmp/f; python3 -c '
import os
os.setxattr("/tmp/d", "user.a", bytes(range(256)))
os.setxattr("/tmp/f", "user.of a=file\u00e9", b"")
os.setxattr("/tmp/f", "user.%41", b"1")' """)
    expected = f"('user.a', {bytes(range(256))})\n('user.%41', b'1') ('user.of a=file\u00e9', b'')\n\n"
    assert client.out(ATTRIBUTES) == expected
    data = client.call("persistence.export")["data"]
    other = start()
    other.call("create")
    other.call("persistence.import", data=data)
    assert other.out(ATTRIBUTES) == expected
    client.run("""python3 -c 'import os; os.removexattr("/tmp/d", "user.a"); os.setxattr("/tmp", "user.b", b"2")' """)
    client.call("persistence.import", data=data)
    assert client.out(ATTRIBUTES) == expected


def test_an_import_is_bounded_by_what_the_sandbox_may_hold(server):
    server.call("create", fsLimitBytes=1 << 20, limits={"fileCount": 100})
    part = encode(bytes(5 << 20))
    for seq in range(3):
        server.call("persistence.import", data=part, transferId="t", seq=seq)
    error = server.fails("persistence.import", data=part, transferId="t", seq=3)
    assert (error.code, error.message) == (1, "EFBIG: the import is too large")
    assert server.fails("persistence.import", data=part, transferId="t", seq=4).message == "Unknown transferId: t"


def test_parts_in_the_wrong_order(client):
    client.call("persistence.import", data="", transferId="t", seq=0)
    error = client.fails("persistence.import", data="", transferId="t", seq=2)
    assert (error.code, error.message) == (-32602, "seq must be 1")


@pytest.mark.parametrize("time", [-10**12, -9223372036, -1, 9223372036, 10**12])
def test_times_that_are_far_away(client, time):
    last = max(-9223372036, min(time, 9223372036))
    look = "stat -c %Y /tmp/x"
    assert client.out(f"touch -d @{time} /tmp/x && {look}") == f"{last}\n"
    data = client.call("persistence.export")["data"]
    client.run("rm /tmp/x")
    client.call("persistence.import", data=data)
    assert client.out(look) == f"{last}\n"


@pytest.mark.parametrize("data", ["", encode(b"nonsense"), encode(bytes(10240))])
def test_a_bad_import_changes_nothing(client, data):
    fill(client)
    assert client.fails("persistence.import", data=data).code == 1
    check(client)
    assert client.fails("persistence.import", data="?").message == "data is not base64"


# --- storage


def test_offload_and_rehydrate(server):
    stored = {}

    def save(params):
        stored[params["sandbox_id"]] = params["state"]
        return {"result": {}}

    server.handlers["storage.save"] = save
    server.handlers["storage.load"] = lambda params: {"result": {"state": stored[params["sandbox_id"]]}}
    server.call("create", storage=True)
    child = server.call("sandbox.create")["sandboxId"]
    for params in ({}, {"sandboxId": child}):
        fill(server, **params)
        assert server.call("offload", **params) == {"ok": True}
        error = server.fails("run", command="true", **params)
        assert error.code == 1 and error.message.startswith("EAGAIN: ")
        assert server.call("rehydrate", **params) == {"ok": True}
        check(server, **params)
        assert server.call("rehydrate", **params) == {"ok": True}, "it is there"
    assert set(stored) == {"root", child}


def test_requests_wait_while_it_is_stored(server):
    stored = {}

    def save(params):
        stored.update(params)
        return {"result": {}}

    server.handlers["storage.save"] = save
    server.handlers["storage.load"] = lambda params: {"result": {"state": stored["state"]}}
    server.call("create", storage=True)
    ids = [server.begin("run", command="echo 1 > /tmp/x"), server.begin("offload"), server.begin("rehydrate"),
           server.begin("run", command="cat /tmp/x")]
    assert [server.answer(id).get("result", {}).get("stdout") for id in ids] == ["", None, None, "1\n"]


def test_it_is_destroyed_while_it_is_stored(server):
    saves = queue.Queue()
    server.handlers["storage.save"] = lambda params: saves.put(params)
    server.call("create", storage=True)
    child = server.call("sandbox.create")["sandboxId"]
    stored = server.begin("offload", sandboxId=child)
    saves.get(timeout=PATIENCE_S)
    destroyed = server.begin("sandbox.destroy", sandboxId=child)
    late = [server.begin("run", command="true", sandboxId=child) for _ in range(3)]
    server.call("status")
    server.send({"jsonrpc": "2.0", "id": "cb_1", "result": {}})
    assert [server.result(id) for id in (stored, destroyed)] == [{"ok": True}] * 2
    for id in late:
        with pytest.raises(RpcError, match="Unknown sandboxId"):
            server.result(id)
    assert server.call("sandbox.list") == []


def test_storage_that_fails(server):
    server.handlers["storage.save"] = lambda params: {"error": {"code": 1, "message": "disk full"}}
    server.call("create", storage=True)
    server.run("echo kept > /tmp/x")
    error = server.fails("offload")
    assert (error.code, error.message) == (1, "EIO: storage.save: disk full")
    assert server.out("cat /tmp/x") == "kept\n"
    server.handlers["storage.save"] = lambda params: {"result": {}}
    server.call("offload")
    for answer in ({"error": {"message": "lost"}}, {"result": {}}, {"result": {"state": "?"}},
                   {"result": {"state": encode(b"nonsense")}}):
        server.handlers["storage.load"] = lambda params, answer=answer: answer
        with pytest.raises(RpcError):
            server.call("rehydrate")
    assert server.fails("run", command="true").message.startswith("EAGAIN: ")


def test_offload_without_storage(client):
    assert client.fails("offload").message.startswith("EOPNOTSUPP: ")


# --- the command `extensions`

EXTENSIONS = [
    {"name": "qr", "description": "Makes QR codes", "usage": "qr TEXT", "examples": ["qr hello", "qr 'a b'"],
     "category": "media", "pythonPackage": {"version": "1.2.3", "summary": "QR codes", "files": {"__init__.py": ""}},
     "hasCommand": True},
    {"name": "shout", "description": "Prints in capitals"},
    {"name": "plain"}]


@pytest.fixture
def extended(server):
    server.call("create", extensions=EXTENSIONS)
    return server


def test_extensions_lie_in_usr_bin(extended):
    assert extended.out("type -P qr shout extensions") == "/usr/bin/qr\n/usr/bin/shout\n/usr/bin/extensions\n"


def test_extensions_list(extended):
    assert extended.out("extensions list") == "qr     Makes QR codes\nshout  Prints in capitals\nplain\n"


def test_extensions_info(extended):
    assert extended.out("extensions info qr") == (
        "qr: Makes QR codes\nusage: qr TEXT\ncategory: media\nexamples:\n  qr hello\n  qr 'a b'\n"
        "python package: qr 1.2.3\nsummary: QR codes\n")
    assert extended.out("extensions info plain") == "plain\n"


def test_extensions_help(extended):
    for command in ("extensions --help", "extensions"):
        result = extended.run(command)
        assert result["exitCode"] == 0
        assert "extensions list" in result["stdout"] and "extensions info NAME" in result["stdout"]


@pytest.mark.parametrize("command, text", [
    ("extensions info nope", "there is no extension 'nope'"), ("extensions nope", "unknown argument 'nope'"),
    ("extensions info", "unknown argument 'info'"), ("extensions list x", "unknown argument 'list'")])
def test_extensions_that_are_not_there(extended, command, text):
    result = extended.run(command)
    assert (result["exitCode"], result["stdout"]) == (1, "")
    assert text in result["stderr"]


def test_an_extension_of_that_name_comes_first(server):
    server.handlers["extension.invoke"] = lambda params: {"result": {"stdout": "mine\n", "exitCode": 0}}
    server.call("create", extensions=[{"name": "extensions"}])
    assert server.out("extensions list") == "mine\n"


def test_an_extension_with_the_name_of_a_program(server):
    server.handlers["extension.invoke"] = lambda params: {"result": {"stdout": "mine\n", "exitCode": 0}}
    server.call("create", extensions=[{"name": "seq"}])
    assert server.out("seq 3; /usr/bin/seq 1") == "mine\n1\n"
