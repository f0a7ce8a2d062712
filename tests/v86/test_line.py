"""The line protocol, as its specification shows it, on the x86 machine."""
import pytest

import conftest
from rpc import decode, encode


def shell(machine, command, **fields):
    return machine.line("shell", command=command, **fields)


# --- the examples of the specification


def test_a_command(machine):
    answer = shell(machine, "ls /", time_limit_ms=60000)
    assert {"bin", "dev", "etc", "home", "tmp"} <= set(answer["stdout"].split())
    assert answer == {"type": "shell", "id": answer["id"], "stdout": answer["stdout"],
                      "stderr": "", "exit_code": 0, "timed_out": False}


def test_a_file(machine):
    answer = machine.line("write_file", path="/tmp/test.txt", content="Hello, world!", mode="0644")
    assert answer == {"type": "write_file", "id": answer["id"], "success": True, "error": None}
    answer = machine.line("read_file", path="/tmp/test.txt", encoding="text")
    assert answer == {"type": "read_file", "id": answer["id"], "content": "Hello, world!",
                      "success": True, "error": None}


def test_reset(machine):
    shell(machine, "echo x >/tmp/x; cd /tmp; export A=1; sleep 1000 & echo")
    answer = machine.line("reset")
    assert answer == {"type": "reset", "id": answer["id"], "success": True}
    assert shell(machine, 'ls /tmp; pwd; echo "[$A]"; jobs')["stdout"] == "/root\n[]\n"


def test_status(machine):
    answer = machine.line("status")
    assert answer["ready"] is True and answer["uptime_ms"] > 0
    assert answer["memory_limit_bytes"] == 64 << 20
    before = answer["memory_used_bytes"]
    assert 0 < before < 40 << 20
    shell(machine, "dd if=/dev/zero of=/dev/shm/x bs=1M count=10 2>/dev/null")
    used = machine.line("status")["memory_used_bytes"]
    assert before + (9 << 20) < used < 64 << 20


def test_a_time_limit(machine):
    answer = shell(machine, "echo begun; sleep 1000", time_limit_ms=2000)
    assert answer == {"type": "shell", "id": answer["id"], "stdout": "begun\n", "stderr": "",
                      "exit_code": None, "timed_out": True,
                      "error": "Command execution failed: timeout exceeded"}


# --- commands


def test_output_is_separate_and_binary_safe(machine):
    answer = shell(machine, r"printf '\000\377a'; printf '\001b' >&2", encoding="base64")
    assert decode(answer["stdout_base64"]) == b"\0\xffa"
    assert decode(answer["stderr_base64"]) == b"\1b"


@pytest.mark.parametrize("command, status", [
    ("false", 1), ("exit 42", 42), ("sh -c 'kill -9 $$'", 137), ("kill -15 $$", 143),
    ("no-such-program", 127), ("sh -c 'exit 255'", 255), ("if", 2)])
def test_exit_codes(machine, command, status):
    assert shell(machine, command)["exit_code"] == status
    assert shell(machine, "echo again")["stdout"] == "again\n"


def test_the_shell_keeps_its_state(machine):
    shell(machine, "cd /usr; x=5; f() { echo in f $x; }")
    assert shell(machine, "pwd; f")["stdout"] == "/usr\nin f 5\n"
    shell(machine, "exit 1")
    assert shell(machine, "pwd")["stdout"] == "/usr\n"


def test_a_background_process_goes_on(machine):
    shell(machine, "(while [ ! -e /tmp/go ]; do sleep 0.1; done; echo done >/tmp/end) &")
    answer = shell(machine, "touch /tmp/go; while [ ! -e /tmp/end ]; do sleep 0.1; done; cat /tmp/end")
    assert answer["stdout"] == "done\n"


def test_long_output_is_cut(machine):
    answer = shell(machine, "dd if=/dev/zero bs=1M count=8 2>/dev/null | tr '\\0' x")
    assert answer["stdout"] == "x" * (1 << 20)
    assert answer["truncated"] == {"stdout": True, "stderr": False}


@pytest.mark.parametrize("command", [
    "while :; do :; done", "cat /dev/zero", "cat", "sh -c 'sleep 1000 & sleep 1000'",
    "trap '' TERM INT HUP; while :; do :; done"])
def test_a_command_that_does_not_end(machine, command):
    if command == "cat":  # without input, it ends
        assert shell(machine, command)["exit_code"] == 0
        return
    answer = shell(machine, command, time_limit_ms=1000)
    assert answer["timed_out"] is True and answer["exit_code"] is None
    assert "limit" not in answer
    assert shell(machine, "echo usable")["stdout"] == "usable\n"


