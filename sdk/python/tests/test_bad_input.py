"""What is wrong is named, at once, and the sandbox keeps working."""

import pytest

from wasmsand import (CommandFailed, FileNotFound, Mount, RpcError, Sandbox,
                      SandboxClosed)


async def nothing(text):
    """What a callback is not."""


@pytest.mark.parametrize("call, error, text", [
    (lambda sb: sb.commands.run(5), TypeError, "command"),
    (lambda sb: sb.commands.run("a\0b"), ValueError, "command"),
    (lambda sb: sb.commands.run("\ud800"), ValueError, "command"),
    (lambda sb: sb.commands.run("true", env=["A"]), TypeError, "env"),
    (lambda sb: sb.commands.run("true", env={"A": 1}), TypeError, "env"),
    (lambda sb: sb.commands.run("true", env={"A": "\0"}), ValueError, "env"),
    (lambda sb: sb.commands.run("true", env={"A=": "b"}), RpcError, "env"),
    (lambda sb: sb.commands.run("true", cwd=5), TypeError, "cwd"),
    (lambda sb: sb.commands.run("true", cwd="/none"), FileNotFound,
     "cwd.*/none"),
    (lambda sb: sb.commands.run("true", cwd="/etc/passwd"), RpcError,
     "cwd.*/etc/passwd"),
    (lambda sb: sb.commands.run("true", no_such=1), TypeError, "no_such"),
    (lambda sb: sb.commands.run("true", check="no"), TypeError, "check"),
    (lambda sb: sb.commands.run("true", stdin=5), TypeError, "stdin"),
    (lambda sb: sb.commands.run("cat", stdin="\udcff"), ValueError, "stdin"),
    (lambda sb: sb.commands.run("cat", stdin=b"x" * 10_000_000), RpcError,
     "stdin is too large"),
    (lambda sb: sb.commands.run("true", timeout_ms="x"), TypeError,
     "timeout_ms"),
    (lambda sb: sb.commands.run("true", timeout_ms=0), RpcError, "timeout_ms"),
    (lambda sb: sb.commands.run("true", timeout_ms=10 ** 30), ValueError,
     "timeout_ms"),
    (lambda sb: sb.commands.run("true", on_stdout="x"), TypeError,
     "on_stdout"),
    (lambda sb: sb.commands.run("true", on_stderr=5), TypeError, "on_stderr"),
    (lambda sb: sb.commands.run("true", on_stderr=nothing), TypeError,
     "on_stderr.*async"),
    (lambda sb: sb.commands.run([]), ValueError, "command"),
    (lambda sb: sb.commands.run(["a", 5]), TypeError, r"command\[1\]"),
    (lambda sb: sb.commands.run("true", encoding=5), TypeError, "encoding"),
    (lambda sb: sb.commands.run("true", encoding="no"), ValueError,
     "encoding: there is no 'no'"),
    (lambda sb: sb.commands.run("true", merge_stderr=1), TypeError,
     "merge_stderr"),
    (lambda sb: sb.commands.start("true").read("x"), TypeError, "timeout"),
    (lambda sb: sb.commands.start(5), TypeError, "command"),
    (lambda sb: sb.commands.start(), RpcError, "command"),
    (lambda sb: sb.commands.start("true", cwd="/none"), FileNotFound,
     "cwd.*/none"),
    (lambda sb: sb.commands.start("true", pty=True, rows=0), RpcError, "rows"),
    (lambda sb: sb.commands.start("true").kill("x"), TypeError, "signal"),
    (lambda sb: sb.commands.start("true").kill(999), RpcError, "signal"),
    (lambda sb: sb.commands.start("true").wait("x"), TypeError, "timeout"),
    (lambda sb: sb.commands.start("true").send_stdin(5), TypeError, "data"),
    (lambda sb: sb.commands.start("true", pty=1), TypeError, "pty"),
    (lambda sb: sb.commands.start("true", pty=True, rows="x"), TypeError,
     "rows"),
    (lambda sb: sb.files.write("/tmp/a", 5), TypeError, "data"),
    (lambda sb: sb.files.write(5, "a"), TypeError, "path"),
    (lambda sb: sb.files.write("/tmp/a", "", mode="x"), TypeError, "mode"),
    (lambda sb: sb.files.write("/tmp/\ud800", ""), ValueError, "path"),
    (lambda sb: sb.files.write("/tmp/a", "", mode=-1), RpcError, "mode"),
    (lambda sb: sb.files.read("relative"), FileNotFound, "relative"),
    (lambda sb: sb.files.rename("/tmp/a", ""), ValueError, "target"),
    (lambda sb: sb.files.upload("/etc", ""), ValueError, "path"),
    (lambda sb: sb.files.download("/tmp", 5), TypeError, "host_dir"),
    (lambda sb: sb.files.download("/none", "/no/such/folder"), FileNotFound,
     "/none"),
    (lambda sb: sb.files.upload(5, "/tmp"), TypeError, "host_dir"),
    (lambda sb: sb.files.read("/tmp/\0"), ValueError, "path"),
    (lambda sb: sb.files.list(None), TypeError, "path"),
    (lambda sb: sb.files.stat(b"/tmp"), TypeError, "path"),
    (lambda sb: sb.files.mkdir(5), TypeError, "path"),
    (lambda sb: sb.files.mkdir("/tmp/a", recursive=1), TypeError, "recursive"),
    (lambda sb: sb.files.rm(5), TypeError, "path"),
    (lambda sb: sb.files.rename("/tmp/a", 5), TypeError, "target"),
    (lambda sb: sb.files.chmod("/tmp", "x"), TypeError, "mode"),
    (lambda sb: sb.files.symlink(5, "/tmp/a"), TypeError, "target"),
    (lambda sb: sb.files.upload("/no/such/folder", "/tmp"),
     NotADirectoryError, "host_dir"),
    (lambda sb: sb.env.__setitem__("A", 5), TypeError, "value"),
    (lambda sb: sb.env.__setitem__("A=B", "c"), RpcError, "A=B"),
    (lambda sb: sb.env[5], TypeError, "name"),
    (lambda sb: sb.restore(5), TypeError, "snapshot_id"),
    (lambda sb: sb.restore("999999"), RpcError, "snapshot_id '999999'"),
    (lambda sb: sb.restore("first"), RpcError, "snapshot_id 'first'"),
    (lambda sb: sb.import_state(5), TypeError, "state"),
    (lambda sb: sb.import_state(b"garbage"), RpcError, "EINVAL: state"),
    (lambda sb: sb.import_state(b""), RpcError, "EINVAL: state"),
    (lambda sb: sb.new(label=5), TypeError, "label"),
    (lambda sb: sb.mount("/tmp"), TypeError, "mount"),
    (lambda sb: sb.mount(Mount("/mnt/a", host_path="/tmp")), ValueError,
     "mount: folders of the host"),
    (lambda sb: sb.mount(Mount("/mnt/a", files={"a": 5})), TypeError,
     "mount: a"),
    (lambda sb: sb.mount(Mount("/mnt/a", files=5)), TypeError,
     "files in mount"),
    (lambda sb: sb.mount(Mount("mnt", files={"a": "b"})), ValueError,
     "path in mount"),
    (lambda sb: sb.run_python(5), TypeError, "code"),
    (lambda sb: sb.run_python("a\0"), ValueError, "code"),
    (lambda sb: sb.run_python("1", stdin=5), TypeError, "stdin"),
    (lambda sb: sb.run_python("1", timeout_ms=0), RpcError, "timeout_ms"),
    (lambda sb: sb.run_python("1", check=5), TypeError, "check"),
])
def test_bad_arguments_are_named(sb, call, error, text):
    with pytest.raises(error, match=text):
        call(sb)
    assert sb.commands.run("echo alive; ls /tmp").stdout == "alive\n"


