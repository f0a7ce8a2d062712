"""Every method of Sandbox, with the real server."""

import signal
import socket
import sys
import threading

import pytest

from wasmsand import (BytesResult, CommandFailed, FileNotFound, Mount, QuotaExceeded,
                      RpcError, Sandbox, SandboxClosed, Timeout)
from wasmsand._ops import Decoder


# --- commands

def test_run_gives_output_and_exit_code(sb):
    r = sb.commands.run("echo out; echo err >&2; exit 3")
    assert (r.stdout, r.stderr, r.exit_code) == ("out\n", "err\n", 3)
    assert not r.ok and r.error_class is None and r.truncated is None
    assert r.execution_time_ms >= 0


def test_merged_output(sb):
    r = sb.commands.run("echo a; echo b >&2; echo c", merge_stderr=True)
    assert (r.stdout, r.stderr) == ("a\nb\nc\n", "")


def test_output_as_bytes(sb):
    pieces = []
    sb.commands.run(r"printf '\xfe' & wait")
    r = sb.commands.run(r"printf '\xff'; printf '\xe9' >&2; exit 3",
                        encoding=None, on_stdout=pieces.append)
    assert isinstance(r, BytesResult)
    assert (r.stdout, r.stderr, r.background) == (b"\xff", b"\xe9", b"")
    assert (r.stdout_bytes, r.exit_code, pieces) == (b"\xff", 3, [b"\xff"])
    assert "\ufffd" in r._repr_html_()
    with pytest.raises(CommandFailed, match="with 1: no \ufffd"):
        sb.commands.run(r"printf 'no \xff\n' >&2; false", check=True,
                        encoding=None)


def test_other_encodings(sb):
    pieces = []
    r = sb.commands.run(r"printf '\xe9'", encoding="latin-1",
                        on_stdout=pieces.append)
    assert (r.stdout, r.stdout_bytes, pieces) == ("é", b"\xe9", ["é"])


def test_a_list_is_a_program_and_its_arguments(sb):
    for arguments in (["a b", "$HOME", "'", "", "é;#", "*"], ("-n", "x")):
        r = sb.commands.run(["printf", "%s\n", *arguments])
        assert r.stdout.splitlines() == list(arguments)


def test_the_shell_stays(sb):
    sb.commands.run("cd /tmp; x=1; f() { echo $x; }")
    assert sb.commands.run("f; pwd").stdout == "1\n/tmp\n"


def test_output_of_any_bytes(sb):
    r = sb.commands.run(r"printf '\xff\0é'")
    assert r.stdout_bytes == b"\xff\0\xc3\xa9"
    assert r.stdout == "\ufffd\0é"


def test_stdin_env_and_cwd_are_for_one_command(sb):
    r = sb.commands.run("cat; echo $X; pwd", stdin=b"in\xff\n",
                        env={"X": "1 2"}, cwd="/usr")
    assert r.stdout_bytes == b"in\xff\n1 2\n/usr\n"
    assert sb.commands.run("echo $X; pwd").stdout == "\n/home/user\n"


def test_callbacks_get_the_output_in_order(sb):
    out, err = [], []
    r = sb.commands.run("for i in 1 2 3; do echo $i; done; echo e >&2",
                        on_stdout=out.append, on_stderr=err.append)
    assert "".join(out) == r.stdout == "1\n2\n3\n"
    assert "".join(err) == "e\n"


def test_callbacks_get_whole_characters(sb):
    texts = []
    decoder = Decoder(texts.append, None)
    for data in (b"\xf0\x9f", b"\x98\x80-\xe2\x82"):
        decoder("stdout", data)
        decoder("stderr", b"\xff")
    decoder.end()
    assert texts == ["\U0001f600-", "\ufffd"]
    texts.clear()
    r = sb.commands.run(r"printf '\xf0\x9f'; cat; printf '\x98\x80-\xe2\x82'",
                        on_stdout=texts.append)
    assert "".join(texts) == r.stdout == "\U0001f600-\ufffd"


def test_a_callback_may_use_the_sandbox(root, sb):
    seen = []
    with root.fork() as other:
        sb.commands.run("echo a", on_stdout=lambda t: seen.append(
            other.commands.run("echo b").stdout))
    assert seen == ["b\n"]


