"""One session does harm in every way it can; nine others do their work."""
import concurrent.futures
import contextlib
import socket
import threading

import pytest
import supervisor

TOKEN = "a-token-of-the-tests"
NORMAL, ROUNDS = 9, 15
LIMITS = {"memoryMb": 512, "diskMb": 32, "maxProcesses": 32}
WORK = """
cd /workspace && mkdir -p d && for i in 1 2 3; do echo "line $i of $1" >>d/log; done
sort d/log | uniq -c | wc -l; seq 200 | grep -c 7; printf %s "$RANDOM" >d/r
"""


@pytest.fixture
def sup(make, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text(f"{TOKEN}\n")
    tokens.chmod(0o600)
    return make(fake=False, pool_size=2, **{
        "http.enabled": True, "http.port": 0, "http.tokens_file": str(tokens)})


def work(session):
    """What a normal session does."""
    for i in range(ROUNDS):
        assert session.run(WORK) == "3\n38\n"
        data = f"{session.id} {i}".encode()
        session.write("/workspace/mine", data)
        assert session.read("/workspace/mine") == data
        assert session.run("wc -l <d/log", cwd="/workspace") == f"{3 * i + 3}\n"


class Hostile:
    """Repeats an attack, once at least, until it is told that it is enough."""

    def __init__(self, sup, attack, event=threading.Event):
        self.sup, self.attack = sup, attack
        self.session = sup.client().create(limits=LIMITS, timeoutMs=2000)
        self.begun, self.enough = event(), event()

    def run(self):
        while not (self.begun.is_set() and self.enough.is_set()):
            self.begun.set()
            # What it is told is no matter of ours: that it was killed, say.
            with contextlib.suppress(supervisor.Error):
                self.attack(self, self.session)
        self.session.client.close()


def shell(command):
    def attack(hostile, session):
        session.run(command)

    attack.command = command
    return attack


def output_flood(hostile, session):
    """Output for a client that reads none of it, and for one that does."""
    deaf = hostile.sup.client()
    deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.ask("run", sessionId=session.id, command="yes", stream=True)
    deaf.socket.recv(1)
    other = session.client.create()
    other.run("yes | head -c 100000000")
    other.call("session.end")
    deaf.close()
    session.call("cancel")


def connection_flood(hostile, session):
    """Strangers at one door, a client that wants all of the other."""
    web = hostile.sup.web_address()
    crowd = []
    with contextlib.suppress(OSError):
        for i in range(600):
            crowd.append(socket.create_connection(web))
            crowd[-1].send(b"POST /rpc HTTP/1.1\r\nX: ")
            if i % 3 == 0:
                crowd.append(socket.socket(socket.AF_UNIX))
                crowd[-1].connect(str(hostile.sup.socket))
                crowd[-1].send(b'{"jsonrpc":"2.0","id":1,"method":"session.list"}\n{')
    for s in crowd:
        s.close()


ATTACKS = {
    "memory": shell("python3 -c 'x = [bytearray(1 << 20) for _ in range(10 ** 6)]'"),
    "memory in many": shell("for i in {1..20}; do sort /dev/zero & done; wait"),
    "cpu": shell("for i in {1..20}; do while :; do :; done & done; while :; do :; done"),
    "fork bomb": shell(":(){ :|:& };:; while :; do (:) & done"),
    "disk": shell("i=0; while :; do head -c 1000000 /dev/zero >/tmp/f$((i = i + 1)); done"),
    "small files": shell("i=0; while :; do : >/tmp/f$((i = i + 1)); done"),
    "output": output_flood,
    "connections": connection_flood,
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_nine_neighbours_of_a_hostile_one_finish(sup, attack):
    sessions = [sup.client().create() for _ in range(NORMAL)]
    hostile = Hostile(sup, attack)
    with concurrent.futures.ThreadPoolExecutor(NORMAL + 1) as pool:
        harm = pool.submit(hostile.run)
        hostile.begun.wait()
        done = [pool.submit(work, s) for s in sessions]
        concurrent.futures.wait(done)
        hostile.enough.set()
    harm.result()
    for d in done:
        d.result()
    assert [s.state for s in sessions] == ["active"] * NORMAL
    assert sup.stop() == 0


def test_a_session_is_usable_after_all_it_did(sup):
    session = sup.client().create(limits=LIMITS, timeoutMs=2000)
    for attack in ATTACKS.values():
        if hasattr(attack, "command"):
            with contextlib.suppress(supervisor.Error):
                session.run(attack.command)
            session.run("rm -f /tmp/f*")
    assert session.run("for i in {1..20}; do (echo x) & done; wait") == "x\n" * 20
