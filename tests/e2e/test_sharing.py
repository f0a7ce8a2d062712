"""Shared memory in a sandbox: limits, attacks, and requests beside it."""
import pytest

from rpc import needs_image
from sandbox import OVERHEAD_MB, PROGRAMS, command, run

SHARING = str(PROGRAMS / "sharing.wasm")


@pytest.mark.parametrize("name", ["mapping_bomb", "shm_bomb", "segment_bomb", "sharing_chaos"])
def test_the_sandbox_stays_usable_after(name):
    result = run(command(SHARING, name))
    assert result.status == 0, result
    assert result.out.splitlines()[-2:] == [b"attack: exit 0", b"usable"], result
    assert result.rss_mb < 512 + 256 + OVERHEAD_MB, result


def test_processes_spin_for_one_another_with_a_seed():
    argv = command("--seed", "7", SHARING, "alone", "spin_in_turns")
    first, second = run(argv), run(argv)
    assert first.status == 0 and int(first.out) > 0, first
    assert first.out == second.out


@pytest.fixture(name="sharing")
def sharing_client(start):
    """A sandbox in which a process has stored a letter in a shared page."""
    client = start("--tools", str(PROGRAMS))
    client.call("create")
    client.run("sharing alone keep_page & until [[ $(head -c 1 /dev/shm/page) = k ]]; do :; done")
    return client


@needs_image
def test_sharing_survives_checkpoints_and_snapshots(sharing):
    sharing.call("snapshot.create")
    assert sharing.out("sharing alone answer_page; wait $!; echo $?") == "k\n0\n"
    assert sharing.out("head -c 2 /dev/shm/page") == "ka"


@needs_image
def test_a_fork_has_a_copy_of_the_page(sharing):
    fork = sharing.call("sandbox.fork")["sandboxId"]
    assert sharing.out("sharing alone answer_page", sandboxId=fork) == "k\n"
    assert sharing.out("head -c 2 /dev/shm/page | od -An -c", sandboxId=fork) == "   k   a\n"
    assert sharing.out("head -c 2 /dev/shm/page | od -An -c") == "   k  \\0\n"
