"""Exercises the installed package, with nothing of the repository."""

import os
import pathlib
import subprocess
import sys
import tempfile

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

# The program itself, and the supervisor of sessions beside it.
program = pathlib.Path(sys.prefix, "bin", "wasm-sandbox")
said = subprocess.run([program, "shell", "-c", "echo $((6 * 7))"], check=True,
                      stdin=subprocess.DEVNULL, capture_output=True).stdout
assert said == b"42\n", said
with tempfile.TemporaryDirectory() as folder:
    os.environ.update(WASMSAND_SOCKET=f"{folder}/socket",
                      WASMSAND_STORE_DIR=f"{folder}/store")

    def session(*words):
        return subprocess.run([program, "session", *words], check=True,
                              stdout=subprocess.PIPE).stdout

    with subprocess.Popen([program, "serve"], stderr=subprocess.PIPE) as serve:
        try:
            while b"serving on" not in serve.stderr.readline():
                assert serve.poll() is None, serve.returncode
            number = session("create").strip()
            assert session("run", number, "echo $((6 * 7))") == b"42\n"
        finally:
            serve.terminate()
            serve.stderr.read()
    assert serve.returncode == 0, serve.returncode

# The code came with the package: the cache has at most further names of it.
code = {f.stat().st_ino for f in where.parent.glob("share/wasmsand/code/*")}
cache = pathlib.Path(os.environ["XDG_CACHE_HOME"], "wasmsand", "code")
compiled = [f for f in cache.iterdir() if f.stat().st_ino not in code]
assert len(code) > 50 and not compiled, (len(code), compiled)
print("the wheel works")
