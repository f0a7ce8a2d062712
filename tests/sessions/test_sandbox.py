"""Sessions with real workers: what the sandbox does, through the supervisor."""
import base64
import os
import signal
import subprocess

import pytest
from supervisor import Error, Session, kill
from test_damage import damage, damage_chunk, damages


@pytest.fixture(scope="module")
def sup(tmp_path_factory):
    import supervisor
    one = supervisor.Supervisor(tmp_path_factory.mktemp("real"), fake=False, pool_size=2)
    yield one.start()
    one.end()


@pytest.fixture
def session(client):
    s = client.create()
    yield s
    s.client = client
    s.call("session.end")


def die(session):
    last = session.last_event()
    kill(session.pid)
    return session.wait_for("paused", after=last)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_worker_ended_by_a_signal_was_killed(session, number):
    session.run("x=5")
    os.kill(session.pid, number)
    event = session.wait_for("paused")
    assert (event["cause"], event["figures"]["exitStatus"]) == ("killed", 128 + number)
    assert session.run("echo $x") == "5\n"


# --- what survives


def cycle_kill(session):
    die(session)


def cycle_pause(session):
    session.call("session.pause")


def cycle_stop(session):
    session.call("session.stop")
    session.call("session.resume")


CYCLES = pytest.mark.parametrize("cycle", [cycle_kill, cycle_pause, cycle_stop])


@CYCLES
def test_files_survive(session, cycle):
    session.run("mkdir -p d/e; echo one > d/e/f; ln -s f d/e/l; chmod 640 d/e/f; head -c 300000 /dev/zero > big")
    session.write("/home/user/data", bytes(range(256)) * 100)
    cycle(session)
    assert session.run("cat d/e/l; stat -c %a d/e/f; wc -c < big") == "one\n640\n300000\n"
    assert session.read("/home/user/data") == bytes(range(256)) * 100


IN_REMOVED = """pwd; echo $?; ls -a; echo $?; stat -c %h .; echo x > f; echo $?
pwd -P; echo $?; cd ..; echo $? $PWD; ls; cd "$0"; echo $?; pwd"""


