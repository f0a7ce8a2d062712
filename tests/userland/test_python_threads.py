"""Programs with threads and with several processes, for python3 of the root image
and for a native one."""
import subprocess

import pytest

from conftest import PATIENCE_S, ROOT, SANDBOX

THREADS = {
    "each has its name, its numbers and its locals": ("""
import threading
local, seen = threading.local(), []
def run(n):
    local.x = n
    me = threading.current_thread()
    seen.append((me.name, me.ident, me.native_id, local.x))
threads = [threading.Thread(target=run, args=(n,), name=f't{n}') for n in range(8)]
for t in threads: t.start()
for t in threads: t.join()
print(sorted(s[0] for s in seen), sorted(s[3] for s in seen), len({s[2] for s in seen}), hasattr(local, 'x'))
print(threading.active_count(), threading.main_thread() is threading.current_thread())
""", "['t0', 't1', 't2', 't3', 't4', 't5', 't6', 't7'] [0, 1, 2, 3, 4, 5, 6, 7] 8 False\n1 True\n"),
    "a loop without calls leaves others their turn": ("""
import threading
stop, count = False, 0
def spin():
    while not stop: pass
def work():
    global count
    for i in range(100000): count += 1
spinner, worker = threading.Thread(target=spin), threading.Thread(target=work)
spinner.start(); worker.start(); worker.join(); stop = True; spinner.join(); print(count)
""", "100000\n"),
    "locks, conditions, semaphores, events and barriers": ("""
import threading
total, lock, ready = 0, threading.Lock(), threading.Condition()
barrier, slots, go = threading.Barrier(4), threading.Semaphore(2), threading.Event()
inside = most = arrived = 0
def run():
    global total, inside, most, arrived
    go.wait()
    for i in range(2000):
        with lock: total += 1
    with slots:
        inside += 1; most = max(most, inside); threading.Event().wait(0.001); inside -= 1
    barrier.wait()
    with ready: arrived += 1; ready.notify()
threads = [threading.Thread(target=run) for i in range(4)]
for t in threads: t.start()
go.set()
with ready: print(ready.wait_for(lambda: arrived == 4))
for t in threads: t.join()
print(total, most, lock.acquire(timeout=0.01), lock.acquire(timeout=0.01), threading.Event().wait(0.01))
""", "True\n8000 2 True False False\n"),
    "queues, with a limit, a timeout and an end": ("""
import queue, threading
q, results = queue.Queue(maxsize=3), []
def work():
    while (n := q.get()) is not None: results.append(n * n); q.task_done()
    q.task_done()
workers = [threading.Thread(target=work) for i in range(4)]
for w in workers: w.start()
for n in range(100): q.put(n)
for w in workers: q.put(None)
q.join()
print(sum(results), len(results))
try: q.get(timeout=0.01)
except queue.Empty: print('empty')
""", "328350 100\nempty\n"),
    "a pool maps, passes exceptions and ends": ("""
import concurrent.futures as c, time
def f(n):
    if n == 3: raise ValueError('three')
    time.sleep(0.001 * (5 - n)); return n * 10
with c.ThreadPoolExecutor(5) as pool:
    print(list(pool.map(f, [1, 2, 4])))
    futures = [pool.submit(f, n) for n in range(5)]
    print([repr(x.exception() or x.result()) for x in futures])
    print(sorted(x.result() for x in c.as_completed(futures) if not x.exception()))
""", "[10, 20, 40]\n['0', '10', '20', \"ValueError('three')\", '40']\n[0, 10, 20, 40]\n"),
    "asyncio runs functions in threads": ("""
import asyncio, threading, time
async def main():
    loop = asyncio.get_running_loop()
    here = threading.get_ident()
    other = await asyncio.to_thread(threading.get_ident)
    await asyncio.gather(*(asyncio.to_thread(time.sleep, 0.01) for i in range(5)))
    print(here != other, await loop.run_in_executor(None, sum, range(10)))
    event = asyncio.Event()
    threading.Timer(0.01, loop.call_soon_threadsafe, [event.set]).start()
    await event.wait()
    p = await asyncio.create_subprocess_exec('cat', stdin=-1, stdout=-1)
    print(await p.communicate(b'x'), p.returncode)
    name = await loop.getaddrinfo('localhost', 80, type=1, family=2)
    print(name[0][4])
asyncio.run(main())
""", "True 45\n(b'x', None) 0\n('127.0.0.1', 80)\n"),
    "a loop of asyncio in a second thread waits for its children": ("""
import asyncio, threading
async def main():
    p = await asyncio.create_subprocess_exec('sh', '-c', 'exit 3')
    print(await p.wait())
t = threading.Thread(target=asyncio.run, args=(main(),)); t.start(); t.join()
""", "3\n"),
    "threads start programs and read from them": ("""
import subprocess, threading
def run(n): results[n] = subprocess.run(['tr', 'a', str(n)], input='a' * 3, text=True, capture_output=True).stdout
results = [None] * 6
threads = [threading.Thread(target=run, args=(n,)) for n in range(6)]
for t in threads: t.start()
for t in threads: t.join()
print(results)
""", "['000', '111', '222', '333', '444', '555']\n"),
    "a server has a thread for each client": ("""
import socket, socketserver, threading
class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile: self.wfile.write(line.upper())
with socketserver.ThreadingTCPServer(('127.0.0.1', 0), Echo) as server:
    threading.Thread(target=server.serve_forever, args=(0.01,)).start()
    clients = [socket.create_connection(server.server_address).makefile('rw') for i in range(3)]
    for n, c in enumerate(clients): print('abc'[n], file=c, flush=True)
    print([c.readline().strip() for c in clients])
    for c in clients: c.close()
    server.shutdown()
""", "['A', 'B', 'C']\n"),
    "signals reach the main thread, and a chosen one": ("""
import signal, threading, time
seen = []
signal.signal(signal.SIGUSR1, lambda *a: seen.append(threading.current_thread() is threading.main_thread()))
t = threading.Thread(target=signal.raise_signal, args=(signal.SIGUSR1,)); t.start(); t.join()
signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
print(seen)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
t = threading.Thread(target=lambda: print(signal.sigwait([signal.SIGUSR2]).name)); t.start()
signal.pthread_kill(t.ident, signal.SIGUSR2); t.join()
""", "[True, True]\nSIGUSR2\n"),
    "an exception ends its thread only; daemons end with the process": ("""
import atexit, sys, threading, time
threading.excepthook = lambda a: print(a.exc_type.__name__, a.thread.name)
t = threading.Thread(target=lambda: 1 / 0, name='broken'); t.start(); t.join()
threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
def spin():
    while True: pass
threading.Thread(target=spin, daemon=True).start()
last = threading.Thread(target=lambda: (threading.Event().wait(0.01), print('waited for'))); last.start()
atexit.register(print, 'end')
""", "ZeroDivisionError broken\nwaited for\nend\n"),
    "deep recursion in a thread is an exception": ("""
import json, threading
def deep(n): return deep(n + 1)
def nested():
    value = []
    for i in range(100000): value = [value]
    return json.dumps(value)
class A:
    def __repr__(self): return repr(A())
def sort(n=0): return sorted([2, 1], key=lambda x: sort(n + 1))
def run(f, *a):
    try: f(*a)
    except RecursionError as e: print(f.__name__, 'RecursionError')
for f, *a in ((deep, 0), (nested,), (repr, A()), (sort,), (eval, '-' * 500 + '1')):
    t = threading.Thread(target=run, args=(f, *a)); t.start(); t.join()
threading.stack_size(262144)
t = threading.Thread(target=run, args=(deep, 0)); t.start(); t.join()
""", "deep RecursionError\nnested RecursionError\nrepr RecursionError\nsort RecursionError\ndeep RecursionError\n"),
    "sqlite, files and imports from several threads": ("""
import os, sqlite3, tempfile, threading
folder = tempfile.mkdtemp(); path = os.path.join(folder, 'd')
sqlite3.connect(path).execute('create table t (n)')
def run(n):
    import decimal, xml.dom.minidom
    with sqlite3.connect(path, timeout=60) as db: db.executemany('insert into t values (?)', [(n,)] * 50)
    with open(os.path.join(folder, str(n)), 'w') as f: f.write(str(decimal.Decimal(n) / 4))
threads = [threading.Thread(target=run, args=(n,)) for n in range(4)]
for t in threads: t.start()
for t in threads: t.join()
print(sqlite3.connect(path).execute('select count(*), sum(n) from t').fetchone())
print([open(os.path.join(folder, str(n))).read() for n in range(4)])
""", "(200, 300)\n['0', '0.25', '0.5', '0.75']\n"),
}