def test_a_time_limit_ends_the_command(sb):
    r = sb.commands.run("echo a; while :; do :; done", timeout_ms=2000)
    assert (r.exit_code, r.error_class, r.stdout) == (124, "TIMEOUT", "a\n")
    assert r.stderr.endswith("command timed out\n")


def test_check_raises(sb):
    with pytest.raises(CommandFailed, match="ended with 4: why") as caught:
        sb.commands.run("echo why >&2; exit 4", check=True)
    assert caught.value.result.exit_code == 4
    with pytest.raises(Timeout):
        sb.commands.run("while :; do :; done", timeout_ms=50, check=True)
    assert sb.commands.run("true", check=True).ok


def test_output_past_the_limit_is_cut():
    with Sandbox(limits={"stdoutBytes": 10}) as sb:
        r = sb.commands.run("yes é | head -n 1000")
        assert r.truncated == {"stdout": True, "stderr": False}
        assert len(r.stdout_bytes) <= 10 and "\ufffd" not in r.stdout


def test_cancel_from_another_thread(sb):
    started = threading.Event()

    def canceller():
        started.wait()
        sb.cancel()
    t = threading.Thread(target=canceller)
    t.start()
    r = sb.commands.run("echo; while :; do :; done",
                        on_stdout=lambda text: started.set())
    t.join()
    assert (r.exit_code, r.error_class) == (130, "CANCELLED")


def test_html_for_notebooks(sb):
    text = sb.commands.run("echo '<b>'; exit 1")._repr_html_()
    assert "&lt;b&gt;" in text and "exit 1" in text


# --- processes

def test_a_process_runs_beside_commands(sb):
    p = sb.commands.start("read x; echo got $x; exit 5")
    assert sb.commands.run("echo between").stdout == "between\n"
    assert p.is_running
    p.send_stdin("line\n")
    assert list(p) == [("stdout", b"got line\n")]
    assert p.wait(30) == 5 and not p.is_running


def test_the_end_of_a_processes_input(sb):
    p = sb.commands.start("cat; echo end")
    p.send_stdin(b"a")
    p.close_stdin()
    assert b"".join(data for _, data in p) == b"aend\n"


def test_a_process_gets_and_gives_any_amount(sb):
    p = sb.commands.start("cat")
    data = bytes(range(256)) * 40_000
    writer = threading.Thread(target=lambda: (p.send_stdin(data),
                                              p.close_stdin()))
    writer.start()
    assert b"".join(d for _, d in p) == data and p.wait(60) == 0
    writer.join()


def test_input_waits_for_a_process_that_reads_late(sb):
    p = sb.commands.start("until [ -e /tmp/go ]; do sleep 0.01; done; wc -c")
    writer = threading.Thread(target=lambda: (p.send_stdin(b"x" * 3_000_000),
                                              p.close_stdin()))
    writer.start()
    sb.files.write("/tmp/go", "")
    assert list(p) == [("stdout", b"3000000\n")]
    writer.join()
    with pytest.raises(RpcError, match="ESRCH"):
        p.send_stdin("more")


def test_a_process_can_be_killed(sb):
    p = sb.commands.start("sleep 1000 & sleep 1000")
    with pytest.raises(TimeoutError):
        p.wait(0.01)
    p.kill()
    assert p.wait(30) == 128 + signal.SIGKILL


def test_a_terminal(sb):
    p = sb.commands.start("stty size; read x; stty size", pty=True, rows=10,
                          cols=40)
    out = iter(p)
    assert b"10 40" in next(out)[1]
    p.resize(20, 50)
    p.send_stdin("\n")
    assert b"20 50" in b"".join(data for _, data in out)
    assert p.wait(30) == 0


# --- files

def test_files(sb):
    sb.files.mkdir("/tmp/d/e", recursive=True)
    sb.files.write("/tmp/d/f", "text é")
    assert sb.files.read("/tmp/d/f") == "text é".encode()
    assert sb.files.read_text("/tmp/d/f") == "text é"
    listed = {f.name: f for f in sb.files.list("/tmp/d")}
    assert listed["e"].is_dir and listed["f"].size == 7
    assert sb.files.stat("/tmp/d/f").type == "file"
    sb.files.rename("/tmp/d/f", "/tmp/d/g")
    sb.files.chmod("/tmp/d/g", 0o600)
    sb.files.symlink("g", "/tmp/d/link")
    assert sb.commands.run("stat -c %a /tmp/d/g; readlink /tmp/d/link").stdout \
        == "600\ng\n"
    assert sb.files.exists("/tmp/d") and not sb.files.exists("/tmp/d/f")
    sb.files.rm("/tmp/d", recursive=True)
    assert not sb.files.exists("/tmp/d")


