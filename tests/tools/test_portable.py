"""tools/check-portable: the layers without an operating system stay so."""
import pathlib
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]

FORBIDDEN = {
    "open": "#include <fcntl.h>\nint f(void) { return open(\"/\", O_RDONLY); }",
    "poll": "#include <poll.h>\nint f(struct pollfd *p) { return poll(p, 1, 0); }",
    "read": "#include <unistd.h>\nlong f(char *p) { return read(0, p, 1); }",
    "clock_gettime":
        "#include <time.h>\nint f(struct timespec *t) { return clock_gettime(0, t); }",
    "archive_read_new": "void *archive_read_new(void);\nvoid *f(void) { return archive_read_new(); }",
}


def check(tmp_path, source):
    path = tmp_path / "some.c"
    path.write_text(source)
    subprocess.run([TOP / "guest/bin/wcc", "-O1", "-c", path, "-o", tmp_path / "some.o"],
                   check=True)
    return subprocess.run([TOP / "tools/check-portable", tmp_path / "some.o"],
                          capture_output=True, text=True, check=False)


@pytest.mark.parametrize("symbol", FORBIDDEN)
def test_a_call_of_the_operating_system_is_refused(tmp_path, symbol):
    result = check(tmp_path, FORBIDDEN[symbol])
    assert result.returncode == 1
    assert f"some.o: {symbol} is not in" in result.stdout


def test_memory_and_strings_are_allowed(tmp_path):
    result = check(tmp_path, "#include <string.h>\n#include <stdlib.h>\n"
                   "char *f(const char *s) { char *p = malloc(strlen(s));\n"
                   "return memcpy(p, s, strlen(s)); }")
    assert (result.returncode, result.stdout) == (0, "")
