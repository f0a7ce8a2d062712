"""Workers are ready before they are wanted, and end with a cause."""
import os
import signal

import jail
import pytest
from jail import descendants, groups, jailed_processes, wait_gone
from pool import LIMITS, SEALED, pool


def test_a_worker_that_is_taken_is_replaced(backend):
    with pool(idle=2, backend=backend) as p:
        assert p.tell("settle", 2) == "2 0"
        taken = [p.take() for _ in range(2)]
        assert p.tell("take", *LIMITS) == "none"
        p.tell("settle", 2)
        taken += [p.take() for _ in range(2)]
        assert len({pid for _, pid in taken}) == 4
        for number, _ in taken:
            assert p.attack(number, "echo", f"hello {number}")[0] == f"hello {number}|= 0|"


def test_without_a_stock_they_come_when_they_are_wanted():
    with pool(idle=0) as p:
        assert p.tell("take", *LIMITS) == "none"
        p.tell("settle", 1)
        p.take()


@pytest.mark.parametrize(
    "attack, arg, cause, status, by_us",
    [
        ("leave", "0", "exited", 0, False),
        ("leave", "7", "exited", 7, False),
        ("crash", "", "crashed", -11, False),
    ],
)
def test_the_cause_is_told(backend, attack, arg, cause, status, by_us):
    with pool(backend=backend) as p:
        p.tell("settle", 1)
        number, _ = p.take()
        p.attack(number, attack, arg)
        ending = p.wait(number)
        assert (ending.cause, ending.status, ending.by_us) == (cause, status, by_us)
        if attack == "leave":
            assert p.output(number) == "last words\n"
        assert len(groups()) <= 1 * (backend != "rlimits") * 4  # the next one's


def test_killed_by_us_or_by_others(backend):
    with pool(idle=2, backend=backend) as p:
        p.tell("settle", 2)
        (ours, _), (theirs, pid) = p.take(), p.take()
        p.tell("kill", ours)
        os.kill(pid, signal.SIGKILL)
        a, b = p.wait(ours), p.wait(theirs)
    assert (a.cause, a.status, a.by_us) == ("killed", -9, True)
    assert (b.cause, b.status, b.by_us) == ("killed", -9, False)


def test_too_much_memory_is_oom(cgroups):
    """More than memory, disk, and what a worker may take for itself."""
    with pool(backend=cgroups) as p:
        p.tell("settle", 1)
        number, _ = p.take((16, 100, 1, 1))
        p.attack(number, "take_memory", 800)
        ending = p.wait(number)
    assert (ending.cause, ending.status) == ("oom", -9) and ending.oom_kills, ending


def test_too_much_memory_is_oom_where_there_are_no_groups():
    """Found by the watchdog."""
    with pool(backend="rlimits") as p:
        p.tell("settle", 1)
        number, _ = p.take((16, 100, 1, 1))
        p.attack(number, "take_memory", 800)
        ending = p.wait(number)
    assert (ending.cause, ending.status) == ("oom", -9), ending


def test_memory_that_was_given_back_does_not_count(backend):
    with pool(backend=backend) as p:
        p.tell("settle", 1)
        number, _ = p.take((16, 100, 1, 1))
        assert p.attack(number, "use_and_give_back", 4000) == ("= 0|", True)
        assert p.attack(number, "echo", "alive")[0] == "alive|= 0|"


def test_a_worker_that_spins_is_throttled(cgroups):
    with pool(backend=cgroups) as p:
        p.tell("settle", 1)
        number, pid = p.take((16, 10, 1, 1))
        p.process.stdin.write(f"ask\t{number}\tspin\n")
        p.process.stdin.flush()
        with open(f"/proc/{pid}/cgroup") as f:
            own = [line.strip().split(":", 2) for line in f]
        path = {
            "v2": lambda: "/sys/fs/cgroup" + next(p for n, _, p in own if n == "0"),
        }.get(cgroups, lambda: next(
            g for g in groups() if g.startswith("/sys/fs/cgroup/cpu") and pid in pids(g)
        ))()
        while throttled(path) < 3:
            os.sched_yield()
        os.kill(pid, signal.SIGKILL)
        p.process.stdout.readline()
        assert p.wait(number).cause == "killed"


def pids(group):
    with open(group + "/cgroup.procs") as f:
        return [int(line) for line in f]


def throttled(group):
    with open(group + "/cpu.stat") as f:
        return int(dict(line.split() for line in f)["nr_throttled"])


def test_a_worker_that_cannot_start_is_told_with_its_last_words():
    with pool(worker=(SEALED, "worker", "fail")) as p:
        said = p.tell("failures", 2)
        assert said == "2 exited before it was ready: it does not want to"
    with pool(worker=("/no/such/worker",)) as p:
        assert p.tell("failures", 1) == "1 /no/such/worker: No such file or directory"


def test_a_ready_worker_that_dies_is_replaced():
    with pool() as p:
        p.tell("settle", 1)
        (pid,) = [d for d in descendants(p.process.pid) if is_worker(d)]
        os.kill(pid, signal.SIGKILL)
        assert "killed while it was idle" in p.tell("failures", 1)
        p.tell("settle", 1)
        p.take()


def is_worker(pid):
    with open(f"/proc/{pid}/comm") as f:
        return f.read() == "sealed\n"


def test_the_spawner_can_be_lost():
    with pool() as p:
        p.tell("settle", 1)
        spawner = int(p.tell("spawner"))
        os.kill(spawner, signal.SIGKILL)
        number, _ = p.take()
        p.tell("settle", 1)
        p.take()
        assert p.attack(number, "echo", "there")[1]