def test_large_files_go_in_parts(sb):
    data = bytes(range(256)) * 40000
    sb.files.write("/tmp/large", data, mode=0o755)
    assert sb.files.read("/tmp/large") == data
    assert sb.commands.run("ls /tmp; stat -c %a /tmp/large").stdout \
        == "large\n755\n"


def test_a_large_file_replaces_one_as_a_small_one_does(sb):
    large, name = b"x" * 5_000_000, "/tmp/" + "n" * 255
    sb.files.write(name, "", mode=0o750)
    sb.files.symlink(name, "/tmp/link")
    sb.files.write(name, large)
    sb.files.write("/tmp/link", large + b"y")
    assert sb.files.read(name) == large + b"y"
    assert sb.commands.run("stat -c %a /tmp/n*; readlink /tmp/link; ls -A /tmp"
                           ).stdout == f"750\n{name}\nlink\n{name[5:]}\n"


def test_a_large_file_that_cannot_be_written(sb):
    with pytest.raises(RpcError, match="^ENOTDIR.*/etc/passwd/f$"):
        sb.files.write("/etc/passwd/f", b"x" * 5_000_000)
    with pytest.raises(RpcError, match="EISDIR.*: /tmp$"):
        sb.files.write("/tmp", b"x" * 5_000_000)


def test_threads_write_the_same_large_file(sb):
    failed = []

    def work(data):
        try:
            for _ in range(3):
                sb.files.write("/tmp/f", data)
        except Exception as e:  # pylint: disable=broad-except
            failed.append(e)
    whole = [letter * 9_000_000 for letter in (b"a", b"b")]
    threads = [threading.Thread(target=work, args=(w,)) for w in whole]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed and sb.files.read("/tmp/f") in whole


def test_what_can_not_exist_does_not(sb):
    sb.files.symlink("loop", "/tmp/loop")
    for path in ("/none", "/etc/passwd/f", "/tmp/loop/f", "/tmp/" + "n" * 256):
        assert not sb.files.exists(path)
    assert sb.files.exists("/tmp/loop")


def test_a_missing_file(sb):
    with pytest.raises(FileNotFound, match="ENOENT.*/tmp/none"):
        sb.files.read("/tmp/none")
    with pytest.raises(FileNotFoundError):
        sb.files.stat("/tmp/none")


def test_a_full_file_system():
    with Sandbox(fs_limit_bytes=1000, limits={"fileCount": 3}) as sb:
        with pytest.raises(QuotaExceeded):
            sb.files.write("/tmp/a", b"x" * 2000)
        with pytest.raises(QuotaExceeded, match="file count limit reached"):
            for i in range(5):
                sb.files.write(f"/tmp/{i}", "")


def test_folders_go_in_and_out(sb, tmp_path):
    (tmp_path / "in" / "sub").mkdir(parents=True)
    (tmp_path / "in" / "sub" / "a").write_bytes(b"\0a")
    (tmp_path / "in" / "run.sh").write_text("echo ran\n")
    (tmp_path / "in" / "run.sh").chmod(0o755)
    (tmp_path / "in" / "secret").symlink_to("/etc/passwd")
    assert sb.files.upload(str(tmp_path / "in"), "/tmp/up") == 2
    assert sb.commands.run("sh /tmp/up/run.sh; ls /tmp/up").stdout == \
        "ran\nrun.sh\nsub\n"
    sb.commands.run("ln -s /etc/passwd /tmp/up/evil")
    assert sb.files.download("/tmp/up", str(tmp_path / "out")) == 2
    assert (tmp_path / "out" / "sub" / "a").read_bytes() == b"\0a"
    assert not (tmp_path / "out" / "evil").exists()


# --- the rest of the state

