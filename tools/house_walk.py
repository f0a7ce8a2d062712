"""The walk of one `run`: which functions of ours it goes through.

The program is a server built with -finstrument-functions and tools/walk.c
(`make walk`). The sandbox is warm: the walk is that of a usual command.

The walk is the distinct functions of ours between reading the line and writing
the answer, without those below kernel_run. Two kinds are not steps of it, and
are counted apart: the general helpers of src/base (JSON, buffers, lists, time),
and small functions that a header defines (static inline).
"""
import bisect
import json
import os
import subprocess
import tempfile
import time

MAX_STEPS = 50
HELPERS = ("base", "inline")


def ask(server, identity, method, **params):
    """Sends one request and waits for its answer."""
    line = {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}
    server.stdin.write(json.dumps(line, separators=(",", ":")) + "\n")
    server.stdin.flush()
    for line in server.stdout:
        answer = json.loads(line)
        if answer.get("id") == identity:
            assert "error" not in answer, answer
            return


def is_idle(pid):
    """True if all threads of a process sleep."""
    states = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/stat") as stat:
                states.append(stat.read().rpartition(")")[2].split()[0])
        except FileNotFoundError:  # the thread has ended
            continue
    return set(states) == {"S"}


def wait_until_idle(pid):
    """The server works on after an answer: that is not part of the next walk."""
    while not all(is_idle(pid) for _ in range(20)):
        time.sleep(0.001)


def record(program, image):
    """(function, caller) of each entry, as offsets from the program's start."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "walk")
        env = {**os.environ, "WALK": path, "WASMSAND_ROOT": os.path.abspath(image)}
        server = subprocess.Popen(
            [os.path.abspath(program)], env=env, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with server:
            ask(server, 1, "create")
            for identity in range(2, 6):
                ask(server, identity, "run", command="true")
            wait_until_idle(server.pid)
            ask(server, "walk", "run", command="true")
            ask(server, 6, "kill")
        with open(path) as rows:
            return [tuple(int(at, 16) for at in row.split()) for row in rows]


def folder_of(place):
    """The folder of src/ in FILE:LINE, `inline` for a header, "" for others."""
    path = place.rpartition(":")[0]
    if "/src/" not in path:
        return ""
    return "inline" if path.endswith(".h") else path.rpartition("/src/")[2].rpartition("/")[0]


class Symbols:
    """The functions of a program, with the folder of src/ that each is from, or
    `inline` for those of a header."""

    def __init__(self, program):
        rows = subprocess.run(["nm", "--defined-only", "-n", "-l", program],
                              stdout=subprocess.PIPE, text=True, check=True).stdout
        self.rows = []
        for row in rows.splitlines():
            symbol, _, place = row.partition("\t")
            at, kind, name = symbol.split(" ", 2)
            if kind in "tTwW":
                self.rows.append((int(at, 16), name, folder_of(place)))
        self.starts = [row[0] for row in self.rows]

    def find(self, at):
        """(name, folder) of the function that has this address."""
        row = self.rows[bisect.bisect_right(self.starts, at) - 1]
        return row[1:]


def summary(entries, find):
    """The distinct functions in order, those of them that call another one,
    and the calls from lib back to rpc."""
    functions = list(dict.fromkeys(find(function) for function, _ in entries))
    edges = {(find(caller), find(function)) for function, caller in entries}
    callers = {caller for caller, _ in edges} & set(functions)
    back = sorted((a[0], b[0]) for a, b in edges if a[1] == "lib" and b[1] == "rpc")
    return functions, callers, back


def steps(functions):
    """The functions that are steps of the walk, in order."""
    return [function for function in functions if function[1] not in HELPERS]


def check(program, image):
    """Prints the walk; returns 1 if it is too long or goes back, else 0."""
    functions, callers, back = summary(record(program, image), Symbols(program).find)
    walk = steps(functions)
    for function in functions:
        name, folder = function
        print(f"{folder:16} {name}{'' if function in callers else ' (leaf)'}")
    for caller, called in back:
        print(f"lib calls rpc: {caller} -> {called}")
    print(f"{len(walk)} steps, {len(callers.intersection(walk))} of them call another function,"
          f" {len(functions) - len(walk)} helpers, {len(back)} calls from lib to rpc")
    return int(len(walk) > MAX_STEPS or bool(back))
