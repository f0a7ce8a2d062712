"""A run that meets a limit: its result says which one, and what to do."""
import re

import pytest

from rpc import decode, needs_image
from sandbox import PROGRAMS

pytestmark = needs_image

MANY_FILES = "mkdir d && cd d && for ((i = 0; i < 200; i++)); do : > f$i || exit 3; done"


def message_after(server, command, run=None, **create):
    """What `create` with a limit and a run that meets it give."""
    server.call("create", **create)
    return server.run(command, **(run or {}))


def test_time(server):
    result = message_after(server, "echo begun; sleep 1000", timeoutMs=30)
    assert (result["exitCode"], result["errorClass"]) == (124, "TIMEOUT")
    assert result["stderr"].endswith("command timed out\n")
    assert result["message"] == ("timed out after 30 ms: start long commands with & "
                                 "or raise timeoutMs")


def test_time_of_one_run(client):
    assert client.run("sleep 1000", timeoutMs=20)["message"].startswith("timed out after 20 ms: ")


def test_file_count(server):
    result = message_after(server, MANY_FILES, limits={"fileCount": 100})
    assert result["exitCode"] == 3 and "No space left on device" in result["stderr"]
    assert (result["errorClass"], result["limit"]) == ("LIMIT_EXCEEDED", "files")
    assert result["message"] == ("file count limit reached (max: 100): remove files "
                                 "or raise limits.fileCount")


def rename_too_far(server):
    server.fails("files.rename", **{"from": "d/f1", "to": "x" * 5000}, concurrent=True)


def read(server):
    server.call("files.read", path="d/f1", concurrent=True)


@pytest.mark.parametrize("use_file", [read, rename_too_far])
def test_a_file_function_beside_a_run_does_not_hide_its_limit(server, use_file):
    server.call("create", limits={"fileCount": 100})
    command = (f"({MANY_FILES}) 2>/dev/null; echo full; "
               "while [ -e d/f0 ]; do sleep 0.01; done; exit 3")
    running = server.begin("run", command=command, stream=True)
    assert server.next()["params"]["data"] == "full\n"
    use_file(server)
    server.call("process.start", command="rm d/f0")
    assert server.result(running)["limit"] == "files"


def test_file_bytes(server):
    result = message_after(server, "head -c 200000 /dev/zero > big", fsLimitBytes=100000)
    assert (result["errorClass"], result["limit"]) == ("LIMIT_EXCEEDED", "file_bytes")
    assert result["message"] == ("file bytes limit reached (max: 100000 bytes): remove files "
                                 "or raise fsLimitBytes")


def test_memory(server):
    limits = {"memoryBytes": 64 << 20}
    result = message_after(server, "python3 -c 'bytearray(1 << 28)'", limits=limits)
    assert (result["errorClass"], result["limit"]) == ("LIMIT_EXCEEDED", "memory")
    assert result["message"] == ("memory limit reached (max: 67108864 bytes): use less memory "
                                 "at a time or raise limits.memoryBytes")


def test_processes(server):
    # The first fork that fails ends it: bash itself would try again for long.
    command = ("python3 -c 'import subprocess\n"
               "for i in range(9): subprocess.Popen([\"sleep\", \"1000\"])'")
    result = message_after(server, command, limits={"processes": 5})
    assert (result["errorClass"], result["limit"]) == ("LIMIT_EXCEEDED", "processes")
    assert result["message"] == ("process limit reached (max: 5): end background processes "
                                 "or raise limits.processes")


def test_threads_count_as_processes(start):
    client = start("--tools", str(PROGRAMS))
    client.call("create", limits={"processes": 10})
    result = client.run("threads alone threads_until_refused")
    assert (result["exitCode"], result["limit"]) == (3, "processes")
    assert result["message"].startswith("process limit reached (max: 10): ")
    assert client.out("echo usable") == "usable\n"