def test_env_is_a_mapping(sb):
    sb.env["A"] = "1 '\n"
    assert sb.env["A"] == "1 '\n" and "A" in sb.env
    assert sb.commands.run("printenv A").stdout == "1 '\n\n"
    assert sb.env["HOME"] == "/home/user" and len(sb.env) > 3
    del sb.env["A"]
    with pytest.raises(KeyError):
        sb.env["A"]  # pylint: disable=pointless-statement


def test_forks_are_isolated(sb):
    sb.commands.run("x=parent; echo 1 >/tmp/f")
    with sb.fork() as a, a.fork() as b:
        assert a._channel.connection is b._channel.connection
        b.commands.run("x=b; echo 2 >/tmp/f")
        assert a.commands.run("echo $x; cat /tmp/f").stdout == "parent\n1\n"
        assert b.commands.run("echo $x; cat /tmp/f").stdout == "b\n2\n"
    with pytest.raises(SandboxClosed):
        a.commands.run("true")
    a.destroy()
    assert sb.commands.run("echo $x").stdout == "parent\n"


def test_the_root_cannot_be_destroyed(root):
    with pytest.raises(RuntimeError, match="use kill"):
        root.destroy()


def test_snapshots_make_room_for_others():
    with Sandbox(limits={"snapshots": 2}) as sb:
        kept = [sb.snapshot(), sb.snapshot()]
        assert sb.snapshots() == kept
        with pytest.raises(QuotaExceeded):
            sb.snapshot()
        sb.delete_snapshot(kept[0])
        assert sb.snapshots() == [kept[1]]
        sb.restore(sb.snapshot())
        with pytest.raises(RpcError, match="snapshot_id"):
            sb.delete_snapshot(kept[0])


def test_snapshots(sb):
    sb.commands.run("x=1")
    before = sb.snapshot()
    sb.commands.run("x=2; echo >/tmp/f")
    sb.restore(before)
    sb.restore(before)
    assert sb.commands.run("echo $x; ls /tmp").stdout == "1\n"
    with pytest.raises(RpcError):
        sb.restore("999999")


def test_export_and_import(sb, root):
    sb.commands.run("cd /tmp; f() { echo fun $x; }; x=7; echo data >/tmp/f")
    sb.env["E"] = "env"
    state = sb.export_state()
    with root.fork() as other:
        other.import_state(state)
        assert other.commands.run("f; pwd; echo $E; cat f").stdout == \
            "fun 7\n/tmp\nenv\ndata\n"
        with pytest.raises(RpcError):
            other.import_state(state[:700])
        assert other.commands.run("cat f").stdout == "data\n"


def test_reset(sb):
    sb.commands.run("x=1; echo >/tmp/f; cd /")
    sb.reset()
    assert sb.commands.run("echo $x; pwd; ls /tmp").stdout == "\n/home/user\n"


def test_history(sb):
    sb.commands.run("echo one")
    assert "echo one" in sb.history()


def test_labels(root):
    with root.new(label="mine") as other:
        assert other.commands.run("echo x").stdout == "x\n"
        labels = {s.sandbox_id: s.label for s in root.list()}
        assert labels[other.sandbox_id] == "mine"


def test_mounts(tmp_path):
    (tmp_path / "f").write_text("host\n")
    mounts = [Mount("/mnt/host", host_path=str(tmp_path)),
              Mount("/mnt/files", files={"a/b": b"given\n"})]
    with Sandbox(mounts=mounts) as sb:
        assert sb.commands.run("cat /mnt/host/f /mnt/files/a/b").stdout == \
            "host\ngiven\n"
        assert sb.commands.run("echo x >/mnt/host/f").exit_code == 1
        sb.mount(Mount("/mnt/more", files={"c": "more\n"}))
        assert sb.files.read_text("/mnt/more/c") == "more\n"


def test_options():
    with Sandbox(timeout_ms=200, env={"A": "b"}, seed=1, clock_ms=0,
                 limits={"processes": 5}) as sb:
        assert sb.commands.run("echo $A; date +%Y", timeout_ms=60_000) \
            .stdout == "b\n1970\n"
        assert sb.commands.run("while :; do :; done").error_class == "TIMEOUT"
        assert sb.limits()["processes"] == 5
    with Sandbox(allow_tools=["ls"]) as sb:
        r = sb.commands.run("ls / >/dev/null && cat /etc/passwd")
        assert (r.exit_code, r.error_class) == (126, "CAPABILITY_DENIED")


