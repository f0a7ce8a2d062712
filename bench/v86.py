#!/usr/bin/env python3
"""bench/v86.py SANDBOX IMAGE [native]: figures of `--mode v86`, one per line.

With `native`, the same commands run on this host, by the image's own busybox:
a static program for i386."""
import base64
import json
import os
import subprocess
import sys
import tempfile
import time

ZEROS = "dd if=/dev/zero bs=1M count=10 2>/dev/null"
# Name, command, runs of which the best counts.
COMMANDS = [
    ("v86 echo", "echo hello", 200),
    ("v86 fork + exec", "/bin/true", 100),
    ("v86 md5sum", f"{ZEROS} | md5sum", 5),
    ("v86 gzip", f"{ZEROS} | gzip -1 | wc -c", 5),
    ("v86 ash loop", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done", 1),
]
FILE_BYTES = 16 << 20


class Server:
    def __init__(self, sandbox, image):
        self.process = subprocess.Popen(
            [sandbox, "--mode", "v86", "--disk-image", image, "--timeout-ms", "600000"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def call(self, **request):
        """Sends a request, and returns its answer."""
        self.process.stdin.write(json.dumps({"id": "1", **request}).encode() + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if answer.get("success") is False or answer.get("exit_code"):
            sys.exit(f"{request}: {answer}")
        return answer

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def seconds(action, runs=1):
    """The time of the fastest run."""
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
    return best


def report(name, s):
    print(f"{name} {s * 1e3:.3f} ms")


def measure_commands(run):
    for name, command, runs in COMMANDS:
        report(name, seconds(lambda: run(command), runs))


def measure_files(server):
    content = base64.b64encode(os.urandom(FILE_BYTES)).decode()
    path = "/tmp/bench"

    def both():
        server.call(type="write_file", path=path, content=content, encoding="base64")
        answer = server.call(type="read_file", path=path, encoding="base64")
        if answer["content"] != content:
            sys.exit("a file has other content than was written")
    print(f"v86 file in and out {2 * FILE_BYTES / 1e6 / seconds(both, 3):.1f} MB/s")


def measure_machine(sandbox, image):
    server = None

    def boot():
        nonlocal server
        server = Server(sandbox, image)
        server.call(type="shell", command="true")
    report("v86 boot", seconds(boot))
    measure_commands(lambda command: server.call(type="shell", command=command))
    measure_files(server)
    report("v86 reset", seconds(lambda: server.call(type="reset"), 20))

    def reset_and_run():
        server.call(type="reset")
        server.call(type="shell", command="true")
    report("v86 reset to first answer", seconds(reset_and_run, 20))
    server.end()


def measure_native(sandbox, image):
    server = Server(sandbox, image)
    answer = server.call(type="read_file", path="/bin/busybox", encoding="base64")
    server.end()
    with tempfile.TemporaryDirectory() as folder:
        busybox = os.path.join(folder, "busybox")
        with open(busybox, "wb") as file:
            file.write(base64.b64decode(answer["content"]))
        os.chmod(busybox, 0o755)
        for name in ("dd", "md5sum", "gzip", "wc", "sh"):
            os.symlink("busybox", os.path.join(folder, name))
        measure_commands(lambda command: subprocess.run(
            [os.path.join(folder, "sh"), "-c", command], check=True,
            stdout=subprocess.DEVNULL, env={"PATH": folder}))


if __name__ == "__main__":
    (measure_native if sys.argv[3:] == ["native"] else measure_machine)(*sys.argv[1:3])
