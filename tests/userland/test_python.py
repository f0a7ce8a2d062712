"""python3 of the root image, as programs and people use it."""
import os
import pty
import subprocess
import threading
import zipfile

import pytest

from conftest import PATIENCE_S, ROOT, SANDBOX

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
    ("python3 -c 'import faulthandler as f; f.register(10); print(f.unregister(10), f.unregister(10))'",
     "True False\n"),
    ("python3 -V; python3 -I -c 'import sys; print(sys.flags.isolated)'", "Python 3.11.2\n1\n"),
    ("python3 -O -c 'assert 0; print(1)'; python3 -X utf8 -c 'print(2)'; python3 -S -c 'print(3)'",
     "1\n2\n3\n"),
    ("for o in -E -I -S -s -u -B -bb -P '-W error' '-X dev' '-X importtime' '-X frozen_modules=off'; do\n"
     "echo 'import sys; print(len(sys.argv), __name__)' | python3 $o - 2>/dev/null; done | uniq -c | tr -s ' '",
     " 12 1 __main__\n"),
    ("PYTHONPATH=/x python3 -c 'import sys; print(\"/x\" in sys.path)';"
     " PYTHONPATH=/x python3 -E -c 'import sys; print(\"/x\" in sys.path)'", "True\nFalse\n"),
    ("python3 -c 'import sys; print(sys.flags.no_site)'; python3 -S -c 'import sys; print(sys.flags.no_site)'",
     "0\n1\n"),
    ("python3 -W error -c 'import warnings; warnings.warn(\"w\")' 2>&1 | tail -n 1", "UserWarning: w\n"),
    ("echo 'print(1)' >s.py; python3 -i s.py </dev/null 2>&1 | head -n 1", "1\n"),
    ("python3 -c 'print(str.split.__doc__.splitlines()[0]); import json; help(json.dumps)' | head -n 4 | tail -n 3",
     "Help on function dumps in module json:\n\n"
     "dumps(obj, *, skipkeys=False, ensure_ascii=True, check_circular=True, allow_nan=True, cls=None,"
     " indent=None, separators=None, default=None, sort_keys=False, **kw)\n"),
    ("X=é python3 -c 'import os; print(os.environ[\"X\"], os.getenv(\"Y\"), flush=True); os.system(\"echo $X\")'",
     "é None\né\n"),
    ("TZ=UTC-3 python3 -c 'import time; print(time.tzname[0], time.localtime(0).tm_hour)'",
     "UTC 3\n"),
    # What changes the initialisation means a plain start, with its effect.
    ("python3 -X importtime -c 'import json' 2>&1 | grep -c ' json$';"
     " python3 -X dev -c 'import sys; print(sys.flags.dev_mode)';"
     " for n in 0 1; do python3 -X utf8=$n -c 'import sys; print(sys.flags.utf8_mode)'; done;"
     " python3 -I -c 'import sys; print(sys.flags.ignore_environment, sys.flags.no_user_site, sys.flags.safe_path)';"
     " PYTHONOPTIMIZE=2 python3 -E -c 'import sys; print(sys.flags.optimize)'",
     "1\nTrue\n0\n1\n1 1 True\n0\n"),
    ("cat >e.sh <<'.'\np() { env $1 python3 -c \"import sys; print($2)\"; }\n"
     "p PYTHONUTF8=1 sys.flags.utf8_mode; p PYTHONOPTIMIZE=2 sys.flags.optimize\n"
     "p PYTHONUNBUFFERED=1 sys.stdout.write_through; p PYTHONDONTWRITEBYTECODE=1 sys.dont_write_bytecode\n"
     "p PYTHONIOENCODING=latin-1 sys.stdout.encoding; p PYTHONWARNINGS=error sys.warnoptions\n"
     "p PYTHONNOUSERSITE=1 sys.flags.no_user_site; p PYTHONSAFEPATH=1 sys.flags.safe_path\n"
     "p PYTHONDEVMODE=1 sys.flags.dev_mode; p OTHER=1 sys.flags.dev_mode\n.\n"
     "sh e.sh", "1\n2\nTrue\nTrue\niso8859-1\n['error']\n1\nTrue\nTrue\nFalse\n"),
    ("echo 'print(1 + 1)' >st.py; echo 'x = 1' | PYTHONSTARTUP=st.py python3 -i 2>/dev/null", "2\n"),
    # The end of a process: what users can see of it.
    ("python3 -c 'f = open(\"f\", \"w\"); f.write(\"kept\")'; cat f", "kept"),
    ("python3 -c 'import atexit; atexit.register(print, \"end\"); print(\"go\")'", "go\nend\n"),
    ("cat >d.py <<'.'\nclass D:\n  def __del__(self): print('gone', self.x)\na = D(); a.x = 1\n"
     "b = D(); b.x = 2; b.me = b\n.\npython3 d.py", "gone 1\ngone 2\n"),
    ("python3 -c 'print(\"lost\")' 2>/dev/null >/dev/full; echo $?", "120\n"),
    ("python3 -c 'import atexit, sys; atexit.register(lambda: 1 / 0); sys.exit(3)' 2>&1 | grep -c Zero;"
     " python3 -c 'import atexit, sys; atexit.register(print, \"no\"); import os; os._exit(4)'; echo $?",
     "1\n4\n"),
    ("python3 -c 'import sys; sys.stdout.write(\"a\"); sys.stderr.write(\"b\"); sys.exit(\"c\")' 2>&1 | cat",
     "bc\na"),
    ("python3 -c 'import weakref\nclass A: pass\na = A(); f = weakref.finalize(a, print, \"final\")'", "final\n"),
    # Each process has its own chance; the hash secret is that of the image.
    ("for i in 1 2; do python3 -c 'import random, uuid, secrets, os\n"
     "print(random.random(), uuid.uuid4(), secrets.token_hex(8))'; done | uniq | wc -l", "2\n"),
    ("for i in 1 2; do python3 -c 'import tempfile\nprint(tempfile.mktemp())'; done | uniq | wc -l",
     "2\n"),
    ("for i in 1 2; do python3 -c 'import ssl; print(ssl.RAND_bytes(8))'; done | uniq | wc -l",
     "2\n"),
    ("for i in 1 2; do python3 -c 'print(hash(\"a\"))'; done | uniq | wc -l;"
     " for i in 1 2; do python3 -R -c 'print(hash(\"a\"))'; done | uniq | wc -l;"
     " for i in 1 2; do PYTHONHASHSEED=random python3 -c 'print(hash(\"a\"))'; done | uniq | wc -l",
     "1\n2\n2\n"),
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
    ("python3 -c 'import os; os.fork()' 2>&1 | tail -n 1;"
     " python3 -c 'import os; os.forkpty()' 2>&1 | tail -n 1",
     "OSError: [Errno 38] Function not implemented\n" * 2),
    ("python3 -c 'import multiprocessing as m\nprint(m.get_all_start_methods())\n"
     "for name in (\"fork\", \"forkserver\"):\n  try: m.get_context(name)\n  except ValueError as e: print(e)'",
     "['spawn']\ncannot find context for 'fork'\ncannot find context for 'forkserver'\n"),
    ("cat >m.py <<'.'\nimport multiprocessing as m, sys, time\n"
     "def f(c, n):\n  for i in range(n): c.send({'n': i})\n  sys.exit(n)\n"
     "if __name__ == '__main__':\n  pairs = []\n  for n in (2, 3):\n"
     "    a, b = m.Pipe(duplex=False); p = m.Process(target=f, args=(b, n)); p.start(); b.close()\n"
     "    pairs.append((a, p))\n  for a, p in pairs:\n    got = []\n    try:\n"
     "      while True: got.append(a.recv()['n'])\n    except EOFError: p.join(); print(got, p.exitcode)\n"
     "  p = m.Process(target=time.sleep, args=(1000,)); p.start(); p.terminate(); p.join(); print(p.exitcode)\n"
     "  m.Process(target=time.sleep, args=(1000,), daemon=True).start(); print(len(m.active_children()))\n.\n"
     "python3 m.py", "[0, 1] 2\n[0, 1, 2] 3\n-15\n1\n"),
    ("cat >m.py <<'.'\nimport multiprocessing as m\ndef f(c): c.send(6 * 7)\n"
     "if __name__ == '__main__':\n  a, b = m.Pipe(); p = m.Process(target=f, args=(b,))\n"
     "  p.start(); print(a.recv()); p.join(); print(p.exitcode, m.get_start_method())\n.\n"
     "python3 m.py", "42\n0 spawn\n"),
    ("cat >a.py <<'.'\nimport asyncio\nasync def main():\n"
     "  p = await asyncio.create_subprocess_exec('cat', stdin=-1, stdout=-1)\n"
     "  print((await p.communicate(b'x'))[0], p.returncode)\n"
     "  print(await asyncio.gather(*(asyncio.sleep(0.001, i) for i in range(3))))\n"
     "asyncio.run(main())\n.\npython3 a.py", "b'x' 0\n[0, 1, 2]\n"),
    ("cat >a.py <<'.'\nimport asyncio, os, signal\nasync def main():\n  loop = asyncio.get_running_loop()\n"
     "  got = asyncio.Event(); loop.add_signal_handler(signal.SIGUSR1, got.set)\n"
     "  p = await asyncio.create_subprocess_shell('read x; echo $x; kill -USR1 $PPID; exit 5', stdin=-1, stdout=-1)\n"
     "  p.stdin.write(b'line\\n'); print(await p.stdout.readline()); await got.wait(); print(await p.wait())\n"
     "  many = [await asyncio.create_subprocess_exec('sh', '-c', f'exit {i}') for i in range(5)]\n"
     "  print(await asyncio.gather(*(p.wait() for p in many)))\n"
     "  p = await asyncio.create_subprocess_exec('sleep', '1000')\n"
     "  try: await asyncio.wait_for(p.wait(), 0.01)\n  except asyncio.TimeoutError: p.kill()\n"
     "  print(await p.wait())\nasyncio.run(main())\n.\npython3 a.py", "b'line\\n'\n5\n[0, 1, 2, 3, 4]\n-9\n"),
    ("cat >s.py <<'.'\nimport asyncio, select, selectors, socket\n"
     "a, b = socket.socketpair(); a.sendall(b'x'); print(b.recv(9), select.select([a], [b], [], 0)[1] == [b])\n"
     "s = selectors.DefaultSelector(); s.register(a, selectors.EVENT_READ); b.send(b'y')\n"
     "print(len(s.select(5)), type(s).__name__)\n"
     "async def main():\n  async def serve(r, w):\n    w.write((await r.readline()).upper()); w.close()\n"
     "  async with await asyncio.start_unix_server(serve, 'sock'):\n"
     "    r, w = await asyncio.open_unix_connection('sock'); w.write(b'hi\\n'); print(await r.read())\n"
     "asyncio.run(main())\n.\npython3 s.py", "b'x' True\n1 EpollSelector\nb'HI\\n'\n"),
    ("cat >s.py <<'.'\nimport os, shutil, tempfile\nwith tempfile.TemporaryDirectory() as d:\n"
     "  with tempfile.NamedTemporaryFile('w', dir=d, delete=False) as f: f.write('x')\n"
     "  shutil.copytree(d, 'copy'); shutil.make_archive('arch', 'gztar', d); shutil.unpack_archive('arch.tar.gz', 'out')\n"
     "  print(os.listdir('copy') == os.listdir('out') == os.listdir(d), shutil.which('ls'))\n"
     "shutil.rmtree('copy'); print(os.path.exists(d), os.path.exists('copy'))\n.\npython3 s.py",
     "True /usr/bin/ls\nFalse False\n"),
    # Signals, in a loop that makes no calls.
    ("cat >l.py <<'.'\nimport signal\ndef h(*a): raise TimeoutError('alarm')\n"
     "signal.signal(signal.SIGALRM, h)\ndef f():\n  while True: pass\n"
     "for arm in (lambda: signal.setitimer(signal.ITIMER_REAL, 0.01), lambda: signal.alarm(1)):\n"
     "  try: arm(); f()\n  except TimeoutError as e: print(e)\n.\npython3 l.py", "alarm\n" * 2),
    ("python3 -c 'import signal; signal.alarm(1)\nwhile True: pass' 2>&1 | :; echo ${PIPESTATUS[0]}", "142\n"),
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
    ("cat >z.py <<'.'\nimport bz2, gzip, lzma, zlib\nfor m in gzip, bz2, lzma:\n"
     "  with m.open('f', 'wb') as f: f.write(b'line\\n' * 99999)\n"
     "  with m.open('f') as f: print(sum(1 for line in f))\n"
     "d = zlib.decompressobj(); print(len(d.decompress(zlib.compress(bytes(9999)), 5)), zlib.crc32(b'a'))\n.\n"
     "python3 z.py", "99999\n" * 3 + "5 3904355907\n"),
    ("python3 -c 'import hashlib, hmac\nfor n in sorted(hashlib.algorithms_guaranteed):\n"
     "  h = hashlib.new(n, b\"a\"); print(n, h.hexdigest(*[4] * (h.digest_size == 0))[:8])\n"
     "print(hashlib.scrypt(b\"a\", salt=b\"b\", n=2, r=1, p=1)[:2].hex(),"
     " hmac.new(b\"k\", b\"m\", \"sha256\").hexdigest()[:4])'",
     "blake2b 333fcb4e\nblake2s 4a0d1298\nmd5 0cc175b9\nsha1 86f7e437\nsha224 abd37534\nsha256 ca978112\n"
     "sha384 54a59b9f\nsha3_224 9e86ff69\nsha3_256 80084bf2\nsha3_384 1815f774\nsha3_512 697f2d85\n"
     "sha512 1f40fc92\nshake_128 85c8de88\nshake_256 867e2cb0\nda11 b600\n"),
    ("cat >c.py <<'.'\nimport curses, curses.panel, os\ncurses.setupterm('xterm')\n"
     "print(curses.tigetnum('cols'), curses.tigetstr('clear'), curses.tparm(curses.tigetstr('cup'), 1, 2))\n.\n"
     "python3 c.py", "80 b'\\x1b[H\\x1b[2J' b'\\x1b[2;3H'\n"),
    ("cat >c.py <<'.'\nimport decimal, xml.etree.ElementTree as t, xml.parsers.expat as e\n"
     "print(decimal.Decimal is __import__('_decimal').Decimal, decimal.Decimal(2).sqrt())\n"
     "print(t.fromstring('<a><b c=\"d\"/></a>').find('b').attrib, e.version_info >= (2, 5))\n"
     "try: t.fromstring('<a>')\nexcept t.ParseError as e: print(e)\n.\npython3 c.py",
     "True 1.414213562373095048801688724\n{'c': 'd'} True\nno element found: line 1, column 3\n"),
    ("cat >s.py <<'.'\nimport ssl\nc = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)\ni, o = ssl.MemoryBIO(), ssl.MemoryBIO()\n"
     "s = c.wrap_bio(i, o, server_hostname='host.example')\ntry: s.do_handshake()\n"
     "except ssl.SSLWantReadError: print(o.read(3).hex(), b'host.example' in o.read())\n"
     "print(ssl.HAS_TLSv1_3, len(c.get_ciphers()) > 5)\n.\npython3 s.py", "160301 True\nTrue True\n"),
    ("python3 -c 'import sqlite3; c = sqlite3.connect(\"f.db\"); c.execute(\"create table t (a)\");"
     " c.execute(\"insert into t values (7)\"); print(c.execute(\"select * from t\").fetchall())'",
     "[(7,)]\n"),
    ("python3 -c 'import hashlib; print(all(hashlib.new(n) for n in hashlib.algorithms_guaranteed),"
     " hashlib.sha256(b\"\").hexdigest()[:8])'", "True e3b0c442\n"),
    ("python3 -c 'import ssl, curses, readline, decimal, _decimal, pyexpat, mmap, select, socket\n"
     "print(ssl.create_default_context().check_hostname, decimal.Decimal(\"1.10\") * 3)'",
     "True 3.30\n"),
    ("cat >c.py <<'.'\nfrom ctypes import *\nclass P(Structure): _fields_ = [('x', c_short), ('y', c_double), ('bits', c_uint, 3)]\n"
     "class U(Union): _fields_ = [('i', c_uint32), ('b', c_ubyte * 4)]\n"
     "print(sizeof(P), P.y.offset, P(1, 2.5, 9).bits, sizeof(c_long), sizeof(c_void_p), list(U(0x01020304).b))\n"
     "b = create_string_buffer(b'hello', 10); q = cast(b, POINTER(c_char)); q[0] = b'J'; memmove(addressof(b) + 1, b'a', 1)\n"
     "print(b.value, string_at(b, 2), byref(b) is not None, pointer(c_short(7)).contents, (c_int * 3)(*range(3))[:])\n"
     "print(BigEndianStructure.__name__, wstring_at(create_unicode_buffer('é')), bytes(memset(b, 120, 3) and b)[:4])\n"
     ".\npython3 c.py",
     "24 8 1 4 4 [4, 3, 2, 1]\nb'Jallo' b'Ja' True c_short(7) [0, 1, 2]\n"
     "BigEndianStructure é b'xxxl'\n"),
    ("cat >c.py <<'.'\nimport ctypes, ctypes.util, ctypes.wintypes, multiprocessing.sharedctypes\n"
     "for f in (lambda: ctypes.CDLL('libc.so.6'), lambda: ctypes.CDLL(None).strlen, lambda: ctypes.pythonapi.Py_IncRef,\n"
     "          lambda: ctypes.CFUNCTYPE(None)(print), lambda: ctypes.CFUNCTYPE(ctypes.c_double)(99)()):\n"
     "  try: f()\n  except Exception as e: print(type(e).__name__, e)\nprint(ctypes.util.find_library('c'))\n.\npython3 c.py",
     "OSError Dynamic loading not supported\nAttributeError Symbol not found: strlen\n"
     "AttributeError Symbol not found: Py_IncRef\n"
     "NotImplementedError callbacks need functions made at run time, which WebAssembly lacks\n"
     "RuntimeError only calls with at most 6 arguments, all of 32 bits, can be made\nNone\n"),
    ("cat >p.py <<'.'\nimport os, psutil, sys\np = psutil.Process()\n"
     "print(p.pid == os.getpid(), p.name(), p.exe(), p.cmdline(), p.cwd(), p.username(), p.ppid() > 0, p.status())\n"
     "print(p.memory_info().rss > 2**20, p.num_fds() > 2, p.cpu_times().user >= 0, p.create_time() > 0, p.nice())\n"
     "print(psutil.virtual_memory().total > 2**20, psutil.cpu_count() > 0, psutil.disk_usage('/').total > 0,\n"
     "      psutil.boot_time() > 0, os.getpid() in psutil.pids(), len(psutil.cpu_times_percent()) > 3)\n"
     "c = psutil.Popen(['sleep', '1000']); print([x.name() for x in p.children()]); c.terminate(); print(c.wait())\n"
     "print(psutil.pid_exists(c.pid), len(psutil.disk_partitions(all=True)) > 0)\n"
     ".\npython3 p.py",
     "True python3 /usr/bin/python3 ['python3', 'p.py'] /tmp/t user True running\nTrue True True True 0\n"
     "True True True True True True\n['sleep']\n-15\nFalse True\n"),
    ("python3 -c 'import socket as s\nprint(s.has_ipv6, s.inet_pton(s.AF_INET6, \"::1\").hex())\n"
     "for a in s.getaddrinfo(\"localhost\", 80, type=s.SOCK_STREAM): print(a[0].name, a[4])'",
     "True 00000000000000000000000000000001\nAF_INET ('127.0.0.1', 80)\nAF_INET6 ('::1', 80, 0, 0)\n"),
    ("python3 -c 'import os, errno\nprint(len(os.getrandom(7)))\nopen(\"f\", \"w\").close()\n"
     "os.setxattr(\"f\", \"user.a\", b\"v\"); print(os.getxattr(\"f\", \"user.a\"), os.listxattr(\"f\"))\n"
     "os.close(os.pidfd_open(os.getpid()))\n"
     "try: os.pidfd_open(999999)\nexcept ProcessLookupError: print(\"gone\")'", "7\nb'v' ['user.a']\ngone\n"),
    ("python3 -c 'import sys; print(sys.maxsize)\ntry: len(range(10**10))\nexcept OverflowError: print(\"too large\")'",
     "2147483647\ntoo large\n"),
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


