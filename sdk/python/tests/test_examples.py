"""The programs of examples/ run and print what they should."""

import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples/python"


@pytest.mark.parametrize("name, expected", [
    ("agent_loop", "missing.txt: No such file"),
    ("data_analysis", "grew most: Bb 63\nAa mean 113.5\n"),
    ("parallel_forks", "gzip -9:"),
    ("tool_server", "8\nunknown: plum\nstatus 1\nb\na\n"),
])
def test_example(name, expected):
    out = subprocess.run([sys.executable, EXAMPLES / f"{name}.py"], check=True,
                         capture_output=True, text=True, timeout=120).stdout
    assert expected in out
