"""run_python, with the real server."""

import asyncio
import signal

import pytest

from wasmsand import AsyncSandbox, CommandFailed, Sandbox, Timeout


def test_output_and_exit_code(sb):
    r = sb.run_python("import sys\nprint('out')\nprint('err', file=sys.stderr)\n"
                      "sys.exit(3)")
    assert (r.stdout, r.stderr, r.exit_code) == ("out\n", "err\n", 3)


def test_a_traceback_shows_the_lines(sb):
    r = sb.run_python("def f():\n    return 1 / 0  # here\nf()\n")
    assert r.exit_code == 1
    assert "return 1 / 0  # here" in r.stderr
    assert r.stderr.endswith("ZeroDivisionError: division by zero\n")
    with pytest.raises(CommandFailed, match="ZeroDivisionError"):
        sb.run_python("1 / 0", check=True)


def test_input_variables_folder_and_time_limit(sb):
    r = sb.run_python("import os, sys\nprint(sys.stdin.read(), os.environ['A'],"
                      " os.getcwd())", stdin="in", env={"A": "b"}, cwd="/usr")
    assert r.stdout == "in b /usr\n"
    r = sb.run_python("while True: pass", timeout_ms=100)
    assert (r.exit_code, r.error_class) == (124, "TIMEOUT")
    with pytest.raises(Timeout):
        sb.run_python("while True: pass", timeout_ms=100, check=True)


def test_output_comes_while_it_runs(sb):
    texts = []
    r = sb.run_python("for i in range(3): print(i, flush=True)",
                      on_stdout=texts.append)
    assert "".join(texts) == r.stdout == "0\n1\n2\n"


def test_code_of_any_size_and_bytes(sb):
    code = f"x = {'é' * 3_000_000!r}\nprint(len(x))"
    assert sb.run_python(code).stdout == "3000000\n"
    r = sb.run_python("import sys; sys.stdout.buffer.write(bytes([255, 0]))")
    assert r.stdout_bytes == b"\xff\0"


def test_files_stay_between_runs(sb):
    sb.run_python("open('/tmp/data', 'w').write('kept')", check=True)
    assert sb.run_python("print(open('/tmp/data').read())").stdout == "kept\n"


def test_nothing_of_it_is_left(sb):
    def interrupt(text):
        signal.raise_signal(signal.SIGINT)
    sb.run_python("print(1)")
    sb.run_python("1 / 0")
    sb.run_python("while True: pass", timeout_ms=50)
    with pytest.raises(KeyboardInterrupt):
        sb.run_python("print(1, flush=True)\nwhile True: pass",
                      on_stdout=interrupt)
    # The clean-up of the last one was sent, but nobody waited for it.
    while sb.files.list("/tmp"):
        pass


CHANCE = """
import os, random, secrets, ssl, tempfile, uuid
for value in (random.random(), random.getrandbits(64), uuid.uuid4(),
              secrets.token_hex(8), os.urandom(8), ssl.RAND_bytes(8),
              tempfile.mktemp()):
    print(value)
"""


def assert_all_differ(texts):
    for values in zip(*(text.splitlines() for text in texts)):
        assert len(set(values)) == len(texts), values
    assert all(text.count("\n") == 7 for text in texts)


def test_chance_is_that_of_the_process_and_of_the_fork(sb):
    before = sb.snapshot()
    texts = [sb.run_python(CHANCE, check=True).stdout for _ in range(2)]
    with sb.fork() as a, sb.fork() as b:
        texts += [f.run_python(CHANCE, check=True).stdout for f in (a, b)]
    for _ in range(2):
        sb.restore(before)
        texts.append(sb.run_python(CHANCE, check=True).stdout)
    assert_all_differ(texts)


def test_chance_can_be_given():
    texts = []
    for seed in (5, 5, 6):
        with Sandbox(seed=seed) as sb:
            texts.append(sb.run_python("import random; print(random.random())",
                                       check=True).stdout)
    assert texts[0] == texts[1] != texts[2]


def test_modules_beside_each_other(sb):
    sb.files.mkdir("/workspace/lib", recursive=True)
    sb.files.write("/workspace/lib/mine.py", "x = 5\n")
    r = sb.run_python("import sys; sys.path.insert(0, '/workspace/lib')\n"
                      "import mine; print(mine.x)")
    assert r.stdout == "5\n"


def test_async():
    async def main():
        async with AsyncSandbox() as sb:
            r = await sb.run_python("print(input())", stdin="a\n")
            assert r.stdout == "a\n"
            with pytest.raises(CommandFailed):
                await sb.run_python("1 / 0", check=True)
            assert await sb.files.list("/tmp") == []
    asyncio.run(main())
