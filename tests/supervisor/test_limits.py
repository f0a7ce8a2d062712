"""Each limit holds, on each back end that this host has."""
import re
import subprocess

import pytest
from jail import SUPERVISOR, escape, limit, probe


def memory(mb, disk_mb):
    return ("--memory", mb, "--disk", disk_mb)


@pytest.mark.parametrize("how", ["heap", "shared", "memfd", "sysv", "many"])
def test_memory_beyond_the_kernels_limit_is_oom(cgroups, how):
    r = escape(how, 100, options=memory(16, 2), backend=cgroups)
    assert r.cause == "oom", r
    assert r.number(r"oom kills (\d+)") >= 1, r
    assert r.number(r"at most (\d+) MB") <= 20, r


def test_oom_is_signal_9_of_the_command(cgroups):
    r = escape("heap", 100, options=memory(16, 2), backend=cgroups)
    assert r.status == 137 and r.said.startswith("signal 9 "), r


@pytest.mark.parametrize("how", ["stay", "memfd", "many"])
def test_memory_must_not_use_the_room_of_files(cgroups, how):
    """The kernel's limit has room for files; the watchdog keeps it for them."""
    r = escape(how, 64, options=memory(16, 512), backend=cgroups)
    assert (r.cause, r.status) == ("oom", 137), r


def test_files_may_take_more_than_the_memory(backend):
    r = limit(
        *memory(16, 64), "--", "dd", "if=/dev/zero", "of=x", "bs=1M", "count=48",
        backend=backend,
    )
    assert (r.cause, r.status) == ("exited", 0), r
    assert r.number(r"disk (\d+) of 64 MB") == 48


def test_a_full_disk_is_enospc(backend):
    fill = "for f in x /tmp/x /dev/shm/x; do dd if=/dev/zero of=$f bs=1M count=12; done"
    r = limit(*memory(64, 20), "--", "sh", "-c", fill, backend=backend)
    assert r.err.count(b"No space left on device") == 2, r
    assert (r.cause, r.status) == ("exited", 1), r
    assert r.number(r"disk (\d+) of 20 MB") == 20


def test_inodes_are_limited(backend):
    script = "i=0; while : >f$i; do i=$((i+1)); done 2>&1 | head -1"
    r = limit("--disk", 1, "--", "sh", "-c", script, backend=backend)
    assert b"No space left on device" in r.out, r


def test_a_fork_bomb_is_held(backend):
    r = escape("processes", options=("--processes", 10), backend=backend)
    assert (r.cause, r.status) == ("exited", 0), r
    if backend != "rlimits":
        assert r.number(r"processes refused (\d+)") >= 1, r


def test_exactly_so_many_processes(backend):
    count = """
import os, signal
n = 1
try:
    while os.fork() or signal.pause():
        n += 1
except OSError:
    print(n)
"""
    r = limit("--processes", 7, "--", "python3", "-c", count, backend=backend)
    assert r.out == b"7\n", r


def test_cpu_is_throttled(cgroups):
    """How often depends on what else the host does; how much it gets does not."""
    r = escape("cpu", 200, options=("--cpu", 20), backend=cgroups)
    assert (r.cause, r.status) == ("exited", 0), r
    periods = r.number(r"throttled \d+ of (\d+) periods")
    assert r.number(r"cpu ([\d.]+) s") <= (periods + 2) * 0.020 * 1.5, r


def test_rlimits_refuse_memory_to_one_process():
    r = escape("heap", 100, options=memory(32, 2), backend="rlimits")
    assert (r.cause, r.status) == ("exited", 12), r  # ENOMEM


@pytest.mark.parametrize("how", ["memfd", "sysv"])
def test_rlimits_refuse_memory_that_nobody_counts(how):
    r = escape(how, 10, backend="rlimits")
    assert (r.cause, r.status) == ("exited", 1), r  # EPERM


def test_the_watchdog_alone_finds_memory_of_all_processes():
    r = escape("many", 160, options=memory(32, 2), backend="rlimits")
    assert (r.cause, r.status) == ("oom", 137), r
    assert "found by the watchdog" in r.said


def test_what_nothing_enforces_is_refused():
    r = limit("--backend", "rlimits", "--", "true")
    assert r.status == 125
    assert b"'cpu'" in r.err and b"--allow-unenforced cpu" in r.err
    r = limit("--backend", "rlimits", "--allow-unenforced", "memory", "--", "true")
    assert r.status == 125
    r = limit("--backend", "rlimits", "--allow-unenforced", "cpu", "--", "true")
    assert r.status == 0


def test_probe_names_what_enforces_each_limit(backend):
    r = probe("--backend", backend)
    rows = dict(re.findall(r"^(back end|\S+) +(.*)$", r.stdout, re.M))
    assert rows["back end"] == backend
    assert {"memory", "cpu", "disk", "processes", "network", "jail"} <= rows.keys()
    assert "NOT POSSIBLE" not in rows["jail"]
    assert (rows["cpu"] == "NOT ENFORCED") == (backend == "rlimits")
    assert r.returncode == (backend == "rlimits")


def test_probe_is_about_the_configuration(tmp_path):
    config = tmp_path / "config.json"
    config.write_text('{"backend": "rlimits", "compile": "separate"}')
    r = probe("--config", str(config))
    assert re.search(r"^back end +rlimits$", r.stdout, re.M), r
    assert re.search(r"^memory +NOT ENFORCED$", r.stdout, re.M), r  # compiled code is not counted
    assert r.returncode == 1
    config.write_text('{"backend": "none"}')
    r = probe("--config", str(config))
    assert (r.returncode, r.stdout) == (2, "") and "backend" in r.stderr, r


@pytest.mark.parametrize(
    "option, value, allowed",
    [
        ("--memory", "7", "8 to 1048576 MB"),
        ("--memory", "lots", "8 to 1048576 MB"),
        ("--cpu", "0", "1 to 10000 %"),
        ("--disk", "-1", "1 to 1048576 MB"),
        ("--processes", "30001", "1 to 30000"),
        ("--allow-unenforced", "time", "memory, cpu, disk, processes or network"),
    ],
)
def test_bad_values_name_option_value_and_range(option, value, allowed):
    r = limit(option, value, "--", "true")
    assert r.status == 2
    said = r.err.decode()
    assert option in said and f"'{value}'" in said and allowed in said


def test_help_lists_the_options():
    out = subprocess.run([SUPERVISOR, "limit", "--help"], capture_output=True, text=True)
    assert out.returncode == 0
    assert all(o in out.stdout for o in ("--memory", "--network", "--allow-unenforced"))