def test_a_start_that_fails_is_reported_by_a_step_alone():
    """Not to whoever is just taking a worker."""
    with pool(idle=0) as p:
        spawner = int(p.tell("spawner"))
        os.kill(spawner, signal.SIGKILL)
        wait_gone([spawner])
        assert p.tell("take", *LIMITS) == "none"
        assert p.tell("failures").split()[0] == "0"
        p.tell("settle", 1)
        p.take()


@pytest.mark.parametrize("pools", [1, 2])
def test_a_process_started_while_the_spawner_dies_is_reaped(pools):
    with pool(idle=2) as p:
        p.tell("settle", 2)
        if pools == 2:
            p.tell("beside")
        kills = 0
        for _ in range(20):
            spawner = int(p.tell("spawner"))
            number, _ = p.take()  # the next start begins
            if spawner:  # else it died when nothing more was to be started
                os.kill(spawner, signal.SIGKILL)
                kills += 1
            p.tell("kill", number)
            p.wait(number)
            p.tell("settle", 2)
        assert kills
        workers = [pid for pid in children(p.process.pid) if is_worker(pid)]
        assert len(workers) == 2 * pools
        spawners = pools - 1 + bool(int(p.tell("spawner")))
        assert len(children(p.process.pid)) == len(workers) + spawners


def test_a_group_that_a_dead_spawner_had_made_is_removed(cgroups):
    """Also if nothing is started afterwards."""
    with pool(backend=cgroups) as p:
        p.tell("settle", 1)
        parents = {os.path.dirname(g) for g in groups()}
        made = [f"{parent}/wasmsand-{0:016x}" for parent in parents]
        for path in made:
            os.mkdir(path)
        os.kill(int(p.tell("spawner")), signal.SIGKILL)
        p.tell("step")
        assert made and not set(made) & set(groups())


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return f.read().split()


def test_the_end_of_the_supervisor_is_the_end_of_its_workers(backend):
    with pool(idle=2, backend=backend) as p:
        p.tell("settle", 2)
        p.take()  # the next start begins
        all_of_them = descendants(p.process.pid)
        assert len(all_of_them) >= 3
        p.process.kill()
        p.process.wait()
        wait_gone(all_of_them)
        while children := [pid for g in groups() for pid in pids(g)]:
            wait_gone(children)
        p.process.stdin.close()
        p.process.returncode = 0
    jail.limit("--", "true")  # sweeps
    assert groups() == []


def test_100_lives_leave_nothing():
    before = set(jailed_processes())
    with pool(idle=2) as p:
        descriptors = None
        for i in range(100):
            p.tell("settle", 1)
            number, _ = p.take()
            if i % 2:
                p.tell("kill", number)
            else:
                p.attack(number, "leave", 0)
            p.wait(number)
            if i == 10:
                p.tell("settle", 2)
                descriptors = len(os.listdir(f"/proc/{p.process.pid}/fd"))
        p.tell("settle", 2)
        assert len(os.listdir(f"/proc/{p.process.pid}/fd")) == descriptors
    assert groups() == []
    assert set(jailed_processes()) <= before


# --- commands


def test_a_command_runs_in_a_jail_and_its_output_is_kept(backend):
    with pool(idle=0, backend=backend) as p:
        number = p.run("sh", "-c", "id -un; pwd; echo e >&2; cat; exit 3")
        ending = p.wait(number)
        assert (ending.cause, ending.status) == ("exited", 3), ending
        assert p.output(number) == "sandbox\n/workspace\ne\n"


def test_a_command_that_cannot_be_run():
    with pool(idle=0) as p:
        ending = p.wait(p.run("no-such-program"))
        assert (ending.cause, ending.where) == ("failed", "exec"), ending


def test_a_command_gets_signals_and_can_be_killed(backend):
    script = 'trap "echo got; exit 5" TERM; echo ready; while :; do sleep 0.01; done'
    with pool(idle=0, backend=backend) as p:
        a, b = (p.run("sh", "-c", script) for _ in range(2))
        for number in (a, b):
            assert p.tell("until", number, "ready") == "ready|"
        p.tell("signal", a, int(signal.SIGTERM))
        p.tell("kill", b)
        first, second = p.wait(a), p.wait(b)
    assert (first.cause, first.status) == ("exited", 5), first
    assert (second.cause, second.status, second.by_us) == ("killed", -9, True), second


def test_only_the_end_of_much_output_is_kept():
    with pool(idle=0) as p:
        number = p.run("sh", "-c", "seq 1000000; echo; echo the end")
        assert p.tell("until", number, "no such text")
        assert p.wait(number).cause == "exited"


def test_a_command_over_its_memory_is_oom(cgroups):
    script = "import time; x = bytearray(80 << 20); time.sleep(1000)"
    with pool(idle=0, backend=cgroups) as p:
        number = p.run("python3", "-c", script, limits=(32, 100, 256, 8))
        assert p.wait(number).cause == "oom"


def test_a_command_beside_a_dead_spawner_fails():
    with pool(idle=0) as p:
        os.kill(int(p.tell("spawner")), signal.SIGSTOP)
        number = p.run("true")
        os.kill(int(p.tell("spawner")), signal.SIGKILL)
        ending = p.wait(number)
        assert (ending.cause, ending.where) == ("failed", "spawner")
        assert p.wait(p.run("true")).cause == "exited"
