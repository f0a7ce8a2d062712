"""A worker that was taken over by its guest can do nothing to the host."""
import os
import shutil
import socket
import subprocess

import jail
import pytest
from pool import DRIVER, SEALED, namespaces, pool, status_of
from test_jail import readable_folder

ATTACKS = subprocess.run([SEALED, "list"], capture_output=True, text=True).stdout.split()
LETHAL = "call_i386_system_calls"
# The compiler beside a worker can fork, make files in memory and limit itself, and cannot read.
OF_COMPILERS = {
    "use_other_descriptors", "fill_a_disk", "map_memory_twice", "signal_others",
    "outlive_the_supervisor", "raise_limits", "change_the_filter", "call_each_number",
    "give_other_arguments"}


@pytest.fixture(params=["", "compiling"], ids=["worker", "worker with a compiler"])
def sealed(request):
    """A worker that survives what is tried, and its number."""
    with pool(worker=(SEALED, "worker", request.param)) as p:
        p.tell("settle", 1)
        yield p, p.take()[0]


@pytest.fixture
def target():
    """For each attack that needs one: what it is after."""
    with readable_folder() as folder, socket.create_server(("127.0.0.1", 0)) as tcp:
        (folder / "secret").write_text("secret")
        yield {
            "open_a_host_file": str(folder / "secret"),
            "use_the_network": tcp.getsockname()[1],
            "signal_others": os.getpid(),
            "trace_others": os.getpid(),
            "execute_something": "/bin/true",
        }


@pytest.mark.parametrize("attack", [a for a in ATTACKS if a != LETHAL])
def test_repelled(attack, sealed, target):
    p, number = sealed
    said, repelled = p.attack(number, attack, target.get(attack, ""))
    assert repelled, said


def every_attack(p, target, but=()):
    """Those that worked, in one worker after the other."""
    p.tell("settle", 1)
    number, _ = p.take()
    tried = [a for a in ATTACKS if a != LETHAL and a not in but]
    found = [(a, *p.attack(number, a, target.get(a, ""))) for a in tried]
    return [(attack, said) for attack, said, repelled in found if not repelled]


def test_all_are_repelled(backend, target):
    with pool(backend=backend) as p:
        assert every_attack(p, target) == []


def test_all_are_repelled_by_a_compiler(target):
    with pool(worker=(SEALED, "worker", "compiler")) as p:
        assert every_attack(p, target, but=OF_COMPILERS) == []


def test_all_are_repelled_without_privileges(target):
    """The worker of a supervisor that is not root has its uid, and no groups."""
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else for this test")
    with readable_folder() as folder:
        driver = shutil.copy(DRIVER, folder)
        worker = (shutil.copy(SEALED, folder), "worker")
        who = {"user": 65534, "group": 65534, "extra_groups": [], "cwd": "/"}
        with pool(backend="rlimits", driver=driver, worker=worker, **who) as p:
            assert every_attack(p, target) == []


@pytest.mark.parametrize("attack", ["open_a_host_file", "use_the_network"])
def test_the_attack_works_where_nothing_is_sealed(attack, target):
    with subprocess.Popen(
        [SEALED, "worker", "unsealed"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as p:
        p.stdin.write(f"{attack} {target.get(attack, '')}\n")
        p.stdin.close()
        assert p.stdout.read().endswith("= 1\n")


def test_a_call_of_another_kind_is_the_end():
    with pool() as p:
        p.tell("settle", 1)
        number, _ = p.take()
        p.attack(number, LETHAL)
        ending = p.wait(number)
    assert (ending.cause, ending.status) == ("crashed", -31), ending  # SIGSYS


def test_what_it_is(backend):
    """Seen from outside: namespaces, user, rights, of all its threads."""
    with pool(backend=backend) as p:
        p.tell("settle", 1)
        number, pid = p.take()
        assert p.attack(number, "start_a_thread")[1]
        mine, theirs = namespaces("self"), namespaces(pid)
        assert not set(mine.values()) & set(theirs.values())
        threads = os.listdir(f"/proc/{pid}/task")
        assert len(threads) == 2
        for thread in threads:
            status = status_of(pid, thread)
            rights = [v for k, v in status.items() if k.startswith("Cap")]
            assert {int(v, 16) for v in rights} == {0}, status
            assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
            if os.geteuid() == 0:
                uids = {int(u) for u in status["Uid"].split() + status["Gid"].split()}
                assert len(uids) == 1 and min(uids) >= jail.FIRST_UID
            assert status["Groups"].strip() in ("", "65534")
        assert os.listdir(f"/proc/{pid}/root/") == []
        assert os.listdir(f"/proc/{pid}/cwd/") == []
        with open(f"/proc/{pid}/mountinfo") as f:
            (mount,) = f.read().splitlines()
        assert " / / ro,nosuid,nodev,noexec" in mount, mount
        assert sorted(os.listdir(f"/proc/{pid}/fd")) == ["0", "1", "2", "3", "4"]


def test_two_workers_share_nothing():
    with pool(idle=2) as p:
        p.tell("settle", 2)
        (_, a), (_, b) = p.take(), p.take()
        assert not set(namespaces(a).values()) & set(namespaces(b).values())
        assert os.geteuid() or status_of(a)["Uid"] != status_of(b)["Uid"]


def test_a_process_with_threads_is_not_sealed():
    """Those would keep what the first one gives up."""
    with pool(worker=(SEALED, "worker", "threads")) as p:
        assert "seal: threads: Device or resource busy" in p.tell("failures", 1)