def test_programs_of_the_caller(root, tmp_path):
    """Folders of the host may be given as paths."""
    (tmp_path / "mine.wasm").write_bytes(root.files.read("/usr/bin/jq"))
    with Sandbox(tools_dir=tmp_path,
                 mounts=[Mount("/mnt/host", host_path=tmp_path)]) as sb:
        assert sb.commands.run("echo '{\"a\":5}' | mine .a; ls /mnt/host") \
            .stdout == "5\nmine.wasm\n"
        assert sb.files.upload(tmp_path, "/tmp/up") == 1
        assert sb.files.download("/tmp/up", tmp_path / "down") == 1
        assert (tmp_path / "down" / "mine.wasm").exists()


def test_writable_paths():
    with Sandbox(writable_paths=["/workspace"]) as sb:
        r = sb.commands.run("echo x >/workspace/f && cat /workspace/f; >/etc/f")
        assert r.stdout == "x\n" and "Read-only file system" in r.stderr
        with pytest.raises(RpcError, match="EROFS"):
            sb.files.write("/etc/f", "")


def test_commands_of_the_caller():
    def shout(args, stdin):
        return stdin.upper() + " ".join(args) + "\n"

    def fails(args, stdin):
        raise ValueError("not today")
    with Sandbox(extensions={"shout": shout, "fails": fails}) as sb:
        assert sb.commands.run("echo a | shout b c | cat").stdout == "A\nb c\n"
        r = sb.commands.run("fails")
        assert r.exit_code == 1 and "not today" in r.stderr


@pytest.mark.parametrize("code, status, message", [
    (3, 3, ""), (None, 0, ""), (True, 1, ""), (259, 3, ""),
    ("a reason", 1, "a reason\n"), ("\udcff", 1, "\\udcff\n")])
def test_a_command_of_the_caller_that_exits(code, status, message):
    with Sandbox(extensions={"leave": lambda args, stdin:
                             sys.exit(code)}) as sb:
        result = sb.commands.run("leave")
        assert (result.exit_code, result.stderr) == (status, message)


def test_answers_of_any_kind():
    answers = {"raw": b"\xc3\xa9\xff", "yes": ("", True), "no": ("", False),
               "nothing": None, "odd": ("", object())}
    with Sandbox(extensions={name: lambda args, stdin, value=value: value
                             for name, value in answers.items()}) as sb:
        assert sb.commands.run("raw").stdout == "\xe9\ufffd"
        assert [sb.commands.run(name).exit_code
                for name in ("yes", "no", "nothing", "odd")] == [1, 0, 0, 1]


def test_status(sb):
    assert sb.status()["ready"] is True


# --- many threads

def each_kind_of_call(sb, name):
    """All on one sandbox; what came back wrong."""
    texts = []
    sb.env["NAME"] = name
    sb.files.write("/tmp/f", name * 1000)
    sb.files.write("/tmp/large", name.encode() * 20_000)
    before = sb.snapshot()
    process = sb.commands.start("read x; echo $NAME $x")
    sb.commands.run(f"v={name}; echo $v >/tmp/f; seq 5000",
                    on_stdout=texts.append)
    process.send_stdin(name + "\n")
    with sb.fork() as child:
        yield child.run_python("import os; print(os.environ['NAME'])").stdout, \
            name + "\n"
        child.commands.run("rm /tmp/f; v=")
    yield sb.commands.run("cat /tmp/f; echo $v").stdout, f"{name}\n{name}\n"
    yield "".join(texts).count("\n"), 5000
    yield b"".join(d for _, d in process), f"{name} {name}\n".encode()
    sb.restore(before)
    yield sb.files.read_text("/tmp/f"), name * 1000
    yield len(sb.files.read("/tmp/large")), len(name) * 20_000


def test_eight_threads_with_forks(root):
    failed = []

    def work(n):
        try:
            for i in range(8):
                with root.fork() as sb:
                    failed.extend(pair for pair in
                                  each_kind_of_call(sb, f"{n}-{i}")
                                  if pair[0] != pair[1])
        except Exception as e:  # pylint: disable=broad-except
            failed.append(e)
    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(300)
    assert not failed and not any(t.is_alive() for t in threads)
    assert root.list() == []


