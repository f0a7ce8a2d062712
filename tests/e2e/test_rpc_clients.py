"""Clients that leave, stop reading, or start the server in odd ways."""
import json
import os
import re
import signal
import subprocess

import pytest

import wasm
from rpc import IMAGE, PATIENCE_S, Client, encode, needs_image
from sandbox import IS_SANITIZED, SANDBOX

pytestmark = needs_image


def run_server(*options, input=b""):
    return subprocess.run([SANDBOX, *options], input=input, capture_output=True, timeout=120,
                          env={**os.environ, "WASMSAND_ROOT": IMAGE})


def peak_mb(process):
    with open(f"/proc/{process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) >> 10


def begin_endless(client, **params):
    """A run that has certainly begun."""
    id = client.begin("run", command="echo begun; sleep 1000", stream=True, **params)
    assert client.next()["params"]["data"] == "begun\n"
    return id


# --- ends


def test_no_input_at_all():
    done = run_server()
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_what_was_asked_before_the_end_of_input_is_answered():
    lines = [{"jsonrpc": "2.0", "id": 1, "method": "create"},
             *({"jsonrpc": "2.0", "id": i, "method": "run", "params": {"command": f"echo {i}"}} for i in range(2, 50))]
    done = run_server(input=b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    assert done.returncode == 0
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == list(range(1, 50))


def test_end_of_input_ends_running_commands(client):
    id = begin_endless(client)
    waiting = client.begin("run", command="echo later")
    client.process.stdin.close()
    assert client.result(id)["exitCode"] == 130
    assert client.result(waiting)["exitCode"] in (0, 130)
    assert client.wait() == 0


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_end_the_server(client, sig):
    id = begin_endless(client)
    client.process.send_signal(sig)
    assert client.result(id)["exitCode"] == 130
    assert client.wait() == 0


def test_a_signal_before_anything(server):
    server.call("status")
    server.process.send_signal(signal.SIGTERM)
    assert server.wait() == 0


def test_kill_ends_running_commands(client):
    id = begin_endless(client)
    assert client.call("kill") == {"ok": True}
    assert client.result(id)["exitCode"] == 130
    assert client.wait() == 0


def test_a_batch_kills_twice(client):
    client.send([{"jsonrpc": "2.0", "id": id, "method": "kill"} for id in ("a", "b")])
    answers = client.next()
    assert sorted(answer["id"] for answer in answers) == ["a", "b"]
    assert [answer["result"] for answer in answers] == [{"ok": True}] * 2
    assert client.wait() == 0


def test_nothing_is_read_after_kill(client):
    kill = client.begin("kill")
    try:
        client.begin("run", command="echo never")
    except BrokenPipeError:
        pass
    assert client.result(kill) == {"ok": True}
    assert client.wait() == 0 and not client.answers


def start_raw():
    return subprocess.Popen([SANDBOX, "--root", IMAGE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def send(process, *messages):
    process.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
    process.stdin.flush()


def request(id, method, **params):
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def test_a_client_that_vanishes():
    process = start_raw()
    send(process, request(1, "create", timeoutMs=86400000),
         request(2, "run", command="echo begun; sleep 100000", stream=True))
    for _ in range(2):
        process.stdout.readline()
    process.stdout.close()
    assert process.wait(60) == 0, process.stderr.read()
    process.stdin.close()
    process.stderr.close()


def test_a_client_that_vanishes_while_output_is_written():
    process = start_raw()
    send(process, request(1, "create"), request(2, "run", command="yes", stream=True))
    for _ in range(5):
        process.stdout.readline()
    process.stdout.close()
    process.stdin.close()
    assert process.wait(60) == 0, process.stderr.read()
    process.stderr.close()


# --- a client that does not read


def flood(*messages):
    """Sends until the pipe is full for good; the process, which has not been
    read from."""
    process = start_raw()
    os.set_blocking(process.stdin.fileno(), False)
    data = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
    sent = 0
    idle = 0
    while sent < 200 << 20 and idle < 20:
        at = sent % len(data)
        try:
            sent += os.write(process.stdin.fileno(), data[at:at + 65536])
            idle = 0
        except BlockingIOError:
            import select
            if not select.select([], [process.stdin], [], 0.2)[1]:
                idle += 1
    return process, sent


def test_a_flood_of_requests_without_reading():
    process, sent = flood(*(request(i, "status") for i in range(100)))
    assert sent < 100 << 20, "the server went on reading"
    assert peak_mb(process) < (2000 if IS_SANITIZED else 400)
    process.stdout.close()
    process.stdin.close()
    assert process.wait(60) == 0
    process.stderr.close()


def test_a_flood_of_output_without_reading():
    process = start_raw()
    send(process, request(1, "create", timeoutMs=86400000),
         *(request(i, "run", command="yes | head -c 50000000", stream=True) for i in range(2, 20)))
    # The first lines come; then nobody reads until memory has had time to grow.
    first = process.stdout.readline()
    assert json.loads(first)["id"] == 1
    send(process, *(request(i, "status") for i in range(100, 200)))
    assert peak_mb(process) < (2000 if IS_SANITIZED else 600)
    # Reading goes on where it stopped.
    seen = [json.loads(process.stdout.readline()) for _ in range(10)]
    assert all("method" in message or "id" in message for message in seen)
    process.stdout.close()
    process.stdin.close()
    assert process.wait(60) == 0
    process.stderr.close()


def test_a_flood_of_a_process_without_reading():
    """It waits where it writes. Nothing is lost, and the others go on."""
    process = start_raw()
    send(process, request(1, "create"), request(2, "process.start", command="exec yes"))
    lines = (json.loads(line) for line in process.stdout)
    seen = [next(lines) for _ in range(100)]
    id = next(m for m in seen if m.get("id") == 2)["result"]["processId"]
    peak = peak_mb(process)
    for i in range(10, 20):
        send(process, request(i, "run", command="sleep 0.01; seq 3"))
        seen.append(next(m for m in lines if seen.append(m) or m.get("id") == i))
    assert peak_mb(process) < peak + (500 if IS_SANITIZED else 50)
    send(process, request(30, "process.kill", processId=id, signal=9), request(31, "process.wait", processId=id))
    end = next(m for m in lines if seen.append(m) or m.get("id") == 31)
    assert end["result"] == {"exitCode": 137}
    output = [m["params"] for m in seen if m.get("method") == "output"]
    assert [p["seq"] for p in output] == list(range(len(output)))
    assert set("".join(p["data"] for p in output).split("\n")[:-1]) == {"y"}
    process.stdin.close()
    assert process.wait(60) == 0
    process.stdout.close()
    process.stderr.close()


def test_a_process_goes_on_after_an_offload_that_fails():
    """What waits for the client to read, while the sandbox is not there for anybody, is not forgotten."""
    process = start_raw()
    send(process, request(1, "create", storage=True), request(2, "run", command="head -c 3000000 /dev/urandom >/tmp/x"),
         request(3, "process.start", command="exec yes"))
    lines = (json.loads(line) for line in process.stdout)
    next(m for m in lines if m.get("id") == 3)
    send(process, request(4, "offload"))
    # Its state alone is more than may wait.
    save = next(m for m in lines if m.get("method") == "storage.save")
    send(process, request(5, "unknown"))
    next(m for m in lines if m.get("id") == 5)
    send(process, {"jsonrpc": "2.0", "id": save["id"], "error": {"code": 1, "message": "disk full"}})
    assert next(m for m in lines if m.get("id") == 4)["error"]["message"] == "EIO: storage.save: disk full"
    assert [next(lines)["method"] for _ in range(1000)] == ["output"] * 1000
    process.stdout.close()
    process.stdin.close()
    assert process.wait(60) == 0
    process.stderr.close()


def test_a_client_that_reads_late_gets_everything():
    process = start_raw()
    send(process, request(0, "create"), *(request(i, "run", command="head -c 300000 /dev/zero | tr '\\0' x")
                                           for i in range(1, 30)))
    answers = [json.loads(process.stdout.readline()) for _ in range(30)]
    process.stdin.close()
    assert [answer["id"] for answer in answers] == list(range(30))
    assert all(len(answer["result"]["stdout"]) == 300000 for answer in answers[1:])
    assert process.wait(60) == 0
    process.stdout.close()
    process.stderr.close()


def test_output_to_a_file(tmp_path):
    path = tmp_path / "out"
    lines = b"".join(json.dumps(m).encode() + b"\n" for m in (
        request(1, "create"), request(2, "run", command="echo hello")))
    with open(path, "wb") as out:
        out.write(b"kept\n")
        out.flush()
        process = subprocess.Popen([SANDBOX, "--root", IMAGE], stdin=subprocess.PIPE, stdout=out)
    process.stdin.write(lines)
    process.stdin.flush()
    while process.poll() is None and path.read_bytes().count(b"\n") < 3:
        pass
    process.stdin.close()
    assert process.wait(60) == 0
    kept, first, second = path.read_bytes().splitlines()
    assert kept == b"kept" and json.loads(second)["result"]["stdout"] == "hello\n"


def test_it_goes_on_after_a_large_answer(client):
    client.call("files.write", path="/tmp/x", data=encode(bytes(5 << 20)))
    ids = [client.begin("files.read", path="/tmp/x") for _ in range(5)]
    for id in ids:
        assert len(client.result(id)["data"]) == 6990508


# --- the command line


@pytest.mark.parametrize("option, text", [
    (["--mode", "v86"], b"v86"), (["--disk-image", "x.img"], b"--mode v86"), (["--mode", "x"], b"--mode"),
    (["--memory-limit", "0"], b"--memory-limit"), (["--memory-limit", "x"], b"--memory-limit"), (["--memory-limit"], b"value"),
    (["--no-such-option"], b"--no-such-option"), (["--log-level", "loud"], b"--log-level"), (["--tools", "/no/such"], b"/no/such"),
    (["--allow-mount", "/no/such"], b"/no/such"), (["--config", "/no/such"], b"/no/such"), (["--root", "/no/such"], b"/no/such"),
    (["word"], b"word"), (["--mode", "simple", "word"], b"word"), (["--timeout-ms", "-1"], b"--timeout-ms")])
def test_a_bad_command_line(option, text):
    done = run_server(*option)
    assert done.returncode == 2 and done.stdout == b""
    assert text in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", [[], ["shell"]])
def test_memory_that_is_too_little_for_the_shell(command):
    done = subprocess.run([SANDBOX, *command[:1], "--memory-limit", "8", *command[1:]], input=b"", capture_output=True, timeout=120,
                          env={**os.environ, "WASMSAND_ROOT": IMAGE})
    assert done.returncode == 2 and done.stdout == b""
    assert re.fullmatch(rb"wasm-sandbox: limit memory: 8388608 bytes are too few for the shell; "
                        rb"the minimum is \d+ bytes \(\d+ MiB\)\n", done.stderr)


def test_help_and_version():
    done = run_server("--help")
    assert done.returncode == 0 and done.stderr == b""
    for option in ("--memory-limit", "--disk-image", "--mode", "--help", "--version", "--root", "--tools",
                   "--timeout-ms", "--fs-limit", "--config", "--allow-mount", "--log-level"):
        assert option.encode() in done.stdout
    done = run_server("--version")
    assert done.returncode == 0 and done.stdout.startswith(b"wasm-sandbox ")


def test_on_a_terminal_the_server_says_what_it_reads():
    ours, its = os.openpty()
    server = subprocess.Popen([SANDBOX], stdin=its, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**os.environ, "WASMSAND_ROOT": IMAGE})
    os.write(ours, b"\x04")
    out, err = server.communicate(timeout=PATIENCE_S)
    os.close(ours), os.close(its)
    assert server.returncode == 0 and out == b"" and b"--help" in err


def test_mode_simple(start):
    assert start("--mode", "simple").line("status")["ready"] is True


def test_options_are_defaults_of_both_protocols(start):
    options = ("--memory-limit", "100", "--timeout-ms", "150", "--fs-limit", "1000000")
    client = start(*options)
    client.call("create")
    limits = client.call("limits.get")
    assert (limits["memoryBytes"], limits["timeoutMs"], limits["fsLimitBytes"]) == (100 << 20, 150, 1000000)
    assert client.run("sleep 1000")["executionTimeMs"] == 150
    other = start(*options)
    assert other.line("shell", command="sleep 1000")["timed_out"] is True


def test_a_configuration_file(start, tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"timeoutMs": 77, "env": {"A": "config"}, "limits": {"fileCount": 9}}))
    client = start("--config", str(path))
    client.call("create", limits={"processes": 5})
    limits = client.call("limits.get")
    assert (limits["timeoutMs"], limits["fileCount"], limits["processes"]) == (77, 9, 5)
    assert client.call("env.get", name="A") == {"value": "config"}


@pytest.mark.parametrize("text", ["", "[]", "{", '{"timeoutMs":"x"}'])
def test_a_bad_configuration_file(tmp_path, text):
    path = tmp_path / "config.json"
    path.write_text(text)
    done = run_server("--config", str(path))
    assert done.returncode == 2 and str(path).encode() in done.stderr


def test_logs_go_to_stderr(tmp_path):
    line = json.dumps(request(1, "create", shellWasmPath=SANDBOX)).encode() + b"\n"
    assert run_server(input=line).stderr == b""
    done = run_server("--log-level", "info", input=line)
    assert b"shellWasmPath is not used" in done.stderr
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1]


