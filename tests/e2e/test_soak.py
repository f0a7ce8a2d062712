"""Many processes, one after the other: nothing of them may stay on the host."""
import os
import subprocess

import pytest

from sandbox import IS_SANITIZED, PROGRAMS, command

# The sanitizer keeps what was freed for a while.
SLACK_KB = 300 << 10 if IS_SANITIZED else 2 << 10


def resident_kb(pid):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


def check_flat(what, rounds):
    argv = command(str(PROGRAMS / "soak.wasm"), what, str(rounds))
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        sizes, fds = [], []
        for _ in process.stdout:
            try:
                sizes.append(resident_kb(process.pid))
                fds.append(len(os.listdir(f"/proc/{process.pid}/fd")))
            except (AssertionError, OSError):
                break  # it has ended
    assert process.returncode == 0
    assert len(sizes) >= 8
    # The first tenths warm the pool.
    assert max(sizes[5:]) < max(sizes[:5]) + SLACK_KB, sizes
    assert max(fds) == fds[0]


@pytest.mark.parametrize("what", ["kills", "spawns"])
def test_a_thousand(what):
    check_flat(what, 1000)


@pytest.mark.long
def test_100_000_kills():
    check_flat("kills", 100_000)


@pytest.mark.long
def test_20_000_programs():
    check_flat("spawns", 20_000)
