"""wasm-sandbox session, as people use it."""
import fcntl
import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import termios

import pytest
import supervisor
from supervisor import SANDBOX


@pytest.fixture(scope="module")
def sup(tmp_path_factory):
    one = supervisor.Supervisor(tmp_path_factory.mktemp("cli"), fake=False)
    yield one.start()
    one.end()


@pytest.fixture
def session(sup):
    number = sup.cli("create", "--label", "for a test").stdout.decode().strip()
    yield number
    sup.cli("end", number)


def told(sup, *words, **options):
    done = sup.cli(*words, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def failed(sup, *words):
    done = sup.cli(*words)
    assert done.returncode and not done.stdout, done
    return done.returncode, done.stderr.decode()


# --- tables


def test_create_prints_the_id(session):
    assert re.fullmatch("[0-9a-f]{32}", session)


def test_create_with_options(sup):
    made = json.loads(told(sup, "create", "--json", "--label", "x", "--memory", 64, "--cpu", 50,
                           "--disk", 20, "--processes", 8, "--durability", "interval",
                           "--no-auto-resume", "--env", "A=b=c"))
    assert made["limits"] == {"memoryMb": 64, "cpuPercent": 50, "diskMb": 20, "maxProcesses": 8}
    assert (made["label"], made["durability"]) == ("x", "interval")
    assert made["options"] == {"autoResume": False, "create": {"env": {"A": "b=c"}}}
    assert told(sup, "run", made["sessionId"], "echo $A") == "b=c\n"
    assert json.loads(told(sup, "end", made["sessionId"], "--json"))["state"] == "ended"


def test_list_is_a_table(sup, session):
    lines = told(sup, "list").splitlines()
    assert lines[0].split() == ["SESSION", "STATE", "CAUSE", "SINCE", "AGENT", "LABEL"]
    row = next(line for line in lines if line.startswith(session[:12]))
    assert row.split()[1] == "active" and row.endswith("for a test")
    listed = json.loads(told(sup, "list", "--json"))
    assert session in [s["sessionId"] for s in listed]
    assert session[:12] not in told(sup, "list", "--state", "paused")


def test_labels_cannot_control_the_terminal(sup):
    number = told(sup, "create", "--label", "a\x1b[31mb\nc\x9b31m\xa0").strip()
    assert "a?[31mb?c?31m\xa0\n" in told(sup, "list")
    assert not {"\x1b", "\x9b"} & set(told(sup, "show", number))
    told(sup, "end", number)


def test_show(sup, session):
    shown = told(sup, "show", session)
    assert re.search(rf"^sessionId +{session}$", shown, re.M)
    assert re.search(r"^state +active$", shown, re.M)
    assert re.search(r"^createdAt +20\d\d-\d\d-\d\d \d\d:\d\d:\d\d *$", shown, re.M)
    assert re.search(r"^limits +memoryMb 512, cpuPercent 100, diskMb 1024, maxProcesses 64$", shown, re.M)
    assert re.search(r"^options +autoResume true$", shown, re.M)


def test_a_label_as_long_as_an_id(sup):
    label = "a label of thirty-two characters"
    number = told(sup, "create", "--label", label).strip()
    assert len(label) == len(number)
    assert json.loads(told(sup, "show", label, "--json"))["sessionId"] == number
    told(sup, "end", number)


def test_a_session_by_its_beginning_or_its_label(sup, session):
    assert session in told(sup, "show", session[:6])
    assert session in told(sup, "show", "for a test")
    assert "there is no session 'zzz'" in failed(sup, "show", "zzz")[1]
    other = told(sup, "fork", session).strip()
    message = failed(sup, "show", "for a test")[1]
    assert f"matches several sessions: {session[:12]}, {other[:12]}" in message
    told(sup, "end", other)


def test_an_error_that_nobody_hears_is_one_too(sup):
    env = {**os.environ, "WASMSAND_SOCKET": str(sup.socket)}
    with open("/dev/full", "wb") as full:
        done = subprocess.run([SANDBOX, "session", "show", "no\nsuch"], env=env, stderr=full, timeout=60)
    assert done.returncode == 125


def test_no_name_is_no_session(sup, session):
    for command in ("show", "end", "run", "events"):
        assert "no session given" in failed(sup, command, "")[1]
    assert session in told(sup, "show", session)


def test_words_that_are_no_text_are_told(sup, session):
    bad = b"a\xff".decode(errors="surrogateescape")
    for words in (["create", "--label", bad], ["create", "--", "/bin/echo", bad],
                  ["run", session, bad], ["run", session, "--env", f"A={bad}", "true"]):
        done = sup.cli(*words)
        assert (done.returncode, done.stdout) == (2, b"") and b"is not UTF-8" in done.stderr
    done = sup.cli("files", "get", session, bad)
    assert done.returncode == 125 and b"is not UTF-8" in done.stderr


def test_a_session_that_has_ended_by_its_beginning(sup, session):
    told(sup, "end", session)
    assert "requested" in told(sup, "show", session[:6])
    assert "ended" in told(sup, "events", session[:6])
    assert "Session ended" in failed(sup, "run", session[:6], "x")[1]
    other = told(sup, "create", "--label", "for a test").strip()
    assert other in told(sup, "show", "for a test")  # the one that is left of that name


def test_changes(sup, session):
    assert told(sup, "pause", session) == f"{session[:12]} paused\n"
    assert told(sup, "stop", session) == f"{session[:12]} stopped\n"
    assert told(sup, "resume", session) == f"{session[:12]} active\n"
    events = told(sup, "events", session)
    assert [line.split()[5] for line in events.splitlines()[2:]] == [
        "paused", "stopped", "starting", "active"]
    assert json.loads(told(sup, "events", session, "--json").splitlines()[0])["cause"] == "created"


def test_following_events(sup, session):
    last = json.loads(told(sup, "events", "--json").splitlines()[-1])["seq"]
    command = [SANDBOX, "session", "events", "--follow", "--after", str(last), "--socket",
               str(sup.socket)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as following:
        told(sup, "pause", session)
        assert b"paused" in following.stdout.readline()
        following.terminate()


# --- run


def test_run_has_the_command_s_output_and_status(sup, session):
    done = sup.cli("run", session, "--", "echo", "out;", "echo", "err", ">&2;", "exit", "7")
    assert (done.returncode, done.stdout, done.stderr) == (7, b"out\n", b"err\n")


def test_run_is_binary(sup, session):
    assert sup.cli("run", session, r"printf '\377\0\n\303'").stdout == b"\xff\0\n\xc3"


def test_run_options(sup, session):
    assert told(sup, "run", session, "--cwd", "/tmp", "--env", "A=b", "pwd; echo $A") == "/tmp\nb\n"
    assert sup.cli("run", session, "--stdin", "wc -c", input=b"x\0\xff" * 1000).stdout == b"3000\n"
    done = sup.cli("run", session, "--timeout-ms", 50, "echo a; sleep 1000")
    assert done.returncode == 124 and b"TIMEOUT" in done.stderr
    assert json.loads(told(sup, "run", session, "--json", "echo a"))["stdout"] == "a\n"


def begin_run(sup, session, command, **options):
    env = {**os.environ, "WASMSAND_SOCKET": str(sup.socket)}
    return subprocess.Popen([SANDBOX, "session", "run", session, command], env=env,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_cancels_the_run(sup, session, number):
    run = begin_run(sup, session, "echo ready; sleep 1000")
    assert run.stdout.readline() == b"ready\n"
    run.send_signal(number)
    assert run.communicate(timeout=60) == (b"", b"wasm-sandbox: session run: CANCELLED\n")
    assert run.returncode == 130


def test_a_signal_cancels_a_run_whose_output_nobody_takes(sup, session):
    run = begin_run(sup, session, "exec yes", stdin=subprocess.DEVNULL)
    select.select([run.stdout], [], [])
    run.send_signal(signal.SIGTERM)
    assert run.wait(60) == 130
    run.communicate()


def test_a_signal_that_is_ignored_stays_so(sup, session):
    run = begin_run(sup, session, "echo ready; sleep 0.3; exit 5",
                    preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    assert run.stdout.readline() == b"ready\n"
    run.send_signal(signal.SIGHUP)
    assert run.communicate(timeout=60) == (b"", b"") and run.returncode == 5


def test_a_run_ends_when_its_output_goes_nowhere(sup, session):
    run = begin_run(sup, session, "exec yes")
    assert run.stdout.readline() == b"y\n"
    run.stdout.close()
    assert run.wait(60) == 128 + signal.SIGPIPE and run.stderr.read() == b""
    command = [SANDBOX, "session", "run", session, "echo hello"]
    env = {**os.environ, "WASMSAND_SOCKET": str(sup.socket)}
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, env=env, stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 125 and b"its output: No space left on device" in done.stderr


def test_run_of_nothing(sup, session):
    assert failed(sup, "run", session)[0] == 2
    assert failed(sup, "run")[0] == 125


# --- files


def test_files(sup, session, tmp_path):
    data = os.urandom(9 << 20)
    (tmp_path / "big").write_bytes(data)
    told(sup, "files", "put", session, tmp_path / "big", "/home/user/big")
    told(sup, "files", "get", session, "/home/user/big", tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == data
    assert re.search(rf"file +{len(data)} big$", told(sup, "files", "ls", session), re.M)
    told(sup, "files", "put", session, "-", "/tmp/x", input=b"from stdin")
    assert told(sup, "files", "get", session, "/tmp/x", "-") == "from stdin"
    assert "ENOENT" in sup.cli("files", "get", session, "/none", tmp_path / "none").stderr.decode()
    assert not (tmp_path / "none").exists()
    assert failed(sup, "files", "odd", session)[0] == 2


def test_paths_of_files_begin_in_the_home(sup, session, tmp_path):
    (tmp_path / "a").write_text("one")
    told(sup, "files", "put", session, tmp_path / "a")
    told(sup, "files", "put", session, tmp_path / "a", "b")
    assert told(sup, "run", session, "cat ~/a ~/b") == "oneone"
    assert told(sup, "files", "get", session, "b", "-") == "one"
    assert re.search("file +3 b$", told(sup, "files", "ls", session, "."), re.M)


def test_names_of_files_cannot_control_the_terminal(sup, session):
    told(sup, "run", session, "cd; touch $'a\\e[31mb\\nc'")
    listed = told(sup, "files", "ls", session)
    assert "a?[31mb?c\n" in listed and "\x1b" not in listed
    assert told(sup, "files", "ls", session, "--json").endswith("}\n")


def test_output_of_a_program_of_the_host(sup):
    number = told(sup, "create", "/bin/sh", "-c", "echo to stdout; echo to stderr >&2").strip()
    session = supervisor.Session(sup.client(), number)
    session.wait_for("stopped")
    assert told(sup, "output", number) == "to stdout\nto stderr\n"
    assert "has no command" in failed(sup, "output", told(sup, "create").strip())[1]


# --- shell


class Terminal:
    """A terminal of a person who uses `session shell`."""

    def __init__(self, sup, session, *words, size=(31, 97)):
        self.master, slave = pty.openpty()
        self.slave, self.before = slave, termios.tcgetattr(slave)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        command = [SANDBOX, "session", "shell", "--socket", str(sup.socket), session, *words]
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.said = ""

    def type(self, text):
        os.write(self.master, text.encode())

    def expect(self, pattern):
        while not re.search(pattern, self.said):
            assert select.select([self.master], [], [], 60)[0], self.said
            self.said += os.read(self.master, 4096).decode(errors="replace")
        found = re.search(pattern, self.said)
        self.said = self.said[found.end():]
        return found

    def close(self):
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture
def terminal(sup, session):
    t = Terminal(sup, session)
    yield t
    if t.process.poll() is None:
        t.process.kill()
        t.process.wait()
    t.close()


def test_shell_has_the_size_of_the_window(terminal):
    terminal.type("stty size; echo $TERM-\r")
    terminal.expect(r"31 97\r\n")
    fcntl.ioctl(terminal.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 60, 0, 0))
    terminal.process.send_signal(signal.SIGWINCH)
    terminal.type("until [ \"$(stty size)\" = '20 60' ]; do :; done; echo resized-$?\r")
    terminal.expect("resized-0")


def test_shell_s_control_keys(terminal):
    terminal.type("bash -c \"echo rea''dy; sleep 1000\"\r")
    terminal.expect(r"ready\r\n")
    terminal.type("\x03")
    terminal.type("echo $?-after\r")
    terminal.expect("130-after")
    terminal.type("bash -c \"echo rea''dy; sleep 1000\"\r")
    terminal.expect(r"ready\r\n")
    terminal.type("\x1a")
    terminal.expect("Stopped")
    terminal.type("kill %1; exit 5\r")
    terminal.type("exit 5\r")
    assert terminal.process.wait(60) == 5
    assert termios.tcgetattr(terminal.slave) == terminal.before


def test_shell_hangs_up_when_it_is_killed(sup, session, terminal):
    terminal.type("echo rea''dy; sleep 1000\r")
    terminal.expect(r"ready\r\n")
    terminal.process.kill()
    client = sup.client()
    while any(p["running"] for p in client.call("process.list", sessionId=session)["processes"]):
        pass


def test_shell_without_a_terminal(sup, session):
    done = sup.cli("shell", session, input=b"echo one; read x; echo $x; exit 4\n")
    assert done.returncode == 4 and done.stdout == b"one\n\n"
    done = sup.cli("shell", session, "cat", input=b"all\0of it")
    assert (done.returncode, done.stdout) == (0, b"all\0of it")


# --- failures


@pytest.mark.parametrize("more", [[], ["--no-wait"]])
def test_without_a_supervisor(tmp_path, more):
    done = subprocess.run([SANDBOX, "session", "list", "--socket", tmp_path / "none", *more],
                          capture_output=True, text=True)
    assert done.returncode == 125
    assert f"no supervisor is listening on {tmp_path}/none (No such file or directory)" in done.stderr
    assert f"start one with: wasm-sandbox serve --socket {tmp_path}/none\n" in done.stderr


def is_sleeping(pid):
    """In nanosleep or clock_nanosleep."""
    with open(f"/proc/{pid}/syscall") as f:
        return f.read().split()[0] in ("35", "230")


@pytest.mark.parametrize("is_there", [False, True])
def test_a_command_waits_for_a_supervisor_that_is_being_started(tmp_path, is_there):
    """Without a socket, and with one that a killed supervisor left."""
    path = str(tmp_path / "socket")
    listener = socket.socket(socket.AF_UNIX)
    if is_there:
        listener.bind(path)
    with listener, subprocess.Popen([SANDBOX, "session", "list", "--socket", path],
                                    stdout=subprocess.PIPE) as command:
        while command.poll() is None and not is_sleeping(command.pid):
            pass
        if not is_there:
            listener.bind(path)
        listener.listen()
        assert command.poll() is None
        listener.settimeout(60)
        with listener.accept()[0] as connection:
            assert b"session.list" in connection.makefile("rb").readline()
            connection.sendall(b'{"jsonrpc":"2.0","id":1,"result":{"sessions":[]}}\n')
            assert command.wait(60) == 0


@pytest.mark.parametrize("words", [
    [], ["odd"], ["list", "--odd"], ["list", "x"], ["create", "--memory"], ["create", "--env", "x"],
    ["create", "--memory", "much"], ["pause", "a", "b"]])
def test_wrong_words(sup, words):
    status, said = failed(sup, *words)
    assert status in (2, 125) and said


def test_help_and_the_program_s_name(sup):
    done = subprocess.run([SANDBOX, "session", "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("usage: wasm-sandbox session")


def test_all_errors_of_an_agents_settings_are_told(make, tmp_path):
    folder = tmp_path / "agents/eve/.claude"
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text('{"resources":{"memoryMb":4096,"cpuPercnt":1,"diskMb":"x"}}')
    sup = make(agents_dir=str(tmp_path / "agents"), **{"maximum.memoryMb": 1024})
    status, said = failed(sup, "create", "--agent", "eve")
    where = "eve/.claude/settings.json: resources"
    assert (status, said) == (125, (
        f"wasm-sandbox: session create: {where}.memoryMb: must be an integer from 8 to 1024 MB, not 4096\n"
        f"  {where}.cpuPercnt: unknown key\n"
        f"  {where}.diskMb: must be an integer from 1 to 8192 MB, not 'x'\n"))


def test_errors_of_the_supervisor_are_told(sup, session):
    status, said = failed(sup, "show", "f" * 32)
    assert status == 125 and "Unknown sessionId" in said
    status, said = failed(sup, "create", "--memory", "1")
    assert status == 125 and "memoryMb" in said
