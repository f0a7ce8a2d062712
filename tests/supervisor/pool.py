"""The pool of workers, through the program that tests drive it with."""
import contextlib
import os
import subprocess

import jail

DRIVER = os.path.join(os.path.dirname(jail.SANDBOX), "tests/supervisor/pool_driver")
SEALED = jail.ROOT / "build/tests/supervisor/sealed"
LIMITS = (64, 100, 16, 8)  # memory, cpu, disk, processes


class Ending:
    def __init__(self, text):
        self.text = text
        cause, status, oom_kills, by_us, where = text.split(" ", 4)
        self.cause, self.status, self.where = cause, int(status), where
        self.oom_kills, self.by_us = int(oom_kills), by_us == "1"

    def __repr__(self):
        return self.text


class Pool:
    def __init__(self, process):
        self.process = process

    def tell(self, *words):
        line = "\t".join(str(w) for w in words)
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, f"the pool has ended at: {line}"
        return answer[:-1]

    def take(self, limits=LIMITS):
        """Number and process of a worker."""
        number, pid = self.tell("take", *limits).split()
        return int(number), int(pid)

    def attack(self, number, name, arg=""):
        """What was said, and whether it was repelled."""
        said = self.tell("ask", number, f"{name} {arg}".strip())
        return said, said.endswith("= 0|")

    def run(self, *command, limits=LIMITS):
        return int(self.tell("run", *limits, *command))

    def wait(self, number):
        return Ending(self.tell("wait", number))

    def output(self, number):
        return self.tell("output", number).replace("|", "\n")


@contextlib.contextmanager
def pool(idle=1, worker=(SEALED, "worker"), backend="v2", driver=DRIVER, **options):
    argv = [driver, idle, backend, jail.CGROUP, *worker]
    with subprocess.Popen(
        [str(a) for a in argv],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        **options,
    ) as p:
        try:
            yield Pool(p)
            p.stdin.close()
            assert p.wait(60) == 0
        finally:
            p.kill()


def status_of(pid, thread=None):
    with open(f"/proc/{pid}/task/{thread or pid}/status") as f:
        return dict(line.split(":\t", 1) for line in f.read().splitlines())


def namespaces(pid):
    kinds = ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup")
    return {kind: os.readlink(f"/proc/{pid}/ns/{kind}") for kind in kinds}