PROCESSES = {
    "locks, values and conditions": ("""
import multiprocessing as m
def add(lock, value, array, done):
    for i in range(200):
        with lock: value.value += 1
    with array.get_lock(): array[0] += 1
    with done: array[1] += 1; done.notify()
if __name__ == '__main__':
    lock, value, array, done = m.Lock(), m.Value('i', 0, lock=False), m.Array('i', [0, 0]), m.Condition()
    children = [m.Process(target=add, args=(lock, value, array, done)) for i in range(3)]
    for c in children: c.start()
    with done: print(done.wait_for(lambda: array[1] == 3))
    for c in children: c.join()
    print(value.value, array[:], [c.exitcode for c in children])
""", "True\n600 [3, 3] [0, 0, 0]\n"),
    "semaphores, events and barriers": ("""
import multiprocessing as m
def run(slots, go, barrier, out):
    go.wait(); barrier.wait()
    with slots: out.put(slots.get_value() < 2)
if __name__ == '__main__':
    slots, go, barrier, out = m.Semaphore(2), m.Event(), m.Barrier(3), m.Queue()
    children = [m.Process(target=run, args=(slots, go, barrier, out)) for i in range(3)]
    for c in children: c.start()
    go.set(); print([out.get() for c in children])
    for c in children: c.join()
    print(slots.get_value(), m.Lock().acquire(timeout=0.01), m.BoundedSemaphore(1).acquire(False))
""", "[True, True, True]\n2 True True\n"),
    "queues": ("""
import multiprocessing as m
def square(tasks, results):
    while (n := tasks.get()) is not None: results.put(n * n); tasks.task_done()
    tasks.task_done()
if __name__ == '__main__':
    tasks, results = m.JoinableQueue(), m.Queue(maxsize=4)
    children = [m.Process(target=square, args=(tasks, results)) for i in range(2)]
    for c in children: c.start()
    for n in range(30): tasks.put(n)
    for c in children: tasks.put(None)
    print(sum(results.get() for n in range(30)))
    tasks.join()
    for c in children: c.join()
    big = m.SimpleQueue(); p = m.Process(target=big.put, args=('x' * 1000000,)); p.start(); print(len(big.get())); p.join()
""", "8555\n1000000\n"),
    "pools": ("""
import multiprocessing as m, os
def f(n):
    if n == 13: raise ValueError(n)
    return n * n
if __name__ == '__main__':
    with m.Pool(3) as pool:
        print(pool.map(f, range(10)), sum(pool.imap_unordered(f, range(10), 3)), pool.starmap(pow, [(2, 3), (3, 2)]))
        try: pool.map(f, range(20))
        except ValueError as e: print('ValueError', e)
        print(pool.apply(f, (7,)), pool.apply_async(os.getpid).get(60) != os.getpid())
""", "[0, 1, 4, 9, 16, 25, 36, 49, 64, 81] 285 [8, 9]\nValueError 13\n49 True\n"),
    "managers": ("""
import multiprocessing as m
def work(d, l, lock):
    with lock: d['n'] += 1; l.append(d['n'])
if __name__ == '__main__':
    with m.Manager() as manager:
        d, l, lock = manager.dict(n=0), manager.list(), manager.Lock()
        children = [m.Process(target=work, args=(d, l, lock)) for i in range(3)]
        for c in children: c.start()
        for c in children: c.join()
        print(dict(d), list(l), manager.Queue().empty())
""", "{'n': 3} [1, 2, 3] True\n"),
    "shared memory": ("""
import multiprocessing as m
from multiprocessing.shared_memory import SharedMemory, ShareableList
def write(name, n):
    s = SharedMemory(name); s.buf[n] = 7; s.close()
if __name__ == '__main__':
    s = SharedMemory(create=True, size=10000)
    children = [m.Process(target=write, args=(s.name, n)) for n in (0, 5, 9999)]
    for c in children: c.start()
    for c in children: c.join()
    print(s.buf[0], s.buf[5], s.buf[9999], sum(s.buf[:10000]), [c.exitcode for c in children])
    s.close(); s.unlink()
    l = ShareableList([1, 'two', 3.0]); l[0] = 4; print(list(ShareableList(name=l.shm.name)))
    l.shm.close(); l.shm.unlink()
""", "7 7 7 21 [0, 0, 0]\n[4, 'two', 3.0]\n"),
    "a pool of concurrent.futures": ("""
import concurrent.futures as c, os
def f(n): return n * n
if __name__ == '__main__':
    with c.ProcessPoolExecutor(2) as pool:
        print(list(pool.map(f, range(6), chunksize=2)), pool.submit(os.getpid).result() != os.getpid())
        broken = pool.submit(os._exit, 1)
        print(type(broken.exception()).__name__)
""", "[0, 1, 4, 9, 16, 25] True\nBrokenProcessPool\n"),
    "a pool of threads of multiprocessing": ("""
from multiprocessing.pool import ThreadPool
with ThreadPool(4) as pool: print(pool.map(abs, [-1, 2, -3]))
""", "[1, 2, 3]\n"),
}


def run_native(program):
    return ["/usr/bin/python3.11", program]


def run_inside(program):
    return [SANDBOX, "exec", "--root", ROOT, "--mount", f"{program.parent}:/t", "/usr/bin/python3", f"/t/{program.name}"]


@pytest.mark.parametrize("name", [*THREADS, *PROCESSES])
@pytest.mark.parametrize("command", [run_native, run_inside])
def test_program(command, name, tmp_path):
    program = tmp_path / "program.py"
    text, printed = {**THREADS, **PROCESSES}[name]
    program.write_text(text, encoding="utf-8")
    done = subprocess.run(command(program), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=PATIENCE_S, check=False)
    assert (done.stdout, done.returncode) == (printed, 0), done.stderr
