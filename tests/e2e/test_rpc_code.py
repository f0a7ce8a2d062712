"""code.*: Python cells in contexts that keep their state."""
import pytest
from rpc import needs_image

pytestmark = needs_image


def code(client, text, **params):
    return client.call("code.run", code=text, **params)


def texts(answer):
    return [result["data"]["text/plain"] for result in answer["results"]]


def wait_for_output(client, text):
    seen = ""
    while text not in seen:
        message = client.next()
        assert message["method"] == "output"
        seen += message["params"]["data"]


def test_a_cell_has_results_output_and_a_count(client):
    assert code(client, "import sys\nx = 20\nprint('out')\nprint('err', file=sys.stderr)\nx + 1") == {
        "results": [{"data": {"text/plain": "21"}, "isMain": True}],
        "stdout": "out\n", "stderr": "err\n", "error": None, "executionCount": 1}
    assert code(client, "x") == {"results": [{"data": {"text/plain": "20"}, "isMain": True}],
                                 "stdout": "", "stderr": "", "error": None, "executionCount": 2}


def test_results_have_all_forms(client):
    answer = code(client, "from wasmsand.display import HTML\nclass P:\n"
                  "    def _repr_png_(self): return b'png'\n    def __repr__(self): return 'P'\n"
                  "display(HTML('<b>'))\nP()")
    assert answer["results"] == [
        {"data": {"text/plain": "<HTML>", "text/html": "<b>"}, "isMain": False},
        {"data": {"text/plain": "P", "image/png": "cG5n"}, "isMain": True}]


def test_errors_have_a_traceback(client):
    error = code(client, "def f():\n    1/0\nf()")["error"]
    assert (error["name"], error["value"]) == ("ZeroDivisionError", "division by zero")
    assert '  File "<cell 1>", line 2, in f\n    1/0\n' in error["traceback"]
    assert texts(code(client, "1")) == ["1"]


def test_contexts_are_separate(client):
    first, second = (client.call("code.create")["contextId"] for _ in range(2))
    code(client, "x = 1", contextId=first)
    assert code(client, "x", contextId=second)["error"]["name"] == "NameError"
    assert code(client, "x")["error"]["name"] == "NameError"
    assert texts(code(client, "x", contextId=first)) == ["1"]
    assert client.call("code.list") == {"contexts": [
        {"contextId": first, "running": True, "busy": False, "executionCount": 2},
        {"contextId": second, "running": True, "busy": False, "executionCount": 1},
        {"contextId": 0, "running": True, "busy": False, "executionCount": 1}]}
    client.call("code.remove", contextId=first)
    assert client.fails("code.run", code="x", contextId=first).message == (
        f"ENOENT: no such context: {first}")
    assert len(client.call("code.list")["contexts"]) == 2


def test_a_context_has_its_folder_and_variables(client):
    client.run("mkdir /tmp/d")
    context = client.call("code.create", cwd="/tmp/d", env={"A": "b"})["contextId"]
    assert texts(code(client, "import os; os.getcwd(), os.environ['A']", contextId=context)) == [
        "('/tmp/d', 'b')"]
    wrong = client.call("code.create", cwd="/nothing")["contextId"]
    assert client.fails("code.run", code="1", contextId=wrong).message.startswith("ENOENT")


def test_contexts_survive_commands_and_run_beside_them(client):
    code(client, "x = 5")
    id = client.begin("run", command="read < <(sleep 1000)")
    assert texts(code(client, "open('/tmp/f', 'w').write('from a cell'); x")) == ["5"]
    client.call("cancel", requestId=id)
    client.result(id)
    assert client.out("cat /tmp/f") == "from a cell"


def test_output_is_streamed(client):
    id = client.begin("code.run", code="kept = 1\nprint('first')\nwhile True: pass", stream=True)
    wait_for_output(client, "first\n")
    client.call("code.interrupt")
    answer = client.result(id)
    assert answer["stdout"] == "first\n"
    assert answer["error"]["name"] == "KeyboardInterrupt"
    assert texts(code(client, "kept")) == ["1"]


def test_cancel_interrupts_a_cell(client):
    id = client.begin("code.run", code="print(1)\nwhile True: pass", stream=True)
    wait_for_output(client, "1\n")
    assert client.call("cancel", requestId=id) == {"ok": True, "cancelled": True}
    answer = client.result(id)
    assert (answer["errorClass"], answer["error"]["name"]) == ("CANCELLED", "KeyboardInterrupt")
    assert client.call("cancel", requestId=id) == {"ok": True, "cancelled": False}


def test_output_has_any_bytes(client):
    id = client.begin("code.run", code="import os\nos.write(1, b'\\xff\\x00');", stream=True,
                      encoding="base64")
    answer = client.result(id)
    assert (answer["stdout"], answer["stderr"], answer["encoding"]) == ("/wA=", "", "base64")
    assert client.next()["params"]["data"] == "/wA="


