"""What a command in a jail gets, and how its end is told."""
import contextlib
import ctypes
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile

import jail
import pytest
from jail import ESCAPE, command, escape, jailed_processes, landlock, limit

ATTACKS = subprocess.run([ESCAPE, "list"], capture_output=True, text=True).stdout.split()


@contextlib.contextmanager
def readable_folder():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield pathlib.Path(folder)


@contextlib.contextmanager
def segment():
    """The key of a System V segment that anybody can attach."""
    libc = ctypes.CDLL(None, use_errno=True)
    key = os.getpid() + 1
    number = libc.shmget(key, 4096, 0o1666)  # IPC_CREAT
    assert number >= 0, os.strerror(ctypes.get_errno())
    yield key
    libc.shmctl(number, 0, None)  # IPC_RMID


@pytest.fixture
def targets():
    """For each attack that needs one: what it is after."""
    with contextlib.ExitStack() as stack:
        secret = stack.enter_context(readable_folder()) / "secret"
        secret.write_text("secret")
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
        name = f"wasmsand-test-{os.getpid()}"
        abstract.bind("\0" + name)
        abstract.listen()
        yield {
            "read_a_host_file": str(secret),
            "connect_to_the_hosts_loopback": tcp.getsockname()[1],
            "connect_to_an_abstract_socket": name,
            "attach_a_segment_of_the_host": stack.enter_context(segment()),
            "signal_the_supervisor": os.getpid(),
            "see_processes_of_the_host": os.getpid(),
            "read_the_callers_environment": "WASMSAND_SECRET",
        }


def inheriting(run, *args, **rest):
    """Runs with an open descriptor and a secret in the environment."""
    fd = os.open("/dev/null", os.O_RDONLY)
    try:
        env = {**os.environ, "WASMSAND_SECRET": "x"}
        return run(*args, pass_fds=[fd], env=env, **rest)
    finally:
        os.close(fd)


@pytest.mark.parametrize("attack", ATTACKS)
def test_repelled(attack, targets):
    r = inheriting(escape, attack, targets.get(attack, ""))
    assert (r.cause, r.status) == ("exited", 0), r


@pytest.mark.parametrize(
    "attack",
    [
        "read_a_host_file",
        "connect_to_the_hosts_loopback",
        "connect_to_an_abstract_socket",
        "attach_a_segment_of_the_host",
        "see_processes_of_the_host",
        "use_inherited_descriptors",
        "read_the_callers_environment",
    ],
)
def test_the_attack_works_outside(attack, targets):
    argv = [ESCAPE, attack, str(targets.get(attack, ""))]
    assert inheriting(subprocess.run, argv, capture_output=True).returncode == 1


def every_attack(targets):
    """Options and command for all of them in one jail, which prints those that
    worked."""
    script = """
        cat >/tmp/e; chmod +x /tmp/e
        while [ $# -gt 0 ]; do /tmp/e "$1" "$2" >&2 || echo "$1"; shift 2; done
    """
    args = [a for attack in ATTACKS for a in (attack, targets.get(attack, ""))]
    return ["--", "sh", "-c", script, "-", *args]


def test_all_are_repelled(backend, targets):
    argv = every_attack(targets)
    r = inheriting(limit, *argv, stdin=ESCAPE.read_bytes(), backend=backend)
    assert (r.status, r.out) == (0, b""), r


def test_all_are_repelled_without_privileges(targets, monkeypatch):
    """The jail of a caller who is not root has his uid, and no groups."""
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else for this test")
    with readable_folder() as folder:
        monkeypatch.setattr(jail, "SUPERVISOR", shutil.copy(jail.SUPERVISOR, folder))
        argv = every_attack({**targets, "signal_the_supervisor": "2147483647"})
        r = inheriting(
            limit, *argv, stdin=ESCAPE.read_bytes(), backend="rlimits",
            user=65534, group=65534, extra_groups=[], cwd="/",
        )
    assert (r.status, r.out) == (0, b""), r


