"""sb.code: cells of Python and their results."""

import asyncio
import threading

import pytest

from wasmsand import AsyncSandbox, CodeError, RpcError


def test_cells_keep_their_state(sb):
    assert sb.code.run("x = 20").results == ()
    execution = sb.code.run("import sys\nprint('é'); print(2, file=sys.stderr)\nx + 1")
    assert (execution.text, execution.stdout, execution.stderr) == ("21", "é\n", "2\n")
    assert execution.ok and execution.execution_count == 2 and not execution.restarted


def test_results_have_forms(sb):
    execution = sb.code.run(
        "class X:\n    def __repr__(self): return 'X'\n"
        "    def _repr_html_(self): return '<b>'\n    def _repr_png_(self): return b'png'\n"
        "    def _repr_svg_(self): return '<svg/>'\n    def _repr_latex_(self): return '$x$'\n"
        "    def _repr_json_(self): return [1]\ndisplay(5)\nX()")
    first, second = execution.results
    assert (first.text, first.is_main, second.is_main) == ("5", False, True)
    assert (second.text, second.html, second.png, second.svg, second.latex, second.json) == (
        "X", "<b>", b"png", "<svg/>", "$x$", [1])
    assert second.chart is None and execution.text == "X"


def test_errors(sb):
    execution = sb.code.run("print(1)\n1/0")
    assert execution.error == CodeError("ZeroDivisionError", "division by zero", (
        'Traceback (most recent call last):\n  File "<cell 1>", line 2, in <module>\n'
        "    1/0\n    ~^~\nZeroDivisionError: division by zero\n"))
    assert not execution.ok and execution.stdout == "1\n"
    with pytest.raises(TypeError, match="code must be a str"):
        sb.code.run(1)


def test_output_is_passed_on_while_the_cell_runs(sb):
    seen = []

    def on_stdout(text):
        seen.append(text)
        if "ready" in "".join(seen):
            threading.Thread(target=sb.code.interrupt).start()

    execution = sb.code.run("print('ready')\nwhile True: pass", on_stdout=on_stdout)
    assert "".join(seen) == execution.stdout == "ready\n"
    assert execution.error.name == "KeyboardInterrupt"


def test_contexts(sb):
    context = sb.code.create(cwd="/tmp", env={"A": "b"})
    assert context.run("import os; os.getcwd() + os.environ['A']").text == "'/tmpb'"
    assert sb.code.run("os").error.name == "NameError"
    context.restart()
    assert context.run("os").error.name == "NameError"
    assert [c["contextId"] for c in sb.code.contexts()] == [1, 0]
    context.remove()
    with pytest.raises(RpcError, match="no such context"):
        context.run("1")


def test_a_context_that_ends_is_started_again(sb):
    ended = sb.code.run("import os; os._exit(4)")
    assert (ended.exit_code, ended.error.name) == (4, "ContextEnded")
    assert sb.code.run("1").restarted
    assert sb.code.run("while True: pass", timeout_ms=300).error_class == "TIMEOUT"


def test_a_callback_that_fails_interrupts_the_cell(sb):
    def fail(text):
        raise KeyError(text)

    with pytest.raises(KeyError):
        sb.code.run("print(1)\nwhile True: pass", on_stdout=fail)
    while sb.code.contexts()[0]["busy"]:
        pass
    assert sb.code.run("2").text == "2"


def test_with_asyncio():
    async def use():
        async with AsyncSandbox() as sb:
            context = await sb.code.create()
            both = await asyncio.gather(sb.code.run("x = 1; x"), context.run("x = 2; x"))
            texts = [e.text for e in both] + [(await context.run("x")).text]
            await context.interrupt()
            await context.restart()
            texts.append((await context.run("x")).error.name)
            await context.remove()
            return texts, len(await sb.code.contexts())

    assert asyncio.run(use()) == (["1", "2", "2", "NameError"], 1)
