"""files.* from the seat of an agent: parents, paths, and beside a command."""
import pytest

from rpc import decode, encode, needs_image

pytestmark = needs_image


def write(client, path, text, **params):
    return client.call("files.write", path=path, data=encode(text.encode()), **params)


def read(client, path, **params):
    return decode(client.call("files.read", path=path, **params)["data"]).decode()


# --- parents


def test_a_write_makes_parents_when_asked(client):
    assert client.fails("files.write", path="/tmp/a/b/c", data="").message.startswith("ENOENT: ")
    write(client, "/tmp/a/b/c", "x", parents=True)
    write(client, "/tmp/a/b/c", "y", parents=True, append=True)
    assert client.out("cat /tmp/a/b/c; stat -c '%u %a' /tmp/a/b") == "xy1000 755\n"


def test_parents_in_a_tree_that_is_read_only(server):
    server.call("create", writablePaths=["/tmp/w"])
    write(server, "/tmp/w/d/f", "x", parents=True)
    assert server.fails("files.write", path="/tmp/d/f", data="", parents=True).message.startswith("EROFS: ")


def test_a_parent_that_is_a_file(client):
    write(client, "/tmp/f", "x")
    error = client.fails("files.write", path="/tmp/f/g/h", data="", parents=True)
    assert error.message == "ENOTDIR: not a directory: /tmp/f/g/h"


# --- paths


def test_paths_are_relative_to_the_folder_of_the_shell(client):
    write(client, "a", "home")
    assert client.out("cat /home/user/a") == "home"
    client.run("mkdir -p /tmp/d && cd /tmp/d")
    write(client, "a", "d")
    write(client, "./sub/b", "sub", parents=True)
    assert client.out("cat a sub/b") == "dsub"
    assert read(client, "../d/a") == "d"
    client.call("files.rename", **{"from": "a", "to": "sub/c"})
    client.call("files.symlink", target="c", path="sub/l")
    client.call("files.chmod", path="sub/c", mode="0600")
    assert client.call("files.stat", path="sub/c")["mode"] == 0o600
    assert [e["name"] for e in client.call("files.list", path="sub")["entries"]] == ["b", "c", "l"]
    client.call("files.mkdir", path="x/y", recursive=True)
    client.call("files.rm", path="sub", recursive=True)
    assert client.out("ls") == "x\n"


def test_the_home_folder(client):
    client.run("cd /tmp")
    write(client, "~/h", "x")
    assert read(client, "/home/user/h") == "x"
    assert "h" in [e["name"] for e in client.call("files.list", path="~")["entries"]]
    assert client.call("files.list", path="~/") == client.call("files.list", path="~")
    write(client, "~x", "no home")
    assert client.out("cat /tmp/~x") == "no home"


def test_a_folder_for_one_run_is_not_the_shells(client):
    client.run("true", cwd="/tmp")
    write(client, "here", "x")
    assert client.out("cat /home/user/here") == "x"


def test_the_line_protocol_has_absolute_paths(server):
    answer = server.line("read_file", path="a")
    assert answer["error"] == "EINVAL: not an absolute path: a" and not answer["success"]
    assert server.line("write_file", path="~/a", content="")["error"].startswith("EINVAL: ")


# --- the folder at the start


def test_create_with_a_folder(server):
    server.call("create", cwd="/tmp")
    write(server, "before", "x")
    assert server.out("pwd; cat before; echo ${OLDPWD-none}") == "/tmp\nxnone\n"
    server.call("sandbox.reset")
    assert server.out("pwd") == "/tmp\n"
    box = server.call("sandbox.create")["sandboxId"]
    assert server.out("pwd", sandboxId=box) == "/tmp\n"


@pytest.mark.parametrize("cwd, message", [
    ("/nope", "ENOENT: no such file or directory: /nope"),
    ("/etc/passwd", "ENOTDIR: not a directory: /etc/passwd"),
    ("tmp", "EINVAL: cwd: not an absolute path: tmp")])
def test_create_with_a_folder_that_is_none(server, cwd, message):
    assert server.fails("create", cwd=cwd).message == message


def output_of(client, process):
    """What a process writes, to its end."""
    client.call("process.wait", processId=process)
    seen = [client.next()["params"] for _ in range(client.other.qsize())]
    return "".join(p["data"] for p in seen if p["process_id"] == process)


def test_a_process_begins_in_the_folder_of_the_shell(client):
    def pwd(**params):
        return output_of(client, client.call("process.start", command="pwd; echo $PWD", **params)["processId"])

    assert pwd() == "/home/user\n/home/user\n"
    client.run("cd /tmp")
    assert pwd() == "/tmp\n/tmp\n"
    assert pwd(cwd="/") == "/\n/\n"
    id = client.begin("run", command="cd /usr; echo there; sleep 1000", stream=True)
    assert client.next()["params"]["data"] == "there\n"
    assert pwd() == "/tmp\n/tmp\n"
    client.call("cancel", requestId=id)
    client.result(id)