def test_network_does_not_mean_abstract_sockets(targets):
    if landlock() < 6:
        pytest.skip("this kernel has no Landlock 6: they are part of the network")
    name = targets["connect_to_an_abstract_socket"]
    r = escape("connect_to_an_abstract_socket", name, options=["--network"])
    assert r.status == 0, r


def test_network_is_there_when_asked_for(targets):
    port = targets["connect_to_the_hosts_loopback"]
    r = escape("connect_to_the_hosts_loopback", port, options=["--network"])
    assert r.status == 1, r


def test_the_status_is_the_commands(backend):
    r = limit("--", "sh", "-c", "exit 3", backend=backend)
    assert (r.cause, r.status) == ("exited", 3), r


@pytest.mark.parametrize(
    "script, cause, status",
    [
        ("exit 137", "exited", 137),
        ("kill -9 $$", "killed", 137),
        ("kill -TERM $$", "killed", 143),
        ("kill -SEGV $$", "crashed", 139),
        ("kill -ABRT $$", "crashed", 134),
        ("kill -XCPU $$", "cpu", 152),
    ],
)
def test_the_cause_is_told(script, cause, status):
    r = limit("--", "sh", "-c", script)
    assert (r.cause, r.status) == (cause, status), r
    assert r.number(r"oom kills (\d+)") == 0


def test_what_cannot_be_run():
    assert limit("--", "no-such-program").status == 127
    assert limit("--", "/etc/passwd").status == 126
    assert limit("--").status == 2


def test_streams_are_passed_through():
    r = limit("--", "sh", "-c", "cat; echo e >&2", stdin=b"in\n")
    assert r.out == b"in\n" and r.err.startswith(b"e\n")


def test_a_signal_is_passed_on_to_the_command():
    script = 'trap "echo got; exit 5" TERM; echo ready; while :; do sleep 0.01; done'
    p = subprocess.Popen(
        command("--", "sh", "-c", script), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert p.stdout.readline() == b"ready\n"
    p.send_signal(signal.SIGTERM)
    out, err = p.communicate(timeout=60)
    assert (out, p.returncode) == (b"got\n", 5), err


def test_a_stopped_command_can_be_continued_and_ended():
    p = subprocess.Popen(
        command("--", "sh", "-c", "echo ready; kill -STOP $$; exit 4"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert p.stdout.readline() == b"ready\n"
    p.send_signal(signal.SIGTERM)
    p.send_signal(signal.SIGCONT)  # as timeout(1) does
    _, err = p.communicate(timeout=60)
    assert p.returncode == 128 + signal.SIGTERM, err


def test_a_host_path_can_be_read_but_not_changed():
    with readable_folder() as folder:
        (folder / "file").write_text("text")
        script = f"cat {folder}/file; echo x >{folder}/y"
        r = limit("--read", folder, "--", "sh", "-c", script)
        assert r.out == b"text" and b"Read-only file system" in r.err, r
    assert limit("--read", "/no/such", "--", "true").status == 125


def test_the_jail_has_a_usable_system():
    script = """
        set -e
        [ "$(id -un)" = sandbox ]; [ "$HOME" = /workspace ]; [ "$PWD" = /workspace ]
        echo a >f; mkdir d; mv f d; [ "$(cat d/f)" = a ]
        echo b >/tmp/t; ln -s /tmp/t l; [ "$(cat l)" = b ]
        : >/dev/null; head -c 4 /dev/urandom | wc -c
        [ "$(hostname)" = sandbox ]; [ "$(ps -e | grep -c sh)" -ge 1 ]
        python3 -c 'import socket; s=socket.create_server(("127.0.0.1", 0)); \
            socket.create_connection(s.getsockname())'
        python3 -c 'import threading; t=threading.Thread(target=print); t.start()'
    """
    r = limit("--", "sh", "-c", script)
    assert (r.cause, r.status) == ("exited", 0), r


def test_a_daemon_does_not_outlive_its_jail(backend):
    before = set(jailed_processes())
    r = escape("daemon", backend=backend)
    assert r.status == 0, r
    assert set(jailed_processes()) <= before
