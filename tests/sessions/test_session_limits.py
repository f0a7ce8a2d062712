"""Limits that are reached: the session is paused, the others live."""
import pytest
from supervisor import Error, group_file


def test_out_of_memory_pauses_one_session(client):
    other = client.create()
    s = client.create(limits={"memoryMb": 16, "diskMb": 1})
    s.run("set 1 kept")
    with pytest.raises(Error, match="interrupted: oom"):
        s.run("hog 4000")
    event = s.wait_for("paused")
    assert event["cause"] == "oom" and event["sessionId"] == s.id
    assert event["figures"]["oomKills"] > 0
    assert other.run("quiet x") == "x"
    assert s.run("get 1") == "kept"


def test_the_groups_limits_are_those_of_the_session(client):
    """Memory and files, and what the worker itself takes; see supervisor/README.md."""
    s = client.create(limits={"memoryMb": 100, "diskMb": 200, "cpuPercent": 30, "maxProcesses": 10})
    wall = int(group_file(s.pid, "memory", "memory.limit_in_bytes", "memory.max").read_text())
    overhead = wall - (300 << 20)
    ends_of_files = 100000 * 4096
    assert 64 + 4 * 10 << 20 <= overhead - ends_of_files <= 200 << 20
    cpu = group_file(s.pid, "cpu", "cpu.cfs_quota_us", "cpu.max").read_text()
    assert cpu.split()[0] == "30000"
    assert group_file(s.pid, "pids", "pids.max", "pids.max").read_text() == "64\n"


def test_out_of_memory_without_groups_is_found_by_the_watchdog(make):
    client = make(backend="rlimits", allow_unenforced=["cpu"]).client()
    s = client.create(limits={"memoryMb": 16, "diskMb": 1, "maxProcesses": 1})
    s.run("set 1 kept")
    with pytest.raises(Error, match="interrupted: oom"):
        s.run("hoard 800")
    assert s.wait_for("paused")["cause"] == "oom"
    assert s.run("get 1") == "kept"


def test_out_of_memory_names_the_agent(make, tmp_path):
    settings = tmp_path / "agents/eater/.claude"
    settings.mkdir(parents=True)
    (settings / "settings.json").write_text('{"resources":{"memoryMb":16,"diskMb":1}}')
    sup = make(agents_dir=str(tmp_path / "agents"))
    s = sup.client().create(agent="eater")
    assert s.info["limits"]["memoryMb"] == 16
    with pytest.raises(Error, match="oom"):
        s.run("hog 4000")
    event = s.wait_for("paused")
    assert (event["agent"], event["cause"]) == ("eater", "oom")
    sup.stop()
    assert f"session {s.id} of eater: active to paused: oom" in sup.log.read_text()


def test_threads_are_limited(client):
    s = client.create()
    assert int(s.run("threads 2000")) < 200
    assert s.run("quiet x") == "x"