# --- beside a command


@pytest.fixture
def busy(client):
    """A sandbox whose shell was in /tmp, and has left it in a run that waits."""
    client.run("cd /tmp; mkdir d; echo old > d/f")
    id = client.begin("run", command="cd /usr; echo new > /tmp/d/f; echo begun; "
                                     "until [ -e /tmp/go ]; do sleep 0.01; done; cat /tmp/go", stream=True)
    assert client.next()["params"]["data"] == "begun\n"
    yield client
    write(client, "/tmp/go", "gone", concurrent=True)
    assert client.result(id)["stdout"] == "begun\ngone"


def test_every_method_beside_a_command(busy):
    def call(method, **params):
        return busy.call(method, concurrent=True, **params)

    assert read(busy, "d/f", concurrent=True) == "new\n"
    write(busy, "d/x/g", "text", parents=True, concurrent=True)
    assert call("files.stat", path="d/x/g")["size"] == 4
    call("files.mkdir", path="d/m")
    call("files.rename", **{"from": "d/x/g", "to": "d/m/g"})
    call("files.chmod", path="d/m/g", mode="0600")
    call("files.symlink", target="m/g", path="d/l")
    assert [e["name"] for e in call("files.list", path="/tmp/d")["entries"]] == ["f", "l", "m", "x"]
    call("files.rm", path="d/m", recursive=True)
    assert busy.fails("files.read", path="d/l", concurrent=True).message.startswith("ENOENT: ")
    assert busy.fails("files.write", path="d/f", data="?", concurrent=True).code == -32602


def test_without_it_requests_wait_for_their_turn(client):
    run = client.begin("run", command="until [ -e /tmp/go ]; do sleep 0.01; done; echo x > /tmp/f")
    first = client.begin("files.read", path="/tmp/f")
    write(client, "/tmp/go", "", concurrent=True)
    assert decode(client.result(first)["data"]) == b"x\n"
    client.result(run)


def test_beside_a_command_that_computes(client):
    id = client.begin("run", command="echo begun; while :; do :; done", stream=True)
    client.next()
    write(client, "/tmp/f", "x", concurrent=True)
    assert read(client, "/tmp/f", concurrent=True) == "x"
    client.call("cancel", requestId=id)
    assert client.result(id)["exitCode"] == 130


def test_beside_a_background_process_and_idle(client):
    client.run("while :; do :; done &")
    for i in range(20):
        write(client, "f", str(i), concurrent=True)
        assert read(client, "f", concurrent=True) == str(i)


def test_many_at_once(busy):
    ids = [busy.begin("files.write", path=f"/tmp/d/{i}", data=encode(b"x"), concurrent=True) for i in range(200)]
    for id in ids:
        assert busy.result(id) == {"ok": True}
    assert len(busy.call("files.list", path="/tmp/d", concurrent=True)["entries"]) == 201


def test_a_limit_beside_a_command_is_not_the_commands(server):
    server.call("create", limits={"fileCount": 100})
    id = server.begin("run", command="echo begun; until [ -e /tmp/go ]; do sleep 0.01; done; exit 3", stream=True)
    server.next()
    made = 0
    with pytest.raises(Exception, match="file count limit reached"):
        while True:
            write(server, f"/tmp/f{made}", "", concurrent=True)
            made += 1
    assert made > 10
    server.call("files.rename", **{"from": "/tmp/f0", "to": "/tmp/go"}, concurrent=True)
    result = server.result(id)
    assert result["exitCode"] == 3 and "limit" not in result and "message" not in result


def test_a_limit_of_the_command_stays_its_own(server):
    server.call("create", limits={"fileCount": 100})
    command = ("mkdir d; i=0; while : > d/$i; do ((i++)); done; echo full; "
               "until [ -e /tmp/go ]; do sleep 0.01; done; exit 3")
    id = server.begin("run", command=command, stream=True)
    while "full" not in server.next()["params"]["data"]:
        pass
    server.call("files.rename", **{"from": "d/0", "to": "/tmp/go"}, concurrent=True)
    result = server.result(id)
    assert (result["exitCode"], result["limit"]) == (3, "files")


def test_a_sandbox_that_is_destroyed_meanwhile(client):
    box = client.call("sandbox.create")["sandboxId"]
    client.begin("run", command="sleep 1000", sandboxId=box)
    ids = [client.begin("files.write", path="/tmp/f", data="", concurrent=True, sandboxId=box) for _ in range(20)]
    client.call("sandbox.destroy", sandboxId=box)
    for id in ids:
        assert client.answer(id)