PROBE = """
import gc, io, locale, sys
print("fast" if gc.get_freeze_count() else "slow", file=sys.stderr)
streams = sys.stdin, sys.stdout, sys.stderr
print([(s.encoding, s.errors, s.write_through, s.line_buffering, type(s.buffer).__name__) for s in streams])
print(sys.flags, sys.dont_write_bytecode, sys.path, sys.executable.rstrip(".1"), sys.prefix)
print(locale.getpreferredencoding(False), open("f", "w").encoding, io.text_encoding(None), sys.getfilesystemencoding())
import m
"""
VARIABLES = {
    "fast": ["X=1", "PYTHONUNBUFFERED=1", "PYTHONUNBUFFERED=0", "PYTHONUNBUFFERED=yes", "PYTHONDONTWRITEBYTECODE=1",
             "PYTHONDONTWRITEBYTECODE=0", "PYTHONPATH=a", "PYTHONPATH=:/x:a/../a:/x", "PYTHONPATH=/usr/lib/python3.11:a",
             "PYTHONIOENCODING=utf-8", "PYTHONIOENCODING=UTF8", "PYTHONUTF8=1", "PYTHON_VERSION=3.11", "PYTHONHASHSEED=",
             "PYTHONUTF8=1 PYTHONIOENCODING=utf-8 PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=a"],
    "slow": ["PYTHONUTF8=0", "PYTHONIOENCODING=latin-1", "PYTHONIOENCODING=utf-8:replace", "PYTHONOPTIMIZE=1",
             "PYTHONUNBUFFERED=1 PYTHONNOUSERSITE=1", "LC_ALL=C"]}


