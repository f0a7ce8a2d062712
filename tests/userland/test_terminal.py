"""`wasm-sandbox shell` on a terminal, as people use it: in tmux, by keys and by
what is on the screen; and on a pseudo-terminal, where ^C comes at any time."""
import os
import pty
import select
import shutil
import subprocess
import tempfile
import time

import pytest
from conftest import PATIENCE_S, ROOT, SANDBOX


class Screen:
    """A shell in tmux."""

    def __init__(self, folder):
        self.env = {**os.environ, "TMUX_TMPDIR": folder, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}
        self.env.pop("TMUX", None)
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", SANDBOX, "shell", "--root", ROOT)
        self.expect("$")

    def tmux(self, *args):
        return subprocess.run(["tmux", "-u", *args], env=self.env, capture_output=True, text=True, timeout=PATIENCE_S, check=True).stdout

    def text(self):
        return self.tmux("capture-pane", "-p").rstrip("\n") + "\n"

    def expect(self, *texts):
        """Waits until all of it is on the screen."""
        end = time.monotonic() + PATIENCE_S
        while not all(text in self.text() for text in texts):
            assert time.monotonic() < end, f"no {texts} in\n{self.text()}"
            select.select([], [], [], 0.02)

    def expect_last(self, line):
        end = time.monotonic() + PATIENCE_S
        while self.text().splitlines()[-1:] != [line]:
            assert time.monotonic() < end, f"the last line is not {line!r}:\n{self.text()}"
            select.select([], [], [], 0.02)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def press(self, *keys):
        self.tmux("send-keys", *keys)

    def run(self, command, *expected):
        self.press("C-l")
        self.expect_last(self.prompt)
        self.type(command)
        self.press("Enter")
        self.expect(*expected)

    def settle(self, prompt):
        self.prompt = prompt
        self.type(f"PS1='{prompt[0]}''{prompt[1:]} '")
        self.press("Enter")
        self.expect_last(prompt)


@pytest.fixture
def screen():
    folder = tempfile.mkdtemp(prefix="tmux-", dir="/tmp")
    s = Screen(folder)
    try:
        s.settle("ready>")
        yield s
    finally:
        s.tmux("kill-server")
        shutil.rmtree(folder, ignore_errors=True)


def test_lines_are_edited_kept_and_completed(screen):
    screen.run("echo first-$((40 + 2))", "first-42")
    screen.run("echo second", "\nsecond")
    screen.press("C-l", "Up", "Up")
    screen.expect_last("ready> echo first-$((40 + 2))")
    screen.press("Down", "Down", "C-r")
    screen.type("seco")
    screen.expect("(reverse-i-search)`seco': echo second")
    screen.press("C-a", "C-k")
    screen.type("ls /usr/share/zonei")
    screen.press("Tab")
    screen.expect_last("ready> ls /usr/share/zoneinfo/")
    screen.press("C-u")
    screen.type("hexd")
    screen.press("Tab")
    screen.expect_last("ready> hexdump")
    screen.press("C-u")


def test_keys_that_send_signals(screen):
    screen.run("echo rea''dy; sleep 1000", "\nready\n")
    screen.press("C-c")
    screen.expect("^C\nready>")
    screen.run("echo is $?", "\nis 130\n")
    screen.run("bash -c \"echo rea''dy; exec sleep 1000\"", "\nready\n")
    screen.press("C-z")
    screen.expect("[1]+  Stopped")
    screen.run("jobs", "[1]+  Stopped")
    screen.run("bg", "[1]+ bash -c")
    screen.run("jobs", "[1]+  Running")
    screen.type("fg")
    screen.press("Enter")
    screen.expect("ready> fg\nbash -c")
    screen.press("C-c")
    screen.expect("^C\nready>")
    screen.run("jobs; echo none", "\nnone\n")


def test_an_editor_and_a_pager(screen):
    screen.run("vi file", "file")
    screen.type("ihello from vi")
    screen.expect("hello from vi", "I file")
    screen.press("Escape")
    screen.expect("- file")  # alone: not the first byte of a key
    screen.type(":wq")
    screen.press("Enter")
    screen.expect("ready>")
    screen.run("cat file", "\nhello from vi\n")
    screen.run("seq 1000 | less", "\n20\n")
    screen.type("/777")
    screen.press("Enter")
    screen.expect("777\n778\n")
    screen.type("q")
    screen.run("echo after", "\nafter\n")


def test_a_program_that_draws(screen):
    screen.run("top", "PID", "bash")
    screen.type("q")
    screen.run("echo after", "\nafter\n")
    screen.tmux("resize-window", "-x", "100", "-y", "30")
    screen.run("until [ \"$(stty size)\" = '30 100' ]; do sleep 0.01; done; echo res''ized", "\nresized\n")


class Typist:
    """A shell on a pseudo-terminal."""

    def __init__(self):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.execv(SANDBOX, [SANDBOX, "shell", "--root", ROOT])
        self.seen = b""

    def has(self, text, patience_s):
        """Reads until the text has come, or for so long."""
        end = time.monotonic() + patience_s
        while text not in self.seen:
            if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
                return False
            try:
                more = os.read(self.fd, 65536)
            except OSError:
                more = b""
            assert more, f"the shell has ended: {self.seen}"
            self.seen += more
        self.seen = self.seen.partition(text)[2]
        return True

    def type(self, text):
        os.write(self.fd, text)

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def test_an_interrupt_at_any_time(request):
    """While a command is being started it may reach the shell instead, and has
    no effect, as natively; but it never costs the shell its terminal."""
    t = Typist()
    request.addfinalizer(t.close)
    t.type(b"PS1='prom''pt> '\r")
    assert t.has(b"prompt> ", PATIENCE_S)
    for i in range(100):
        t.type(b"sleep 1000; echo e''nd\r")
        assert t.has(b"nd\r\n", PATIENCE_S)
        for _ in range(i * 2000):  # somewhere in between
            pass
        end = time.monotonic() + PATIENCE_S
        t.type(b"\x03")
        while not t.has(b"prompt> ", 1):
            assert time.monotonic() < end, t.seen
            t.type(b"\x03")
