"""A thousand sessions, two hundred of them at work at once."""
import pathlib

import pytest
import supervisor

SESSIONS, ACTIVE = 1000, 200
GIB = 1 << 30


def proportional_bytes(pid):
    """Memory of a process, with its share of what it shares."""
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    line = next(x for x in text.splitlines() if x.startswith("Pss:"))
    return int(line.split()[1]) << 10


def family(pid):
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid] + [p for c in children for p in family(int(c))]


def resident_bytes(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    line = next(x for x in text.splitlines() if x.startswith("VmRSS:"))
    return int(line.split()[1]) << 10


@pytest.mark.long
def test_a_thousand_sessions_of_which_200_work(make):
    sup = make(fake=False, pool_size=4, max_active=ACTIVE)
    client = sup.client()
    sessions = []
    for i in range(SESSIONS):
        session = client.create(label=f"number {i}")
        session.run(f"echo {i} >/workspace/number; n={i}")
        session.call("session.pause")
        sessions.append(session)
    ours = resident_bytes(sup.process.pid)
    print(f"{ours / (1 << 20):.1f} MiB with {SESSIONS} paused sessions")
    assert ours < 20 << 20

    chosen = sessions[:: SESSIONS // ACTIVE]
    for i in range(2):  # the first resumes them
        asked = [s.ask("run", command="cat /workspace/number; echo $n") for s in chosen]
        for s, number in zip(chosen, asked):
            index = sessions.index(s)
            assert client.wait(number)["stdout"] == f"{index}\n{index}\n"
    states = [s["state"] for s in client.call("session.list", limit=1000)["sessions"]]
    assert (states.count("active"), states.count("paused")) == (ACTIVE, SESSIONS - ACTIVE)

    used = sum(proportional_bytes(p) for p in family(sup.process.pid))
    print(f"{used / GIB:.2f} GiB, {resident_bytes(sup.process.pid) >> 20} MiB of it ours")
    assert used < 8 * GIB
    with pytest.raises(supervisor.Error, match="EAGAIN"):
        sessions[1].run("true")
    chosen[0].call("session.pause")
    assert sessions[1].run("echo $n") == "1\n"

    assert sup.stop() == 0
    sup.start()
    client = sup.client()
    found = client.call("session.list", limit=1000)["sessions"]
    assert {s["state"] for s in found} == {"paused"} and len(found) == SESSIONS
    last = supervisor.Session(client, sessions[-1].id)
    assert last.run("echo $n") == f"{SESSIONS - 1}\n"
