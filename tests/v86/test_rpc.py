"""JSON-RPC on the x86 machine."""
from rpc import decode, encode


def test_a_run_has_its_own_folder_variables_and_input(machine):
    answer = machine.run("cat; pwd; echo $A; x=1", cwd="/usr", env={"A": "it's"}, stdin="in\n")
    assert (answer["exitCode"], answer["stdout"], answer["stderr"]) == (0, "in\n/usr\nit's\n", "")
    assert machine.run("pwd; echo [$A]")["stdout"] == "/root\n[]\n"
    assert machine.run("true", cwd="/no/such")["exitCode"] == 126


def test_much_input_reaches_the_command(machine):
    data = bytes(range(256)) * 8192
    answer = machine.run("md5sum; printf '\\377' >&2", stdin=encode(data), encoding="base64")
    import hashlib
    assert decode(answer["stdout"]).split()[0].decode() == hashlib.md5(data).hexdigest()
    assert decode(answer["stderr"]) == b"\xff"
    assert machine.run("head -c 1", stdin="y" * 300000)["stdout"] == "y"


def test_output_is_streamed(machine):
    id = machine.begin("run", command="echo one; echo two >&2", stream=True)
    texts = {1: "", 2: ""}
    while texts != {1: "one\n", 2: "two\n"}:
        params = machine.next()["params"]
        texts[{"stdout": 1, "stderr": 2}[params["stream"]]] += params["data"]
    answer = machine.result(id)
    assert (answer["stdout"], answer["stderr"]) == ("one\n", "two\n")


def test_a_time_limit_and_cancel(machine):
    answer = machine.run("sleep 1000", timeoutMs=1000)
    assert (answer["exitCode"], answer["errorClass"]) == (124, "TIMEOUT")
    first = machine.begin("run", command="echo begun; sleep 1000", stream=True)
    waiting = machine.begin("run", command="echo no")
    assert machine.next()["params"]["data"] == "begun\n"
    assert machine.call("cancel", requestId=waiting)["cancelled"] is True
    assert machine.call("cancel")["cancelled"] is True
    for id in first, waiting:
        answer = machine.result(id)
        assert (answer["exitCode"], answer["errorClass"]) == (130, "CANCELLED")
    assert machine.call("cancel")["cancelled"] is False


def test_files(machine):
    assert machine.call("files.write", path="/tmp/f", data=encode(b"abcdef"), mode="0600") == {"ok": True}
    assert decode(machine.call("files.read", path="/tmp/f")["data"]) == b"abcdef"
    assert decode(machine.call("files.read", path="/tmp/f", offset=2, length=3)["data"]) == b"cde"
    assert machine.fails("files.read", path="/none").message.startswith("ENOENT")


def test_parts_of_files(machine):
    call = machine.call
    call("files.write", path="/tmp/a/b/f", data=encode(b"abc"), parents=True, mode="0600")
    call("files.write", path="/tmp/a/b/f", data=encode(b"def"), append=True)
    call("files.write", path="/tmp/a/b/f", data=encode(b"XY"), offset=2)
    assert decode(call("files.read", path="/tmp/a/b/f")["data"]) == b"abXYef"
    call("files.write", path="/tmp/a/b/f", data=encode(b"!"), offset=8)
    assert decode(call("files.read", path="/tmp/a/b/f", offset=4)["data"]) == b"ef\0\0!"
    assert decode(call("files.read", path="/tmp/a/b/f", offset=100)["data"]) == b""
    assert decode(call("files.read", path="/tmp/a/b/f", length=0)["data"]) == b""
    assert call("files.stat", path="/tmp/a/b/f")["mode"] == 0o600
    call("files.write", path="/tmp/a/b/f", data=encode(b"new"))
    assert decode(call("files.read", path="/tmp/a/b/f")["data"]) == b"new"
    assert call("files.stat", path="/tmp/a/b/f")["mode"] == 0o600
    assert machine.fails("files.write", path="/tmp/none/f", data="").message.startswith("ENOENT")


def test_reset_and_status(machine):
    machine.run("echo x >/x")
    assert machine.call("sandbox.reset") == {"ok": True}
    assert machine.run("cat /x")["exitCode"] == 1
    status = machine.call("status")
    assert status["ready"] is True and status["memoryLimitBytes"] == 64 << 20


def test_methods_that_this_mode_does_not_have_are_refused_by_name(machine):
    assert machine.fails("mount", path="/m", files={}).message == "EPERM: not in mode v86: mount"
    assert machine.fails("create", extensions=[]).message == "EPERM: not in mode v86: create with extensions"
    assert machine.fails("no.such").code == -32601
    for name, value in {"keep": "ends", "mark": True, "trace": True, "windowBytes": 1}.items():
        assert machine.fails("run", command="true", **{name: value}).message == f"EPERM: not in mode v86: run with {name}"
    assert "concurrent" in machine.fails("files.read", path="/x", concurrent=True).message


