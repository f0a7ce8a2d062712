"""Kernels in Python and operations on threads: prints the best time of each, and
what the kernels computed on standard error. usage: python.py ROUNDS"""
import hashlib
import json
import queue
import re
import sys
import threading
import time


def fib(n=23):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def int_loop():
    total = 0
    for i in range(1000000):
        total = (total + i * 7) & 0xFFFFFF
    return total


def dictionary():
    counts = {}
    for i in range(300000):
        key = f"key{i * 7919 % 5000}"
        counts[key] = counts.get(key, 0) + i
    return sum(counts.values())


def json_both():
    data = [{"id": i, "name": f"n{i}", "tags": ["a", "b"], "x": i / 3} for i in range(5000)]
    for _ in range(3):
        data = json.loads(json.dumps(data))
    return len(json.dumps(data))


def regular():
    text = " ".join(f"user{i}@host{i % 37}.example.com, {i}-{i * 3}" for i in range(8000))
    return len(re.findall(r"(\w+)@(\w+)\.example\.(com|org)", text)) + len(
        re.sub(r"\d+-(\d+)", r"<\1>", text))


def sort():
    seed, values = 1, []
    for _ in range(100000):
        seed = (seed * 69069 + 12345) % 16777216
        values.append(seed)
    values.sort()
    words = sorted(map(str, values), key=lambda w: w[::-1])
    return hashlib.md5("".join(words).encode()).hexdigest()


def best(rounds, function, *args):
    """The least time of a call in seconds, and its result."""
    least = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        result = function(*args)
        least = min(least, time.perf_counter() - start)
    return least, result


def start_threads(count):
    for _ in range(count):
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()


def pass_items(count, there, back):
    for item in range(count):
        there.put(item)
        back.get()


def echo(there, back):
    while (item := there.get()) is not None:
        back.put(item)


def measure_threads(rounds, count=100):
    seconds, _ = best(rounds, start_threads, count)
    print(f"python thread start + join {seconds / count * 1e6:.3f} us")
    queues = queue.Queue(), queue.Queue()
    thread = threading.Thread(target=echo, args=queues)
    thread.start()
    seconds, _ = best(rounds, pass_items, count, *queues)
    print(f"python queue round trip {seconds / count * 1e6:.3f} us")
    queues[0].put(None)
    thread.join()


def main(rounds):
    for kernel in (fib, int_loop, dictionary, json_both, regular, sort):
        seconds, result = best(rounds, kernel)
        name = kernel.__name__.replace("_", " ")
        print(f"python {name} {seconds * 1000:.3f} ms")
        print(name, result, file=sys.stderr)
    measure_threads(20 * rounds)


main(int(sys.argv[1]))