@pytest.mark.parametrize("speed, variables", [(s, v) for s, vs in VARIABLES.items() for v in vs])
def test_variables(speed, variables):
    """Each has the same effect with and without the fast start, which those of docs/python.md keep."""
    out = shell("mkdir a; echo 'print(__file__)' >a/m.py; cp a/m.py .; echo 'print(\"site\")' >a/sitecustomize.py\n"
                f"cat >s.py <<'.'\n{PROBE}.\n"
                f"env {variables} python3 s.py >fast 2>speed; cat speed; rm -rf __pycache__\n"
                f"env {variables} python3.11 s.py >slow 2>speed; cat speed; diff fast slow; test -s fast || echo empty\n")
    assert out == f"{speed}\nslow\n"


EVERY_MODULE = """
import importlib, os, sys, warnings
warnings.simplefilter("ignore")
for name in sorted(sys.stdlib_module_names - {"antigravity", "this", "idlelib"}):
    try:
        cached = importlib.import_module(name).__spec__.cached
        if cached and not os.path.exists(cached): print(name, "is not compiled")
    except ImportError:
        print(name)
"""
# Of other systems, and those that docs/python.md names.
MISSING = """_dbm _gdbm _msi _overlapped _scproxy _tkinter _uuid _winapi msilib msvcrt nis nt ossaudiodev spwd
    tkinter turtle turtledemo winreg winsound"""