def test_sandboxes_run_in_parallel(root):
    """Each waits for the other."""
    meeting = threading.Barrier(2, timeout=60)
    with root.fork() as a, root.fork() as b:
        threads = [threading.Thread(target=lambda sb=sb: sb.commands.run(
            "echo; read -t 0.1 <> <(:)", on_stdout=lambda t: meeting.wait()))
            for sb in (a, b)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(60)
        assert not meeting.broken


# --- limits

def test_the_limits_of_real_projects(sb):
    limits = sb.limits()
    assert (limits["fileCount"], limits["commandBytes"]) == (100_000, 1 << 20)
    assert sb.commands.run(": " + "x" * 500_000).ok
    with Sandbox(limits={"fileCount": 77}) as other:
        limits = other.limits()
        assert (limits["fileCount"], limits["commandBytes"]) == (77, 1 << 20)


def test_a_sandbox_shows_its_limits():
    with Sandbox(timeout_ms=5000, limits={"processes": 7}) as sb:
        with sb.fork() as fork:
            for text in "root", "timeoutMs=5000", "processes=7", "fileCount=":
                assert text in repr(sb)
            assert repr(fork).startswith("<Sandbox 1 of server ")
            assert "processes=7" in repr(fork) and "closed" not in repr(fork)
        assert ", closed: " in repr(fork)
    assert ", closed: " in repr(sb)


# --- files

def test_a_single_file_is_uploaded(sb, tmp_path):
    (tmp_path / "f").write_bytes(b"data")
    (tmp_path / "f").chmod(0o750)
    assert sb.files.upload(tmp_path / "f", "/tmp/g") == 1
    assert sb.files.read("/tmp/g") == b"data"
    assert sb.files.stat("/tmp/g").mode == 0o750
    sb.files.symlink("/tmp", "/tmp/link")
    for folder in "/tmp", "/tmp/", "/tmp/link":
        assert sb.files.upload(str(tmp_path / "f"), folder) == 1
        assert sb.files.read("/tmp/f") == b"data"
        sb.files.rm("/tmp/f")
    with pytest.raises(NotADirectoryError, match="host_dir"):
        sb.files.upload(tmp_path / "none", "/tmp/g")


def test_mode_and_time_of_files(sb):
    sb.commands.run("touch -d @1234567890.5 /tmp/f; chmod 640 /tmp/f")
    info = sb.files.stat("/tmp/f")
    assert (info.mode, info.mtime) == (0o640, 1234567890.5)
    assert info in sb.files.list("/tmp")


def test_folders_that_lead_to_a_file_are_made(sb):
    for data in b"small", bytes(5_000_000):
        sb.files.write("/tmp/new/folder/f", data)
        assert sb.files.read("/tmp/new/folder/f") == data
        sb.files.rm("/tmp/new", recursive=True)


def test_relative_paths(sb):
    sb.commands.run("mkdir -p /tmp/d; cd /tmp/d")
    sb.files.write("f", "relative")
    sb.files.write("~/g", "home")
    assert sb.commands.run("cat /tmp/d/f ~/g").stdout == "relativehome"
    assert [f.name for f in sb.files.list(".")] == ["f"]
    sb.files.write("large", bytes(5_000_000))
    assert sb.files.stat("/tmp/d/large").size == 5_000_000


def test_files_beside_a_command(sb):
    """The command ends when a file is written that another has asked for."""
    def on_stdout(text):
        sb.files.write("/tmp/go", sb.files.read("/tmp/question"))
    r = sb.commands.run("echo 7 >/tmp/question; echo; "
                        "while [ ! -s /tmp/go ]; do sleep 0.01; done; "
                        "exit $(cat /tmp/go)", on_stdout=on_stdout)
    assert r.exit_code == 7


def test_both_ends_of_long_output_are_kept():
    pieces = []
    with Sandbox(limits={"stdoutBytes": 1000}) as sb:
        r = sb.commands.run("seq 10000", on_stdout=pieces.append)
        assert r.stdout.startswith("1\n2\n") and r.stdout.endswith("\n10000\n")
        assert len(r.stdout) <= 1000 and r.truncated["stdout"]
        size = len("".join(pieces))
        assert size == 48_894 and "output" in r.message
        assert f"[{r.omitted_bytes['stdout']} bytes omitted]" in r.stdout
        r = sb.commands.run("seq 10000", encoding=None)
        assert b"omitted" not in r.stdout
        assert len(r.stdout) + r.omitted_bytes["stdout"] == size


def test_limits_say_what_to_do(sb):
    r = sb.commands.run("sleep 1000", timeout_ms=50)
    assert "timed out after 50 ms" in r.message
    assert "timeout_ms" in r.message and "timed out" in r._repr_html_()
    with pytest.raises(Timeout, match="timed out after 50 ms.*timeout_ms"):
        sb.commands.run("sleep 1000", timeout_ms=50, check=True)
    assert sb.commands.run("true").message is None


def test_the_folder_to_begin_in():
    with Sandbox(cwd="/tmp") as sb:
        assert sb.commands.run("pwd").stdout == "/tmp\n"
        process = sb.commands.start("pwd")
        assert process.read_until("\n") == b"/tmp\n"
        sb.commands.run("cd /")
        assert sb.commands.start("pwd").read_until("\n") == b"/\n"
    with pytest.raises(RpcError, match="cwd"):
        Sandbox(cwd="/none")


@pytest.mark.parametrize("user, uid", [(None, 1000), ("root", 0)])
def test_programs_in_the_home_folder_are_commands(user, uid):
    with Sandbox(user=user) as sb:
        sb.files.mkdir("~/.local/bin", recursive=True)
        sb.files.write("~/.local/bin/mine", "#!/bin/sh\necho local $(id -u)\n")
        assert sb.commands.run("chmod +x ~/.local/bin/mine; mine").stdout == f"local {uid}\n"
        assert sb.commands.start("mine").read_until("\n") == f"local {uid}\n".encode()


def test_the_user_that_commands_run_as():
    with Sandbox() as sb:
        assert sb.commands.run("id -u; echo ~").stdout == "1000\n/home/user\n"
        process = sb.commands.start("id -u", user="root")
        assert process.read_until("\n") == b"0\n"
    with Sandbox(user="root") as sb:
        assert sb.commands.run("mkdir /app; id -u; echo ~").stdout == (
            "0\n/root\n")
        assert sb.fork().commands.run("id -u").stdout == "0\n"
        process = sb.commands.start("id -u", user="user")
        assert process.read_until("\n") == b"1000\n"
    with pytest.raises(RpcError, match="user.*nobody"):
        Sandbox(user="nobody")


def test_the_network_policy_is_read_and_changed():
    with Sandbox(network={"allow": ["web.example:443"], "deny": ["10.0.0.0/8"]}) as sb:
        assert sb.network.get() == {"allow": ["web.example:443"], "deny": ["10.0.0.0/8"]}
        sb.network.allow("*.files.example")
        sb.network.deny("bad.files.example", "192.168.0.0/16")
        assert sb.network.get() == {
            "allow": ["web.example:443", "*.files.example"],
            "deny": ["10.0.0.0/8", "bad.files.example", "192.168.0.0/16"]}
        with sb.fork() as fork:
            fork.network.set("off")
            assert fork.network.get() == "off"
        with pytest.raises(RpcError, match="the rule '\\*'"):
            sb.network.set({"allow": ["*"]})
        result = sb.commands.run("exec 3<>/dev/tcp/10.0.0.9/80")
        assert [(d.host, d.port, d.reason) for d in result.denied] == [("10.0.0.9", 80, "denied")]
        assert sb.commands.run("true").denied == ()


@pytest.mark.parametrize("network", [1, ["web.example"]])
def test_a_network_policy_of_the_wrong_type_is_refused(network):
    with pytest.raises(TypeError, match="network"):
        Sandbox(network=network)


def test_a_server_inside_is_reached_through_a_port():
    with Sandbox() as sb:
        server = sb.commands.start(
            "python3 -c 'import socket; s = socket.create_server((\"\", 8000)); print(1, flush=True); "
            "c, _ = s.accept(); c.sendall(c.recv(9)[::-1])'")
        server.read_until("1")
        address = sb.ports.forward(8000)
        assert sb.ports.list() == {8000: address}
        with socket.create_connection(address, timeout=100) as s:
            s.sendall(b"abc")
            assert s.recv(9) == b"cba"
        sb.ports.unforward(8000)
        assert sb.ports.list() == {}