@pytest.mark.parametrize("command", [
    "f() { f | f & }; f; while :; do sleep 1; done", "f() { sleep 100 & f; }; f"])
def test_a_fork_bomb(machine, command):
    shell(machine, command, time_limit_ms=5000)
    for _ in range(3):
        assert shell(machine, "echo usable; /bin/true")["stdout"] == "usable\n"


@pytest.mark.parametrize("command", [
    "poweroff -f", "reboot -f", "echo c >/proc/sysrq-trigger", "kill -SEGV 1; halt -f"])
def test_a_machine_that_stops_is_replaced(machine, command):
    shell(machine, "echo x >/tmp/x")
    answer = shell(machine, command)
    assert answer["exit_code"] is None and answer["limit"] == "machine"
    assert shell(machine, "ls /tmp; echo alive")["stdout"] == "alive\n"


def test_the_clock_is_right_and_random_numbers_differ(machine):
    import time
    seen = set()
    for _ in range(3):
        machine.line("reset")
        before = int(time.time())
        now, number = shell(machine, "date +%s; head -c 16 /dev/urandom | md5sum")["stdout"].split()[:2]
        assert before - 1 <= int(now) <= time.time() + 1
        seen.add(number)
    assert len(seen) == 3


def test_a_full_disk_is_an_error_of_the_command(machine):
    answer = shell(machine, "dd if=/dev/zero of=/big bs=1M count=400; rm /big; echo ok >/f && cat /f")
    assert "No space left on device" in answer["stderr"] and answer["stdout"] == "ok\n"


def test_the_disk_limit_is_a_full_disk_and_freed_blocks_are_free_again(image):
    client = conftest.start("--disk-limit", "24")
    for _ in range(3):
        answer = shell(client, "dd if=/dev/zero of=/big bs=1M count=100; ls -l /big; rm /big; echo ok >/f && cat /f")
        assert "No space left on device" in answer["stderr"], answer
        assert answer["stdout"].endswith("ok\n")
        assert int(answer["stdout"].split()[4]) > 8 << 20, answer
    assert "I/O error" not in shell(client, "dmesg")["stdout"]
    conftest.end(client)


def test_memory_that_runs_out_ends_the_command(machine):
    answer = shell(machine, "x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done; echo no")
    assert "no" not in answer["stdout"] and answer["exit_code"] != 0
    assert shell(machine, "echo usable")["stdout"] == "usable\n"


# --- files


def test_files_of_all_bytes_and_of_ten_megabytes(machine):
    for data in (bytes(range(256)), bytes(range(256)) * 40960, b""):
        machine.line("write_file", path="/tmp/b", content=encode(data), encoding="base64")
        assert decode(machine.line("read_file", path="/tmp/b", encoding="base64")["content"]) == data


@pytest.mark.parametrize("mode, shown", [(None, "644"), ("755", "755"), ("0600", "600"), ("1777", "1777")])
def test_modes(machine, mode, shown):
    fields = {} if mode is None else {"mode": mode}
    machine.line("write_file", path="/tmp/m", content="x", **fields)
    assert shell(machine, "stat -c %a /tmp/m")["stdout"] == f"{shown}\n"


@pytest.mark.parametrize("type, fields, error", [
    ("read_file", {"path": "/no/such"}, "ENOENT: no such file or directory: /no/such"),
    ("read_file", {"path": "/tmp"}, "EISDIR: is a directory: /tmp"),
    ("read_file", {"path": "tmp"}, "EINVAL: not an absolute path: tmp"),
    ("write_file", {"path": "/no/such", "content": ""}, "ENOENT: no such file or directory: /no/such"),
    ("write_file", {"path": "/tmp", "content": ""}, "EISDIR: is a directory: /tmp"),
    ("write_file", {"path": "/x", "content": "!", "encoding": "base64"}, "content is not base64"),
])
def test_errors_of_files(machine, type, fields, error):
    answer = machine.line(type, **fields)
    assert answer["success"] is False and answer["error"] == error
    assert shell(machine, "echo usable")["stdout"] == "usable\n"


def test_text_must_be_utf8(machine):
    shell(machine, r"printf '\377' >/tmp/f")
    assert '"encoding":"base64"' in machine.line("read_file", path="/tmp/f")["error"]


def test_bad_requests(machine):
    machine.send({"type": "shell", "command": "true"})
    assert machine.next()["error"] == "Missing required param: id"
    assert machine.line("shell")["error"] == "Missing required param: command"
    machine.send({"type": "nothing", "id": "n1"})
    assert machine.answer("n1")["error"] == "Unknown type: nothing"