@pytest.mark.parametrize("content, reason", [
    (wasm.module()[:-3], "damaged"), (b"", "damaged|not a WebAssembly"),
    (wasm.module(imports=[("evil", "it's", wasm.FUNCTION, wasm.leb(0))]), 'unknown import "evil" "it\'s"')])
@pytest.mark.parametrize("is_option", [True, False])
def test_a_tool_that_cannot_run_says_why(start, tmp_path, content, reason, is_option):
    (tmp_path / "bad.wasm").write_bytes(content)
    (tmp_path / "good.wasm").write_bytes(wasm.module())
    client = start(*(["--tools", str(tmp_path)] if is_option else []))
    client.call("create", **({} if is_option else {"wasmDir": str(tmp_path)}))
    result = client.run("bad x")
    assert (result["exitCode"], result["stdout"]) == (126, "")
    assert re.fullmatch(f"bad: this module cannot run here: .*({reason}).*\n", result["stderr"])
    assert str(tmp_path) not in result["stderr"]
    assert client.run("good")["exitCode"] == 0


def test_host_folders_need_permission(start, tmp_path):
    allowed, other = tmp_path / "allowed", tmp_path / "allowed-not"
    for folder in (allowed, other):
        (folder / "sub").mkdir(parents=True)
        (folder / "sub/file").write_text("from the host\n")
    (allowed / "link").symlink_to(other)
    for path in (other, allowed / "link", allowed / ".." / "allowed-not", "/"):
        client = start("--allow-mount", str(allowed))
        error = client.fails("create", mounts=[{"path": "/mnt/host", "hostPath": str(path)}])
        assert error.code == 1 and error.message.startswith("EACCES: not under a folder of --allow-mount")
    client = start("--allow-mount", str(allowed))
    client.call("create", mounts=[{"path": "/mnt/host", "hostPath": str(allowed / "sub")}])
    assert client.out("cat /mnt/host/file") == "from the host\n"
    assert client.run("echo x > /mnt/host/file")["exitCode"] != 0
    client = start("--allow-mount", str(tmp_path))
    client.call("create", mounts=[{"path": "/mnt/host", "hostPath": str(allowed), "writable": True}])
    assert client.run("echo new > /mnt/host/new")["exitCode"] == 0
    assert (allowed / "new").read_text() == "new\n"