@pytest.mark.parametrize("options, error, text", [
    ({"no_such_option": 1}, TypeError, "no_such_option"),
    ({"timeout_ms": "x"}, TypeError, "timeout_ms"),
    ({"timeout_ms": True}, TypeError, "timeout_ms"),
    ({"timeout_ms": -1}, RpcError, "timeout_ms"),
    ({"timeout_ms": 10 ** 30}, ValueError, "timeout_ms"),
    ({"fs_limit_bytes": 1.5}, TypeError, "fs_limit_bytes"),
    ({"fs_limit_bytes": -1}, RpcError, "fs_limit_bytes"),
    ({"limits": {"nonsense": 1}}, ValueError, "nonsense"),
    ({"limits": {"processes": "x"}}, TypeError, "processes"),
    ({"limits": {"processes": 0}}, RpcError, "limits.processes"),
    ({"limits": {"rpcBytes": 1024}}, ValueError, "rpcBytes"),
    ({"limits": ["processes"]}, TypeError, "limits"),
    ({"mounts": ["/tmp"]}, TypeError, "mounts"),
    ({"mounts": 5}, TypeError, "mounts"),
    ({"mounts": [Mount("/mnt", host_path=5)]}, TypeError,
     "host_path in mounts"),
    ({"mounts": [Mount("/mnt", host_path="/no/such/folder")]},
     NotADirectoryError, "host_path in mounts: /no/such/folder"),
    ({"env": {"A": None}}, TypeError, "env"),
    ({"tools_dir": 5}, TypeError, "tools_dir"),
    ({"tools_dir": "/no/such/folder"}, NotADirectoryError,
     "tools_dir: /no/such/folder"),
    ({"writable_paths": "/tmp"}, TypeError, "writable_paths"),
    ({"allow_tools": [5]}, TypeError, r"allow_tools\[0\]"),
    ({"seed": "x"}, TypeError, "seed"),
    ({"clock_ms": "x"}, TypeError, "clock_ms"),
    ({"clock_ms": -1 << 70}, ValueError, "clock_ms"),
    ({"extensions": {"f": 5}}, TypeError, "extensions"),
    ({"extensions": {"a/b": print}}, RpcError, "a/b"),
])
def test_bad_options_are_named(options, error, text):
    with pytest.raises(error, match=text):
        Sandbox(**options)


