"""Programs that try each limit and each way out. After each attack the sandbox
must still be usable, and the host unharmed: no crash, bounded memory, an end
in time."""
import os
import socket
import subprocess
import threading

import pytest

from sandbox import OVERHEAD_MB, PROGRAMS, command, run

MEMORY_MB = 512  # the default limit
FILES_MB = 256


def attack(program, name, options=(), **kwargs):
    return run(command(*options, str(PROGRAMS / f"{program}.wasm"), name), **kwargs)


def check(result, ended=("exit 0", "signal 9"), limit_mb=MEMORY_MB + FILES_MB):
    lines = result.out.split(b"\n")
    assert result.status == 0, result
    assert lines[-2] == b"usable", result
    assert lines[-3].endswith(tuple(b"attack: " + e.encode() for e in ended)), result
    assert result.rss_mb < limit_mb + OVERHEAD_MB, result


# An attack that goes on until it is killed ends with signal 9.
ENDLESS = "signal 9"
DONE = "exit 0"


@pytest.mark.parametrize(
    "name, ended",
    [
        ("fork_bomb", ENDLESS),
        ("vfork_bomb", ENDLESS),
        ("exec_loop", ENDLESS),
        ("zombie_farm", ENDLESS),
        ("orphan_farm", DONE),
        ("daemons", DONE),
        ("grow_until_refused", DONE),
        ("malloc_until_refused", DONE),
        ("mmap_until_refused", DONE),
        ("memory_herd", DONE),
        ("memory_forks", ENDLESS),
        ("fd_bomb", ENDLESS),
        ("pipe_bomb", ENDLESS),
        ("socket_bomb", ENDLESS),
        ("datagram_bomb", ENDLESS),
        ("listener_bomb", ENDLESS),
        ("passing_bomb", DONE),
        ("eventfd_bomb", ENDLESS),
        ("timerfd_bomb", ENDLESS),
        ("epoll_bomb", ENDLESS),
        ("pty_bomb", ENDLESS),
        ("posix_timer_bomb", DONE),
        ("lock_bomb", DONE),
        ("inode_bomb", DONE),
        ("nameless_bomb", DONE),
        ("big_file", DONE),
        ("sparse_file", DONE),
        ("symlink_farm", DONE),
        ("signal_storm", ENDLESS),
        ("timer_storm", ENDLESS),
        ("queue_flood", DONE),
        ("handler_recursion", "signal 11"),
        ("stop_storm", DONE),
        ("spin", ENDLESS),
        ("spin_in_fill", ENDLESS),
        ("spin_in_copy", ENDLESS),
        ("spin_in_calls", ENDLESS),
        ("spin_in_transfer", ENDLESS),
        ("deep_recursion", "signal 11"),
        ("native_recursion", "signal 11"),
        ("stack_herd", DONE),
    ],
)
def test_limit(name, ended):
    check(attack("limits", name), ended=[ended])


def test_wide_directory():
    check(attack("limits", "wide_directory", options=["--file-count", "200000"]), ended=[DONE])


def test_deep_directory():
    check(attack("limits", "deep_directory", options=["--file-count", "200000"]), ended=[DONE])


@pytest.mark.parametrize("name", ["malloc_until_refused", "memory_herd", "pipe_bomb", "socket_bomb", "stack_herd"])
def test_a_smaller_memory_limit_bounds_the_host(name):
    result = attack("limits", name, options=["--memory-limit", "64"])
    check(result, limit_mb=64)


@pytest.mark.parametrize(
    "name",
    [
        "fork_bomb",
        "vfork_bomb",
        "exec_loop",
        "signal_storm",
        "timer_storm",
        "epoll_bomb",
        "spin",
        "spin_in_fill",
        "spin_in_copy",
        "spin_in_calls",
        "spin_in_transfer",
        "daemons",
    ],
)
def test_the_time_limit_ends_everything(name):
    """Alone: without a parent that would end the attack."""
    options = ["--timeout-ms", "500"]
    program = str(PROGRAMS / "limits.wasm")
    result = run(command(*options, program, "alone", name))
    # The program itself may end before: its daemons then end with it.
    assert result.status == 124 or name == "daemons", result


@pytest.mark.parametrize(
    "name", ["last_byte", "bad_addresses", "counts", "exec_arguments", "privileged"]
)
def test_calls(name):
    check(attack("calls", name), ended=[DONE], limit_mb=100)