def test_the_whole_library_is_there():
    assert shell(f"python3 - <<'.'\n{EVERY_MODULE}.").split() == MISSING.split()


class Repl:
    """The interactive interpreter on a terminal."""

    def __init__(self, term, *program):
        self.host, guest = pty.openpty()
        self.process = subprocess.Popen(
            [SANDBOX, "exec", "--root", ROOT, "--env", f"TERM={term}", "--env", "HOME=/home/user",
             "--env", "PATH=/usr/bin", *(program or ["/usr/bin/python3"])],
            stdin=guest, stdout=guest, stderr=guest)
        os.close(guest)
        self.timer = threading.Timer(PATIENCE_S, self.process.kill)
        self.timer.start()
        self.said = b""

    def until(self, text):
        while text not in self.said:
            self.said += os.read(self.host, 4096)  # fails when it is gone
        self.said = self.said.split(text, 1)[1]

    def type(self, text, then):
        os.write(self.host, text)
        self.until(then)

    def enter(self, text, then):
        """Until there is a prompt again: before it, keys are the terminal's and not the editor's."""
        self.type(text, then)
        self.until(b">>> ")

    def end(self, text):
        os.write(self.host, text)
        status = self.process.wait()
        self.timer.cancel()
        os.close(self.host)
        return status


