"""Files beside a run of a session: what was answered is durable."""
import base64

import pytest
from supervisor import Error, Supervisor, kill


@pytest.fixture(scope="module")
def sup(tmp_path_factory):
    one = Supervisor(tmp_path_factory.mktemp("beside"), fake=False, pool_size=2)
    yield one.start()
    one.end()


@pytest.fixture
def session(client):
    s = client.create()
    yield s
    s.call("session.end")


def begin(session):
    """A run that has changed variables, folder and files, and waits."""
    session.run("cd /tmp; x=answered; echo old > f")
    number = session.ask("run", command="x=running; cd /usr; echo new > /tmp/f; echo begun; sleep 1000", stream=True)
    while not any(note.get("data") == "begun\n" for note in session.client.notes):
        session.client.notes.append(session.client.line()["params"])
    return number


def die(session, running):
    last = session.last_event()
    kill(session.pid)
    session.wait_for("paused", after=last)
    with pytest.raises(Error, match="interrupted"):
        session.client.wait(running)


def write(session, path, text):
    session.call("files.write", path=path, data=base64.b64encode(text).decode(), concurrent=True)


def test_a_write_beside_a_run_survives(session):
    running = begin(session)
    write(session, "beside", b"written\n")
    die(session, running)
    assert session.run("echo $x; pwd; cat f beside") == "answered\n/tmp\nnew\nwritten\n"


def test_changes_of_all_kinds_survive(session):
    session.run("mkdir /tmp/d; echo 1 > /tmp/d/a; echo 2 > /tmp/d/b")
    running = begin(session)
    for method, params in {
            "files.mkdir": {"path": "d/m"}, "files.rename": {"from": "d/a", "to": "d/m/a"},
            "files.rm": {"path": "d/b"}, "files.symlink": {"target": "m/a", "path": "d/l"},
            "files.chmod": {"path": "d/m/a", "mode": "0600"}}.items():
        session.call(method, concurrent=True, **params)
    die(session, running)
    assert session.run("cd d; ls; cat l; stat -c %a m/a") == "l\nm\n1\n600\n"


def test_a_read_beside_a_run_commits_nothing(session):
    running = begin(session)
    found = session.call("files.read", path="f", concurrent=True)
    assert base64.b64decode(found["data"]) == b"new\n"
    die(session, running)
    assert session.run("cat /tmp/f") == "old\n"


def test_the_run_goes_on_and_is_committed(session):
    session.run("cd /tmp; mkfifo go")
    running = session.ask("run", command="x=1; echo begun; cat go; echo 3 > c", stream=True)
    while not session.client.notes:
        session.client.notes.append(session.client.line()["params"])
    write(session, "a", b"1")
    write(session, "b", b"2")
    process = session.call("process.start", command="echo > /tmp/go")
    assert process and session.client.wait(running)["exitCode"] == 0
    last = session.last_event()
    kill(session.pid)
    session.wait_for("paused", after=last)
    assert session.run("echo $x; cat a b c") == "1\n123\n"


def test_a_pause_after_a_write_beside_a_run(session):
    running = begin(session)
    write(session, "beside", b"written\n")
    session.call("cancel", requestId=running)
    assert session.client.wait(running)["exitCode"] == 130
    session.call("session.pause")
    assert session.run("echo $x; pwd; cat beside") == "answered\n/tmp\nwritten\n"


# Three threads that wait for ever, in a process with shared memory.
THREADED = """python3 -c '
import mmap, threading
shared = mmap.mmap(-1, 4096)
shared[:4] = b"kept"
for _ in range(2): threading.Thread(target=threading.Event().wait).start()
open("/tmp/ready", "w").close()
threading.Event().wait()' & p=$!; until [ -e /tmp/ready ]; do sleep 0.01; done
ls /proc/$p/task | wc -l; pgrep -c python3"""


def test_a_threaded_process_does_not_outlive_a_pause(session):
    """It ends as every process does; files and variables stay."""
    assert session.run(THREADED) == "3\n1\n"
    session.call("session.pause")
    assert session.run("pgrep python3; ls /tmp/ready") == "/tmp/ready\n"


def test_a_fork_beside_a_threaded_process_is_without_it(session):
    assert session.run(THREADED) == "3\n1\n"
    number = session.call("session.fork")["sessionId"]
    fork = type(session)(session.client, number)
    assert fork.run("pgrep python3; ls /tmp/ready") == "/tmp/ready\n"
    assert session.run("ls /proc/$p/task | wc -l; kill $p") == "3\n"
    fork.call("session.end")


def test_the_folder_at_the_start(client):
    s = client.create(cwd="/tmp")
    assert s.run("pwd") == "/tmp\n"
    s.run("cd /usr")
    s.call("session.pause")
    assert s.run("pwd") == "/usr\n"
    s.call("session.end")


def test_a_limit_names_the_sessions_parameter(client):
    s = client.create(limits={"diskMb": 1})
    result = s.call("run", command="head -c 3000000 /dev/zero > big")
    assert result["limit"] == "file_bytes"
    assert result["message"] == "file bytes limit reached (max: 1048576 bytes): remove files or raise limits.diskMb"
    s.call("session.end")


def test_both_ends_of_the_output(session):
    result = session.call("run", command="seq 1000000", keep="ends")
    assert result["stdout"].startswith("1\n2\n") and result["stdout"].endswith("\n999999\n1000000\n")
    assert result["omittedBytes"]["stdout"] > 5000000


# --- limits for real projects


def test_a_session_has_files_and_commands_for_real_projects(session):
    limits = session.call("limits.get")
    assert (limits["fileCount"], limits["commandBytes"]) == (100000, 1048576)
    assert session.run("echo " + "x" * 1000000) == "x" * 1000000 + "\n"


def test_a_session_may_ask_for_other_limits(client):
    s = client.create(fileCount=500, commandBytes=100)
    limits = s.call("limits.get")
    assert (limits["fileCount"], limits["commandBytes"]) == (500, 100)
    s.call("session.pause")
    s.call("session.resume")
    assert s.call("limits.get") == limits
    result = s.call("run", command="x" * 101)
    assert result["message"].endswith("or raise commandBytes")
    s.call("session.end")
    with pytest.raises(Error, match="fileCount must be at most 100000 with limits.diskMb 5"):
        client.create(fileCount=100001, limits={"diskMb": 5})