def test_any_arguments():
    """It may be killed by a signal that it has asked for by chance."""
    check(attack("calls", "any_arguments"), ended=[DONE, *(f"signal {n}" for n in range(1, 65))], limit_mb=300)


# --- ways out


@pytest.fixture
def host(tmp_path):
    """A folder to be mounted, with a secret beside it."""
    os.umask(0o022)
    (tmp_path / "secret").write_text("the secret")
    inside = tmp_path / "inside"
    (inside / "sub/deep").mkdir(parents=True)
    (inside / "file").write_text("harmless")
    (inside / "absolute").symlink_to(tmp_path / "secret")
    (inside / "relative").symlink_to("../secret")
    (inside / "folder").symlink_to("..")
    (inside / "chain").symlink_to("absolute")
    (inside / "sub/up").symlink_to("../..")
    os.mkfifo(inside / "fifo")
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(str(inside / "socket"))
    if os.geteuid() == 0:
        try:
            os.mknod(inside / "device", 0o20666, os.makedev(1, 3))
        except PermissionError:
            pass
    return tmp_path


def escape(host, name, **kwargs):
    inside = host / "inside"
    options = ["--mount", f"{inside}:/rw:rw", "--mount", f"{inside}:/ro"]
    env = {**os.environ, "HOST_SECRET": "secret"}
    return attack("escapes", name, options=options, env=env, **kwargs)


def check_host(host):
    assert (host / "secret").read_text() == "the secret"
    assert (host / "secret").stat().st_mode & 0o7777 == 0o644
    assert sorted(p.name for p in host.iterdir()) == ["inside", "secret"]
    assert (host / "inside/file").read_text() == "harmless"


@pytest.mark.parametrize(
    "name",
    [
        "dots",
        "links_of_the_host",
        "own_links",
        "hard_links",
        "through_proc",
        "read_only",
        "host_descriptors",
        "host_identity",
        "deep_on_the_host",
    ],
)
def test_escape(host, name):
    check(escape(host, name), ended=[DONE], limit_mb=100)
    check_host(host)


def test_special_files_of_the_host(host):
    fifo = os.open(host / "inside/fifo", os.O_RDONLY | os.O_NONBLOCK)
    check(escape(host, "special_files"), ended=[DONE], limit_mb=100)
    assert os.read(fifo, 10) == b""
    os.close(fifo)
    check_host(host)


def test_more_files_than_the_host_has(host):
    check(escape(host, "many_host_files"), ended=[ENDLESS], limit_mb=100)
    check_host(host)


def test_no_set_id_bits_on_the_host(host):
    check(escape(host, "set_id_bits"), ended=[DONE], limit_mb=100)
    check_host(host)
    for name in ("made", "made-dir"):
        assert (host / "inside" / name).stat().st_mode & 0o6000 == 0


def test_folder_moved_out_of_the_mount(host):
    inside = host / "inside"
    away = host / "away"
    away.mkdir()
    (away / "secret").write_text("another secret")
    argv = command("--mount", f"{inside}:/rw:rw", str(PROGRAMS / "escapes.wasm"), "moved_by_the_host")
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"move\n"
        (inside / "sub/deep").rename(away / "deep")
        process.stdin.write(b"x")
        process.stdin.close()
        assert process.stdout.read().split(b"\n")[-3:] == [b"attack: exit 0", b"usable", b""]
    assert sorted(p.name for p in away.iterdir()) == ["deep", "secret"]


def test_folder_swapped_with_a_link(host):
    inside = host / "inside"
    outside = host / "outside"
    outside.mkdir()
    (outside / "secret").write_text("another secret")
    (inside / "real").mkdir()
    (inside / "link").symlink_to("../outside")
    stop = threading.Event()

    def turn():
        while not stop.is_set():
            for name in ("real", "link"):
                os.rename(inside / name, inside / "swap")
                os.rename(inside / "swap", inside / name)

    thread = threading.Thread(target=turn)
    thread.start()
    try:
        result = escape(host, "swapped_by_the_host")
    finally:
        stop.set()
        thread.join()
    check(result, ended=[DONE], limit_mb=100)
    assert [p.name for p in outside.iterdir()] == ["secret"]
