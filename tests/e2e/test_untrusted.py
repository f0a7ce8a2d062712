"""Programs that are written inside the sandbox: compiled by a process with
limits, with few features, and never into the cache."""
import os
import re
import signal
import subprocess
import time

import pytest

import wasm
from sandbox import IS_SANITIZED, PROBE, PROGRAMS, SANDBOX, command, run
from wasm import (FUNCTION, I32, MEMORY, WASI_EXIT_7, body, leb, limits, module, nested_loops,
                  vec)

RUNNER = str(PROGRAMS / "untrusted.wasm")
BESIDE = str(PROGRAMS / "beside.wasm")
MIB = 1 << 20


class Outcome:
    """How a program ended: "status 0", "signal 11", "ENOEXEC"."""

    def __init__(self, result, name, count):
        lines = result.out.decode().splitlines()
        found = [re.fullmatch(re.escape(name) + r": (.*) (\d+)", line) for line in lines]
        ends = [m for m in found if m]
        assert len(ends) == count, result
        self.how, self.ms = ends[-1][1], int(ends[-1][2])
        reasons = re.findall(r"/\* (.*) \*/ = -1", result.err.decode(errors="replace"))
        self.reason = reasons[0] if reasons else ""
        self.result = result


def execute(tmp_path, content, *options, times=1, **kwargs):
    """Copies a module inside the sandbox, as the guest, and runs the copy."""
    folder = tmp_path / "in"
    folder.mkdir(exist_ok=True)
    (folder / "module.wasm").write_bytes(content)
    result = run(
        command("--strace", "--mount", f"{folder}:/in", *options, RUNNER, *["/in/module.wasm"] * times),
        **kwargs,
    )
    assert result.status == 0, result
    return Outcome(result, "module.wasm", times)


def test_a_program_written_inside_runs(tmp_path):
    assert execute(tmp_path, module()).how == "status 0"
    with open(PROBE, "rb") as probe:
        assert execute(tmp_path, probe.read()).how == "status 2"


def test_a_wasi_program_written_inside_runs(tmp_path):
    assert execute(tmp_path, WASI_EXIT_7).how == "status 7"


def test_it_dies_like_any_program(tmp_path):
    assert execute(tmp_path, module(b"\0")).how == "signal 4"


def test_the_same_bytes_are_compiled_once(tmp_path):
    """A custom section makes them other bytes than those of the host's program,
    whose code is there already."""
    with open(PROBE, "rb") as probe:
        outcome = execute(tmp_path, probe.read() + wasm.section(0, b"\x05guest"), times=5)
    assert outcome.how == "status 2"
    waits = [line for line in outcome.result.err.splitlines() if b"] execve(" in line and line.endswith(b"(waits)")]
    assert len(waits) == 1, outcome.result


