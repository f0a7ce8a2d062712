"""Exercises the installed package, with nothing of the repository."""

import os
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
    assert sb.run_python("print(6 * 7)", check=True).stdout == "42\n"
    assert sb.commands.run("python3 -I -c 'print(1)'", check=True).ok

# The code came with the package: the cache has at most further names of it.
code = {f.stat().st_ino for f in where.parent.glob("share/wasmsand/code/*")}
cache = pathlib.Path(os.environ["XDG_CACHE_HOME"], "wasmsand", "code")
compiled = [f for f in cache.iterdir() if f.stat().st_ino not in code]
assert len(code) > 50 and not compiled, (len(code), compiled)
print("the wheel works")
