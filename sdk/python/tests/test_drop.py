"""Sandboxes that are dropped without being closed."""

import asyncio
import gc
import os
import select
import subprocess
import sys
import textwrap
import warnings

import pytest

from wasmsand import AsyncSandbox, Sandbox, SandboxClosed


# The thread that reads from the server may be the last to let go of an object,
# a moment after the call that it has answered: the end is awaited where its
# warning is expected.

def pidfd(sb):
    return os.pidfd_open(sb._channel.connection.pid)


def has_ended(fd, patience_ms=120_000):
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(patience_ms))


@pytest.fixture(autouse=True)
def no_rest():
    """Nothing of a test before is collected in this one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()


def test_a_dropped_sandbox_is_closed_with_a_warning():
    sb = Sandbox()
    assert sb.commands.run("echo on").ok
    fd, threads = pidfd(sb), (sb._channel.connection._reader,
                              sb._channel.connection._poster)
    with pytest.warns(ResourceWarning, match="was not closed: use `with`"):
        del sb
        assert has_ended(fd)
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    os.close(fd)


def test_a_sandbox_that_its_own_function_refers_to():
    def make():
        sb = Sandbox(extensions={"f": lambda args, stdin: repr(sb)})
        return pidfd(sb)
    fd = make()
    with pytest.warns(ResourceWarning):
        gc.collect()
        assert has_ended(fd)
    os.close(fd)


@pytest.mark.parametrize("part", ["files", "commands", "env"])
def test_a_part_of_a_sandbox_keeps_it(part):
    sb = Sandbox()
    fd = pidfd(sb)
    rest = getattr(sb, part)
    del sb
    gc.collect()
    assert not has_ended(fd, 0)
    with pytest.warns(ResourceWarning):
        del rest
        assert has_ended(fd)
    os.close(fd)


def test_a_fork_keeps_the_server():
    sb = Sandbox()
    fd, fork = pidfd(sb), sb.fork()
    del sb
    gc.collect()
    assert fork.commands.run("echo alive").stdout == "alive\n"
    other = fork.fork()
    with pytest.warns(ResourceWarning, match="Sandbox .* was not closed"):
        del fork
        while len(other.list()) > 1:
            pass
    assert other.commands.run("echo alive").stdout == "alive\n"
    with pytest.warns(ResourceWarning):
        other.destroy()
        assert has_ended(fd)
    with pytest.raises(SandboxClosed):
        other.commands.run("true")
    os.close(fd)


def test_a_process_keeps_the_server():
    sb = Sandbox()
    fd, process = pidfd(sb), sb.commands.start("read x; exit $x")
    del sb
    gc.collect()
    process.send_stdin("7\n")
    assert process.wait() == 7
    with pytest.warns(ResourceWarning):
        del process
        assert has_ended(fd)
    os.close(fd)


def test_a_dropped_fork_is_destroyed():
    with Sandbox() as sb:
        fork = sb.fork()
        fork.commands.start("yes")
        assert len(sb.list()) == 1
        with pytest.warns(ResourceWarning, match="destroy()"):
            del fork
            while sb.list():
                pass


def test_who_closes_hears_nothing():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with Sandbox() as sb:
            with sb.fork():
                pass
            fork, process = sb.fork(), sb.commands.start("sleep 1000")
        del sb, fork, process
        gc.collect()
    assert not caught


def test_an_error_for_the_warning_closes_it_all_the_same():
    code = """
        import os, select
        from wasmsand import Sandbox
        sb = Sandbox()
        fd = os.pidfd_open(sb._channel.connection.pid)
        del sb
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        assert poll.poll(120_000)
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        capture_output=True, text=True, check=True)
    assert "ResourceWarning: the Sandbox of server" in done.stderr


def test_a_child_of_fork_leaves_the_server_to_its_parent():
    sb = Sandbox()
    fork, process = sb.fork(), sb.commands.start("read x; exit $x")
    fd, pid = pidfd(sb), os.fork()
    if pid == 0:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            del sb, fork, process
            gc.collect()
        os._exit(7 + len(caught))
    assert os.waitpid(pid, 0)[1] == 7 << 8
    process.send_stdin("3\n")
    assert process.wait() == 3
    assert fork.commands.run("echo alive").stdout == "alive\n"
    with pytest.warns(ResourceWarning):
        del sb, fork, process
        assert has_ended(fd)
    os.close(fd)


def test_a_dropped_async_sandbox():
    async def main():
        sb = await AsyncSandbox()
        fd, process = pidfd(sb), await sb.commands.start("yes")
        fork = await sb.fork()
        del sb
        assert (await fork.commands.run("echo alive")).stdout == "alive\n"
        with pytest.warns(ResourceWarning):
            del process, fork
            assert has_ended(fd)
        os.close(fd)
    asyncio.run(main())


def test_an_async_sandbox_that_never_started():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        AsyncSandbox()
        gc.collect()
    assert not caught