REFUSED = {
    "memory64": (module(memories=[limits(1, flags=4)]), "memory64"),
    "two memories": (module(memories=[limits(1), limits(1)]), "multiple memories"),
    "shared memory": (module(memories=[limits(1, 2, flags=2)]), "declares a shared memory"),
    "an imported shared memory": (
        module(imports=[("env", "memory", MEMORY, limits(1, 2, flags=2))]),
        "declares a shared memory",
    ),
    "GC types": (module(types=[b"\x5f" + vec([bytes([I32, 0])])]), "gc"),
    "relaxed SIMD": (
        module((b"\xfd\x0c" + b"\0" * 16) * 2 + b"\xfd\x80\x02" + wasm.DROP),
        "relaxed SIMD",
    ),
    "unknown import": (
        module(imports=[("evil", "system", FUNCTION, leb(0))]),
        'unknown import "evil" "system"',
    ),
    "cut short": (module()[:-3], "damaged"),
    "a function that does not validate": (module(b"\x1a"), ""),
    "50001 functions": (module(functions=[(0, body(b""))] * 50001), "50000 functions"),
    "17 tables": (module(tables=[bytes([0x70]) + limits(1)] * 17), "16 tables"),
    "a table of 10,000,000": (module(tables=[bytes([0x70]) + limits(10000000)]), "table"),
    "many locals": (
        module(functions=[(0, body(b"", [(50000, I32)]))] * 41),
        "2000000 locals",
    ),
    "a function of 1 MB": (module(wasm.NOP * 1000000), "functions that are too large"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_is_refused_with_a_reason(tmp_path, what):
    content, reason = REFUSED[what]
    outcome = execute(tmp_path, content)
    assert outcome.how == "ENOEXEC", outcome.result
    assert outcome.reason and reason in outcome.reason, outcome.result


def test_20_mib_are_refused(tmp_path):
    padding = wasm.section(0, wasm.name("padding") + bytes(20 * MIB))
    outcome = execute(tmp_path, module(custom=padding))
    assert outcome.how == "ENOEXEC", outcome.result
    assert "16 MiB" in outcome.reason, outcome.result


def test_the_time_limit_of_a_run_ends_the_compiler(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "module.wasm").write_bytes(nested_loops(900, 20000))
    result = run(command("--timeout-ms", "1000", "--mount", f"{folder}:/in", RUNNER, "/in/module.wasm"))
    assert result.status == 124
    wait_for_no_compiler()


def test_others_run_while_one_is_compiled(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "module.wasm").write_bytes(nested_loops(900, 20000))
    result = run(command("--mount", f"{folder}:/in", BESIDE, "/in/module.wasm"))
    assert result.out == b"signal 9\n", result
    wait_for_no_compiler()


def slow_program(tmp_path):
    """A program of the host that is not compiled yet, and a cache."""
    program = tmp_path / "slow.wasm"
    program.write_bytes(nested_loops(900, 20000))
    return str(program), {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}


@pytest.mark.parametrize("options", [[], ["--seed", "1"]])
def test_the_time_limit_of_exec_covers_compiling(tmp_path, options):
    program, env = slow_program(tmp_path)
    result = run(command("--timeout-ms", "100", *options, program), env=env)
    assert result.status == 124, result
    assert b"timed out after 100 ms" in result.err
    wait_for_no_compiler()


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_exec_while_it_compiles(tmp_path, sig):
    program, env = slow_program(tmp_path)
    process = subprocess.Popen(command(program), env=env)
    wait_for_compiler()
    process.send_signal(sig)
    assert process.wait(60) == 128 + sig
    wait_for_no_compiler()


def compilers_of(executable):
    """Running processes of this executable with the argument "compile"."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            if (
                entry.isdigit()
                and os.readlink(f"/proc/{entry}/exe") == os.path.realpath(executable)
                and b"\0compile\0" in open(f"/proc/{entry}/cmdline", "rb").read()
            ):
                found.append(entry)
        except OSError:
            pass
    return found


def wait_for_compiler():
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = compilers_of(SANDBOX)
        if found:
            return found[0]
    raise AssertionError("no compiler")


def wait_for_no_compiler():
    end = time.monotonic() + 60
    while compilers_of(SANDBOX):
        assert time.monotonic() < end, "it outlives its parent"


def test_the_compiler_has_nothing_and_may_nothing(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "module.wasm").write_bytes(nested_loops(900, 20000))
    run(command(RUNNER))  # compiled from now on
    secret = open(folder / "module.wasm", "rb")  # a descriptor that leaks
    process = subprocess.Popen(
        command("--mount", f"{folder}:/in", RUNNER, "/in/module.wasm"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[secret.fileno()],
        env={**os.environ, "SECRET": "1"},
    )
    try:
        pid = wait_for_compiler()
        status = ""
        while "Seccomp:\t2" not in status:
            status = open(f"/proc/{pid}/status").read()
        assert "NoNewPrivs:\t1" in status
        assert sorted(os.listdir(f"/proc/{pid}/fd")) == ["0", "1", "2"]
        for fd in "012":
            assert "/memfd:wasmsand-" in os.readlink(f"/proc/{pid}/fd/{fd}")
        assert open(f"/proc/{pid}/environ", "rb").read() == b""
        assert int(open(f"/proc/{pid}/stat").read().split()[5]) == int(pid)  # its session
        bounds = open(f"/proc/{pid}/limits").read()
        assert re.search(r"Max cpu time +20 ", bounds)
        assert re.search(r"Max open files +3 ", bounds)
        assert IS_SANITIZED or re.search(rf"Max address space +{1 << 30} ", bounds)
    finally:
        process.kill()
        process.wait()
        secret.close()
    wait_for_no_compiler()


@pytest.mark.parametrize("user", ["user", "root"])
def test_nothing_comes_into_the_cache(tmp_path, user):
    cache = tmp_path / "cache"
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}

    def entries():
        return {path.stat().st_ino for path in cache.rglob("*") if path.is_file()}

    run(command(RUNNER), env=environment)
    before = entries()
    assert len(before) == 1
    assert execute(tmp_path, module(), "--user", user, env=environment).how == "status 0"
    assert entries() == before


@pytest.mark.long
@pytest.mark.skipif(IS_SANITIZED, reason="no limit of memory")
def test_a_module_that_needs_too_much_memory_is_refused(tmp_path):
    outcome = execute(tmp_path, nested_loops(3000, 45000), timeout_s=300)
    assert outcome.how == "ENOEXEC", outcome.result
    assert outcome.reason == "needs more than 1 GiB to compile"


@pytest.mark.long
@pytest.mark.skipif(IS_SANITIZED, reason="takes more memory")
def test_a_module_that_takes_too_long_is_refused(tmp_path):
    outcome = execute(tmp_path, nested_loops(900, 20000, functions=20), timeout_s=300)
    assert outcome.how == "ENOEXEC", outcome.result
    # A fast processor reaches the limit of memory first.
    assert outcome.reason in ("took longer than 20 s to compile", "needs more than 1 GiB to compile")
    assert outcome.ms < 65000
