"""AsyncSandbox, with the real server."""

import asyncio
import inspect
import os
import signal

import pytest

from wasmsand import (AsyncProcess, AsyncSandbox, FileNotFound, Mount, Process,
                      Sandbox, SandboxClosed, SandboxError, ServerDied,
                      Timeout)
from wasmsand._aio import AsyncCommands, AsyncFiles
from wasmsand._sync import Commands, Files


def test_every_kind_of_call():
    async def main():
        async with AsyncSandbox() as sb:
            r = await sb.commands.run("x=1; echo out; exit 2")
            assert (r.stdout, r.exit_code) == ("out\n", 2)
            await sb.files.mkdir("/tmp/d")
            await sb.files.write("/tmp/d/f", "data")
            assert await sb.files.read_text("/tmp/d/f") == "data"
            assert [f.name for f in await sb.files.list("/tmp/d")] == ["f"]
            assert (await sb.files.stat("/tmp/d/f")).size == 4
            assert not await sb.files.exists("/tmp/d/g")
            await sb.files.rename("/tmp/d/f", "/tmp/d/g")
            await sb.files.chmod("/tmp/d/g", 0o600)
            await sb.files.symlink("g", "/tmp/d/l")
            await sb.files.rm("/tmp/d/l")
            with pytest.raises(FileNotFound):
                await sb.files.read("/tmp/none")
            await sb.network.set("public")
            await sb.network.deny("10.0.0.0/8")
            await sb.network.allow("x.example")
            assert await sb.network.get() == {"allow": ["public", "x.example"], "deny": ["10.0.0.0/8"]}
            address = await sb.ports.forward(8000)
            assert await sb.ports.list() == {8000: address}
            await sb.ports.unforward(8000)
            await sb.env.set("A", "b")
            assert await sb.env.get("A") == "b"
            assert (await sb.env.list())["A"] == "b"
            await sb.env.unset("A")
            assert await sb.env.get("A") is None
            before = await sb.snapshot()
            await sb.commands.run("x=2")
            await sb.restore(before)
            state = await sb.export_state()
            async with await sb.fork() as other:
                assert (await other.commands.run("echo $x")).stdout == "1\n"
                await other.reset()
                await other.import_state(state)
                assert (await other.commands.run("echo $x")).stdout == "1\n"
            async with await sb.new(label="l") as other:
                infos = await sb.list()
                assert any(i.label == "l" for i in infos)
            assert (await sb.status())["ready"]
            assert (await sb.limits())["processes"] == 64
            assert await sb.history() == ["x=1; echo out; exit 2"]
            r = await sb.commands.run(["printf", "%s", "a b"], encoding=None)
            assert r.stdout == b"a b"
            r = await sb.commands.run("echo a; echo b >&2", merge_stderr=True)
            assert r.stdout == "a\nb\n"
            assert "fileCount=100000" in repr(sb)
        assert ", closed" in repr(sb) and "not started" in repr(AsyncSandbox())
        with pytest.raises(SandboxError):
            await sb.commands.run("true")
    asyncio.run(main())


def test_sandboxes_run_side_by_side():
    async def main():
        async with AsyncSandbox() as sb:
            forks = [await sb.fork() for _ in range(4)]
            waits = [f.commands.run("read -t 0.2 <> <(:); echo done")
                     for f in forks]
            results = await asyncio.gather(*waits)
            assert [r.stdout for r in results] == ["done\n"] * 4
    asyncio.run(main())


def test_a_cancelled_task_cancels_its_command():
    async def main():
        async with AsyncSandbox() as sb:
            started = asyncio.Event()
            task = asyncio.ensure_future(sb.commands.run(
                "echo; while :; do :; done",
                on_stdout=lambda text: started.set()))
            await started.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await sb.commands.run("echo ok")).stdout == "ok\n"
    asyncio.run(main())