@pytest.mark.parametrize(
    "limit, text, program",
    [
        ("mappings", "shared mappings limit reached: unmap memory that is not needed",
         "import mmap; kept = [mmap.mmap(-1, 4096) for _ in range(10000)]"),
        ("locks", "file locks limit reached: release locks that are not needed",
         "import fcntl; f = open('f', 'w')\n"
         "for i in range(10000): fcntl.lockf(f, fcntl.LOCK_EX, 1, 2 * i)"),
    ])
def test_a_limit_of_the_kernel_is_named(client, limit, text, program):
    result = client.run(f'python3 -c "{program}"')
    assert (result["exitCode"], result["errorClass"], result["limit"]) == (1, "LIMIT_EXCEEDED", limit)
    assert result["message"] == text
    assert client.out("echo usable") == "usable\n"


def test_a_shell_at_the_limit_of_processes_gives_up_soon(server):
    """Bash's own retries take 15 s, longer than the time limit here."""
    result = message_after(server, "for i in 1 2 3 4 5 6; do sleep 1000 & done; echo x | cat",
                           limits={"processes": 5}, timeoutMs=12000)
    assert (result["errorClass"], result["limit"]) == ("LIMIT_EXCEEDED", "processes")
    assert result["stderr"] == ("bash: fork: the limit of processes is reached: "
                                "Resource temporarily unavailable\n")


def test_cpu(server):
    result = message_after(server, "while :; do :; done", limits={"cpuMs": 50})
    assert (result["errorClass"], result["limit"]) == ("LIMIT_EXCEEDED", "cpu")
    assert result["message"] == ("CPU time limit reached (max: 50 ms): split the work into "
                                 "several runs or raise limits.cpuMs")


def test_command(server):
    result = message_after(server, "echo " + "x" * 100, limits={"commandBytes": 50})
    assert (result["errorClass"], result["limit"]) == ("LIMIT_EXCEEDED", "command")
    assert result["stderr"] == "command too long (105 bytes, limit: 50)\n"
    assert result["message"] == ("command too long (105 bytes, limit: 50): write it to a file with "
                                 "files.write and run the file or raise limits.commandBytes")


@pytest.mark.parametrize("stream, redirect", [("stdout", ""), ("stderr", ">&2")])
def test_output(server, stream, redirect):
    result = message_after(server, f"seq 1000 {redirect}", limits={f"{stream}Bytes": 300})
    assert result["exitCode"] == 0 and result["truncated"][stream]
    assert "errorClass" not in result and "limit" not in result
    assert result["message"] == (f"{stream} limit reached (max: 300 bytes): redirect the output "
                                 f"to a file or raise limits.{stream}Bytes")


def test_what_meets_no_limit_has_no_message(client):
    assert "message" not in client.run("exit 3")
    id = client.begin("run", command="sleep 1000")
    client.call("cancel", requestId=id)
    assert "message" not in client.result(id)


def test_the_line_protocol_is_as_it_was(server):
    answer = server.line("shell", command="sleep 1000", time_limit_ms=20)
    assert "message" not in answer
    assert answer["error"] == "Command execution failed: timeout exceeded"


# --- both ends of the output


def ends(client, command, **params):
    return client.run(command, keep="ends", **params)


def test_output_within_its_limit_is_whole(server):
    server.call("create", limits={"stdoutBytes": 3893})
    result = ends(server, "seq 1000")
    assert result["stdout"] == "".join(f"{i}\n" for i in range(1, 1001))
    assert "truncated" not in result and "omittedBytes" not in result


def parts(result, stream):
    """The first and the last part, and how many bytes the line between says."""
    first, line, last = re.split(r"(?<=\n)\[(\d+) bytes omitted\]\n", result[stream])
    return first, last, int(line)


