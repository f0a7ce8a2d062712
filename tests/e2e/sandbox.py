"""Running wasm-sandbox from the tests."""
import contextlib
import os
import pathlib
import signal
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SANDBOX = os.path.abspath(os.environ.get("WASM_SANDBOX", ROOT / "build/wasm-sandbox"))
IS_SANITIZED = "/san/" in SANDBOX
PROGRAMS = ROOT / "build/tests/e2e"
PROBE = str(PROGRAMS / "probe.wasm")
# What the engine, compiled code and warm memory slots may take, in MiB.
OVERHEAD_MB = 1500 if IS_SANITIZED else 300


class Result:
    """How a run ended, what it printed, and what it cost the host."""

    def __init__(self, status, out, err, seconds, rss_mb):
        self.status, self.out, self.err = status, out, err
        self.seconds, self.rss_mb = seconds, rss_mb

    def __repr__(self):
        return (
            f"status {self.status} after {self.seconds:.1f} s, {self.rss_mb} MiB\n"
            f"--- stdout\n{self.out[-2000:].decode(errors='replace')}\n"
            f"--- stderr\n{self.err[-2000:].decode(errors='replace')}"
        )


def command(*args):
    return [SANDBOX, "exec", *args]


def _collect(stream, into):
    into.append(stream.read())
    stream.close()


def _feed(stream, data):
    with contextlib.suppress(BrokenPipeError), stream:
        stream.write(data)


def run(argv, stdin=b"", timeout_s=120, **options):
    """Runs a command to its end; a negative status is the signal that killed
    the host process itself. With IS_SANITIZED, time and memory mean little."""
    begin = time.monotonic()
    process = subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )
    out, err = [], []
    threads = [
        threading.Thread(target=_feed, args=(process.stdin, stdin)),
        threading.Thread(target=_collect, args=(process.stdout, out)),
        threading.Thread(target=_collect, args=(process.stderr, err)),
    ]
    watchdog = threading.Timer(timeout_s, process.kill)
    for thread in (*threads, watchdog):
        thread.start()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    watchdog.cancel()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - begin
    assert process.returncode != -signal.SIGKILL or seconds < timeout_s, "hangs"
    return Result(process.returncode, out[0], err[0], seconds, usage.ru_maxrss // 1024)


def probe(*args, options=(), **kwargs):
    """Runs the probe program."""
    return run(command(*options, PROBE, *args), **kwargs)
