"""wasm-sandbox exec as its user sees it."""
import fcntl
import hashlib
import os
import pty
import random
import select
import shutil
import signal
import struct
import subprocess
import termios
import time

import pytest

from sandbox import PROBE, SANDBOX, command, probe, run



def complaint(result):
    """The one line on stderr."""
    lines = result.err.decode(errors="replace").splitlines()
    assert len(lines) == 1, result
    assert lines[0].startswith("wasm-sandbox: "), result
    return lines[0]


# --- help and version


def test_help_names_the_commands():
    result = run([SANDBOX, "--help"])
    assert result.status == 0 and b"exec" in result.out and not result.err


def test_version():
    result = run([SANDBOX, "--version"])
    assert result.status == 0
    assert result.out.startswith(b"wasm-sandbox 0.")


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["exec", "--help"], ["serve", "--help"]])
def test_output_that_cannot_be_written(words):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([SANDBOX, *words], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert done.stderr == b"wasm-sandbox: standard output: No space left on device\n"


def test_exec_help_names_every_option():
    result = run(command("--help"))
    assert result.status == 0
    for option in (
        b"--mount",
        b"--env",
        b"--clear-env",
        b"--cwd",
        b"--memory-limit",
        b"--timeout-ms",
        b"--fs-limit",
        b"--file-count",
        b"--processes",
        b"--strace",
    ):
        assert option in result.out


@pytest.mark.parametrize(
    "args, named",
    [
        (["nonsense"], "'nonsense'"),
        (["--nonsense"], "'--nonsense'"),
        (["exec"], "no program"),
        (["exec", "--nonsense", PROBE], "'--nonsense'"),
        (["exec", "--nonsense=1", PROBE], "'--nonsense=1'"),
        (["exec", "-x", PROBE], "-x"),
        (["exec", "-xyz", PROBE], "-x"),
        (["exec", "--strace=1", PROBE], "--strace"),
        (["exec", "--cwd"], "--cwd"),
        (["exec", "--memory-limit", "x", PROBE], "memory-limit"),
        (["exec", "--memory-limit", "-1", PROBE], "memory-limit"),
        (["exec", "--memory-limit", "0", PROBE], "memory-limit"),
        (["exec", "--memory-limit", " 5", PROBE], "memory-limit"),
        (["exec", "--memory-limit", "5x", PROBE], "memory-limit"),
        (["exec", "--memory-limit", "", PROBE], "memory-limit"),
        (["exec", "--memory-limit", "99999999999999999999", PROBE], "memory-limit"),
        (["exec", "--memory-limit", "18446744073709551615", PROBE], "memory-limit"),
        (["exec", "--timeout-ms", "soon", PROBE], "timeout-ms"),
        (["exec", "--processes", "1000000", PROBE], "processes"),
        (["exec", "--env", "NOVALUE", PROBE], "NOVALUE"),
        (["exec", "--env", "=x", PROBE], "=x"),
        (["exec", "--mount", "/tmp", PROBE], "/tmp"),
        (["exec", "--mount", "/tmp:", PROBE], "/tmp:"),
        (["exec", "--mount", ":/x", PROBE], ":/x"),
        (["exec", "--mount", "/tmp:relative", PROBE], "relative"),
        (["exec", "--mount", "/tmp:/x:rx", PROBE], ":rx"),
        (["exec", "--mount", "/does/not/exist:/x", PROBE], "/does/not/exist"),
        (["exec", "--mount", "/etc/passwd:/x", PROBE], "/etc/passwd"),
        (["exec", "--cwd", "/does/not/exist", PROBE], "/does/not/exist"),
        (["exec", "--cwd", "/etc/passwd", PROBE], "/etc/passwd"),
    ],
)
def test_wrong_command_lines_are_named(args, named):
    result = run([SANDBOX, *args])
    assert result.status == 2
    assert named in complaint(result)
    assert not result.out


# --- the program itself: 127 if it is not there, 126 if it cannot be run


def test_missing_program():
    result = run(command("/does/not/exist.wasm"))
    assert result.status == 127
    assert "/does/not/exist.wasm" in complaint(result)


@pytest.mark.parametrize("content", [b"", b"\0", b"hello\n", b"\x7fELF" + bytes(60), b"\0asm"])
def test_program_that_is_no_wasm(tmp_path, content):
    path = tmp_path / "file.wasm"
    path.write_bytes(content)
    result = run(command(str(path)))
    assert result.status == 126
    line = complaint(result)
    assert str(path) in line and "WebAssembly" in line


def test_program_that_is_a_folder(tmp_path):
    result = run(command(str(tmp_path)))
    assert result.status == 126
    assert str(tmp_path) in complaint(result)


@pytest.mark.parametrize("path", ["/dev/null", "/", ".", "..", ""])
def test_program_that_is_something_else(path):
    result = run(command(path))
    assert result.status in (126, 127)
    complaint(result)


def test_program_without_permission_to_read(tmp_path):
    path = tmp_path / "secret.wasm"
    shutil.copy(PROBE, path)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("root reads everything")
    result = run(command(str(path)))
    assert result.status == 126
    assert str(path) in complaint(result)


def test_truncated_program(tmp_path):
    whole = open(PROBE, "rb").read()
    path = tmp_path / "cut.wasm"
    for part in (9, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:part])
        result = run(command(str(path)))
        assert result.status == 126, part
        assert str(path) in complaint(result)