@pytest.mark.parametrize("limit", [256, 257, 300, 1000, 3892])
@pytest.mark.parametrize("stream, redirect", [("stdout", ""), ("stderr", ">&2")])
def test_the_first_and_the_last_part_are_kept(server, stream, redirect, limit):
    server.call("create", limits={f"{stream}Bytes": limit})
    result = ends(server, f"seq 1000 {redirect}")
    whole = "".join(f"{i}\n" for i in range(1, 1001))
    first, last, omitted = parts(result, stream)
    first = first[:len(whole) - omitted - len(last)]  # without a newline that belongs to the line
    assert len(first) + omitted + len(last) == len(whole)
    assert whole.startswith(first) and whole.endswith(last)
    assert limit - 60 <= len(result[stream]) <= limit
    assert min(len(first), len(last)) >= limit // 2 - 50
    other = "stderr" if stream == "stdout" else "stdout"
    assert result["truncated"] == {stream: True, other: False}
    assert result["omittedBytes"] == {stream: omitted, other: 0}


def test_the_head_is_the_default(server):
    server.call("create", limits={"stdoutBytes": 300})
    assert server.out("seq 1000", keep="head") == server.out("seq 1000")
    result = server.run("seq 1000")
    assert result["stdout"] == "".join(f"{i}\n" for i in range(1, 1001))[:300]
    assert "omittedBytes" not in result


@pytest.mark.parametrize("limit", [1, 2, 3, 255])
def test_a_small_limit_has_no_line(server, limit):
    server.call("create", limits={"stdoutBytes": limit})
    result = ends(server, "seq 1000")
    whole = "".join(f"{i}\n" for i in range(1, 1001))
    head = limit // 2 if limit > 1 else 1
    assert result["stdout"] == whole[:head] + (whole[-(limit - head):] if limit > head else "")
    assert result["omittedBytes"]["stdout"] == len(whole) - limit


def test_base64_has_no_line(server):
    server.call("create", limits={"stdoutBytes": 1000})
    result = ends(server, "seq 1000", encoding="base64")
    whole = "".join(f"{i}\n" for i in range(1, 1001)).encode()
    assert decode(result["stdout"]) == whole[:500] + whole[-500:]
    assert result["omittedBytes"] == {"stdout": len(whole) - 1000, "stderr": 0}


@pytest.mark.parametrize("shift", range(4))
def test_no_character_is_cut_at_either_end(server, shift):
    server.call("create", limits={"stdoutBytes": 300})
    result = ends(server, f"printf %{shift}s ''; for ((i = 0; i < 500; i++)); do printf '\\xf0\\x9f\\x98\\x80'; done")
    assert "\ufffd" not in result["stdout"]
    size = len(result["stdout"].encode())
    assert size <= 300
    kept = result["stdout"].count("\U0001f600") * 4 + shift
    assert result["omittedBytes"]["stdout"] == 2000 + shift - kept


def test_keep_must_be_known(client):
    assert "keep must be" in client.fails("run", command="true", keep="tail").message


def test_notifications_are_not_cut_by_the_limit(server):
    server.call("create", limits={"stdoutBytes": 300})
    for keep in ("head", "ends"):
        id = server.begin("run", command="seq 10000", stream=True, keep=keep)
        result = server.result(id)
        seen = [server.next()["params"] for _ in range(server.other.qsize())]
        assert "".join(p["data"] for p in seen) == "".join(f"{i}\n" for i in range(1, 10001))
        assert len(result["stdout"]) <= 300


# --- arguments


def test_two_megabytes_of_arguments(client):
    assert client.out("/bin/echo $(seq 60000) | wc -c") == "348894\n"
    result = client.run("/bin/echo $(seq 400000)")
    assert result["exitCode"] == 126 and "Argument list too long" in result["stderr"]


def test_arguments_are_memory(server):
    server.call("create", limits={"memoryBytes": 48 << 20})
    result = server.run("x=$(printf %0100000d 0); for ((i = 0; i < 15; i++)); do export v$i=$x; done; "
                        "for ((i = 0; i < 30; i++)); do sleep 1000 & done; wait")
    assert result["exitCode"] != 0 and result["limit"] == "memory"


def test_the_defaults_of_create_stay(client):
    limits = client.call("limits.get")
    assert (limits["fileCount"], limits["commandBytes"]) == (10000, 65536)
