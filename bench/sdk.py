"""The Python SDK, from outside: prints the best time of each row.
usage: sdk.py ROUNDS, with the package on PYTHONPATH"""
import subprocess
import sys
import time

from wasmsand import Sandbox

FORKS = 100
ALONE = "from wasmsand import Sandbox; Sandbox().commands.run('true')"


def best(name, unit, rounds, work):
    least = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        after = work()
        least = min(least, time.perf_counter() - start)
        if after:
            after()
    print(f"sdk {name} {least * {'us': 1e6, 'ms': 1e3, 's': 1}[unit]:.3f} {unit}")


def first_result():
    sb = Sandbox()
    assert sb.commands.run("true").ok
    return sb.kill


def python_in_forks(sb):
    for i in range(FORKS):
        with sb.fork() as fork:
            r = fork.commands.run(f"python3 -c 'print({i} * 7)'")
            assert r.stdout == f"{i * 7}\n", r


def main(rounds):
    best("first result", "ms", 4 * rounds, first_result)
    best("process", "ms", 4 * rounds, lambda: subprocess.run(
        [sys.executable, "-c", ALONE], check=True) and None)
    with Sandbox() as sb:
        best("run true", "us", 1000 * rounds,
             lambda: sb.commands.run("true") and None)
        best("forks with python3", "s", rounds,
             lambda: python_in_forks(sb))


main(int(sys.argv[1]))
