"""`wasm-sandbox mcp` as clients of both protocol eras see it."""
import base64
import json

import pytest

from rpc import Client
from sandbox import SANDBOX

META = "io.modelcontextprotocol/"
MODERN = {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": {}}
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQ"
                       "AAAABJRU5ErkJggg==")


class Mcp:
    def __init__(self, *options):
        self.client = Client(command=[SANDBOX, "mcp", *options])

    def request(self, method, **params):
        return self.answer(self.send(method, **params))

    def send(self, method, **params):
        number = next(self.client.ids)
        self.line({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number

    def line(self, message):
        text = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.client.process.stdin.write(text + b"\n")
        self.client.process.stdin.flush()

    def answer(self, number):
        key = json.dumps(number)
        with self.client.changed:
            self.client.changed.wait_for(
                lambda: key in self.client.answers or self.client.is_over)
            return self.client.answers.pop(key)

    def call(self, name, **arguments):
        return self.request("tools/call", name=name, arguments=arguments)["result"]

    def fails(self, name, **arguments):
        result = self.call(name, **arguments)
        assert result["isError"] is True, result
        return result["content"][0]["text"]

    def end(self):
        self.client.process.stdin.close()
        status = self.client.process.wait()
        for thread in self.client.threads:
            thread.join()
        self.client.watchdog.cancel()
        return status


@pytest.fixture
def mcp():
    client = Mcp()
    yield client
    assert client.end() == 0


def test_initialize_answers_with_the_version_of_the_client_or_the_newest(mcp):
    for asked, given in (("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05"),
                         ("2026-07-28", "2025-11-25"), ("1999-01-01", "2025-11-25")):
        result = mcp.request("initialize", protocolVersion=asked, capabilities={},
                             clientInfo={"name": "t", "version": "1"})["result"]
        assert result["protocolVersion"] == given
        assert result["capabilities"] == {"tools": {}}
    assert mcp.request("ping")["result"] == {}


def test_modern_requests_need_no_initialize(mcp):
    result = mcp.request("server/discover", _meta=MODERN)["result"]
    assert result["resultType"] == "complete"
    assert result["supportedVersions"][0] == "2026-07-28"
    assert result["ttlMs"] >= 0 and result["cacheScope"] == "public"
    result = mcp.request("tools/call", name="run", arguments={"command": "echo $((6*7))"},
                         _meta=MODERN)["result"]
    assert result["resultType"] == "complete"
    assert result["structuredContent"]["stdout"] == "42\n"


def test_modern_requests_with_another_version_are_refused(mcp):
    error = mcp.request("tools/list", _meta={**MODERN, META + "protocolVersion": "2031-01-01"})
    assert error["error"]["code"] == -32022
    assert error["error"]["data"]["requested"] == "2031-01-01"
    assert "2026-07-28" in error["error"]["data"]["supported"]
    error = mcp.request("tools/list", _meta={META + "protocolVersion": "2026-07-28"})
    assert error["error"]["code"] == -32602


def test_every_tool_has_a_schema(mcp):
    tools = {t["name"]: t for t in mcp.request("tools/list")["result"]["tools"]}
    assert {"run", "read_file", "write_file", "edit_file", "list_files", "sandbox_create",
            "sandbox_list", "sandbox_fork", "sandbox_destroy", "snapshot_create",
            "snapshot_restore"} == set(tools)
    for tool in tools.values():
        assert tool["inputSchema"]["type"] == "object" and tool["description"]
        assert set(tool["inputSchema"]["required"]) <= set(tool["inputSchema"]["properties"])
    assert tools["run"]["inputSchema"]["required"] == ["command"]
    assert "exit_code" in tools["run"]["outputSchema"]["required"]


def test_state_stays_between_commands(mcp):
    mcp.call("run", command="cd /tmp; x=5")
    result = mcp.call("run", command="echo $x $PWD; echo no >&2; exit 3")
    assert result["structuredContent"]["stdout"] == "5 /tmp\n"
    assert result["structuredContent"]["stderr"] == "no\n"
    assert result["structuredContent"]["exit_code"] == 3
    assert "isError" not in result
    assert "[exit code 3]" in result["content"][0]["text"]


def test_long_output_keeps_its_ends_and_names_the_file_with_the_rest(mcp):
    result = mcp.call("run", command="seq 20000", max_output=300)["structuredContent"]
    assert result["stdout"].startswith("1\n2\n") and result["stdout"].endswith("20000\n")
    assert len(result["stdout"]) < 500 and result["output_file"] in result["stdout"]
    whole = mcp.call("run", command=f"cmp {result['output_file']} <(seq 20000)")
    assert whole["structuredContent"]["exit_code"] == 0


def test_a_command_beyond_its_time_is_an_error(mcp):
    assert "timed out" in mcp.fails("run", command="sleep 100", timeout_ms=50)


def test_wrong_arguments_are_named(mcp):
    assert "command" in mcp.fails("run")
    assert "command" in mcp.fails("run", command=5)
    assert "colour" in mcp.fails("run", command="true", colour="red")
    assert "timeout_ms" in mcp.fails("run", command="true", timeout_ms=0)
    assert "ENOENT" in mcp.fails("read_file", path="/none")
    assert "sandboxId" in mcp.fails("run", command="true", sandbox_id="99")
    assert mcp.request("tools/call", name="walk")["error"]["code"] == -32602
    assert mcp.request("tools/call")["error"]["code"] == -32602


def test_files_are_written_read_and_listed(mcp):
    mcp.call("write_file", path="/home/user/a/b.txt", content="one\ntwo\nthree\n")
    assert mcp.call("read_file", path="a/b.txt")["content"][0]["text"] == "one\ntwo\nthree\n"
    part = mcp.call("read_file", path="a/b.txt", from_line=2, lines=1)["content"]
    assert part[0]["text"] == "two\n" and "6 bytes" in part[1]["text"]
    assert mcp.call("list_files", path="a")["structuredContent"]["entries"][0]["name"] == "b.txt"
    mcp.call("write_file", path="c", content="AAE=", encoding="base64")
    assert "not text" in mcp.fails("read_file", path="c")


def test_an_image_is_an_image(mcp):
    data = base64.b64encode(PNG).decode()
    mcp.call("write_file", path="p.png", content=data, encoding="base64")
    assert mcp.call("read_file", path="p.png")["content"] == [
        {"type": "image", "data": data, "mimeType": "image/png"}]


def test_a_large_file_is_the_first_call(mcp):
    mcp.call("write_file", path="large", content="x" * (10 << 20))
    assert mcp.call("run", command="wc -c <large")["structuredContent"]["stdout"] == "10485760\n"
    assert "larger than 8 MiB" in mcp.fails("read_file", path="large")


def test_edits_replace_one_or_all(mcp):
    mcp.call("write_file", path="f", content="a b a\n")
    assert "2 times" in mcp.fails("edit_file", path="f", old="a", new="c")
    assert "not in the file" in mcp.fails("edit_file", path="f", old="z", new="c")
    assert "old" in mcp.fails("edit_file", path="f", old="", new="c")
    result = mcp.call("edit_file", path="f", old="a", new="c", all=True)
    assert result["structuredContent"] == {"replacements": 2}
    assert mcp.call("read_file", path="f")["content"][0]["text"] == "c b c\n"


def test_no_edit_is_lost_beside_others(mcp):
    names = [f"<{i}>" for i in range(40)]
    mcp.call("write_file", path="f", content="".join(names))
    sent = [mcp.send("tools/call", name="edit_file",
                     arguments={"path": "f", "old": name, "new": "."}) for name in names]
    sent += [mcp.send("tools/call", name="run", arguments={"command": "printf + >>f"})]
    for number in sent:
        assert "isError" not in mcp.answer(number)["result"]
    assert mcp.call("read_file", path="f")["content"][0]["text"] == "." * 40 + "+"


def test_sandboxes_are_separate_and_forks_are_copies(mcp):
    mcp.call("run", command="echo one >f")
    copy = mcp.call("sandbox_fork")["structuredContent"]["sandbox_id"]
    fresh = mcp.call("sandbox_create", label="fresh")["structuredContent"]["sandbox_id"]
    listed = mcp.call("sandbox_list")["structuredContent"]["sandboxes"]
    assert {s["sandbox_id"] for s in listed} == {copy, fresh}
    assert "fresh" in [s.get("label") for s in listed]
    mcp.call("run", command="echo two >f", sandbox_id=copy)
    assert mcp.call("read_file", path="f")["content"][0]["text"] == "one\n"
    assert "ENOENT" in mcp.fails("read_file", path="/home/user/f", sandbox_id=fresh)
    mcp.call("sandbox_destroy", sandbox_id=copy)
    mcp.fails("run", command="true", sandbox_id=copy)


def test_a_snapshot_can_be_restored(mcp):
    mcp.call("run", command="echo one >f")
    saved = mcp.call("snapshot_create")["structuredContent"]["snapshot_id"]
    mcp.call("run", command="rm f")
    mcp.call("snapshot_restore", snapshot_id=saved)
    assert mcp.call("read_file", path="f")["content"][0]["text"] == "one\n"


def test_a_cancelled_call_ends_without_an_answer(mcp):
    number = mcp.send("tools/call", name="run", arguments={"command": "sleep 1000"})
    mcp.line({"jsonrpc": "2.0", "method": "notifications/cancelled",
              "params": {"requestId": number}})
    assert mcp.call("run", command="echo next")["structuredContent"]["stdout"] == "next\n"
    assert json.dumps(number) not in mcp.client.answers


def test_ping_is_answered_while_a_command_runs(mcp):
    number = mcp.send("tools/call", name="run", arguments={"command": "sleep 1000"})
    assert mcp.request("ping")["result"] == {}
    mcp.line({"jsonrpc": "2.0", "method": "notifications/cancelled",
              "params": {"requestId": number}})


def test_malformed_lines_are_answered(mcp):
    for line, code in ((b"{", -32700), (b"\xff", -32700), (b"5", -32600), (b"[]", -32600),
                       (b'{"jsonrpc":"2.0"}', -32600)):
        mcp.line(line)
        assert mcp.client.other.get(timeout=60)["error"]["code"] == code
    assert mcp.request("no/such")["error"]["code"] == -32601
    mcp.line({"jsonrpc": "2.0", "method": "notifications/initialized"})
    mcp.line({"jsonrpc": "2.0", "method": "tools/list"})
    assert mcp.request("ping")["result"] == {}


def test_the_end_of_input_answers_the_calls_before_it():
    mcp = Mcp()
    numbers = [mcp.send("tools/call", name="run", arguments={"command": f"echo {i}"})
               for i in range(5)]
    assert mcp.end() == 0
    assert [mcp.answer(n)["result"]["structuredContent"]["stdout"] for n in numbers] == [
        f"{i}\n" for i in range(5)]


def test_a_sandbox_that_cannot_be_created_is_an_error_of_each_call():
    mcp = Mcp("--image", "none-such")
    for _ in range(2):
        assert "cannot be created" in mcp.fails("run", command="true")
    mcp.end()


def test_a_missing_root_image_ends_the_server():
    mcp = Mcp("--root", "/none")
    assert mcp.client.process.wait() == 2
    mcp.end()
    assert b"/none" in mcp.client.errors