def with_mount(start, folder, **mount):
    client = start("--allow-mount", str(folder))
    client.call("create", fsLimitBytes=100000, limits={"fileCount": 20},
                mounts=[{"path": "/m", "hostPath": str(folder), "writable": True, **mount}])
    return client


def bytes_in(folder):
    return sum(file.stat().st_size for file in folder.iterdir())


@pytest.mark.parametrize("mount, most", [({}, 100000), ({"limitBytes": 5000}, 5000)])
def test_a_writable_host_folder_does_not_grow_without_bound(start, tmp_path, mount, most):
    (tmp_path / "old").write_bytes(b"x" * 7000)
    client = with_mount(start, tmp_path, **mount)
    result = client.run("head -c 300000 /dev/zero > /m/big")
    assert result["exitCode"] != 0 and "No space left on device" in result["stderr"]
    assert (result["errorClass"], result["limit"]) == ("LIMIT_EXCEEDED", "mount_bytes")
    assert result["message"] == ("host folder file bytes limit reached: remove files there "
                                 "or raise mounts[].limitBytes")
    assert bytes_in(tmp_path) == 7000 + most
    assert client.run("truncate -s 1T /m/sparse")["exitCode"] != 0
    assert client.fails("files.write", path="/m/new", data=encode(b"x")).message.startswith("ENOSPC: ")
    assert client.out("rm /m/big /m/old; head -c 3000 /dev/zero > /m/small && echo fits") == "fits\n"


