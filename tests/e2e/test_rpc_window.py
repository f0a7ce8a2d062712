"""windowBytes and output.window: output that waits until the client has used what it has."""
import pytest

from rpc import decode, needs_image

pytestmark = needs_image


class Output:
    """What came of a process or run, which takes bytes from its window."""

    def __init__(self, client, window, **whose):
        self.client, self.window, self.whose = client, window, whose
        self.data = {"stdout": b"", "stderr": b""}

    def __len__(self):
        return sum(map(len, self.data.values()))

    def read(self, size):
        """Waits for so many bytes in all; there are never more than the window has."""
        while len(self) < size:
            params = self.client.next()["params"]
            data = params["data"]
            self.data[params["stream"]] += (
                decode(data) if params.get("encoding") else data.encode())
            assert len(self) <= self.window
        return self

    def give_back(self, size):
        self.window += size
        assert self.client.call("output.window", bytes=size, **self.whose) == {"ok": True}

    def is_still(self):
        """Nothing came while other things were done."""
        assert self.client.out("for i in {1..2000}; do :; done; echo beside") == "beside\n"
        return self.client.other.empty()


def start(client, command, window, **params):
    number = client.call("process.start", command=command, windowBytes=window, **params)["processId"]
    return Output(client, window, processId=number)


def run(client, command, window, **params):
    number = client.begin("run", command=command, stream=True, windowBytes=window, **params)
    return Output(client, window, requestId=number)


# --- processes

def test_a_process_waits_when_its_window_is_full(client):
    output = start(client, "exec yes", 1000).read(1000)
    assert output.is_still()
    output.give_back(1)
    output.read(1001)
    assert output.is_still()
    output.give_back(100_000)
    assert output.read(101_001).data["stdout"] == (b"y\n" * 60_000)[:101_001]
    client.call("process.kill", **output.whose)
    assert client.call("process.wait", **output.whose) == {"exitCode": 143}


def test_a_window_is_of_both_streams_and_counts_bytes(client):
    command = "while :; do echo -n é; echo -n é >&2; done"
    output = start(client, command, 40, encoding="base64").read(40)
    assert {name: len(data) for name, data in output.data.items()} == {"stdout": 20, "stderr": 20}
    client.call("process.kill", **output.whose)


def test_one_large_write_is_cut(client):
    command = "python3 -c 'import os; os.write(1, b\"x\" * 3_000_000); print(\"end\")'"
    output = start(client, command, 100).read(100)
    assert output.is_still()
    output.give_back(1 << 53)
    assert output.read(3_000_004).data["stdout"] == b"x" * 3_000_000 + b"end\n"
    assert client.call("process.wait", **output.whose) == {"exitCode": 0}


def test_a_process_that_waits_can_be_killed_and_holds_up_no_other(client):
    full = start(client, "exec yes", 10).read(10)
    assert start(client, "echo one; exit 3", 100).read(4).data["stdout"] == b"one\n"
    assert client.out("echo two") == "two\n"
    client.call("process.kill", signal=9, **full.whose)
    assert client.call("process.wait", **full.whose) == {"exitCode": 137}


def test_a_terminal_has_a_window(client):
    output = start(client, "stty -onlcr; exec yes", 300, pty=True).read(300)
    assert output.is_still()
    output.give_back(5000)
    assert output.read(5300).data["stdout"] == (b"y\n" * 3000)[:5300]
    client.call("process.kill", **output.whose)


def test_a_process_that_has_ended_takes_a_window(client):
    output = start(client, "echo one", 100)
    client.call("process.wait", **output.whose)
    output.give_back(4)


# --- runs

def test_a_run_waits_when_its_window_is_full(client):
    output = run(client, "seq 100000; exit 3", 1000).read(1000)
    beside = start(client, "echo beside", 100)
    assert client.call("process.wait", **beside.whose) == {"exitCode": 0}
    assert client.next()["params"]["data"] == "beside\n"
    assert client.other.empty()
    output.give_back(1000)
    output.read(2000)
    output.give_back(1 << 53)
    result = client.result(output.whose["requestId"])
    assert result["exitCode"] == 3
    assert output.read(len(result["stdout"])).data["stdout"] == result["stdout"].encode()
    assert result["stdout"].endswith("\n100000\n")


def test_a_run_that_waits_can_be_cancelled(client):
    output = run(client, "yes", 10).read(10)
    client.call("cancel", **output.whose)
    assert client.result(output.whose["requestId"])["errorClass"] == "CANCELLED"
    assert client.out("echo on") == "on\n"


def test_a_run_that_waits_has_its_time_limit(client):
    output = run(client, "yes", 10, timeoutMs=100).read(10)
    assert client.result(output.whose["requestId"])["errorClass"] == "TIMEOUT"
    assert client.next()["params"]["data"] == "command timed out\n"


def test_what_a_run_leaves_behind_waits_for_no_window(client):
    command = "{ head -c 100 /dev/zero; echo end >/tmp/end; } & true"
    output = run(client, command, 10)
    client.result(output.whose["requestId"])
    assert client.out("while [ ! -s /tmp/end ]; do sleep 0.01; done; cat /tmp/end") == "end\n"


def test_a_run_that_has_ended_takes_a_window(client):
    output = run(client, "echo one", 100)
    client.result(output.whose["requestId"])
    output.give_back(4)


def test_a_window_of_one_run_is_not_that_of_the_next(client):
    first = run(client, "yes", 10).read(10)
    second = run(client, "yes", 10)
    client.call("cancel", **first.whose)
    client.result(first.whose["requestId"])
    second.read(10)
    assert client.call("output.window", bytes=1000, **first.whose) == {"ok": True}
    beside = start(client, "exit 7", 10)
    assert client.call("process.wait", **beside.whose) == {"exitCode": 7}
    assert client.other.empty()
    client.call("cancel", **second.whose)


def test_sandboxes_have_their_own_windows(client):
    other = client.call("sandbox.fork")["sandboxId"]
    mine = start(client, "exec yes", 10).read(10)
    theirs = start(client, "exec yes", 20, sandboxId=other).read(20)
    assert mine.whose == theirs.whose
    theirs.whose["sandboxId"] = other
    theirs.give_back(30)
    theirs.read(50)
    assert mine.is_still()


# --- who asks for none, or for something that cannot be

def test_without_windowBytes_nothing_waits(client):
    number = client.call("process.start", command="head -c 3000000 /dev/zero")["processId"]
    assert client.call("process.wait", processId=number) == {"exitCode": 0}
    result = client.run("head -c 3000000 /dev/zero", stream=True)
    assert result["exitCode"] == 0


@pytest.mark.parametrize("params, text", [
    ({"bytes": 1}, "output.window needs either processId or requestId"),
    ({"bytes": 1, "processId": 1, "requestId": 1}, "output.window needs either processId or requestId"),
    ({"processId": 1}, "Missing required param: bytes"),
    ({"bytes": 0, "processId": 1}, "bytes must be an integer from 1 to"),
    ({"bytes": 1, "requestId": [1]}, "requestId must be a string or a number"),
    ({"bytes": 1, "processId": 77}, "ESRCH: no such process: 77"),
])
def test_errors(client, params, text):
    assert client.fails("output.window", **params).message.startswith(text)


@pytest.mark.parametrize("method", ["run", "process.start"])
def test_a_window_has_at_least_a_byte(client, method):
    error = client.fails(method, command="true", windowBytes=0)
    assert error.message.startswith("windowBytes must be an integer from 1 to")
