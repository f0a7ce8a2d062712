"""wasmsand.display and wasmsand.runner of the root image: cells of Python and their results."""
import base64
import json
import subprocess

import pytest

from conftest import PATIENCE_S, ROOT, SANDBOX

# The parts of matplotlib that the runner uses.
MATPLOTLIB = """
import sys, types
class Figure:
    def __init__(self): self.axes = []
    def savefig(self, file, format, bbox_inches): file.write(f"<{format}>".encode())
    def __repr__(self): return "<Figure>"
class Axes:
    lines, containers, collections = (), (), ()
    def get_title(self): return "t"
    def get_xlabel(self): return "x"
    def get_ylabel(self): return "y"
class Line:
    def get_xdata(self): return [1, 2]
    def get_ydata(self): return [3.5, 4]
    def get_label(self): return "a line"
figures = {}
pyplot = types.ModuleType("matplotlib.pyplot")
pyplot.get_fignums = lambda: sorted(figures)
pyplot.figure = lambda number: figures[number]
pyplot.close = lambda figure: [figures.pop(n) for n in list(figures) if figures[n] is figure]
module = types.ModuleType("matplotlib.figure")
module.Figure = Figure
sys.modules["matplotlib.pyplot"], sys.modules["matplotlib.figure"] = pyplot, module
def new():
    figures[len(figures) + 1] = figure = Figure()
    return figure
"""


def frame(message):
    data = json.dumps(message).encode()
    return b"%d\n%s" % (len(data), data)


def frames(data):
    while data:
        length, _, data = data.partition(b"\n")
        yield json.loads(data[:int(length)])
        data = data[int(length):]


def run(*cells):
    """Runs cells in one runner: the frames of each, without counts, and the output."""
    result = subprocess.run(
        [SANDBOX, "shell", "--root", ROOT, "-c", "exec python3 -m wasmsand.runner 3>&2"],
        input=b"".join(frame({"code": cell}) for cell in cells), capture_output=True,
        timeout=PATIENCE_S, check=True)
    answers, current = [], []
    for message in frames(result.stderr):
        current.append(message)
        if message["type"] == "done":
            assert message["count"] == len(answers) + 1
            answers.append(current)
            current = []
    assert not current
    return answers, result.stdout.decode()


def value(cell, *before):
    """The representations of the value of a cell."""
    answers, _ = run(*before, cell)
    result, done = answers[-1]
    assert result["type"] == "result" and done["error"] is None
    return result["data"]


def error(cell, *before):
    answers, _ = run(*before, cell)
    return answers[-1][-1]["error"]


@pytest.mark.parametrize("cell, text", [
    ("1 + 1", "2"),
    ("x = 5\nx", "5"),
    ("'a'", "'a'"),
    ("x = 5; x", "5"),
    ("x = 1\n\nx # comment\n", "1"),
    ("import asyncio\nasync def f():\n    return 3\nawait f()", "3"),
    ("[n for n in range(3)]", "[0, 1, 2]"),
    ("list(range(40))", "[" + ",\n ".join(map(str, range(40))) + "]"),
    ("'\\ud800'", "'\\ud800'"),
    ("float('nan')", "nan"),
    ("type(1)", "<class 'int'>"),
])
def test_the_last_expression_is_the_result(cell, text):
    assert value(cell) == {"text/plain": text}


@pytest.mark.parametrize("cell", ["1;", "x = 5; x;", "x = 1", "None", "", "# only a comment",
                                  "1;  # quiet", "def f():\n    return 1", "print(end='')"])
def test_a_cell_without_a_value_has_no_result(cell):
    answers, out = run(cell)
    assert [message["type"] for message in answers[0]] == ["done"]
    assert answers[0][0]["error"] is None and out == ""


def test_the_namespace_stays():
    answers, out = run("import math\ndef f(): return g()", "def g(): return math.pi", "f()", "_ * 2",
                       "__name__, f.__module__", "import pickle; pickle.loads(pickle.dumps(f)) is f",
                       "import asyncio; task = asyncio.ensure_future(asyncio.sleep(0, 5)); await task",
                       "task.result()")
    texts = [answer[0]["data"]["text/plain"] for answer in answers[2:]]
    assert texts == ["3.141592653589793", "6.283185307179586", "('__main__', '__main__')", "True",
                     "5", "5"]


def test_output_goes_to_standard_output():
    answers, out = run("print('a')\nimport os, subprocess\nos.write(1, b'b\\n')\n"
                       "subprocess.run(['echo', 'c'])\nprint('d', end='')")
    assert out == "a\nb\nc\nd"


def test_standard_input_is_empty_and_frames_are_hidden():
    assert error("input()")["name"] == "EOFError"
    answers, out = run("import subprocess\nsubprocess.run('cat; ls /proc/self/fd', shell=True)")
    assert out.split() == ["0", "1", "2", "3"]  # of which 3 is the folder itself


def test_errors_have_a_traceback_of_the_cells():
    found = error("f()", "def f():\n    return 1 / 0")
    assert found == {"name": "ZeroDivisionError", "value": "division by zero", "traceback": (
        "Traceback (most recent call last):\n"
        '  File "<cell 2>", line 1, in <module>\n    f()\n'
        '  File "<cell 1>", line 2, in f\n    return 1 / 0\n           ~~^~~\n'
        "ZeroDivisionError: division by zero\n")}
    found = error("def f(:")
    assert found["name"] == "SyntaxError"
    assert found["traceback"].startswith('  File "<cell 1>", line 1\n    def f(:\n')
    assert error("class E(Exception):\n    def __str__(self): return 1\nraise E")["value"] == (
        "<str() failed>")


