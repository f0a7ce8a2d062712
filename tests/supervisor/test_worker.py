"""The real worker, sealed: what its guests need works, and nothing else."""
import json
import os
import re

import jail
import pytest
from pool import pool, status_of

IMAGE = os.environ.get("WASMSAND_ROOT", jail.ROOT / "build/share/wasmsand/root.tar")
pytestmark = pytest.mark.skipif(
    not os.path.exists(IMAGE), reason="there is no root image; make rootfs"
)
WORKER = (jail.SANDBOX, "worker", "--root", IMAGE, "--image-hash", "0" * 64)
LIMITS = (128, 400, 64, 32)  # memory, cpu, disk, processes


class Session:
    def __init__(self, p, limits):
        self.pool = p
        p.tell("settle", 1)
        self.number, self.pid = p.take(limits)
        memory, _, disk, processes = limits
        limits = {"memoryBytes": memory << 20, "processes": processes}
        self.call("create", fsLimitBytes=disk << 20, limits=limits)

    def call(self, method, **params):
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = self.pool.tell("call", self.number, json.dumps(request))
        assert answer, self.pool.wait(self.number)
        return json.loads(answer)

    def run(self, command):
        result = self.call("run", command=command)["result"]
        return result["exitCode"], result["stdout"], result["stderr"]


@pytest.fixture
def session():
    with pool(worker=WORKER) as p:
        yield Session(p, LIMITS)


@pytest.mark.parametrize(
    "command, out",
    [
        ("echo b a | tr ' ' '\\n' | sort | tail -1", "b\n"),
        ("python3 -c 'import json, ssl, sqlite3, random; print(1)'", "1\n"),
        ("git init -q r && git -C r status --short && echo done", "done\n"),
        ("sleep 0.01 & wait; echo $?", "0\n"),
        ("mkdir d && dd if=/dev/urandom of=d/f bs=1M count=8 2>&1 | tail -1 | cut -c1-7",
         "8388608\n"),
        ("(ulimit -c; date +%Y; id -u) | tail -1", "1000\n"),
        ("timeout 0.1 sh -c 'while :; do :; done'; echo $?", "124\n"),
        ("for i in 1 2 3; do sh -c 'echo 7' & done; wait", "7\n" * 3),
        ("sh -c 'kill -SEGV $$'; echo $?", "139\n"),
    ],
)
def test_guests_have_what_they_need(session, command, out):
    assert session.run(command)[1].replace(" bytes", "") == out


def test_a_program_of_the_guest_is_refused(session):
    status, _, err = session.run("cp /usr/bin/true x && echo >>x && ./x")
    assert (status, "Exec format error" in err) == (126, True), err


def test_everything_of_it_is_sealed(session):
    """Also its threads, and the descriptors that it has kept. Number 4 is the
    connection to the broker of its network."""
    session.run("sleep 100 & python3 -c 'print(1)'")
    threads = os.listdir(f"/proc/{session.pid}/task")
    assert len(threads) > 1
    for thread in threads:
        status = status_of(session.pid, thread)
        rights = [v for k, v in status.items() if k.startswith("Cap")]
        assert {int(v, 16) for v in rights} == {0}, status
        assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
        if os.geteuid() == 0:
            assert min(map(int, status["Uid"].split())) >= jail.FIRST_UID
    assert os.listdir(f"/proc/{session.pid}/root/") == []
    assert writable_and_executable(session.pid) == []
    assert os.readlink(f"/proc/{session.pid}/fd/4").startswith("socket:")
    for fd in range(5, 1024):
        check_descriptor(session.pid, fd)


def writable_and_executable(pid):
    with open(f"/proc/{pid}/maps") as f:
        return [line for line in f if " rwx" in line or " -wx" in line]


def check_descriptor(pid, fd):
    """Nothing but wake-ups, its own page map and figures, and files of programs
    that can be read only."""
    path = f"/proc/{pid}/fd/{fd}"
    try:
        target = os.readlink(path)
        with open(f"/proc/{pid}/fdinfo/{fd}") as f:
            flags = int(re.search(r"^flags:\s*(\d+)$", f.read(), re.M).group(1), 8)
    except FileNotFoundError:
        return
    if target == os.readlink(f"/proc/{pid}/fd/1"):
        return
    if re.fullmatch(r"anon_inode:\[(eventfd|signalfd|eventpoll|timerfd)\]", target):
        return
    assert os.path.isfile(path) and flags & os.O_ACCMODE == os.O_RDONLY, target


def test_a_full_memory_and_a_full_disk_end_nothing(cgroups):
    """The walls inside are met before that of the kernel."""
    with pool(worker=WORKER, backend=cgroups) as p:
        s = Session(p, LIMITS)
        for _ in range(2):
            assert "No space left" in s.run("dd if=/dev/zero of=big bs=1M count=100")[2]
            assert "MemoryError" in s.run("python3 -c 'x = bytearray(200 << 20)'")[2]
            many = "for i in $(seq 30); do python3 -c 'x = bytearray(2 << 20)' & done; wait"
            s.run(many)
        assert s.run("rm big; echo alive")[1] == "alive\n"


def test_memory_is_given_back(session):
    """It can still see how much it has."""
    session.run("python3 -c 'x = bytearray(64 << 20)'")
    assert session.run("echo 1")[1] == "1\n"
    fds = [os.readlink(f"/proc/{session.pid}/fd/{fd}")
           for fd in os.listdir(f"/proc/{session.pid}/fd")]
    assert any(fd.endswith("/statm") for fd in fds)