def test_the_tree_of_files(machine):
    call = machine.call
    call("files.mkdir", path="/tmp/a/b", recursive=True)
    call("files.mkdir", path="/tmp/a/b", recursive=True)
    call("files.write", path="/tmp/a/f", data=encode(b"12345"), mode="0600")
    call("files.symlink", target="f", path="/tmp/a/link")
    call("files.chmod", path="/tmp/a/f", mode=0o640)
    call("files.rename", **{"from": "/tmp/a/f", "to": "/tmp/a/g"})
    entries = {e["name"]: e for e in call("files.list", path="/tmp/a", details=True)["entries"]}
    assert {n: e["type"] for n, e in entries.items()} == {"b": "dir", "g": "file", "link": "symlink"}
    assert entries["g"]["size"] == 5 and entries["g"]["mode"] == 0o640
    stat = call("files.stat", path="/tmp/a/g")
    assert stat == entries["g"] and stat["mtimeMs"] > 1.7e12
    assert call("files.stat", path="/tmp/a/link")["type"] == "symlink"
    assert machine.fails("files.stat", path="/tmp/a/link", follow=True).message.startswith("ENOENT")
    assert machine.fails("files.rm", path="/tmp/a").message.startswith("ENOTEMPTY")
    call("files.rm", path="/tmp/a", recursive=True)
    assert machine.fails("files.list", path="/tmp/a").message == "ENOENT: no such file or directory: /tmp/a"
    assert machine.fails("files.mkdir", path="/tmp/x/y").message.startswith("ENOENT")
    machine.run("cd /tmp")
    call("files.mkdir", path="relative")
    assert machine.run("ls")["stdout"] == "relative\n"


def test_variables(machine):
    assert machine.call("env.set", name="A", value="it's\n\"$x\"") == {"ok": True}
    assert machine.call("env.get", name="A") == {"value": "it's\n\"$x\""}
    assert machine.run("sh -c 'echo \"$A\"'")["stdout"] == "it's\n\"$x\"\n"
    env = machine.call("env.list")["env"]
    assert env["A"] == "it's\n\"$x\"" and env["HOME"] == "/root"
    machine.call("env.set", name="A", value="")
    assert machine.call("env.get", name="A") == {"value": ""}
    machine.call("env.unset", name="A")
    assert machine.call("env.get", name="A") == {"value": None}
    assert machine.fails("env.set", name="a;b", value="").message.startswith("EINVAL")


# --- copies


def test_a_fork_has_the_state_of_its_original_and_its_own_changes(machine):
    machine.run("cd /tmp; echo one >f; x=5; (while :; do sleep 1; done) &")
    fork = machine.call("sandbox.fork")["sandboxId"]
    assert machine.run("pwd; cat f; echo $x; echo two >f", sandboxId=fork)["stdout"] == "/tmp\none\n5\n"
    assert machine.run("cat f; echo three >f")["stdout"] == "one\n"
    assert machine.run("cat f; jobs | wc -l", sandboxId=fork)["stdout"] == "two\n1\n"
    second = machine.call("sandbox.fork", sandboxId=fork)["sandboxId"]
    assert machine.run("cat f", sandboxId=second)["stdout"] == "two\n"
    fresh = machine.call("sandbox.create", label="new")["sandboxId"]
    assert machine.run("ls /tmp", sandboxId=fresh)["stdout"] == ""
    listed = {s["sandboxId"]: s.get("label") for s in machine.call("sandbox.list")}
    assert listed == {fork: None, second: None, fresh: "new"}
    for id in fork, second, fresh, fresh:
        machine.call("sandbox.destroy", sandboxId=id)
    assert machine.call("sandbox.list") == []
    assert machine.fails("run", command="true", sandboxId=fork).message == f"Unknown sandboxId: {fork}"


def test_sandboxes_run_at_the_same_time(machine):
    ids = [machine.call("sandbox.create")["sandboxId"] for _ in range(3)]
    slow = machine.begin("run", command="sleep 1000", sandboxId=ids[0], timeoutMs=60000)
    for id in ids[1:]:
        assert machine.run("echo $((6 * 7))", sandboxId=id)["stdout"] == "42\n"
    assert machine.call("cancel", sandboxId=ids[0])["cancelled"] is True
    assert machine.result(slow)["exitCode"] == 130
    machine.run("poweroff -f", sandboxId=ids[1])
    assert machine.run("echo other", sandboxId=ids[2])["stdout"] == "other\n"
    for id in ids:
        machine.call("sandbox.destroy", sandboxId=id)


def test_snapshots(machine):
    machine.run("echo one >/tmp/f; y=1")
    first = machine.call("snapshot.create")["id"]
    machine.run("echo two >/tmp/f; y=2")
    second = machine.call("snapshot.create")["id"]
    assert machine.call("snapshot.list") == {"snapshots": [{"id": first}, {"id": second}]}
    for _ in range(2):
        assert machine.call("snapshot.restore", id=first) == {"ok": True}
        assert machine.run("cat /tmp/f; echo $y; rm /tmp/f")["stdout"] == "one\n1\n"
    machine.call("snapshot.restore", id=second)
    assert machine.run("cat /tmp/f; echo $y")["stdout"] == "two\n2\n"
    machine.call("snapshot.delete", id=first)
    assert machine.fails("snapshot.restore", id=first).message == f"ENOENT: no such snapshot: {first}"
    machine.call("snapshot.delete", id=int(second))
    assert machine.call("snapshot.list") == {"snapshots": []}


def test_a_fork_while_a_process_writes(machine):
    """Bytes that are on their way belong to one of the two machines."""
    machine.run("(while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done) &")
    for _ in range(5):
        id = machine.call("sandbox.fork")["sandboxId"]
        assert "b\n" in machine.run("echo; echo b", sandboxId=id)["stdout"]
        machine.call("sandbox.destroy", sandboxId=id)