def test_damaged_program(tmp_path):
    """Any byte may be wrong: it runs or is refused, and nothing else."""
    whole = open(PROBE, "rb").read()
    path = tmp_path / "damaged.wasm"
    chance = random.Random(1)
    for _ in range(10):
        damaged = bytearray(whole)
        for _ in range(3):
            damaged[chance.randrange(8, len(whole))] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        result = run(command("--timeout-ms", "2000", str(path), "exit", "0"))
        assert 0 <= result.status < 128 + 65, result


def test_program_name_without_ending(tmp_path):
    path = tmp_path / "other-name"
    shutil.copy(PROBE, path)
    assert run(command(str(path), "exit", "3")).status == 3


def test_a_program_file_is_not_an_option(tmp_path):
    shutil.copy(PROBE, tmp_path / "--strace")
    result = run(command("--", "--strace", "exit", "4"), cwd=tmp_path)
    assert result.status == 4 and not result.err


# --- exit status


@pytest.mark.parametrize("code", [0, 1, 2, 42, 124, 126, 127, 255])
def test_exit_status_is_ours(code):
    result = probe("exit", str(code))
    assert result.status == code and not result.err


@pytest.mark.parametrize(
    "sig", [signal.SIGTERM, signal.SIGKILL, signal.SIGABRT, signal.SIGSEGV, signal.SIGUSR1]
)
def test_signals_are_128_and_more(sig):
    assert probe("signal", str(int(sig))).status == 128 + sig


@pytest.mark.parametrize("how", ["ready-then-wait", "ready-then-spin"])
def test_time_limit_is_124_with_a_line(how):
    result = probe(how, options=["--timeout-ms", "3000"])
    assert result.status == 124
    assert "3000 ms" in complaint(result) and PROBE in complaint(result)
    assert result.out == b"ready\n"
    assert result.seconds >= 3


def test_a_program_that_ends_in_time_is_not_touched():
    assert probe("exit", "5", options=["--timeout-ms", "60000"]).status == 5


# --- standard input and output


def test_large_data_both_ways():
    data = random.Random(1).randbytes(20 << 20)
    result = probe("cat", stdin=data)
    assert result.status == 0
    assert hashlib.sha256(result.out).digest() == hashlib.sha256(data).digest()


def test_files_as_stdin_and_stdout(tmp_path):
    data = random.Random(2).randbytes(5 << 20)
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(data)
    with open(source, "rb") as stdin, open(target, "wb") as stdout:
        stdout.write(b"head")
        stdout.flush()
        status = subprocess.call(command(PROBE, "cat"), stdin=stdin, stdout=stdout)
        assert stdout.tell() == 4 + len(data)
    assert status == 0
    assert target.read_bytes() == b"head" + data