def test_a_snapshot_of_another_sandbox(root, sb):
    with root.fork() as other:
        theirs = other.snapshot()
        with pytest.raises(RpcError, match="snapshot_id"):
            sb.restore(theirs)
        other.restore(theirs)


def test_a_closed_sandbox(root):
    with root.fork() as sb:
        process = sb.commands.start("cat")
    for call in (lambda: sb.commands.run("true"), lambda: sb.files.list("/"),
                 lambda: sb.env["A"], sb.fork, sb.snapshot, sb.export_state,
                 sb.reset, lambda: sb.run_python("1"),
                 lambda: process.send_stdin("x")):
        with pytest.raises(SandboxClosed):
            call()
    assert root.commands.run("echo alive").stdout == "alive\n"


def test_output_that_is_not_utf_8(sb):
    texts = []
    r = sb.commands.run(r"printf 'a\xff\xfeb'; printf '\x80' >&2",
                        on_stdout=texts.append)
    assert (r.stdout_bytes, r.stderr_bytes) == (b"a\xff\xfeb", b"\x80")
    assert "".join(texts) == r.stdout == "a\ufffd\ufffdb"


def test_a_hundred_megabytes_of_output(sb):
    r = sb.commands.run("head -c 100000000 /dev/zero")
    assert r.exit_code == 0 and 1_000_000 < len(r.stdout_bytes) <= 1 << 20
    assert r.truncated == {"stdout": True, "stderr": False}
    seen = []
    r = sb.commands.run("head -c 100000000 /dev/zero",
                        on_stdout=lambda text: seen.append(len(text)))
    assert r.exit_code == 0 and sum(seen) == 100_000_000 and r.truncated
    p = sb.commands.start("head -c 100000000 /dev/zero")
    assert sum(len(data) for _, data in p) == 100_000_000 and p.wait(60) == 0


def test_a_wheel_that_is_none(sb):
    sb.files.write("/tmp/bad-1.0-py3-none-any.whl", b"not a zip file")
    with pytest.raises(CommandFailed, match="bad-1.0-py3-none-any.whl"):
        sb.commands.run("pip install -q /tmp/bad-1.0-py3-none-any.whl",
                        check=True)
    assert sb.run_python("print('alive')").stdout == "alive\n"
