"""Threads in a sandbox: limits, attacks, repeatable runs, traces, freezing."""
import io
import re
import tarfile

import pytest

from rpc import IMAGE, needs_image
from sandbox import OVERHEAD_MB, PROGRAMS, SANDBOX, command, run

THREADS = str(PROGRAMS / "threads.wasm")


def attack(name, *options):
    return run(command(*options, THREADS, name))


def alone(name, *options):
    return run(command(*options, THREADS, "alone", name))


@pytest.mark.parametrize(
    "name, ended",
    [
        ("thread_bomb", "signal 9"),
        ("thread_bombs", "signal 9"),
        ("memory_in_threads", "exit 0"),
        ("deadlock", "signal 9"),
        ("spinning_threads", "signal 9"),
        ("thread_overflow", "signal 11"),
        ("chaos", "exit 0"),
    ],
)
def test_the_sandbox_stays_usable_after(name, ended):
    result = attack(name)
    assert result.status == 0, result
    assert result.out.splitlines()[-2:] == [f"attack: {ended}".encode(), b"usable"], result
    assert result.rss_mb < 512 + 256 + OVERHEAD_MB, result


def test_a_thousand_threads_in_a_hundred_processes():
    result = attack("thousand_threads", "--processes", "1200", "--memory-limit", "2000")
    assert result.out.splitlines()[-2:] == [b"attack: exit 0", b"usable"], result


@pytest.mark.parametrize("name", ["deadlock", "spinning_threads", "thread_bomb"])
def test_the_time_limit_ends_all_threads(name):
    assert alone(name, "--timeout-ms", "300").status == 124


def test_memory_in_threads_is_limited():
    result = attack("memory_in_threads", "--memory-limit", "64")
    assert result.out.splitlines()[-1] == b"usable", result
    assert result.rss_mb < 64 + OVERHEAD_MB, result


def test_spinning_threads_are_repeatable_with_a_seed():
    first, second = (alone("spin_order", "--seed", "7") for _ in range(2))
    assert first.status == 0 and re.fullmatch(rb"[b-d]{300,302}\n", first.out), first
    assert first.out == second.out
    assert set(first.out) == set(b"bcd\n")


def test_a_thread_spins_for_sleeping_ones_with_a_seed():
    first, second = (alone("spins_for_sleepers", "--seed", "7") for _ in range(2))
    assert first.status == 0 and re.fullmatch(rb"[1-9]\d*\n[1-9]\d*\n", first.out), first
    assert first.out == second.out


def test_a_thread_forks_beside_spinning_ones_with_a_seed():
    result = alone("forks_beside_spinning_threads", "--seed", "7")
    assert result.status == 0, result


def test_a_trace_names_the_thread():
    result = alone("two_writers", "--strace")
    assert result.out == b"ba"
    writers = dict(re.findall(rb"\[(\d+)\] write\(1, 0x[0-9a-f]+, 1\)()", result.err))
    assert len(writers) == 2, result


@needs_image
def test_ps_and_top_list_threads():
    script = """threads alone four_threads & pid=$!
        until [ "$(ls /proc/$pid/task | wc -l)" = 4 ]; do sleep 0.01; done
        ps -T -p $pid -o pid,spid,comm; echo; top -b -H -n 1 -p $pid; kill $pid"""
    result = run([SANDBOX, "shell", "--root", IMAGE, "--tools", str(PROGRAMS), "-c", script])
    ps, top = result.out.split(b"\n\n", 1)
    rows = [line.split() for line in ps.splitlines()[1:]]
    assert len(rows) == 4 and len({tid for _, tid, _ in rows}) == 4, result
    assert {pid for pid, _, _ in rows} == {rows[0][1]}, result
    for _, tid, _ in rows:
        assert re.search(rb"^ *%s user .* threads *$" % tid, top, re.M), result


def freeze(tmp_path, name):
    """Freezes the program, in a root image that has nothing else."""
    data = (PROGRAMS / "freezes.wasm").read_bytes()
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(data), 0o755
    with tarfile.open(tmp_path / "root.tar", "w") as tar:
        tar.addfile(info, io.BytesIO(data))
    return run([SANDBOX, "freeze", "--root", str(tmp_path / "root.tar"), "--cwd", "/", f"/{name}",
                str(tmp_path / "out.wasm")])


def test_a_program_with_threads_is_not_frozen(tmp_path):
    result = freeze(tmp_path, "threaded")
    assert result.status != 0
    assert b"/threaded cannot be frozen: it has a second thread" in result.err, result
    assert not (tmp_path / "out.wasm").exists()


def test_a_program_that_writes_shared_memory_is_not_frozen(tmp_path):
    result = freeze(tmp_path, "sharing")
    assert result.status != 0
    assert b"/sharing cannot be frozen: it writes to memory" in result.err, result
    assert not (tmp_path / "out.wasm").exists()


@pytest.mark.parametrize("name", ["plain", "reading"])
def test_a_frozen_program_keeps_its_thread_local_variables(tmp_path, name):
    result = freeze(tmp_path, name)
    assert result.status == 0, result
    assert run(command(str(tmp_path / "out.wasm"))).status == 42
