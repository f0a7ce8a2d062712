"""The root image, shells in it, and resident shells."""
import os
import pathlib
import subprocess
import threading

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
SANDBOX = os.path.abspath(os.environ.get("WASM_SANDBOX", TOP / "build/wasm-sandbox"))
ROOT = os.environ.get("WASMSAND_ROOT", str(TOP / "build/share/wasmsand/root.tar"))
RESIDENT = [os.path.join(os.path.dirname(SANDBOX), "tests/resident"), SANDBOX]
PATIENCE_S = 300


class Answer:
    """Status and output of one command."""

    def __init__(self, status, out, err, background):
        self.status, self.out, self.err = status, out, err
        self.background = background


class Resident:
    """A session with one shell (resident.c)."""

    def __init__(self, *options, patience_s=PATIENCE_S):
        self.process = subprocess.Popen(
            [*RESIDENT, ROOT, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.timer = threading.Timer(patience_s, self.process.kill)
        self.timer.start()

    def tell(self, line):
        """A line without an answer: :fork, :back, :timeout."""
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def run(self, command):
        self.tell(command.replace("\\", "\\\\").replace("\n", "\\n"))
        words = self.process.stdout.readline().split()
        assert words and words[0] == b"status", words
        status, *lengths = map(int, words[1:5])
        texts = [self.process.stdout.read(length).decode() for length in lengths]
        assert self.process.stdout.read(1) == b"\n"
        return Answer(status, *texts)

    def out(self, command):
        return self.run(command).out

    def close(self):
        self.process.stdin.close()
        status = self.process.wait()
        self.process.stdout.close()
        self.timer.cancel()
        return status


@pytest.fixture
def resident():
    session = Resident()
    yield session
    assert session.close() == 0


@pytest.fixture
def shell():
    """Runs `wasm-sandbox shell -c COMMAND`."""

    def run(command, **options):
        return subprocess.run(
            [SANDBOX, "shell", "--root", ROOT, "-c", command],
            stdin=options.pop("stdin", subprocess.DEVNULL), capture_output=True,
            text=True, timeout=PATIENCE_S, check=False, **options)

    return run