def test_the_time_limit_interrupts_a_cell(client):
    answer = code(client, "x = 1\nwhile True: pass", timeoutMs=500)
    assert (answer["errorClass"], answer["error"]["name"]) == ("TIMEOUT", "KeyboardInterrupt")
    assert "exitCode" not in answer and texts(code(client, "x")) == ["1"]


def test_a_cell_that_resists_is_killed(client):
    answer = code(client, "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
                  "while True: pass", timeoutMs=500)
    assert (answer["errorClass"], answer["exitCode"]) == ("TIMEOUT", 137)
    assert answer["error"]["name"] == "ContextEnded"
    assert code(client, "1")["restarted"] is True


def test_a_cell_may_end_its_process(client):
    code(client, "x = 1")
    answer = code(client, "print('before', flush=True)\nimport os\nos._exit(3)")
    assert answer["error"] == {"name": "ContextEnded", "traceback": "", "value":
                               "the process of the context ended with status 3"}
    assert (answer["exitCode"], answer["stdout"]) == (3, "before\n")
    assert client.call("code.list")["contexts"][0]["running"] is False
    again = code(client, "x")
    assert again["restarted"] is True and again["error"]["name"] == "NameError"
    assert "restarted" not in code(client, "1")


def test_exit_keeps_the_namespace(client):
    assert code(client, "x = 1\nexit(3)")["error"]["name"] == "SystemExit"
    assert texts(code(client, "x")) == ["1"]


def test_restart_gives_a_fresh_namespace(client):
    code(client, "x = 1")
    client.call("code.restart")
    answer = code(client, "x")
    assert answer["error"]["name"] == "NameError" and "restarted" not in answer


def test_a_restart_ends_the_cell_that_runs(client):
    id = client.begin("code.run", code="print(1)\nwhile True: pass", stream=True)
    wait_for_output(client, "1\n")
    assert client.fails("code.run", code="2").message == "EBUSY: the context runs a cell: 0"
    client.call("code.restart")
    assert client.result(id)["error"]["name"] == "ContextEnded"
    assert texts(code(client, "2")) == ["2"]


def test_forks_and_resets_have_no_contexts(client):
    code(client, "x = 1")
    fork = client.call("sandbox.fork")["sandboxId"]
    assert code(client, "x", sandboxId=fork)["error"]["name"] == "NameError"
    assert texts(code(client, "x")) == ["1"]
    client.call("sandbox.reset")
    assert code(client, "x")["restarted"] is True


def test_a_destroyed_sandbox_ends_its_cells(client):
    fork = client.call("sandbox.fork")["sandboxId"]
    id = client.begin("code.run", code="print(1)\nwhile True: pass", stream=True, sandboxId=fork)
    wait_for_output(client, "1\n")
    client.call("sandbox.destroy", sandboxId=fork)
    assert client.answer(id)["error"]["message"] == "ECANCELED: the sandbox is gone"


def test_the_server_ends_while_cells_run(client):
    id = client.begin("code.run", code="print(1)\nwhile True: pass", stream=True)
    wait_for_output(client, "1\n")
    assert client.close() == 0
    assert "error" in client.answer(id)


def test_output_beyond_the_limit_is_cut(start):
    client = start()
    client.call("create", limits={"stdoutBytes": 10})
    answer = code(client, "print('x' * 100)")
    assert answer["stdout"] == "x" * 10
    assert answer["truncated"] == {"stdout": True, "stderr": False}


@pytest.mark.parametrize("frame", [b"x", b"99999999\n", b"3\n{}}", b"2\n{}", b"11\n{\"type\": 1}",
                                   b"-1\n", b"999999999"])
def test_frames_of_guests_are_checked(client, frame):
    answer = code(client, "import time\nfrom wasmsand import display\n"
                  "channel = display._sink.__self__.channel\n"
                  f"channel.results.write({frame!r})\nchannel.results.flush()\n"
                  "time.sleep(1000)", timeoutMs=60000)
    assert answer["error"]["name"] == "ContextEnded" and answer["exitCode"] == 137
    assert "errorClass" not in answer
    assert texts(code(client, "1")) == ["1"]


def test_forged_results_are_only_data(client):
    answer = code(client, "from wasmsand import display\nchannel = display._sink.__self__.channel\n"
                  "channel.write({'type': 'result', 'data': {'a\"': ['\\x00\\n', 1e300]}})")
    assert answer["results"] == [{"data": {'a"': ["\x00\n", 1e300]}, "isMain": False}]


def test_too_many_contexts_are_refused(client):
    for _ in range(16):
        client.call("code.create")
    assert client.fails("code.create").message.startswith("EAGAIN: there are 16 contexts")


def test_a_repeatable_sandbox_has_none(start):
    client = start()
    client.call("create", seed=1)
    assert client.fails("code.run", code="1").message.startswith("EOPNOTSUPP")


def test_a_long_cell_is_refused(client):
    assert client.fails("code.run", code="#" * (1 << 20)).message.startswith("EMSGSIZE")
    assert texts(code(client, "1")) == ["1"]
