"""Nothing is left behind, however things end."""
import contextlib
import os
import subprocess

import pytest
from jail import command, descendants, groups, jailed_processes, limit, wait_gone


@pytest.fixture
def start():
    """Starts a jail whose command is known to run, until its last step ends."""
    with contextlib.ExitStack() as stack:

        def run(backend, last="sleep 1000"):
            script = f"sleep 1000 & echo ready; {last}"
            argv = command("--", "sh", "-c", script, backend=backend)
            pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
            p = stack.enter_context(subprocess.Popen(argv, **pipes))
            stack.callback(p.kill)
            assert p.stdout.readline() == b"ready\n"
            return p

        yield run


def count_mounts():
    with open("/proc/self/mountinfo") as f:
        return sum(1 for _ in f)


def test_the_end_of_the_supervisor_is_the_end_of_the_jail(backend, start):
    p = start(backend)
    inside = descendants(p.pid)
    assert len(inside) >= 3
    p.kill()
    p.wait()
    wait_gone(inside)
    left = groups()
    assert bool(left) == (backend != "rlimits")
    limit("--", "true")  # sweeps
    assert groups() == []


def test_a_sweep_spares_the_living(backend, start):
    p = start(backend, last="cat")
    mine = groups()
    assert limit("--", "true", backend=backend).status == 0
    assert groups() == mine
    p.stdin.close()
    assert p.wait(60) == 0


def test_the_first_process_killed_from_outside(backend, start):
    p = start(backend)
    inside = descendants(p.pid)
    os.kill(inside[0], 9)
    _, err = p.communicate(timeout=60)
    assert p.returncode == 137 and b"limit: killed: signal 9" in err, err
    wait_gone(inside)


def test_the_first_process_has_no_rights_either(backend, start):
    p = start(backend, last="cat")
    with open(f"/proc/{descendants(p.pid)[0]}/status") as f:
        status = dict(line.split(":\t", 1) for line in f.read().splitlines())
    assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == 0
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    p.communicate(timeout=60)
    assert p.returncode == 0


def test_100_runs_leave_nothing():
    mounts, before = count_mounts(), set(jailed_processes())
    for _ in range(100):
        r = limit("--", "true")
        assert (r.cause, r.status) == ("exited", 0), r
    assert groups() == []
    assert count_mounts() == mounts
    assert set(jailed_processes()) <= before
