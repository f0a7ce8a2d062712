"""Kernels in Python: prints the best time of each, and what it computed on
standard error. usage: python.py ROUNDS"""
import hashlib
import json
import re
import sys
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


def main(rounds):
    for kernel in (fib, int_loop, dictionary, json_both, regular, sort):
        least = float("inf")
        for _ in range(rounds):
            start = time.perf_counter()
            result = kernel()
            least = min(least, time.perf_counter() - start)
        name = kernel.__name__.replace("_", " ")
        print(f"python {name} {least * 1000:.3f} ms")
        print(name, result, file=sys.stderr)


main(int(sys.argv[1]))