@pytest.mark.parametrize("mount, most", [({}, 20), ({"fileCount": 5}, 5)])
def test_a_writable_host_folder_does_not_get_files_without_bound(start, tmp_path, mount, most):
    client = with_mount(start, tmp_path, **mount)
    assert client.out("i=0; while : > /m/$i; do ((++i)); done 2> /dev/null; echo $i") == f"{most}\n"
    assert len(list(tmp_path.iterdir())) == most
    for command in ("mkdir /m/d", "ln -s x /m/l", ": > /m/f"):
        result = client.run(command)
        assert (result["errorClass"], result["limit"]) == ("LIMIT_EXCEEDED", "mount_files")
        assert result["message"] == ("host folder file count limit reached: remove files there "
                                     "or raise mounts[].fileCount")
    assert client.out("rm /m/0; mkdir /m/d && echo made; mkdir /m/e") == "made\n"


def test_a_full_host_folder_is_not_the_limit_of_a_run_beside(start, tmp_path):
    client = with_mount(start, tmp_path, limitBytes=10, fileCount=5)
    client.run("mkfifo /tmp/f")
    run = client.begin("run", command="echo begun; read </tmp/f; exit 3", stream=True)
    assert client.next()["params"]["data"] == "begun\n"
    error = client.fails("files.write", path="/m/new", data=encode(bytes(11)), concurrent=True)
    assert error.message.startswith("ENOSPC: ")
    client.call("process.start", command="echo >/tmp/f")
    result = client.result(run)
    assert result["exitCode"] == 3 and "limit" not in result


def test_limits_of_growth_are_for_host_folders(start):
    error = start().fails("create", mounts=[{"path": "/m", "files": {}, "limitBytes": 5}])
    assert error.message == "EINVAL: mounts[].limitBytes and mounts[].fileCount are for hostPath only: /m"


def test_a_client_object_sees_the_end(start):
    client = start()
    assert isinstance(client, Client)
    client.check_end()
