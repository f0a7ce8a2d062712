"""The supervisor ends, or is killed, and another one goes on."""
import os
import sqlite3

import pytest
from supervisor import Error, Gone, Supervisor, kill


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def again(sup, session):
    sup.start()
    session.client = sup.client()
    return session


def test_sigterm_pauses_all_and_exits_0(sup, client):
    s = client.create()
    s.run("set 1 kept")
    pid = s.pid
    assert sup.stop() == 0
    assert not alive(pid) and not os.path.exists(sup.socket)
    again(sup, s)
    assert (s.info["state"], s.info["cause"]) == ("paused", "shutdown")
    assert s.run("get 1") == "kept"


def test_sigterm_does_not_wait_for_a_worker_that_hangs(sup, client):
    s = client.create()
    s.run("set 1 kept")
    hanging = s.ask("run", command="hang")
    s2 = client.create()
    kill(s.pid)  # or it would take the whole grace
    assert sup.stop() == 0
    with pytest.raises((Error, Gone)):
        client.wait(hanging)
    again(sup, s)
    assert s.run("get 1") == "kept"
    assert s2.id


def test_a_killed_supervisor_is_a_host_restart(sup, client):
    s = client.create(label="x")
    s.run("set 1 kept")
    stopped = client.create()
    stopped.call("session.stop")
    pid = s.pid
    sup.kill()
    again(sup, s)
    assert not alive(pid)
    assert (s.info["state"], s.info["cause"], s.info["label"]) == ("paused", "host-restart", "x")
    assert s.wait_for("paused")["cause"] == "host-restart"
    stopped.client = s.client
    assert stopped.state == "stopped"
    assert s.run("get 1") == "kept"


def test_ended_sessions_stay_ended(sup, client):
    s = client.create()
    s.call("session.end")
    sup.kill()
    again(sup, s)
    assert s.state == "ended"
    with pytest.raises(Error, match="Session ended"):
        s.run("x")


def test_options_survive(sup, client):
    limits = {"memoryMb": 64, "cpuPercent": 50, "diskMb": 20, "maxProcesses": 8}
    s = client.create(limits=limits, autoResume=False, durability="interval", label="\u00e9\n",
                      env={"A": "b"})
    before = s.info
    sup.kill()
    after = again(sup, s).info
    for name in ("limits", "durability", "label", "options", "createdAt"):
        assert after[name] == before[name]


def test_events_survive_and_go_on(sup, client):
    s = client.create()
    s.call("session.pause")
    before = client.call("session.events")
    sup.kill()
    again(sup, s)
    assert s.client.call("session.events")["events"][:len(before["events"])] == before["events"]
    s.call("session.stop")
    assert s.client.call("session.events", after=before["last"])["events"][-1]["to"] == "stopped"


def test_forks_survive(sup, client):
    s = client.create()
    s.run("set 1 kept")
    f = type(s)(client, s.call("session.fork")["sessionId"])
    s.call("session.end")
    sup.kill()
    assert again(sup, f).run("get 1") == "kept"


def test_a_second_supervisor_of_a_store_refuses_before_all_else(sup, tmp_path):
    second = Supervisor(tmp_path / "second", fake=False, root_image="/nonexistent",
                        **{"store.dir": sup.settings["store.dir"]})
    second.folder.mkdir()
    with pytest.raises(RuntimeError, match=f"the store is in use by process {sup.process.pid}"):
        second.start()
    assert second.process.returncode == 125
    assert not second.socket.exists()
    sup.client().create().run("set 1 x")


def test_sessions_that_nobody_used_for_long_are_ended(sup, client):
    old, new = client.create(), client.create()
    for s in (old, new):
        s.call("session.pause")
    sup.stop()
    with sqlite3.connect(sup.folder / "store/store.db") as db:
        db.execute("UPDATE session SET changed_ms = changed_ms - 8 * 86400000 WHERE id = ?", (old.id,))
    db.close()
    sup.settings["store.retention_days"] = 7
    again(sup, old)
    assert old.wait_for("ended")["cause"] == "retention"
    assert old.state == "ended"
    new.client = old.client
    assert new.state == "paused"
