"""Exercises the installed package, with nothing of the repository."""

import pathlib
import sys

import wasmsand
from wasmsand import Sandbox

where = pathlib.Path(wasmsand.__file__).resolve()
assert sys.prefix in str(where), where
with Sandbox(timeout_ms=60_000) as sb:
    assert sb.commands.run("echo hi | tr a-z A-Z", check=True).stdout == "HI\n"
    sb.files.write("/tmp/f", "data")
    with sb.fork() as fork:
        fork.files.rm("/tmp/f")
    assert sb.files.read_text("/tmp/f") == "data"
    assert sb.commands.run("git --version", check=True).ok
print("the wheel works")
