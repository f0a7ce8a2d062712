"""python3 of the root image, as programs and people use it."""
import os
import pty
import subprocess
import zipfile

import pytest

from conftest import ROOT, SANDBOX

# A shell command and what it prints.
COMMANDS = [
    ("python3 -c 'print(1)'; python -c 'print(2)'", "1\n2\n"),
    ("python3 -c 'import sys; print(sys.argv, sys.flags.isolated)' a -c b",
     "['-c', 'a', '-c', 'b'] 0\n"),
    ("echo 'import sys; print(sys.argv, __file__, sys.path[0])' >s.py; python3 s.py x",
     "['s.py', 'x'] /tmp/t/s.py /tmp/t\n"),
    ("echo 'print(__name__)' >m.py; python3 -m m; python3 m.py; python3 <m.py; python3 - <m.py",
     "__main__\n" * 4),
    ("mkdir p; echo 'print(__package__)' >p/__main__.py; python3 -m p; python3 p", "p\n\n"),
    ("printf '#!/usr/bin/env python3\\nprint(3)\\n' >s; chmod +x s; ./s", "3\n"),
    ("echo '{\"a\": [1, 2]}' | python3 -m json.tool --compact", '{"a":[1,2]}\n'),
    ("python3 -c 'import sys; print(sys.executable, sys.orig_argv[0], sys.prefix)'",
     "/usr/bin/python3 python3 /usr\n"),
    ("python3 -c 'import sys; sys.exit(7)'; echo $?; python3 -c 'raise SystemExit(\"why\")' 2>&1;"
     " echo $?; python3 -c 1/0 2>/dev/null; echo $?; python3 nothing.py 2>/dev/null; echo $?",
     "7\nwhy\n1\n1\n2\n"),
    ("python3 -c 'import json; json.loads(\"{\")' 2>&1 | grep -c 'return _default_decoder'", "1\n"),
    ("python3 -c 'help(len)' | head -n 3 | tail -n 1", "len(obj, /)\n"),
    ("python3 -V; python3 -I -c 'import sys; print(sys.flags.isolated)'", "Python 3.11.2\n1\n"),
    ("python3 -O -c 'assert 0; print(1)'; python3 -X utf8 -c 'print(2)'; python3 -S -c 'print(3)'",
     "1\n2\n3\n"),
    ("X=é python3 -c 'import os; print(os.environ[\"X\"], os.getenv(\"Y\"), flush=True); os.system(\"echo $X\")'",
     "é None\né\n"),
    ("TZ=UTC-3 python3 -c 'import time; print(time.tzname[0], time.localtime(0).tm_hour)'",
     "UTC 3\n"),
    # The end of a process: what users can see of it.
    ("python3 -c 'f = open(\"f\", \"w\"); f.write(\"kept\")'; cat f", "kept"),
    ("python3 -c 'import atexit; atexit.register(print, \"end\"); print(\"go\")'", "go\nend\n"),
    ("cat >d.py <<'.'\nclass D:\n  def __del__(self): print('gone', self.x)\na = D(); a.x = 1\n"
     "b = D(); b.x = 2; b.me = b\n.\npython3 d.py", "gone 1\ngone 2\n"),
    ("python3 -c 'print(\"lost\")' 2>/dev/null >/dev/full; echo $?", "120\n"),
    # Each process has its own chance; the hash secret is that of the image.
    ("for i in 1 2; do python3 -c 'import random, uuid, secrets, os\n"
     "print(random.random(), uuid.uuid4(), secrets.token_hex(8))'; done | uniq | wc -l", "2\n"),
    ("for i in 1 2; do python3 -c 'import tempfile\nprint(tempfile.mktemp())'; done | uniq | wc -l",
     "2\n"),
    ("for i in 1 2; do python3 -c 'import ssl; print(ssl.RAND_bytes(8))'; done | uniq | wc -l",
     "2\n"),
    ("for i in 0 0 1; do PYTHONHASHSEED=$i python3 -c 'print(hash(\"a\"))'; done | uniq | wc -l",
     "2\n"),
    # A program's own modules come before those of the library.
    ("echo 'x = 1' >random.py; python3 -c 'import random; print(random.x)'", "1\n"),
    ("echo 'x = 1' >re.py; python3 -c 'import json' 2>&1 | tail -n 1 | cut -d: -f1",
     "AttributeError\n"),
    ("python3 -c 'import unittest, sys; print(unittest.main.__name__, \"json\" in sys.modules)'",
     "TestProgram False\n"),
    ("python3 -c 'import importlib, json; print(importlib.reload(json) is json, json.__spec__.name)'",
     "True json\n"),
    # Processes.
    ("python3 -c 'import subprocess as s; print(s.run([\"tr\", \"a\", \"b\"], input=\"aa\","
     " text=True, capture_output=True).stdout, s.getoutput(\"echo hi\"))'", "bb hi\n"),
    ("python3 -c 'import os; print(os.popen(\"echo a\").read(), os.system(\"exit 3\") >> 8)'",
     "a\n 3\n"),
    ("python3 -c 'import os, subprocess as s\n"
     "p = s.Popen([\"sleep\", \"9\"], preexec_fn=os.setsid)\n"
     "print(os.getpgid(p.pid) == p.pid, os.getsid(0) == os.getsid(p.pid))\np.kill(); p.wait()'",
     "True False\n"),
    ("python3 -c 'import subprocess; subprocess.run([\"nothing\"])' 2>&1 | tail -n 1",
     "FileNotFoundError: [Errno 2] No such file or directory: 'nothing'\n"),
    ("python3 -c 'import os; os.fork()' 2>&1 | tail -n 1",
     "OSError: [Errno 38] Function not implemented\n"),
    ("python3 -c 'import threading; threading.Thread(target=print).start()' 2>&1 | tail -n 1",
     "RuntimeError: can't start new thread\n"),
    ("cat >m.py <<'.'\nimport multiprocessing as m\ndef f(c): c.send(6 * 7)\n"
     "if __name__ == '__main__':\n  a, b = m.Pipe(); p = m.Process(target=f, args=(b,))\n"
     "  p.start(); print(a.recv()); p.join(); print(p.exitcode, m.get_start_method())\n.\n"
     "python3 m.py", "42\n0 spawn\n"),
    ("cat >a.py <<'.'\nimport asyncio\nasync def main():\n"
     "  p = await asyncio.create_subprocess_exec('cat', stdin=-1, stdout=-1)\n"
     "  print((await p.communicate(b'x'))[0], p.returncode)\n"
     "  print(await asyncio.gather(*(asyncio.sleep(0.001, i) for i in range(3))))\n"
     "asyncio.run(main())\n.\npython3 a.py", "b'x' 0\n[0, 1, 2]\n"),
    # Signals, in a loop that makes no calls.
    ("cat >l.py <<'.'\nimport signal\ndef h(*a): raise TimeoutError('alarm')\n"
     "signal.signal(signal.SIGALRM, h); signal.setitimer(signal.ITIMER_REAL, 0.01)\n"
     "def f():\n  while True: pass\ntry: f()\nexcept TimeoutError as e: print(e)\n.\npython3 l.py", "alarm\n"),
    ("python3 -c 'import os, signal, subprocess, sys\n"
     "p = subprocess.Popen([sys.executable, \"-c\", \"print(1, flush=True)\\nwhile True: pass\"],"
     " stdout=-1, stderr=-1)\np.stdout.readline(); p.send_signal(signal.SIGINT)\n"
     "print(p.communicate()[1].decode().splitlines()[-1], p.returncode)'", "KeyboardInterrupt -2\n"),
    ("python3 -c 'import signal; signal.raise_signal(signal.SIGTERM)' 2>&1 | :; echo ${PIPESTATUS[0]}", "143\n"),
    ("trap '' INT; python3 -c 'import signal; print(signal.getsignal(2) == signal.SIG_IGN)'",
     "True\n"),
    # Modules with libraries behind them.
    ("python3 -c 'import zlib, bz2, lzma\n"
     "for m in zlib, bz2, lzma: print(m.decompress(m.compress(b\"x\" * 9)))'", "b'xxxxxxxxx'\n" * 3),
    ("python3 -c 'import sqlite3; c = sqlite3.connect(\"f.db\"); c.execute(\"create table t (a)\");"
     " c.execute(\"insert into t values (7)\"); print(c.execute(\"select * from t\").fetchall())'",
     "[(7,)]\n"),
    ("python3 -c 'import hashlib; print(all(hashlib.new(n) for n in hashlib.algorithms_guaranteed),"
     " hashlib.sha256(b\"\").hexdigest()[:8])'", "True e3b0c442\n"),
    ("python3 -c 'import ssl, curses, readline, decimal, _decimal, pyexpat, mmap, select, socket\n"
     "print(ssl.create_default_context().check_hostname, decimal.Decimal(\"1.10\") * 3)'",
     "True 3.30\n"),
    ("python3 -c 'import ctypes' 2>&1 | tail -n 1 | cut -d: -f1", "ModuleNotFoundError\n"),
    ("mkdir -p ~/.local/lib/python3.11/site-packages; echo 'x = 5' >~/.local/lib/python3.11/"
     "site-packages/mine.py; python3 -c 'import mine; print(mine.x)'", "5\n"),
]