def test_appending_to_a_file(tmp_path):
    target = tmp_path / "out"
    target.write_bytes(b"before ")
    with open(target, "ab") as stdout:
        subprocess.run(command(PROBE, "cat"), input=b"after", stdout=stdout, check=True)
    assert target.read_bytes() == b"before after"


def test_stdin_at_its_end():
    assert run(command(PROBE, "stdin-kind"), stdin=b"").out == b"read 0 0\n"


@pytest.mark.parametrize("closed", ["0", "1", "2", "0 1 2"])
def test_closed_descriptors_stay_out_of_reach(closed):
    """Nothing that the host opens may come to lie on the program's 0, 1, 2."""
    close = " ".join(f"{fd}>&-" if fd != "0" else "0<&-" for fd in closed.split())
    result = run(["sh", "-c", f'exec "$0" exec "$1" stdin-kind {close}', SANDBOX, PROBE])
    assert result.status == 0, result
    if "1" not in closed:
        assert result.out in (b"read 0 0\n", b"read -1 EBADF\n")


def test_closed_stdout_is_sigpipe():
    process = subprocess.Popen(
        command(PROBE, "cat"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    process.stdout.close()
    process.stdin.write(b"x")
    process.stdin.close()
    assert process.wait() == 128 + signal.SIGPIPE


def test_a_reader_that_stops_early():
    """yes | head: the writer dies, and soon."""
    read_end, write_end = os.pipe()
    with open("/dev/zero", "rb") as zeros:
        process = subprocess.Popen(command(PROBE, "cat"), stdin=zeros, stdout=write_end)
    os.close(write_end)
    assert os.read(read_end, 10) == bytes(10)
    os.close(read_end)
    assert process.wait(120) == 128 + signal.SIGPIPE


def test_a_program_that_does_not_read_its_input():
    assert probe("exit", "0", stdin=bytes(10 << 20)).status == 0


def test_output_arrives_in_order():
    result = run(["sh", "-c", '"$0" exec "$1" interleave 2000 2>&1', SANDBOX, PROBE])
    assert result.out == b"".join(b"%d\n" % i for i in range(2000))


def test_output_comes_when_it_is_written():
    with subprocess.Popen(
        command(PROBE, "lines"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"isatty 0 0 0\n"
        for text in (b"one\n", b"three\n"):
            process.stdin.write(text)
            process.stdin.flush()
            assert process.stdout.readline() == b"got %d\n" % (len(text) - 1)
        process.stdin.close()
        assert process.stdout.read() == b"end\n"


def test_two_programs_at_a_time():
    data = [bytes([i]) * (2 << 20) for i in range(4)]
    running = [
        subprocess.Popen(command(PROBE, "cat"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in data
    ]
    for process, text in zip(running, data):
        assert process.communicate(text)[0] == text


def test_a_pipe_between_two_sandboxes():
    first = subprocess.Popen(
        command(PROBE, "cat"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    second = subprocess.Popen(command(PROBE, "cat"), stdin=first.stdout, stdout=subprocess.PIPE)
    first.stdout.close()
    first.stdin.write(b"through both")
    first.stdin.close()
    assert second.communicate()[0] == b"through both"
    assert first.wait() == 0


# --- arguments and environment


def test_arguments_are_passed_exactly():
    args = ["", "plain", "two words", "-x", "--help", "'\"\\", "\n", "*", "ä"]
    result = probe("args", *args)
    assert result.out.decode().split("\n")[:-1] == [a.encode().hex() for a in args]


def test_arguments_need_not_be_utf8():
    args = [bytes(range(1, 256)), b"\xff\xfe", b"\xc3"]
    result = run([*command(PROBE, "args"), *args])
    assert result.out.decode().split() == [a.hex() for a in args]


def test_a_thousand_arguments():
    assert probe("arg-sum", *["abc"] * 1000).out == b"1000 3000\n"


def test_large_arguments():
    assert probe("arg-sum", "x" * 100000).out == b"1 100000\n"
    assert probe("arg-sum", *["x" * 1000] * 1800).out == b"1800 1800000\n"


def test_environment_has_only_what_is_given(tmp_path):
    host = {"SECRET": "x", "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    options = ["--env", "A=1", "--env", "EMPTY=", "--env", "A=2=3", "--env", "PATH=/x"]
    result = probe("env", options=options, env=host)
    got = dict(line.split("=", 1) for line in result.out.decode().splitlines())
    assert got["A"] == "2=3" and got["EMPTY"] == "" and got["PATH"] == "/x"
    assert "SECRET" not in got and str(tmp_path) not in result.out.decode()


def test_environment_can_be_empty():
    assert probe("env", options=["--clear-env"]).out == b""
    options = ["--env", "A=1", "--clear-env", "--env", "B=2"]
    assert probe("env", options=options).out == b"B=2\n"


def test_working_folder(tmp_path):
    assert probe("cwd").out == b"/\n"
    assert probe("cwd", options=["--cwd", "/tmp"]).out == b"/tmp\n"
    (tmp_path / "sub").mkdir()
    options = ["--mount", f"{tmp_path}:/data", "--cwd", "/data/sub"]
    assert probe("cwd", options=options).out == b"/data/sub\n"


# --- mounts


def test_a_host_folder_can_be_the_root(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "f").write_text("of the host")
    options = ["--mount", f"{tmp_path}:/"]
    assert probe("read-file", "/f", options=options).out == b"of the host"
    assert probe("read-file", "/../f", options=options).out == b"of the host"
    assert probe("cwd", options=options).out == b"/\n"
    assert probe("cwd", options=[*options, "--cwd", "/sub"]).out == b"/sub\n"
    assert probe("cwd", options=[*options, "--cwd", "/none"]).status == 2


def test_mount_is_read_only_unless_asked(tmp_path):
    (tmp_path / "file").write_text("content")
    options = ["--mount", f"{tmp_path}:/data"]
    assert probe("read-file", "/data/file", options=options).out == b"content"
    assert probe("write-file", "/data/new", "x", options=options).out == b"EROFS\n"
    assert probe("write-file", "/data/file", "x", options=options).out == b"EROFS\n"
    assert (tmp_path / "file").read_text() == "content"
    assert not (tmp_path / "new").exists()


def test_mount_for_writing(tmp_path):
    options = ["--mount", f"{tmp_path}:/data:rw"]
    assert probe("write-file", "/data/new", "text", options=options).status == 0
    assert (tmp_path / "new").read_text() == "text"


def test_a_mount_for_writing_has_a_limit(tmp_path):
    for name, growth, written in (("a", "", "text"), ("b", ",files=1", "text"), ("c", ",bytes=1", "t"),
                                  ("d", ",files=1,bytes=100", "text")):
        probe("write-file", f"/data/{name}", "text", options=["--mount", f"{tmp_path}:/data:rw{growth}"])
        assert (tmp_path / name).read_text() == written
    for growth in (",", ",byte=1", ",bytes=0", ",bytes=x"):
        assert probe("exit", "0", options=["--mount", f"{tmp_path}:/data:rw{growth}"]).status == 2


def test_several_mounts(tmp_path):
    options = []
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
        options += ["--mount", f"{tmp_path}/{name}:/mnt/deep/{name}"]
    for name in ("a", "b", "c"):
        assert probe("read-file", f"/mnt/deep/{name}/file", options=options).out == name.encode()


@pytest.mark.parametrize("name", ["/proc/mounts", "/proc/self/mounts", "/proc/self/mountinfo"])
def test_mounts_do_not_tell_where_they_come_from(tmp_path, name):
    out = probe("read-file", name, options=["--mount", f"{tmp_path}:/data"]).out
    assert b" /data " in out
    assert tmp_path.name.encode() not in out


# --- limits


def test_memory_limit():
    result = probe("grow-memory", options=["--memory-limit", "20"])
    assert 10 <= int(result.out) <= 20


def test_file_limits():
    out = probe("fill-file", options=["--fs-limit", "1000000"]).out.decode().split()
    assert out[1] == "ENOSPC" and 900000 <= int(out[0]) <= 1000000
    out = probe("touch-many", options=["--file-count", "100"]).out.decode().split()
    assert out[1] == "ENOSPC" and 80 <= int(out[0]) <= 100


def test_process_limit():
    out = probe("fork-count", options=["--processes", "5"]).out.decode().split()
    assert out[1] == "EAGAIN" and int(out[0]) == 4


def test_strace_shows_calls():
    result = probe("exit", "9", options=["--strace"])
    assert result.status == 9
    assert b"exit_group(9" in result.err


# --- signals to the host process


@pytest.mark.parametrize(
    "sig",
    [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGQUIT],
)
def test_signals_reach_the_program(sig):
    with subprocess.Popen(command(PROBE, "await-signal"), stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(sig)
        assert process.stdout.read() == b"signal %d\n" % sig
    assert process.returncode == 0


@pytest.mark.parametrize("how", ["ready-then-wait", "ready-then-spin"])
def test_a_signal_ends_a_program_without_handler(how):
    with subprocess.Popen(command(PROBE, how), stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        process.terminate()
    assert process.returncode == 128 + signal.SIGTERM


def test_signals_until_the_very_end():
    """Also while the sandbox is being freed; what is free is overwritten."""
    for _ in range(20):
        with subprocess.Popen(command(PROBE, "exit", "3"), env={**os.environ, "MALLOC_PERTURB_": "165"}) as process:
            while process.poll() is None:
                process.send_signal(signal.SIGWINCH)
        assert process.returncode == 3


def processes_of(marker):
    """Host processes whose command line names the marker."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if marker in open(f"/proc/{pid}/cmdline", "rb").read():
                found.append(pid)
        except OSError:
            pass
    return found


def test_killing_the_host_process_leaves_nothing(tmp_path):
    name = tmp_path / "killed.wasm"
    shutil.copy(PROBE, name)
    with subprocess.Popen(command(str(name), "daemon"), stdout=subprocess.PIPE) as process:
        process.kill()
        process.stdout.read()
    assert processes_of(str(name).encode()) == []


def test_daemons_end_with_the_program(tmp_path):
    name = tmp_path / "daemons.wasm"
    shutil.copy(PROBE, name)
    result = run(command(str(name), "daemon"))
    assert result.status == 0 and result.out == b"started\n"
    assert processes_of(str(name).encode()) == []


# --- the cache of compiled code


def environment(**changes):
    env = {**os.environ, **changes}
    return {name: value for name, value in env.items() if value is not None}


def test_without_a_place_for_a_cache():
    env = environment(HOME=None, XDG_CACHE_HOME=None)
    assert probe("exit", "6", env=env).status == 6


def test_cache_in_the_home_folder(tmp_path):
    env = environment(HOME=str(tmp_path), XDG_CACHE_HOME=None)
    for _ in range(2):
        assert probe("exit", "6", env=env).status == 6
    entries = [entry.stat() for entry in (tmp_path / ".cache/wasmsand/code").iterdir()]
    assert len({entry.st_ino for entry in entries}) == 1
    assert all(entry.st_mode & 0o077 == 0 for entry in entries)


@pytest.mark.parametrize("place", ["/proc/nowhere", "/dev/null", "relative", "/" + "x" * 3000])
def test_cache_that_cannot_be_written(place):
    env = environment(HOME="/proc/nowhere", XDG_CACHE_HOME=place)
    assert probe("exit", "6", env=env).status == 6


def test_cache_of_somebody_else(tmp_path):
    if os.geteuid():
        pytest.skip("needs root")
    env = environment(XDG_CACHE_HOME=str(tmp_path))
    code = tmp_path / "wasmsand/code"
    code.mkdir(parents=True, mode=0o700)
    os.chown(code, 1234, 1234)
    assert probe("exit", "6", env=env).status == 6
    assert list(code.iterdir()) == []


def test_cache_that_others_can_write(tmp_path):
    env = environment(XDG_CACHE_HOME=str(tmp_path))
    code = tmp_path / "wasmsand/code"
    code.mkdir(parents=True)
    code.chmod(0o777)
    assert probe("exit", "6", env=env).status == 6
    assert list(code.iterdir()) == []


def cached(tmp_path):
    env = environment(XDG_CACHE_HOME=str(tmp_path))
    assert probe("exit", "6", env=env).status == 6
    (entry,) = (tmp_path / "wasmsand/code").iterdir()
    return env, entry


@pytest.mark.parametrize("keep", [0, 1, 1000, -1, -16, -4096])
def test_cache_entry_cut_short(tmp_path, keep):
    env, entry = cached(tmp_path)
    entry.write_bytes(entry.read_bytes()[:keep])
    assert probe("exit", "6", env=env).status == 6


def test_cache_entry_replaced(tmp_path):
    env, entry = cached(tmp_path)
    entry.unlink()
    entry.symlink_to(PROBE)
    assert probe("exit", "6", env=env).status == 6
    entry.unlink()
    os.mkfifo(entry)
    assert probe("exit", "6", env=env).status == 6
    entry.unlink()
    entry.mkdir()
    assert probe("exit", "6", env=env).status == 6


def test_cache_entry_that_others_can_write(tmp_path):
    """It is compiled again instead of being trusted."""
    env, entry = cached(tmp_path)
    entry.chmod(0o666)
    before = entry.stat().st_ino
    assert probe("exit", "6", env=env).status == 6
    assert entry.stat().st_ino != before or entry.stat().st_mode & 0o022 == 0


# --- a terminal


class Terminal:
    """wasm-sandbox on a pseudo-terminal."""

    def __init__(self, *args, size=(24, 80)):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.execv(SANDBOX, command(PROBE, *args))
        self.seen = b""
        self.resize(*size)

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def expect(self, text):
        """Reads until the text has come; what came up to its end."""
        end = time.monotonic() + 120
        while text not in self.seen:
            ready, _, _ = select.select([self.fd], [], [], max(0, end - time.monotonic()))
            assert ready, f"no {text} in {self.seen}"
            try:
                more = os.read(self.fd, 4096)
            except OSError:
                more = b""
            assert more, f"no {text} in {self.seen}"
            self.seen += more
        head, _, self.seen = self.seen.partition(text)
        return head + text

    def type(self, text):
        os.write(self.fd, text)

    def status(self):
        """Waits for the end. The program can be waiting for us to read."""
        end = time.monotonic() + 120
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            assert time.monotonic() < end, "does not end"
            if select.select([self.fd], [], [], 0.05)[0]:
                try:
                    self.seen += os.read(self.fd, 4096)
                except OSError:
                    pass

    def modes(self):
        return termios.tcgetattr(self.fd)[:4]


@pytest.fixture
def terminal():
    opened = []

    def start(*args, **kwargs):
        opened.append(Terminal(*args, **kwargs))
        return opened[-1]

    yield start
    for t in opened:
        try:
            os.kill(t.pid, signal.SIGKILL)
            os.waitpid(t.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        try:
            os.close(t.fd)
        except OSError:
            pass


def test_terminal_echoes_and_edits(terminal):
    t = terminal("lines")
    t.expect(b"isatty 1 1 1\r\n")
    t.type(b"abcx\x7f\r")
    assert t.expect(b"got 3\r\n").startswith(b"abcx")
    t.type(b"\x04")
    t.expect(b"end\r\n")
    assert t.status() == 0


def test_terminal_interrupt_key(terminal):
    t = terminal("lines")
    t.expect(b"isatty")
    t.type(b"\x03")
    assert t.status() == 128 + signal.SIGINT


def test_terminal_quit_key(terminal):
    t = terminal("ready-then-spin")
    t.expect(b"ready\r\n")
    t.type(b"\x1c")
    assert t.status() == 128 + signal.SIGQUIT


def test_terminal_suspend_key_does_not_hang(terminal):
    """Nobody could continue the program, so it is not stopped."""
    t = terminal("lines")
    t.expect(b"isatty 1 1 1\r\n")
    t.type(b"\x1aab\r")
    t.expect(b"got 2\r\n")


def test_terminal_size(terminal):
    t = terminal("await-signal", size=(30, 100))
    t.expect(b"ready\r\n")
    t.resize(31, 101)
    t.expect(b"signal 28\r\n")
    assert t.status() == 0


def test_terminal_raw_mode_and_back(terminal):
    t = terminal("raw-key")
    t.expect(b"ready\r\n")
    t.type(b"\x03")
    t.expect(b"key 3\r\n")
    assert t.status() == 0


@pytest.fixture
def own_terminal():
    """A terminal that we keep open, so that its modes can be looked at."""
    master, slave = pty.openpty()
    yield master, slave
    os.close(master)
    os.close(slave)


def run_on(slave, *args, **kwargs):
    return subprocess.Popen(
        command(*args), stdin=slave, stdout=slave, stderr=slave, start_new_session=True, **kwargs
    )


def read_until(master, text):
    seen = b""
    while text not in seen:
        assert select.select([master], [], [], 120)[0], seen
        seen += os.read(master, 4096)
    return seen


def test_terminal_modes_are_restored(own_terminal):
    master, slave = own_terminal
    before = termios.tcgetattr(slave)
    for args, end in [
        (["raw-key"], lambda p: os.write(master, b"q")),
        (["ready-then-wait"], lambda p: p.send_signal(signal.SIGTERM)),
        (["ready-then-spin"], lambda p: p.send_signal(signal.SIGINT)),
        (["ready-then-spin"], lambda p: os.write(master, b"\x03")),
    ]:
        process = run_on(slave, PROBE, *args)
        read_until(master, b"ready")
        assert termios.tcgetattr(slave) != before
        end(process)
        process.wait(120)
        assert termios.tcgetattr(slave) == before


def test_terminal_modes_are_restored_at_the_time_limit(own_terminal):
    master, slave = own_terminal
    before = termios.tcgetattr(slave)
    process = run_on(slave, "--timeout-ms", "200", PROBE, "ready-then-wait")
    assert process.wait(120) == 124
    assert termios.tcgetattr(slave) == before
    read_until(master, b"timed out after 200 ms")


def test_terminal_that_goes_away():
    """As when a window is closed."""
    master, slave = pty.openpty()
    process = run_on(slave, PROBE, "lines")
    os.close(slave)
    read_until(master, b"isatty")
    os.close(master)
    assert process.wait(120) == 128 + signal.SIGHUP


def test_terminal_that_goes_away_during_output():
    """The program ignores failing writes and would not end by itself."""
    master, slave = pty.openpty()
    process = run_on(slave, PROBE, "interleave", "2000000000")
    os.close(slave)
    read_until(master, b"\n")
    os.close(master)
    assert process.wait(120) == 128 + signal.SIGHUP


def test_a_hang_up_that_is_ignored_is_not_passed_on():
    """As under nohup. The program runs on, and ends when its input does."""
    process = subprocess.Popen(
        ["nohup", *command(PROBE, "cat")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    process.stdin.write(b"before\n")
    process.stdin.flush()
    assert process.stdout.readline() == b"before\n"
    process.send_signal(signal.SIGHUP)
    assert process.communicate(b"after\n", timeout=120)[0] == b"after\n"
    assert process.returncode == 0


def test_terminal_for_input_only(own_terminal):
    master, slave = own_terminal
    process = subprocess.Popen(
        command(PROBE, "lines"), stdin=slave, stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout.readline().startswith(b"isatty 1 0 ")
    os.write(master, b"four\r\x04")
    assert process.stdout.read() == b"got 4\nend\n"
    assert process.wait() == 0


def test_read_only_terminal_as_input(own_terminal):
    """Output goes to the descriptor for output."""
    master, slave = own_terminal
    # O_NOCTTY: we may lead a session, and its terminal hangs it up when it goes.
    with os.fdopen(os.open(os.ttyname(slave), os.O_RDONLY | os.O_NOCTTY), "rb", buffering=0) as stdin:
        process = subprocess.Popen(
            command(PROBE, "lines"), stdin=stdin, stdout=slave, stderr=slave, start_new_session=True
        )
        read_until(master, b"isatty")
        os.write(master, b"\x04")
        read_until(master, b"end")
        assert process.wait(120) == 0