def test_an_error_keeps_the_output_and_the_results_before_it():
    answers, out = run("print(1)\ndisplay(2)\n1/0", "3")
    assert [message["type"] for message in answers[0]] == ["result", "done"]
    assert answers[1][0]["data"] == {"text/plain": "3"} and out == "1\n"


@pytest.mark.parametrize("cell, text", [("exit(3)", "3"), ("import sys; sys.exit('why')", "why"),
                                        ("quit()", "None")])
def test_exit_ends_the_cell_only(cell, text):
    answers, _ = run("x = 1", cell, "x", "input()")
    assert (answers[1][0]["error"]["name"], answers[1][0]["error"]["value"]) == ("SystemExit", text)
    assert answers[2][0]["data"] == {"text/plain": "1"}
    assert answers[3][0]["error"]["name"] == "EOFError"


def test_objects_offer_representations():
    methods = {"html": "'<b>1</b>'", "markdown": "'*1*'", "latex": "'$1$'", "svg": "'<svg/>'",
               "png": "b'\\x89PNG'", "jpeg": "b'\\xff'", "pdf": "b'%PDF'", "json": "{'a': [1]}"}
    body = "".join(f"    def _repr_{name}_(self): return {text}\n" for name, text in methods.items())
    assert value(f"class X:\n{body}    def __repr__(self): return 'X'\nX()") == {
        "text/plain": "X", "text/html": "<b>1</b>", "text/markdown": "*1*", "text/latex": "$1$",
        "image/svg+xml": "<svg/>", "application/json": {"a": [1]},
        "image/png": base64.b64encode(b"\x89PNG").decode(),
        "image/jpeg": base64.b64encode(b"\xff").decode(),
        "application/pdf": base64.b64encode(b"%PDF").decode()}


def test_bundles_and_tuples_with_metadata():
    assert value("class X:\n    def __repr__(self): return 'X'\n"
                 "    def _repr_mimebundle_(self, include=None, exclude=None):\n"
                 "        return {'text/html': 'h', 'x/y': {'a': 1}}, {'m': 1}\nX()") == {
        "text/plain": "X", "text/html": "h", "x/y": {"a": 1}}


def test_representations_that_fail_are_left_out():
    assert value("class X:\n    def __repr__(self): return 'X'\n"
                 "    def _repr_html_(self): 1/0\n    def _repr_json_(self): return float('nan')\n"
                 "    def _repr_svg_(self): return object()\n"
                 "    def __getattr__(self, name): return lambda *a, **k: name\nX()") == {
        "text/plain": "X"}
    assert error("class X:\n    def __repr__(self): 1/0\nX()")["name"] == "ZeroDivisionError"
    assert value("'a' * 5000000")["text/plain"].endswith("... (too long to display)")


def test_display_shows_in_the_order_of_the_cell():
    answers, out = run("from wasmsand.display import HTML, JSON, Latex, Markdown, PNG, SVG\n"
                       "display(HTML('<i>'), 2)\nJSON([1])")
    assert answers[0][:-1] == [
        {"type": "result", "isMain": False, "data": {"text/plain": "<HTML>", "text/html": "<i>"}},
        {"type": "result", "isMain": False, "data": {"text/plain": "2"}},
        {"type": "result", "isMain": True, "data": {"text/plain": "<JSON>", "application/json": [1]}}]


def test_display_outside_of_the_runner_prints():
    result = subprocess.run(
        [SANDBOX, "shell", "--root", ROOT, "-c",
         "python3 -c 'from wasmsand.display import display; display(1, [2])'"],
        capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    assert result.stdout == "1\n[2]\n"


def test_open_figures_are_results():
    answers, _ = run(MATPLOTLIB, "figure = new(); axes = Axes(); axes.lines = [Line()]\n"
                     "figure.axes.append(axes); new()\n5", "figures")
    value, first, second, _ = answers[1]
    assert value["data"] == {"text/plain": "5"} and value["isMain"]
    chart = {"axes": [{"title": "t", "xLabel": "x", "yLabel": "y", "elements": [
        {"type": "line", "label": "a line", "points": [[1, 3.5], [2, 4]]}]}]}
    png = {"text/plain": "<Figure>", "image/png": base64.b64encode(b"<png>").decode()}
    assert first["data"] == {**png, "application/vnd.wasmsand.chart+json": chart}
    assert second["data"] == {**png, "application/vnd.wasmsand.chart+json": {"axes": []}}
    assert not first["isMain"] and not second["isMain"]
    assert answers[2][0]["data"] == {"text/plain": "{}"}  # they were closed


def test_figures_have_other_formats():
    answers, _ = run(MATPLOTLIB, "from wasmsand.display import set_figure_formats\n"
                     "set_figure_formats('svg', 'pdf')\nnew();", "set_figure_formats('gif')")
    data = answers[1][0]["data"]
    assert (data["image/svg+xml"], data["application/pdf"]) == (
        "<svg>", base64.b64encode(b"<pdf>").decode())
    assert answers[2][0]["error"]["name"] == "ValueError"


def test_an_interrupt_ends_the_cell_only():
    answers, out = run("import os, signal\nx = 1",
                       "print('before')\nos.kill(os.getpid(), signal.SIGINT)\nwhile True: pass", "x",
                       "import asyncio\n"
                       "async def f():\n    os.kill(os.getpid(), signal.SIGINT)\n"
                       "    await asyncio.sleep(1000)\nawait f()", "x")
    for number in (1, 3):
        assert answers[number][0]["error"]["name"] == "KeyboardInterrupt"
        assert answers[number + 1][0]["data"] == {"text/plain": "1"}
    assert out == "before\n"