def test_processes():
    async def main():
        async with AsyncSandbox() as sb:
            p = await sb.commands.start("read x; echo $x; exit 3")
            await p.send_stdin("hi\n")
            assert [d async for d in p] == [("stdout", b"hi\n")]
            assert await p.wait() == 3 and not p.is_running
            p = await sb.commands.start("cat", pty=True)
            await p.resize(5, 5)
            await p.kill()
            assert await p.wait(30) == 137
    asyncio.run(main())


def test_the_rest_of_the_methods(tmp_path):
    async def main():
        (tmp_path / "in").mkdir()
        (tmp_path / "in" / "f").write_text("data")
        async with AsyncSandbox(extensions={"up": lambda args, stdin:
                                            stdin.upper()}) as sb:
            assert (await sb.commands.run("echo a | up")).stdout == "A\n"
            assert await sb.files.upload(str(tmp_path / "in"), "/tmp/up") == 1
            assert await sb.files.download("/tmp/up",
                                           str(tmp_path / "out")) == 1
            assert (tmp_path / "out" / "f").read_text() == "data"
            await sb.mount(Mount("/mnt/x", files={"a": "b"}))
            assert await sb.files.read("/mnt/x/a") == b"b"
            p = await sb.commands.start("cat; exit 4")
            await p.send_stdin(b"x" * 3_000_000)
            await p.close_stdin()
            assert sum([len(d) async for _, d in p]) == 3_000_000
            assert await p.wait() == 4
            run = asyncio.ensure_future(sb.commands.run(
                "echo; while :; do :; done",
                on_stdout=lambda text: asyncio.ensure_future(sb.cancel())))
            assert (await run).error_class == "CANCELLED"
            with pytest.raises(RuntimeError, match="use kill"):
                await sb.destroy()
        sb = await AsyncSandbox()
        fork = await sb.fork()
        await fork.destroy()
        await fork.destroy()
        with pytest.raises(SandboxClosed):
            await fork.commands.run("true")
        await sb.kill()
        await sb.kill()
    asyncio.run(main())


def test_errors():
    async def main():
        with pytest.raises(TypeError, match="timeout_ms"):
            AsyncSandbox(timeout_ms="x")
        with pytest.raises(SandboxError, match="not started"):
            await AsyncSandbox().fork()
        async with AsyncSandbox() as sb:
            with pytest.raises(TypeError, match="command"):
                await sb.commands.run(5)
            with pytest.raises(Timeout):
                await sb.commands.run("sleep 1000", timeout_ms=50, check=True)
            with pytest.raises(LookupError):
                await sb.commands.run("yes", on_stdout=lambda t: {}[t])
            assert (await sb.commands.run("echo alive")).stdout == "alive\n"
            started = asyncio.Event()
            run = asyncio.ensure_future(sb.commands.run(
                "echo; while :; do :; done",
                on_stdout=lambda text: started.set()))
            await started.wait()
            os.kill(sb._channel.connection.pid, signal.SIGKILL)
            with pytest.raises(ServerDied):
                await run
    asyncio.run(main())


@pytest.mark.parametrize("ours, theirs", [
    (Sandbox, AsyncSandbox), (Process, AsyncProcess),
    (Commands, AsyncCommands), (Files, AsyncFiles)])
def test_both_kinds_have_the_same_methods(ours, theirs):
    def parameters(kind):
        return {name: callable(value) and
                list(inspect.signature(value).parameters)
                for name, value in vars(kind).items() if name[0] != "_"}
    assert parameters(ours) == parameters(theirs)


def test_both_kinds_are_made_with_the_same_options():
    assert (list(inspect.signature(Sandbox).parameters)
            == list(inspect.signature(AsyncSandbox).parameters))


def test_variables_of_async_forks():
    async def main():
        async with AsyncSandbox(env={"A": "1"}) as sb:
            async with await sb.fork() as fork:
                await fork.env.set("A", "2")
                assert await fork.env.get("A") == "2"
            assert await sb.env.get("A") == "1"
    asyncio.run(main())
