"""Programs that guests bring: refused, or compiled by a process beside the
worker, as the configuration says."""
import os
import pathlib
import sys

import pytest
import supervisor
from supervisor import IS_SANITIZED, ROOT, group_file, kill

sys.path.append(str(ROOT / "tests/e2e"))
from wasm import END, WASI_EXIT_7, module, nested_loops  # noqa: E402

# A section that means nothing: what follows is not the program of the image.
OTHER = r"printf '\0\2\1x' >>"


def start(folder, compile):
    return supervisor.Supervisor(folder, fake=False, pool_size=1, compile=compile).start()


@pytest.fixture(scope="module")
def sup(tmp_path_factory):
    one = start(tmp_path_factory.mktemp("separate"), "separate")
    yield one
    one.end()


@pytest.fixture
def session(client):
    s = client.create(timeoutMs=120000)  # however slow the host is
    yield s
    s.call("session.end")


def bring(session, content, name="x"):
    session.write(f"/home/user/{name}", content)
    session.run(f"chmod +x {name}")


def reason(session, command, **options):
    """Why its last program could not be run, as the trace tells."""
    answer = session.call("run", command=command, trace=True, **options)
    assert answer["exitCode"] == 126 and "Exec format error" in answer["stderr"], answer
    return "".join(answer["trace"]) if isinstance(answer["trace"], list) else answer["trace"]


def test_a_program_that_was_brought_runs(session):
    bring(session, WASI_EXIT_7)
    assert session.run("./x; echo $?; ./x | ./x; echo $?") == "7\n7\n"


def test_programs_with_memory_run(session):
    session.run(f"cp /usr/bin/jq q; {OTHER} q")
    assert session.run("""echo "[3,4]" | ./q .[1] | cat""") == "4\n"


def test_programs_that_fork_run(session):
    """Often: a time slice may end while the child's memory is made."""
    session.run(f"cp /usr/bin/bash sh; {OTHER} sh")
    assert session.run("""./sh -c 'for i in {1..300}; do (exit 5) & wait $!; echo $?; done | sort | uniq -c'""").split() == ["300", "5"]


def test_it_dies_like_any_program(session):
    bring(session, module(b"\0"))
    assert session.run("./x; echo $?") == "132\n"  # SIGILL


def test_several_wait_for_one_compiler(session):
    session.run("for i in 1 2 3 4; do cp /usr/bin/jq $i; printf '\\0\\3\\1x%s' $i >>$i; done")
    out = session.run("for i in 1 2 3 4 1 2 3 4; do echo $i | ./$i . & done; wait")
    assert sorted(out.split()) == sorted("12341234")


def test_it_survives_a_new_worker(session):
    bring(session, WASI_EXIT_7)
    session.call("session.pause")
    assert session.run("./x; echo $?") == "7\n"


def test_what_is_no_program_is_told(session):
    bring(session, module(END))
    assert "the compiler" not in reason(session, "./x")
    bring(session, module(imports=[("evil", "system", 0, b"\0")]))
    assert 'unknown import "evil" "system"' in reason(session, "./x")


@pytest.mark.skipif(IS_SANITIZED, reason="no limit of memory")
def test_a_bomb_ends_its_compiler_alone(session):
    """It needs ever more memory."""
    bring(session, nested_loops(3000, 45000))
    assert "needs more than 1 GiB to compile" in reason(session, "echo kept >f; ./x")
    bring(session, WASI_EXIT_7, "y")
    assert session.run("cat f; ./y; echo $?") == "kept\n7\n"
    assert session.state == "active"


def test_memory_of_the_compiler_that_is_too_much_is_the_session_s(session):
    """The kernel kills for the memory of a group: all of it, whoever was first."""
    bring(session, nested_loops(3000, 45000))
    memory = group_file(session.pid, "memory", "memory.usage_in_bytes", "memory.current")
    used = int(memory.read_text())
    wall = group_file(session.pid, "memory", "memory.limit_in_bytes", "memory.max")
    wall.write_text(str(used + (100 << 20)))
    last = session.last_event()
    with pytest.raises(supervisor.Error, match="Session interrupted: oom"):
        session.run("./x")
    assert session.wait_for("paused", after=last)["cause"] == "oom"


def test_a_run_that_is_over_ends_its_compiler(session):
    bring(session, nested_loops(900, 20000, functions=20))
    bring(session, WASI_EXIT_7, "y")
    answer = session.call("run", command="./x", timeoutMs=300)
    assert answer["errorClass"] == "TIMEOUT", answer
    # its turn comes when that one is gone
    assert session.run("./y; echo $?") == "7\n"
    (compiler,) = processes_of(session.pid)
    assert processes_of(compiler) == []


def test_others_run_meanwhile(session):
    bring(session, nested_loops(900, 20000, functions=20))
    assert session.run("./x & sleep 0.01; echo free; kill -9 $!; wait; jobs") == "free\n"


def processes_of(pid):
    return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def test_the_compiler_is_sealed(session):
    bring(session, WASI_EXIT_7)
    session.run("./x")
    worker = session.pid
    (compiler,) = processes_of(worker)
    status = pathlib.Path(f"/proc/{compiler}/status").read_text()
    fields = dict(line.split(":\t", 1) for line in status.splitlines())
    assert {int(v, 16) for k, v in fields.items() if k.startswith("Cap")} == {0}
    assert (fields["NoNewPrivs"], fields["Seccomp"], fields["Threads"]) == ("1", "2", "1")
    of_worker = pathlib.Path(f"/proc/{worker}/status").read_text()
    assert f"Uid:\t{fields['Uid']}\n" in of_worker
    assert os.listdir(f"/proc/{compiler}/root/") == []
    hfds = {int(n): os.readlink(f"/proc/{compiler}/fd/{n}") for n in os.listdir(f"/proc/{compiler}/fd")}
    assert hfds.pop(0) == hfds.pop(1) == "/dev/null"
    hfds.pop(2)  # the pipe for last words
    assert all(target.startswith("socket:") for target in hfds.values()), hfds
    groups = [pathlib.Path(f"/proc/{p}/cgroup").read_text() for p in (worker, compiler)]
    assert groups[0] == groups[1]


def test_code_cannot_be_written_to(session):
    session.run(f"cp /usr/bin/jq q; {OTHER} q; ./q . </dev/null")
    maps = pathlib.Path(f"/proc/{session.pid}/maps").read_text().splitlines()
    assert any("r-xp" in line and "wasmsand-code" in line for line in maps)
    assert not [line for line in maps if "wx" in line.split()[1] or "xs" in line.split()[1]]


def test_the_compiler_ends_with_its_worker(session):
    """The worker is the first process of their namespace."""
    (compiler,) = processes_of(session.pid)
    last = session.last_event()
    kill(session.pid)
    session.wait_for("paused", after=last)
    assert not os.path.exists(f"/proc/{compiler}")


def test_without_a_compiler_they_are_refused(tmp_path):
    one = start(tmp_path, "refuse")
    try:
        session = one.client().create()
        bring(session, WASI_EXIT_7)
        assert "only programs of the root image can be run here" in reason(session, "./x")
        assert processes_of(session.pid) == []
    finally:
        one.end()