@CYCLES
def test_a_removed_folder_stays_the_current_one(session, cycle, tmp_path):
    """As in a bash on Linux that was there all the time."""
    enter = "mkdir -p $0/d/e; cd $0/d/e; rmdir ../e; "
    native = subprocess.run(["bash", "-c", enter + IN_REMOVED, tmp_path], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    session.run(enter.replace("$0", "/tmp/x"))
    cycle(session)
    inside = session.run(IN_REMOVED.replace("$0", "/tmp/x"))
    assert inside.replace("/tmp/x", str(tmp_path)) == native


@CYCLES
def test_descriptors_of_devices_and_fifos(session, cycle):
    session.run("mkfifo f; exec 3< /dev/zero 4<> f 5<> /dev/ptmx 6< /proc/self/status 7< /proc/version")
    cycle(session)
    answer = session.call("run", command="head -c 3 <&3 | wc -c; echo a >&4; read x <&4; echo $x; head -c 5 <&7")
    assert answer["stdout"] == "3\na\nLinux"
    assert answer["stderr"] == "".join(
        f"descriptor {fd} is closed: its file could not be opened again\n" for fd in (5, 6))
    assert session.call("run", command="echo >&5")["stderr"] == "bash: line 1: 5: Bad file descriptor\n"


SET_ATTRIBUTES = """mkdir d; echo x > f; python3 -c '
import os
import signal
for name in ("d", "f", "/etc/passwd", "/etc"):
    os.setxattr(name, "user.a", bytes(range(256)))
    os.setxattr(name, "user.b", b"gone")
    os.setxattr(name, "user.empty", b"")
os.removexattr("f", "user.b")' """
GET_ATTRIBUTES = """python3 -c '
import os
import signal
for name in ("d", "f", "/etc/passwd", "/etc"):
    assert os.getxattr(name, "user.a") == bytes(range(256)), name
    assert os.getxattr(name, "user.empty") == b"", name
    print(*sorted(os.listxattr(name)))' """
ATTRIBUTES = ("user.a user.b user.empty\n" + "user.a user.empty\n" + 2 * "user.a user.b user.empty\n")


@CYCLES
def test_extended_attributes_survive(client, cycle):
    session = client.create(user="root")
    session.run(SET_ATTRIBUTES)
    cycle(session)
    assert session.run(GET_ATTRIBUTES) == ATTRIBUTES
    fork = Session(client, session.call("session.fork")["sessionId"])
    session.run("""python3 -c 'import os; os.removexattr("f", "user.a"); os.setxattr("d", "user.b", b"new")'""")
    cycle(session)
    assert session.run("""python3 -c 'import os; print(os.listxattr("f"), os.getxattr("d", "user.b"))'""") == (
        "['user.empty'] b'new'\n")
    assert fork.run(GET_ATTRIBUTES) == ATTRIBUTES
    for one in (session, fork):
        one.call("session.end")


def test_extended_attributes_survive_supervisors(make):
    sup = make(fake=False)
    session = sup.client().create(user="root")
    session.run(SET_ATTRIBUTES)
    for end in (sup.kill, sup.stop):
        end()
        sup.start()
        session.client = sup.client()
        assert session.run(GET_ATTRIBUTES) == ATTRIBUTES
    sup.stop()
    done = sup.cli("fsck", "--store", sup.folder / "store")
    assert (done.stdout, done.returncode) == (b"0 found, 0 repaired\n", 0)


@CYCLES
def test_the_shell_survives(session, cycle):
    session.run("x=5; f() { echo f$x; }; cd /tmp; alias a='echo alias'; set -u; umask 027; ulimit -n 77; export E=exported")
    cycle(session)
    assert session.run("f; pwd; a; echo $-; umask; ulimit -n; env | grep ^E=") == (
        "f5\n/tmp\nalias\n" + session.run("echo $-") + "0027\n77\nE=exported\n")


@CYCLES
def test_the_environment_survives(session, cycle):
    session.call("env.set", name="A", value="b")
    cycle(session)
    assert session.call("env.get", name="A") == {"value": "b"}
    assert session.run("echo $A") == "b\n"


@CYCLES
def test_removals_survive(session, cycle):
    session.run("echo x > a; echo y > b; mkdir c")
    session.run("rm a; mv b d; rmdir c")
    cycle(session)
    assert session.run("ls") == "d\n"


@CYCLES
def test_history_survives(session, cycle):
    session.run("echo one")
    cycle(session)
    assert session.call("shell.history.list")["entries"][0]["command"] == "echo one"


def test_environment_of_create(client):
    s = client.create(env={"GIVEN": "yes"})
    assert s.run("echo $GIVEN") == "yes\n"
    s.run("unset GIVEN")
    die(s)
    assert s.run("echo $GIVEN") == "\n"
    s.call("session.end")


def test_a_fork_is_apart(client, session):
    session.run("echo one > f; x=1")
    f = Session(client, session.call("session.fork")["sessionId"])
    session.run("echo two > f; x=2")
    assert f.run("cat f; echo $x") == "one\n1\n"
    f.run("echo three > f")
    assert session.run("cat f; echo $x") == "two\n2\n"
    f.call("session.end")


@CYCLES
def test_a_reset_is_the_state_at_start_and_survives(client, cycle):
    s = client.create(env={"GIVEN": "yes"})
    start = s.run("ls -A; echo $GIVEN")
    s.run("x=5; cd /tmp; GIVEN=no; mkdir d; for i in {1..100}; do echo $i > d/$i; done; echo y > ~/.bashrc")
    s.call("env.set", name="A", value="b")
    cycle(s)  # the worker of the reset is not that of the creation
    assert s.run("pwd; echo $x $A; ls d | wc -l") == "/tmp\n5 b\n100\n"
    assert s.call("sandbox.reset") == {"ok": True}
    cycle(s)
    assert s.run("ls -A; echo $GIVEN") == start
    assert s.run("pwd; echo $x$A; ls /tmp") == "/home/user\n\n"
    assert [e["command"] for e in s.call("shell.history.list")["entries"]][:1] == ["ls -A; echo $GIVEN"]
    s.run("echo new > f")
    cycle(s)
    assert s.run("cat f") == "new\n"
    s.call("session.end")


def test_a_reset_of_a_fork_is_the_state_at_the_first_start(client):
    s = client.create(env={"GIVEN": "yes"})
    s.run("echo old > f; x=5")
    fork = Session(client, s.call("session.fork")["sessionId"])  # a moment to come back to
    again = Session(client, fork.call("session.fork")["sessionId"])
    again.run("rm f; x=6")
    again.call("sandbox.reset")
    assert again.run("cat f; echo $GIVEN$x") == "yes\n"
    another = Session(client, fork.call("session.fork")["sessionId"])
    assert another.run("cat f; echo $GIVEN$x") == "old\nyes5\n"
    assert fork.state == "paused"


def test_a_reset_ends_processes(session):
    count = "ls -d /proc/[1-9]* | wc -l"
    before = session.run(count)
    session.run("sleep 1000 & sleep 1000 &")
    assert session.run(count) != before
    session.call("sandbox.reset")
    assert session.run(count) == before


def test_many_files(session):
    session.run("mkdir many; for i in {1..2000}; do echo $i > many/$i; done")
    die(session)
    assert session.run("ls many | wc -l; cat many/1999") == "2000\n1999\n"


@pytest.mark.parametrize("path", ["/home/user/d/broken", "/home/user/broken", "/tmp/broken"])
def test_a_damaged_file_is_named_and_costs_only_itself(make, path):
    sup = make(fake=False)
    s = sup.client().create()
    s.run("x=5; mkdir d; echo one > d/f")
    s.write(path, b"z" * 5000)
    s.call("session.pause")
    damage_chunk(sup, s, b"z" * 4096)
    assert s.run(f"echo $x; cat d/f; wc -c < {path}") == "5\none\n0\n"
    event, = damages(s)
    assert (event["path"], event["reason"]) == (path, f"{path}: its contents are damaged")
    s.write(path, b"new")
    s.call("session.pause")
    assert s.read(path) == b"new"


def test_a_name_that_is_damaged_does_not_cost_what_it_named(make):
    sup = make(fake=False)
    s = sup.client().create()
    s.run("mkdir d; echo one > d/f; echo two > d/g; echo three > h")
    s.call("session.pause")
    damage(sup, s, "UPDATE record SET sum = sum + 1 WHERE hex(key) LIKE '6E%' || hex('d')")
    assert s.run("cat h /lost.*/f /lost.*/g") == "three\none\ntwo\n"
    assert [e["path"] for e in damages(s)] == ["/home/user/d", s.run("echo /lost.*").strip()]


def test_what_sessions_leave_in_a_store_is_whole(make):
    sup = make(fake=False)
    s = sup.client().create()
    s.run("mv .bashrc moved; rm .profile; ln moved linked; mkdir -p a/b; mv a c; echo more >> moved")
    fork = Session(s.client, s.call("session.fork")["sessionId"])
    fork.run("rm -r c; exec 5> open; rm open; chmod 700 .; ln -s moved link; touch /tmp/x")
    s.run("echo new > .profile; cd c/b; sleep 1000 > /tmp/background &")
    s.call("sandbox.reset")
    s.run("echo new > .profile")
    sup.stop()
    done = sup.cli("fsck", "--store", sup.folder / "store")
    assert (done.stdout, done.returncode) == (b"0 found, 0 repaired\n", 0)


# --- methods


def test_files(session):
    session.call("files.mkdir", path="/home/user/d")
    session.write("/home/user/d/f", b"x")
    session.call("files.rename", **{"from": "/home/user/d/f", "to": "/home/user/d/g"})
    session.call("files.chmod", path="/home/user/d/g", mode="600")
    session.call("files.symlink", target="g", path="/home/user/d/l")
    assert session.call("files.stat", path="/home/user/d/g")["mode"] & 0o777 == 0o600
    names = [e["name"] for e in session.call("files.list", path="/home/user/d")["entries"]]
    assert sorted(names) == ["g", "l"]
    session.call("files.rm", path="/home/user/d", recursive=True)
    with pytest.raises(Error, match="ENOENT"):
        session.read("/home/user/d/g")


def test_status_and_limits(session):
    assert session.call("status")["ready"]
    limits = session.call("limits.get")
    assert limits["memoryBytes"] == 512 << 20 and limits["fsLimitBytes"] == 1024 << 20
    assert limits["processes"] == 64


def test_snapshots(session):
    session.run("echo one > f")
    number = session.call("snapshot.create")["id"]
    session.run("echo two > f")
    session.call("snapshot.restore", id=number)
    assert session.run("cat f") == "one\n"
    die(session)
    assert session.run("cat f") == "one\n"


def test_export_and_import(client, session):
    session.run("echo moved > f")
    data = session.call("persistence.export")["data"]
    other = client.create()
    other.call("persistence.import", data=data)
    die(other)
    assert other.run("cat f") == "moved\n"
    other.call("session.end")


def test_streams(session, client):
    client.notes.clear()
    number = session.ask("run", command="echo a; echo b >&2", stream=True)
    assert client.wait(number)["stdout"] == "a\n"
    assert {(n["stream"], n["data"], n["request_id"], n["sessionId"]) for n in client.notes} == {
        ("stdout", "a\n", number, session.id), ("stderr", "b\n", number, session.id)}


def test_cancel(sup, session, client):
    running = session.ask("run", command="echo on; sleep 1000", stream=True)
    while not client.notes:
        client.notes.append(client.line()["params"])
    assert session.call("cancel", requestId=running) == {"ok": True, "cancelled": True}
    assert client.wait(running)["errorClass"] == "CANCELLED"
    client.notes.clear()


def test_cancel_of_somebody_elses_id(sup, session, client):
    running = session.ask("run", command="echo on; sleep 1000", stream=True)
    while not client.notes:
        client.notes.append(client.line()["params"])
    other = sup.client()
    other.last = running - 1  # the same id, of another client
    assert other.call("cancel", sessionId=session.id, requestId=running)["cancelled"] is False
    assert other.call("cancel", sessionId=session.id)["cancelled"]
    assert client.wait(running)["errorClass"] == "CANCELLED"
    client.notes.clear()


def test_stop_cancels(session, client):
    session.run("x=kept")
    running = session.ask("run", command="echo on; sleep 1000", stream=True)
    while not client.notes:
        client.notes.append(client.line()["params"])
    stopping = session.ask("session.stop")
    assert client.wait(running)["errorClass"] == "CANCELLED"
    assert client.wait(stopping)["state"] == "stopped"
    session.call("session.resume")
    assert session.run("echo $x") == "kept\n"
    client.notes.clear()


def test_a_pty_of_one_client(sup, session, client):
    client.notes.clear()
    number = session.call("process.start", pty=True, rows=30, cols=90)["processId"]
    session.call("process.write", processId=number, data="stty size; exit 7\n")
    assert session.call("process.wait", processId=number) == {"exitCode": 7}
    said = "".join(n["data"] for n in client.notes)
    assert "30 90" in said and {n["sessionId"] for n in client.notes} == {session.id}
    client.notes.clear()


def test_a_terminal_hangs_up_with_its_client(sup, session, client):
    other = sup.client()
    number = other.call("process.start", sessionId=session.id, pty=True)["processId"]
    other.close()
    assert session.call("process.wait", processId=number)["exitCode"] == 129


# --- windows of output


def receive(client, size):
    """Waits for so many bytes of output; nothing more has come by then."""
    while sum(len(n["data"]) for n in client.notes) < size:
        message = client.line()
        if "method" in message:
            client.notes.append(message["params"])
    client.call("session.list")
    said = "".join(n["data"] for n in client.notes)
    client.notes.clear()
    assert len(said) == size
    return said


def test_a_process_waits_when_its_window_is_full(session, client):
    client.notes.clear()
    number = session.call("process.start", command="exec yes", windowBytes=100)["processId"]
    assert receive(client, 100) == "y\n" * 50
    session.call("output.window", processId=number, bytes=60)
    assert receive(client, 60) == "y\n" * 30
    session.call("process.kill", processId=number)
    assert session.call("process.wait", processId=number) == {"exitCode": 143}


def test_a_run_waits_when_its_window_is_full(session, client):
    client.notes.clear()
    number = session.ask("run", command="echo 123456789", stream=True, windowBytes=4)
    assert receive(client, 4) == "1234"
    session.call("output.window", requestId=number, bytes=6)
    assert receive(client, 6) == "56789\n"
    assert client.wait(number)["stdout"] == "123456789\n"


@pytest.mark.parametrize("method, more", [("process.start", {}), ("run", {"stream": True})])
def test_what_a_client_leaves_behind_waits_for_no_window(sup, session, method, more):
    other = sup.client()
    other.ask(method, sessionId=session.id, windowBytes=10,
              command="head -c 100 /dev/zero | tr '\\0' x; echo end >/tmp/end", **more)
    receive(other, 10)
    other.close()
    assert session.run("while [ ! -s /tmp/end ]; do sleep 0.01; done; cat /tmp/end") == "end\n"


# --- limits


def test_out_of_memory_is_the_sandbox_s_first(session):
    result = session.call("run", command="python3 -c 'x = bytearray(10 ** 9)'")
    assert result["exitCode"] != 0 and session.state == "active"


def test_a_full_disk_is_an_errno(client):
    s = client.create(limits={"diskMb": 8, "memoryMb": 64})
    result = s.call("run", command="head -c 20000000 /dev/zero > f")
    assert "No space left" in result["stderr"]
    assert s.state == "active"
    s.run("rm f; echo x > g")
    die(s)
    assert s.run("cat g") == "x\n"
    s.call("session.end")


def test_what_runs_when_the_worker_is_killed(session, client):
    session.run("x=1; echo kept > f")
    running = session.ask("run", command="x=2; echo lost > f; echo on; sleep 1000", stream=True)
    while not client.notes:
        client.notes.append(client.line()["params"])
    die(session)
    with pytest.raises(Error, match="interrupted: killed"):
        client.wait(running)
    assert session.run("echo $x; cat f") == "1\nkept\n"
    client.notes.clear()


# --- durability


@pytest.mark.parametrize("durability", ["full", "interval"])
def test_what_was_answered_survives_kill_9_of_both(tmp_path, durability):
    import supervisor
    sup = supervisor.Supervisor(tmp_path, fake=False).start()
    try:
        s = sup.client().create(durability=durability)
        s.run("x=1")
        s.write("/home/user/f", b"answered")
        pid = s.pid
        os.kill(sup.process.pid, 9)
        try:
            os.kill(pid, 9)
        except ProcessLookupError:
            pass
        sup.kill()
        s.client = sup.start().client()
        assert s.run("echo $x; cat f") == "1\nanswered"
    finally:
        sup.end()


# --- many requests at once


@pytest.mark.parametrize("method", ["snapshot.restore", "sandbox.reset", "persistence.import"])
def test_processes_that_start_while_all_end(client, session, method):
    data = session.call("persistence.export")["data"]
    params = {"snapshot.restore": {"id": int(session.call("snapshot.create")["id"])},
              "persistence.import": {"data": data}}.get(method, {})
    for _ in range(10):
        session.run("sleep 1000 & sleep 1000 & true")
        asked = [session.ask(method, **params), *(session.ask("process.start", command="sleep 1000") for _ in range(6))]
        for number in asked:
            client.wait(number)
    assert session.call("session.stop")["cause"] == "requested"


def test_a_run_is_cancelled_while_its_line_waits(client, session):
    endless = session.ask("run", command="sleep 100000", timeoutMs=86400000)
    many = [session.ask("files.stat", path="/tmp") for _ in range(2000)]
    late = session.ask("run", command="echo late >/tmp/late")
    assert session.call("status")["ready"] is True
    assert session.call("cancel", requestId=late) == {"ok": True, "cancelled": True}
    assert session.call("cancel", requestId=endless) == {"ok": True, "cancelled": True}
    assert client.wait(endless)["exitCode"] == 130
    for number in many:
        assert client.wait(number)["type"] == "dir"
    assert client.wait(late)["errorClass"] == "CANCELLED"
    assert session.run("ls /tmp") == ""


def test_memory_that_is_too_little_for_the_shell(client):
    with pytest.raises(Error, match=r"^EINVAL: limit memory: 8388608 bytes are too few for the shell; "
                                    r"the minimum is \d+ bytes \(\d+ MiB\)$") as refused:
        client.create(limits={"memoryMb": 8})
    least = int(refused.value.message.split()[-2].strip("("))
    s = client.create(limits={"memoryMb": least})
    assert s.run("echo fine") == "fine\n"
    s.call("session.end")


# --- users


@CYCLES
def test_the_user_of_a_session_stays(client, cycle):
    who = "id -u; echo $UID ~ $PATH"
    root = "0\n0 /root /root/.local/bin:/usr/local/bin:/usr/bin:/bin\n"
    s = client.create(user="root")
    assert s.run(f"mkdir /app; {who}") == root
    cycle(s)
    assert s.run(f"{who}; stat -c %u /app") == root + "0\n"
    fork = Session(client, s.call("session.fork")["sessionId"])
    assert fork.run(f"{who}; rmdir /app && echo gone") == root + "gone\n"
    for one in (s, fork):
        one.call("session.end")


LOCAL_PROGRAM = ("mkdir -p ~/.local/bin; printf '#!/bin/sh\\necho local $(id -u)\\n' >~/.local/bin/mine; "
                 "chmod +x ~/.local/bin/mine; ")


@pytest.mark.parametrize("user, uid", [("user", 1000), ("root", 0)])
def test_programs_in_the_home_folder_are_commands(client, user, uid):
    s = client.create(user=user)
    assert s.run(LOCAL_PROGRAM + "mine") == f"local {uid}\n"
    s.call("session.pause")
    assert s.run("mine") == f"local {uid}\n"
    s.call("session.end")


def test_the_usual_user_of_a_session_has_sudo(session):
    assert session.run("id -u; sudo mkdir /app && sudo id -u") == "1000\n0\n"


def test_a_session_of_an_unknown_user_is_refused(client):
    with pytest.raises(Error) as caught:
        client.create(user="games")
    assert caught.value.code == -32602 and "'games' is not" in caught.value.message


def test_the_command_line_knows_users(sup):
    made = sup.cli("create", "--user", "root", "--label", "as-root")
    assert made.returncode == 0
    assert sup.cli("run", "as-root", "id -u").stdout == b"0\n"
    assert sup.cli("end", "as-root").returncode == 0


# --- processes that are gone


SLEEP = "sleep 1001 & until [[ $(</proc/$!/comm) = sleep ]]; do :; done; echo $!"


def test_a_fork_names_the_processes_that_it_does_not_have(client, session):
    pid = int(session.run(SLEEP))
    gone = [{"pid": pid, "command": "sleep 1001"}]
    answer = session.call("session.fork")
    assert answer["notCopied"] == gone
    fork = Session(client, answer["sessionId"])
    assert fork.call("session.resume")["notCopied"] == gone
    assert fork.run("jobs").split()[1] == "Killed"
    assert fork.run("jobs") == ""
    assert session.run("jobs").split()[1] == "Running"
    assert "notCopied" not in fork.call("session.fork")
    fork.call("session.end")


def test_resume_names_the_processes_that_are_gone(session):
    pid = int(session.run(SLEEP))
    for end in (lambda: session.call("session.pause"), lambda: session.call("session.stop"),
                lambda: die(session)):
        end()
        assert session.call("session.resume")["notCopied"] == [{"pid": pid, "command": "sleep 1001"}]
        assert session.run("jobs").split()[1] == "Killed"
        pid = int(session.run(SLEEP))
    session.run("kill $!; wait")
    session.call("session.pause")
    assert "notCopied" not in session.call("session.resume")
