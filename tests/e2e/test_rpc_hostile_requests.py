"""Clients that attack the server, or their own sandbox, by requests. Each is
answered; the sandbox and another one work afterwards, and memory stays bounded."""
import io
import json
import select
import subprocess
import tarfile

import pytest

from rpc import IMAGE, RpcError, encode, needs_image
from sandbox import IS_SANITIZED, SANDBOX

pytestmark = needs_image

LIMITS = {"memoryBytes": 64 << 20, "processes": 16, "fileCount": 5000}
FILE_BYTES = 64 << 20
BOUND_MB = 2000 if IS_SANITIZED else 400


@pytest.fixture
def ring(start):
    """A server with the sandbox that is attacked, and one beside it; both must
    work at the end."""
    client = start()
    client.call("create", limits=LIMITS, fsLimitBytes=FILE_BYTES, extensions=[{"name": "never"}])
    beside = client.call("sandbox.create")["sandboxId"]
    yield client
    for id in (None, beside):
        result = client.run("echo ok; ls -d /tmp", sandboxId=id)
        assert (result["exitCode"], result["stdout"]) == (0, "ok\n/tmp\n"), result
    assert client.memory_mb("VmHWM") < BOUND_MB


def outcome(client, method, **params):
    """What the error is called, or "ok"."""
    try:
        client.call(method, **params)
        return "ok"
    except RpcError as error:
        return error.message.split(":")[0] if error.code == 1 else str(error.code)


def until_refused(client, method, most, **params):
    """How often it worked, and how it was refused."""
    for i in range(most):
        how = outcome(client, method, **{name: value(i) if callable(value) else value for name, value in params.items()})
        if how != "ok":
            return i, how
    return most, "ok"


# --- many requests


def test_flood_of_requests(ring):
    kinds = [("status", {}), ("run", {"command": ":"}), ("nonsense", {}), ("files.stat", {"path": "/tmp"}), ("run", {})]
    lines = [json.dumps({"jsonrpc": "2.0", "id": i, "method": kinds[i % 5][0], "params": kinds[i % 5][1]})
             for i in range(10000)]
    ring.send_bytes("\n".join(lines).encode() + b"\n")
    codes = [ring.answer(i).get("error", {}).get("code") for i in range(10000)]
    assert codes == [None, None, -32601, None, -32602] * 2000


def test_flood_of_what_is_no_request(ring):
    for line in (b"x", b"{}", b"[]", b"7", b'{"jsonrpc":"2.0"}', b'{"jsonrpc":"2.0","id":"cb_7","result":1}', b"\xff"):
        ring.send_bytes((line + b"\n") * 1000)
    ring.call("status")
    assert ring.other.qsize() >= 5000


def test_flood_of_answers_to_nothing(ring):
    ring.send_bytes(b"".join(b'{"jsonrpc":"2.0","id":"cb_%d","result":{}}\n' % i for i in range(10000)))
    ring.call("status")
    assert ring.other.qsize() == 0


def test_storm_of_cancels(ring):
    ids = [ring.begin("run", command="sleep 1000") for _ in range(100)]
    cancels = [ring.begin("cancel", requestId=id) for id in ids * 3]
    assert {ring.result(id)["errorClass"] for id in ids} == {"CANCELLED"}
    assert all(ring.result(id)["ok"] for id in cancels)
    for _ in range(1000):
        ring.begin("cancel")
    assert ring.call("cancel")["cancelled"] is False


# --- large requests


@pytest.mark.parametrize("id", ["i" * 7000000, 1e308, -1, 2**53 + 1, "\u0000\ud7ff\U0010ffff" * 1000],
                         ids=["long", "large", "negative", "odd", "strange"])
def test_huge_ids(ring, id):
    for _ in range(3):
        assert ring.result(ring.begin("status", _id=id))["ready"] is True


@pytest.mark.parametrize("line", [
    b"[" * 5000000, b'{"a":' * 1000000, b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * (200 << 20) + b'"}',
    b'{"jsonrpc":"2.0","id":1,"method":"status","params":' + b"[" * 3000 + b"]" * 3000 + b"}",
    b"[" + b"1," * 4000000 + b"1]", b"[" + b"{}," * 1000 + b"{}]", b"1" * 8000000, b'"' + b"\\u0041" * 1300000],
    ids=["arrays", "objects", "line", "parameters", "batch", "thousand", "number", "text"])
def test_huge_lines(ring, line):
    ring.send_bytes(line + b"\n")
    message = ring.next()
    assert message["id"] is None and message["error"]["code"] in (-32700, -32600)