def test_interactive():
    """The prompt, an expression, an error, an interrupt, and the end."""
    repl = Repl("dumb")
    repl.until(b">>> ")
    repl.type(b"6*7\n", b"\n42\r\n>>> ")
    repl.type(b"1/0\n", b"ZeroDivisionError: division by zero\r\n>>> ")
    repl.type(b"while True: pass\n\n", b"... ")
    repl.type(b"\x03", b"KeyboardInterrupt\r\n>>> ")
    assert repl.end(b"exit(5)\n") == 5


def test_interactive_with_an_editor():
    """History, editing, names completed by tab, ^D."""
    repl = Repl("xterm")
    repl.until(b">>> ")
    repl.type(b"x = 5\n", b">>> ")
    repl.enter(b"x * 8\n", b"40\r\n")
    repl.enter(b"\x1b[A\x7f9\n", b"45\r\n")
    repl.enter(b"x.bit_le\t\n", b"3\r\n")
    repl.type(b"def f():\n", b"... ")
    repl.enter(b"return 7\n", b"IndentationError")
    repl.type(b"help(len)\n", b"(obj, /)")
    repl.type(b"q", b">>> ")
    assert repl.end(b"\x04") == 0


def test_interrupts_and_ends_at_the_prompt():
    """A line that is given up, an error in a block, the status of an exit; what was typed is kept."""
    repl = Repl("xterm", "/bin/bash", "-c", "python3; echo status $?; cat ~/.python_history")
    repl.until(b">>> ")
    repl.enter(b"half a line\x03", b"KeyboardInterrupt\r\n")
    repl.type(b"for i in (2, 0):\n", b"... ")
    repl.type(b"    print(6 // i)\n", b"... ")
    repl.type(b"\n", b"3\r\n")
    repl.enter(b"", b"ZeroDivisionError: integer division or modulo by zero\r\n")
    repl.enter(b"raise KeyError('why')\n", b"KeyError: 'why'\r\n")
    repl.type(b"_ = 0; raise SystemExit(9)\n", b"status 9\r\n")
    repl.until(b"print(6 // i)\r\nraise KeyError('why')\r\n_ = 0; raise SystemExit(9)\r\n")
    assert repl.end(b"") == 0


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
    for name in ("empty-1.0-py3-none-any.whl", "native-1.0-cp311-cp311-linux_x86_64.whl"):
        with zipfile.ZipFile(folder / name, "w") as wheel:
            wheel.writestr("a.py", "")
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


@pytest.mark.parametrize("what, why", [
    ("/wheels/broken-1.0-py3-none-any.whl", "is invalid"),
    ("/wheels/empty-1.0-py3-none-any.whl", "empty has an invalid wheel, .dist-info directory not found"),
    ("/wheels/native-1.0-cp311-cp311-linux_x86_64.whl", "is not a supported wheel on this platform"),
    ("/wheels/none-1.0-py3-none-any.whl", "No such file or directory: '/wheels/none-1.0-py3-none-any.whl'"),
    ("unknown", "No matching distribution found for unknown"),
    ("--find-links /wheels unknown", "No matching distribution found for unknown")])
def test_pip_refuses(wheels, what, why):
    out = shell(f"pip install {what}; echo status $?; python3 -c 'print(\"alive\")'",
                "--mount", f"{wheels}:/wheels")
    assert why in out and out.endswith("status 1\nalive\n"), out