def shell(command, *options):
    done = subprocess.run(
        [SANDBOX, "shell", "--root", ROOT, *options, "-c",
         "mkdir -p /tmp/t; cd /tmp/t\n" + command],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.stdout.decode()


@pytest.mark.parametrize("command, out", COMMANDS, ids=[c[:50] for c, _ in COMMANDS])
def test_python(command, out):
    assert shell(command) == out


def test_interactive():
    """The prompt, an expression, an error, and the end, on a terminal."""
    host, guest = pty.openpty()
    process = subprocess.Popen(
        [SANDBOX, "exec", "--root", ROOT, "--env", "TERM=dumb", "/usr/bin/python3"],
        stdin=guest, stdout=guest, stderr=guest)
    os.close(guest)
    said = b""

    def until(text):
        nonlocal said
        while text not in said:
            said += os.read(host, 4096)
        said = said.split(text, 1)[1]

    until(b">>> ")
    os.write(host, b"6*7\n")
    until(b"\n42\r\n>>> ")
    os.write(host, b"1/0\n")
    until(b"ZeroDivisionError: division by zero\r\n>>> ")
    os.write(host, b"while True: pass\n\n")
    until(b"... ")
    os.write(host, b"\x03")
    until(b"KeyboardInterrupt\r\n>>> ")
    os.write(host, b"exit(5)\n")
    assert process.wait() == 5
    os.close(host)


WHEEL = {
    "hello.py": "def main(): print('hello from a wheel')\n",
    "hello-1.2.dist-info/METADATA": "Metadata-Version: 2.1\nName: hello\nVersion: 1.2\n",
    "hello-1.2.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "hello-1.2.dist-info/entry_points.txt": "[console_scripts]\nhello = hello:main\n",
}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheels")
    with zipfile.ZipFile(folder / "hello-1.2-py3-none-any.whl", "w") as wheel:
        for name, text in WHEEL.items():
            wheel.writestr(name, text)
        wheel.writestr("hello-1.2.dist-info/RECORD", "".join(f"{n},,\n" for n in WHEEL))
    (folder / "broken-1.0-py3-none-any.whl").write_text("not a wheel")
    return folder


@pytest.mark.parametrize("what", ["/wheels/hello-1.2-py3-none-any.whl",
                                  "--no-index --find-links /wheels hello"])
def test_pip(wheels, what):
    out = shell(f"pip install -q {what}; ~/.local/bin/hello; python3 -m pip list;"
                " pip show hello | head -n 2; pip uninstall -qy hello; python3 -c 'import hello'",
                "--mount", f"{wheels}:/wheels")
    assert "hello from a wheel" in out
    assert "Name: hello\nVersion: 1.2\n" in out
    assert "No module named 'hello'" in out


def test_pip_refuses(wheels):
    out = shell("pip install /wheels/broken-1.0-py3-none-any.whl; echo $?; pip install unknown",
                "--mount", f"{wheels}:/wheels")
    assert "is invalid" in out and "\n1\n" in out
    assert "No matching distribution found for unknown" in out
