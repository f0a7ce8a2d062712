"""Life and death of sandboxes: nothing hangs, nothing is left."""

import asyncio
import os
import select
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

from wasmsand import (AsyncSandbox, CommandFailed, Sandbox, SandboxClosed,
                      SandboxError, ServerDied)

LOOP = "echo; while :; do :; done"


def client(code):
    """A Python that says the pid of its server, and when its command runs."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait_for_end(pid):
    """Of a process that is not ours. Its pidfd is readable then."""
    try:
        fd = os.pidfd_open(int(pid))
    except ProcessLookupError:
        return
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    assert poll.poll(120_000)
    os.close(fd)


RUNS = """
    from wasmsand import Sandbox
    sb = Sandbox()
    print(sb._channel.connection.pid, flush=True)
    sb.commands.run("echo; while :; do :; done",
                    on_stdout=lambda t: print("runs", flush=True))
"""


ASYNC_RUNS = """
    import asyncio
    from wasmsand import AsyncSandbox
    async def main():
        sb = await AsyncSandbox()
        print(sb._channel.connection.pid, flush=True)
        await sb.commands.run("echo; while :; do :; done",
                              on_stdout=lambda t: print("runs", flush=True))
    asyncio.run(main())
"""


@pytest.mark.parametrize("program", [RUNS, ASYNC_RUNS])
def test_an_interrupt_from_the_terminal(program):
    with client(program) as p:
        pid, _ = p.stdout.readline(), p.stdout.readline()
        p.send_signal(signal.SIGINT)
        assert p.wait(120) == -signal.SIGINT
        assert p.stderr.read().endswith("KeyboardInterrupt\n")
        wait_for_end(pid)


@pytest.mark.parametrize("program", [RUNS, ASYNC_RUNS])
@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGKILL])
def test_a_client_that_is_killed_leaves_no_server(program, sig):
    with client(program) as p:
        pid, _ = p.stdout.readline(), p.stdout.readline()
        p.send_signal(sig)
        assert p.wait(120) == -sig
        wait_for_end(pid)


@pytest.mark.parametrize("work", [
    "sb.commands.start('sleep 1000')",
    "started = threading.Event()\n"
    "threading.Thread(target=sb.commands.run, args=['echo; sleep 1000'],"
    " kwargs={'on_stdout': lambda t: started.set()}, daemon=True).start()\n"
    "started.wait()",
    "sb.fork(); sb.fork().fork()",
    "raise SystemExit(0)",
])
def test_the_end_of_the_interpreter_leaves_no_server(work):
    code = ("import threading\nfrom wasmsand import Sandbox\nsb = Sandbox()\n"
            f"print(sb._channel.connection.pid, flush=True)\n{work}\n")
    with client(code) as p:
        pid = p.stdout.readline()
        assert p.wait(120) == 0, p.stderr.read()
        wait_for_end(pid)


def test_the_end_of_an_event_loop_leaves_no_server():
    with client("""
            import asyncio
            from wasmsand import AsyncSandbox
            async def main():
                sb = await AsyncSandbox()
                print(sb._channel.connection.pid, flush=True)
                await sb.commands.start("sleep 1000")
                await sb.fork()
            asyncio.run(main())
            """) as p:
        pid = p.stdout.readline()
        assert p.wait(30) == 0, p.stderr.read()
        wait_for_end(pid)


def test_a_keyboard_interrupt_cancels_the_run(sb):
    def interrupt(text):
        signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        sb.commands.run(LOOP, on_stdout=interrupt)
    assert sb.commands.run("echo alive").stdout == "alive\n"


def test_a_keyboard_interrupt_while_nothing_is_printed(sb):
    """The main thread waits for the answer when the signal comes."""
    process = sb.commands.start("read x")  # says when the run has begun
    watcher = threading.Thread(target=lambda: (
        process.wait(), signal.pthread_kill(threading.main_thread().ident,
                                            signal.SIGINT)))
    watcher.start()
    with pytest.raises(KeyboardInterrupt):
        sb.commands.run(f"kill {process_of(sb)}; while :; do :; done")
    watcher.join()
    assert sb.commands.run("echo alive").stdout == "alive\n"


def process_of(sb):
    return sb.commands.run("pgrep -f 'read x' | head -n 1").stdout.strip()


def test_a_killed_sandbox_is_closed():
    sb = Sandbox()
    sb.kill()
    sb.kill()
    with pytest.raises(SandboxClosed):
        sb.commands.run("true")


def test_kill_ends_a_run_of_another_thread():
    sb = Sandbox()
    started, ends = threading.Event(), []

    def work():
        try:
            r = sb.commands.run(LOOP, on_stdout=lambda t: started.set())
            ends.append(r.error_class)
        except SandboxClosed:
            ends.append("CANCELLED")
    t = threading.Thread(target=work)
    t.start()
    assert started.wait(30)
    sb.kill()
    t.join(30)
    assert ends == ["CANCELLED"]


def test_kill_in_a_callback():
    sb = Sandbox()
    with pytest.raises(SandboxError):
        sb.commands.run("while :; do echo x; done",
                        on_stdout=lambda t: sb.kill())
        sb.commands.run("true")


def test_the_servers_death_ends_all_that_waits():
    sb = Sandbox()
    fork, process = sb.fork(), sb.commands.start("sleep 1000")
    started, ends = threading.Event(), []

    def work():
        try:
            fork.commands.run(LOOP, on_stdout=lambda t: started.set())
        except ServerDied as e:
            ends.append(e)
    t = threading.Thread(target=work)
    t.start()
    assert started.wait(30)
    os.kill(sb._channel.connection.pid, signal.SIGKILL)
    t.join(30)
    assert len(ends) == 1 and "-9" in str(ends[0])
    with pytest.raises(ServerDied):
        process.wait(30)
    assert not list(process) and not process.is_running
    for call in (lambda: sb.commands.run("true"), sb.fork):
        with pytest.raises(ServerDied):
            call()
    sb.kill()


def test_the_last_words_of_a_server(tmp_path, monkeypatch):
    server = tmp_path / "server"
    server.write_text("#!/bin/sh\nread x\nseq 100 >&2\necho why >&2\nexit 3\n")
    server.chmod(0o755)
    monkeypatch.setenv("WASMSAND_SERVER", str(server))
    with pytest.raises(ServerDied, match="ended with 3") as caught:
        Sandbox()
    assert caught.value.stderr.endswith("99\n100\nwhy\n")
    assert len(caught.value.stderr.splitlines()) == 20


def test_a_server_that_is_not_there(monkeypatch):
    monkeypatch.setenv("WASMSAND_SERVER", "/no/such/server")
    with pytest.raises(FileNotFoundError, match="/no/such/server"):
        Sandbox()


def test_a_callback_that_raises_cancels_the_command(sb):
    def broken(text):
        raise LookupError(text)
    for command in ("while :; do echo x; done", "yes"):
        with pytest.raises(LookupError):
            sb.commands.run(command, on_stdout=broken)
        assert sb.commands.run("echo alive").stdout == "alive\n"


def test_a_command_of_the_host_that_ends_everything():
    with Sandbox(extensions={"end": lambda args, stdin: sb.kill()}) as sb:
        with pytest.raises(SandboxClosed):
            assert sb.commands.run("end").error_class == "CANCELLED"
            sb.commands.run("true")


def test_an_error_of_ours_in_a_callback_cancels_the_command(root, sb,
                                                            monkeypatch):
    connection, posted = sb._channel.connection, []
    post = connection.post
    monkeypatch.setattr(connection, "post", lambda *request: (
        posted.append(request[0]), post(*request)))
    with root.fork() as other, pytest.raises(CommandFailed):
        sb.commands.run("while :; do echo x; done", on_stdout=lambda t:
                        other.commands.run("false", check=True))
    assert posted == ["cancel"]
    assert sb.commands.run("echo alive").stdout == "alive\n"


def test_nothing_is_left_open():
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c",
         "from wasmsand import Sandbox\n"
         "for _ in range(3):\n"
         "    with Sandbox() as sb: sb.commands.run('true')\n"
         "sb = Sandbox()\n"], check=True, capture_output=True, text=True)
    assert done.stderr == ""


class Later:
    """A server whose answers to a method reach the client when told."""

    def __init__(self, sb, method):
        self.seen, self.go = threading.Event(), threading.Event()
        connection = sb._channel.connection
        answer, send, numbers = connection._answer, connection.send, []

        def remember(name, params, sink, number=None):
            if name == method:
                numbers.append(number)
            return send(name, params, sink, number)

        def hold(message):
            if message["id"] in numbers:
                self.seen.set()
                self.go.wait()
            answer(message)
        connection.send, connection._answer = remember, hold


@pytest.mark.parametrize("method, work", [
    ("sandbox.fork", lambda sb: sb.fork()),
    ("sandbox.create", lambda sb: sb.new()),
    ("process.start", lambda sb: sb.commands.start("sleep 1000"))])
@pytest.mark.parametrize("is_late", [True, False])
def test_what_nobody_waited_for_is_undone(method, work, is_late):
    """The interrupt comes before the answer, or before it is looked at."""
    async def main():
        async with AsyncSandbox() as sb:
            later = Later(sb, method)
            task = asyncio.ensure_future(work(sb))
            await asyncio.get_running_loop().run_in_executor(
                None, later.seen.wait)
            if not is_late:
                later.go.set()
                while sb._channel.connection._sinks:
                    pass  # and the event loop does not run
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            later.go.set()
            while await sb.list() or (await sb.status())["processes"] > 1:
                pass
    asyncio.run(main())