def test_lines_of_the_largest_size(ring):
    rest = len('{"jsonrpc": "2.0", "id": 100, "method": "files.write", "params": {"path": "/tmp/x", "data": ""}}\n')
    data = "A" * ((8388608 - rest) // 4 * 4)
    for i in range(100, 110):
        assert ring.result(ring.begin("files.write", _id=i, path="/tmp/x", data=data)) == {"ok": True}
    assert outcome(ring, "files.write", path="/tmp/x", data=data[:-1] + "?") == "-32602"
    assert until_refused(ring, "files.write", 100, path=lambda i: f"/tmp/y{i}", data=data)[1] == "ENOSPC"


def test_many_members(ring):
    members = ",".join(f'"{i}":1' for i in range(500000))
    ring.send_bytes(b'{"jsonrpc":"2.0","id":1000,"method":"status","params":{%s}}\n' % members.encode())
    assert ring.answer(1000)["error"]["message"].startswith("Unknown param: ")


# --- paths


@pytest.mark.parametrize("method, path, how", [
    ("files.read", "/dev/zero", "EINVAL"), ("files.read", "/tmp/fifo", "EINVAL"), ("files.read", "/dev/tty", "EINVAL"),
    ("files.read", "/tmp/sparse", "EFBIG"), ("files.read", "/tmp/loop1", "ELOOP"), ("files.read", "/tmp", "EISDIR"),
    ("files.read", "/proc/self/root/etc/passwd", "ENOENT"), ("files.read", "/proc/1/root/../../work", "ENOENT|EACCES"),
    ("files.read", "/../../../../../etc/shadow", "ENOENT"), ("files.read", "/tmp/root/../../../proc/kcore", "ENOENT"),
    ("files.read", "/" + "x/" * 3000, "ENAMETOOLONG"), ("files.read", "/" + "x" * 256, "ENAMETOOLONG"),
    ("files.read", "/tmp/a\0b", "-32602"), ("files.read", "", "ENOENT"), ("files.read", "../../etc/passwd", "ok"),
    ("files.list", "/tmp/loop1/x", "ELOOP"), ("files.list", "/tmp/" + "self/" * 500, "ELOOP"),
    ("files.rm", "/", "EBUSY"), ("files.rm", "/proc", "EBUSY"), ("files.rm", "/tmp/.", "EINVAL"),
    ("files.mkdir", "/proc/x", "EACCES|EPERM|ENOENT|EROFS"), ("files.mkdir", "/", "EEXIST"),
    ("files.stat", "/tmp/loop1/", "ELOOP")])
def test_paths(ring, method, path, how):
    ring.run("cd /tmp; mkfifo fifo; truncate -s 1T sparse; ln -s loop2 loop1; ln -s loop1 loop2; ln -s / root; ln -s . self")
    assert outcome(ring, method, path=path) in how.split("|")
    if method == "files.rm":
        assert outcome(ring, method, path=path, recursive=True) in how.split("|")


@pytest.mark.parametrize("path, params, how", [
    ("/dev/full", {}, "EINVAL"), ("/tmp/fifo", {}, "EINVAL"), ("/tmp/loop", {}, "ELOOP"), ("/proc/1/mem", {}, "ENOENT"),
    ("/", {}, "EISDIR"), ("/tmp/x", {"offset": 1 << 47}, "ok"), ("/tmp/x", {"offset": 1 << 48}, "EFBIG"),
    ("/tmp/x", {"mode": "77777"}, "-32602"), ("/tmp/x", {"offset": -1}, "-32602"), ("/tmp/no/x", {}, "ENOENT")])
def test_writes(ring, path, params, how):
    ring.run("cd /tmp; mkfifo fifo; ln -s loop loop")
    assert outcome(ring, "files.write", path=path, data=encode(b"x"), **params) == how


@pytest.mark.parametrize("path", ["../x", "/x", "a/../../x", "", ".", "a//b", "x" * 300])
def test_paths_of_mounts(ring, path):
    assert outcome(ring, "mount", path="/mnt/m", files={path: ""}) == "EINVAL"


def test_mounts(ring):
    assert until_refused(ring, "mount", 1000, path=lambda i: f"/mnt/m{i}", files={"a": ""})[1] in ("ok", "ENOSPC")
    assert outcome(ring, "mount", path="/mnt/n", files={f"f{i}": "" for i in range(20000)}) in ("ok", "ENOSPC")


# --- sandboxes


def test_sandbox_that_is_gone(ring):
    id = ring.call("sandbox.fork")["sandboxId"]
    ring.call("sandbox.destroy", sandboxId=id)
    for method, params in [("run", {"command": "true"}), ("files.read", {"path": "/x"}), ("sandbox.fork", {}), ("status", {}),
                           ("snapshot.create", {}), ("process.start", {"command": "true"}), ("persistence.export", {}),
                           ("env.list", {}), ("process.list", {}), ("cancel", {}), ("sandbox.reset", {})]:
        error = ring.fails(method, sandboxId=id, **params)
        assert (error.code, error.message) == (-32602, f"Unknown sandboxId: {id}")
    assert ring.call("sandbox.destroy", sandboxId=id) == {"ok": True}


def test_requests_behind_a_destroy(ring):
    """What came before it is served, what comes after it is refused."""
    id = ring.call("sandbox.fork")["sandboxId"]
    before = [ring.begin("run", sandboxId=id, command="echo served") for _ in range(50)]
    destroy = ring.begin("sandbox.destroy", sandboxId=id)
    after = [ring.begin("run", sandboxId=id, command="echo never") for _ in range(50)]
    assert all(ring.result(i)["stdout"] == "served\n" for i in before)
    assert ring.result(destroy) == {"ok": True}
    assert {ring.answer(i)["error"]["message"] for i in after} == {f"Unknown sandboxId: {id}"}


def test_bomb_of_forks(ring):
    made = [ring.begin("sandbox.fork") for _ in range(2000)]
    made = [ring.result(id)["sandboxId"] for id in made]
    assert len(set(made)) == 2000
    gone = [ring.begin("sandbox.destroy", sandboxId=id) for id in made]
    assert all(ring.result(id) == {"ok": True} for id in gone)
    assert ring.call("status")["sandboxes"] == 2


def test_forks_of_forks(ring):
    last = None
    for i in range(500):
        last = ring.call("sandbox.fork", sandboxId=last)["sandboxId"]
        assert ring.run(f"echo {i} >> /tmp/x", sandboxId=last)["exitCode"] == 0
    assert ring.out("wc -l < /tmp/x", sandboxId=last) == "500\n"
    assert ring.fails("files.read", path="/tmp/x").code == 1


def test_bomb_of_snapshots(ring):
    assert until_refused(ring, "snapshot.create", 1000) == (64, "ENOSPC")
    first = ring.call("snapshot.list")["snapshots"][0]["id"]
    ring.call("snapshot.delete", id=first)
    assert outcome(ring, "snapshot.create") == "ok"


def test_snapshots_count_what_they_keep(ring):
    for i in range(10):
        ring.run(f"head -c 9999999 /dev/zero > /tmp/x")
        how = outcome(ring, "snapshot.create")
    assert how in ("ok", "ENOSPC")


def test_bomb_of_variables(ring):
    n, how = until_refused(ring, "env.set", 500, name=lambda i: f"v{i}", value="x" * 1000000)
    assert n < 70 and how == "ENOMEM"
    ring.call("sandbox.reset")


def test_long_commands(ring):
    """Long commands, and long words in them, cost memory only while they run and in the history."""
    command = "history -c; : " + "x" * 30000
    used = []
    for i in range(200):
        assert ring.run(command)["exitCode"] == 0
        used.append(ring.call("status")["memoryUsedBytes"])
    assert used[-1] <= used[20] + (128 << 10), used[::20]


# --- processes


def test_bomb_of_processes(ring):
    n, how = until_refused(ring, "process.start", 100, command="sleep 1000")
    assert n < 16 and how in ("EAGAIN", "ENOMEM")
    ids = [process["processId"] for process in ring.call("process.list")["processes"]]
    for id in ids:  # one that lacked the memory to become `sleep` was killed before
        assert outcome(ring, "process.kill", processId=id, signal=9) in ("ok", "ESRCH")
    assert all(ring.call("process.wait", processId=id) == {"exitCode": 137} for id in ids)


@pytest.mark.parametrize("pty", [False, True])
def test_flood_of_input(ring, pty):
    id = ring.call("process.start", command="sleep 1000", pty=pty)["processId"]
    n, how = until_refused(ring, "process.write", 100, processId=id, data="x" * 1000000)
    assert n < 10 and how == "EAGAIN"
    ring.call("process.kill", processId=id, signal=9)
    assert ring.call("process.wait", processId=id) == {"exitCode": 137}


def test_flood_of_a_terminal(ring):
    id = ring.call("process.start", command="trap : WINCH; yes & while :; do wait; done", pty=True)["processId"]
    for i in range(3000):
        ring.begin("process.resize", processId=id, rows=1 + i, cols=65535 - i)
    assert outcome(ring, "process.resize", processId=id, rows=0, cols=1) == "-32602"
    ring.call("process.kill", processId=id, signal=9)
    assert ring.call("process.wait", processId=id)["exitCode"] in (137, 129)
    ring.call("sandbox.reset")


def test_many_that_have_ended(ring):
    for _ in range(300):
        id = ring.call("process.start", command="true")["processId"]
        assert ring.call("process.wait", processId=id) == {"exitCode": 0}
    assert len(ring.call("process.list")["processes"]) <= 64
    assert outcome(ring, "process.write", processId=1, data="x") in ("ESRCH", "ENOENT", "-32602")


# --- extensions


def test_extension_without_an_answer(ring):
    result = ring.run("never", timeoutMs=500)
    assert result["exitCode"] in (1, 124), result
    if result["exitCode"] == 1:
        assert result["stderr"] == "never: no answer from the client within the time limit\n"
    assert ring.run("never & never & never | never", timeoutMs=500)["exitCode"] in (1, 124)


def test_extension_with_a_nonsense_answer(ring):
    for answer in ({"result": 7}, {"result": {}}, {"result": {"stdout": 7}}, {"error": 7}, {"result": {"exitCode": 1e300}}):
        ring.handlers["extension.invoke"] = lambda params, answer=answer: answer
        result = ring.run("never")
        assert result["exitCode"] in range(256) and "errorClass" not in result


# --- imports


def tar_of(*members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, fields in members:
            info = tarfile.TarInfo(name)
            data = fields.get("data", b"")
            info.size = len(data)
            for field, value in fields.items():
                setattr(info, field, value) if field != "data" else None
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def lying_tar():
    """A header that promises 8 GiB."""
    info = tarfile.TarInfo("tmp/x")
    info.size = 1 << 33
    return info.tobuf()


@pytest.mark.parametrize("data", [
    b"", b"x", bytes(1 << 20), b"\xff" * 10000, tar_of(("../x", {})), tar_of(("/tmp/../../x", {})), tar_of(("a" * 5000, {})),
    tar_of(("tmp/l", {"type": tarfile.SYMTYPE, "linkname": "/etc"}), ("tmp/l/x", {"data": b"x"})),
    tar_of(("tmp/l", {"type": tarfile.LNKTYPE, "linkname": "../../etc/passwd"})),
    tar_of(("tmp/d", {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 1})), tar_of(("a/" * 3000, {})), lying_tar(),
    lying_tar() + bytes(1 << 20), tar_of(*((f"tmp/{i}", {}) for i in range(6000))), tar_of(("tmp/x", {"data": bytes(5 << 20)}))[:-9999]],
    ids=["empty", "short", "zeros", "garbage", "dots", "more dots", "long", "through a link", "link outside", "device", "deep",
         "lying", "lying more", "many", "cut"])
def test_hostile_imports(ring, data):
    """Refused, and nothing was changed."""
    ring.run("echo kept > /tmp/kept")
    before = ring.out("find /tmp /home /workspace /etc")
    assert outcome(ring, "persistence.import", data=encode(data)) not in ("ok", "-32603")
    assert ring.out("find /tmp /home /workspace /etc; cat /tmp/kept") == before + "kept\n"


def test_imports_that_are_never_ended(ring):
    data = encode(bytes(1 << 20))
    for round in range(20):
        for seq in range(4):
            assert outcome(ring, "persistence.import", transferId=f"t{round}", seq=seq, data=data) == "ok"
    assert outcome(ring, "persistence.import", transferId="t0", seq=4, data=data) == "-32602"


def test_exports_that_are_never_ended(ring):
    ring.run("head -c 30000000 /dev/urandom > /tmp/x")
    for _ in range(10):
        assert ring.call("persistence.export", partBytes=1000)["seq"] == 0


# --- a client that does not read


def cpu_ticks(process):
    with open(f"/proc/{process.pid}/stat") as stat:
        return sum(int(n) for n in stat.read().rsplit(")", 1)[1].split()[11:13])


def wait_until_it_waits(process):
    last = -1
    while cpu_ticks(process) != last:
        last = cpu_ticks(process)
        select.select([], [], [], 0.2)


def test_a_client_that_stops_reading():
    """`yes` waits for it, in bounded memory, and goes on when it reads again."""
    process = subprocess.Popen([SANDBOX, "--root", IMAGE], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    requests = [{"method": "create", "params": {"timeoutMs": 86400000}}, {"method": "run", "params": {"command": "yes", "stream": True}}]
    for i, request in enumerate(requests):
        process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": i, **request}).encode() + b"\n")
    process.stdin.flush()
    wait_until_it_waits(process)
    with open(f"/proc/{process.pid}/status") as status:
        assert next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) >> 10 < BOUND_MB
    process.stdin.write(b'{"jsonrpc":"2.0","id":2,"method":"cancel"}\n')
    process.stdin.close()
    answers = {}
    for line in process.stdout:
        message = json.loads(line)
        if "id" in message:
            answers[message["id"]] = message["result"]
    assert process.wait(60) == 0
    assert answers[0] == {"ok": True} and answers[1]["errorClass"] == "CANCELLED" and answers[2]["ok"]
    process.stdout.close()
