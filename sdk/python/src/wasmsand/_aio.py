"""Sandboxes for asyncio: the methods of Sandbox, to be awaited."""

from __future__ import annotations

import asyncio
import copy
from typing import (Any, AsyncIterator, Dict, Generator, List, Mapping,
                    Optional, Sequence, Tuple, TypeVar)

from . import _args, _ops
from ._args import Data, HostPath
from ._errors import SandboxError
from ._ops import Extension, OnOutput, Op, Pause, Request, Step
from ._sync import _Channel, _Pending
from ._types import CommandResult, FileInfo, Mount, SandboxInfo
from ._wire import Event, Sink

T = TypeVar("T")


def _queue() -> "Tuple[asyncio.Queue[Event], Sink]":
    """A queue of this event loop, and a sink that fills it from any thread."""
    loop = asyncio.get_running_loop()
    events: "asyncio.Queue[Event]" = asyncio.Queue()

    def sink(event: Event) -> None:
        try:
            loop.call_soon_threadsafe(events.put_nowait, event)
        except RuntimeError:
            pass  # the loop was closed: nobody waits
    return events, sink


class _AsyncChannel(_Channel):
    async def ado(self, op: Op[T]) -> T:
        """Drives an operation to its end."""
        try:
            request = next(op)
            while True:
                try:
                    result = await self._atake(request)
                except SandboxError as e:
                    request = op.throw(e)
                else:
                    request = op.send(result)
        except StopIteration as end:
            value: T = end.value
            return value

    async def _atake(self, step: Step) -> Any:
        if isinstance(step, Pause):
            return await asyncio.sleep(step.seconds)
        return await self._await(step)

    async def _await(self, request: Request) -> Any:
        events, sink = _queue()
        pending = _Pending(self, request, sink)
        try:
            pending.send()
            kind, value = await events.get()
            while kind == "output":
                if request.on_output:
                    request.on_output(value)
                kind, value = await events.get()
        except BaseException:  # the task was cancelled, or a callback's own
            pending.abandon()
            raise
        if kind == "error":
            raise value
        return value


class AsyncProcess:
    """As Process; `async for` gives its output."""

    def __init__(self, channel: _AsyncChannel, process_id: int) -> None:
        self._channel = channel
        self.process_id = process_id
        self._events, sink = _queue()
        self._end: "asyncio.Future[Event]" = (
            asyncio.get_running_loop().create_future())
        channel.connection.watch(channel.sandbox_id, process_id, sink)
        ended, end_sink = _queue()
        channel.connection.send(
            "process.wait", channel.addressed({"processId": process_id}),
            end_sink)
        self._waiter = asyncio.ensure_future(self._wait_end(ended))

    async def _wait_end(self, ended: "asyncio.Queue[Event]") -> None:
        event = await ended.get()
        self._channel.connection.unwatch(self._channel.sandbox_id,
                                         self.process_id)
        self._end.set_result(event)
        self._events.put_nowait(event)

    async def __aiter__(self) -> AsyncIterator[Tuple[str, bytes]]:
        while True:
            kind, value = await self._events.get()
            if kind != "output":
                self._events.put_nowait((kind, value))
                return
            yield value["stream"], _ops.decoded(value["data"])

    async def wait(self, timeout: Optional[float] = None) -> int:
        try:
            kind, value = await asyncio.wait_for(
                asyncio.shield(self._end),
                _args.maybe_seconds("timeout", timeout))
        except asyncio.TimeoutError:  # before 3.11, not TimeoutError
            raise TimeoutError(
                f"process {self.process_id} is still running") from None
        if kind == "error":
            raise copy.copy(value)
        return int(value["exitCode"])

    @property
    def is_running(self) -> bool:
        return not self._end.done()

    async def send_stdin(self, data: Data) -> None:
        await self._channel.ado(_ops.send_stdin(self.process_id, data))

    async def close_stdin(self) -> None:
        await self._ask("process.write", eof=True)

    async def resize(self, rows: int, cols: int) -> None:
        await self._ask("process.resize", rows=_args.integer("rows", rows),
                        cols=_args.integer("cols", cols))

    async def kill(self, signal: int = 9) -> None:
        await self._ask("process.kill", signal=_args.integer("signal", signal))

    async def _ask(self, method: str, **params: Any) -> None:
        await self._channel.ado(_ops.ask(method, processId=self.process_id,
                                         **params))


class AsyncCommands:
    def __init__(self, channel: _AsyncChannel) -> None:
        self._channel = channel

    async def run(self, command: str, *, stdin: Optional[Data] = None,
                  env: Optional[Mapping[str, str]] = None,
                  cwd: Optional[str] = None, timeout_ms: Optional[int] = None,
                  on_stdout: Optional[OnOutput] = None,
                  on_stderr: Optional[OnOutput] = None,
                  check: bool = False) -> CommandResult:
        return await self._channel.ado(_ops.run(
            command, stdin=stdin, env=env, cwd=cwd, timeout_ms=timeout_ms,
            on_stdout=on_stdout, on_stderr=on_stderr, check=check))

    async def start(self, command: Optional[str] = None, *, pty: bool = False,
                    rows: int = 24, cols: int = 80,
                    env: Optional[Mapping[str, str]] = None,
                    cwd: Optional[str] = None) -> AsyncProcess:
        number = await self._channel.ado(_ops.start(
            command, pty=pty, rows=rows, cols=cols, env=env, cwd=cwd))
        return AsyncProcess(self._channel, number)


class AsyncFiles:
    def __init__(self, channel: _AsyncChannel) -> None:
        self._channel = channel

    async def read(self, path: str) -> bytes:
        return await self._channel.ado(_ops.read(path))

    async def read_text(self, path: str, encoding: str = "utf-8") -> str:
        return (await self.read(path)).decode(encoding)

    async def write(self, path: str, data: Data,
                    mode: Optional[int] = None) -> None:
        await self._channel.ado(_ops.write(path, data, mode))

    async def list(self, path: str) -> List[FileInfo]:
        return await self._channel.ado(_ops.list_dir(path))

    async def stat(self, path: str) -> FileInfo:
        return await self._channel.ado(_ops.stat(path))

    async def exists(self, path: str) -> bool:
        return await self._channel.ado(_ops.exists(path))

    async def mkdir(self, path: str, recursive: bool = False) -> None:
        await self._channel.ado(_ops.mkdir(path, recursive))

    async def rm(self, path: str, recursive: bool = False) -> None:
        await self._channel.ado(_ops.rm(path, recursive))

    async def rename(self, source: str, target: str) -> None:
        await self._channel.ado(_ops.rename(source, target))

    async def chmod(self, path: str, mode: int) -> None:
        await self._channel.ado(_ops.chmod(path, mode))

    async def symlink(self, target: str, path: str) -> None:
        await self._channel.ado(_ops.symlink(target, path))

    async def upload(self, host_dir: HostPath, path: str) -> int:
        return await self._channel.ado(_ops.upload(host_dir, path))

    async def download(self, path: str, host_dir: HostPath) -> int:
        return await self._channel.ado(_ops.download(path, host_dir))


class AsyncEnv:
    """The variables that the shell exports."""

    def __init__(self, channel: _AsyncChannel) -> None:
        self._channel = channel

    async def get(self, name: str) -> Optional[str]:
        result = await self._channel.ado(_ops.ask(
            "env.get", name=_args.text("name", name)))
        value: Optional[str] = result["value"]
        return value

    async def set(self, name: str, value: str) -> None:
        await self._channel.ado(_ops.ask(
            "env.set", name=_args.text("name", name),
            value=_args.text("value", value)))

    async def unset(self, name: str) -> None:
        await self._channel.ado(_ops.ask("env.unset",
                                         name=_args.text("name", name)))

    async def list(self) -> Dict[str, str]:
        return dict((await self._channel.ado(_ops.ask("env.list")))["env"])


class AsyncSandbox:
    """As Sandbox; `async with AsyncSandbox() as sb`, or `await AsyncSandbox()`,
    starts it."""

    commands: AsyncCommands
    files: AsyncFiles
    env: AsyncEnv

    def __init__(self, *, timeout_ms: Optional[int] = None,
                 fs_limit_bytes: Optional[int] = None,
                 limits: Optional[Mapping[str, int]] = None,
                 mounts: Sequence[Mount] = (),
                 env: Optional[Mapping[str, str]] = None,
                 tools_dir: Optional[HostPath] = None,
                 writable_paths: Optional[List[str]] = None,
                 allow_tools: Optional[List[str]] = None,
                 seed: Optional[int] = None, clock_ms: Optional[int] = None,
                 extensions: Optional[Mapping[str, Extension]] = None) -> None:
        self._params = _ops.create(
            timeout_ms=timeout_ms, fs_limit_bytes=fs_limit_bytes,
            limits=limits, mounts=mounts, env=env, tools_dir=tools_dir,
            writable_paths=writable_paths, allow_tools=allow_tools, seed=seed,
            clock_ms=clock_ms, extensions=extensions)
        self._extensions = extensions
        self._channel: Optional[_AsyncChannel] = None

    def __await__(self) -> Generator[Any, None, "AsyncSandbox"]:
        return self.__aenter__().__await__()

    async def _start(self) -> None:
        connection = _ops.connect(self._params, self._extensions)
        self._attach(_AsyncChannel(connection, None))
        try:
            await self._do(_ops.ask("create", **self._params))
        except BaseException:
            connection.close()
            raise

    def _attach(self, channel: _AsyncChannel) -> None:
        self._channel = channel
        self.commands = AsyncCommands(channel)
        self.files = AsyncFiles(channel)
        self.env = AsyncEnv(channel)

    async def _do(self, op: Op[T]) -> T:
        if not self._channel:
            raise SandboxError("not started: use `async with`, or await it")
        return await self._channel.ado(op)

    def _other(self, sandbox_id: str) -> "AsyncSandbox":
        assert self._channel
        sb = type(self).__new__(type(self))
        sb._attach(_AsyncChannel(self._channel.connection, sandbox_id))
        return sb

    @property
    def sandbox_id(self) -> Optional[str]:
        return self._channel.sandbox_id if self._channel else None

    async def run_python(self, code: str, *, stdin: Optional[Data] = None,
                         env: Optional[Mapping[str, str]] = None,
                         cwd: Optional[str] = None,
                         timeout_ms: Optional[int] = None,
                         on_stdout: Optional[OnOutput] = None,
                         on_stderr: Optional[OnOutput] = None,
                         check: bool = False) -> CommandResult:
        return await self._do(_ops.run_python(
            code, stdin=stdin, env=env, cwd=cwd, timeout_ms=timeout_ms,
            on_stdout=on_stdout, on_stderr=on_stderr, check=check))

    async def fork(self) -> "AsyncSandbox":
        return self._other(await self._do(_ops.fork()))

    async def new(self, label: Optional[str] = None) -> "AsyncSandbox":
        return self._other(await self._do(_ops.new(label)))

    async def list(self) -> List[SandboxInfo]:
        return await self._do(_ops.sandboxes())

    async def snapshot(self) -> str:
        return str((await self._do(_ops.ask("snapshot.create")))["id"])

    async def restore(self, snapshot_id: str) -> None:
        await self._do(_ops.restore(snapshot_id))

    async def snapshots(self) -> List[str]:
        return await self._do(_ops.snapshots())

    async def delete_snapshot(self, snapshot_id: str) -> None:
        await self._do(_ops.delete_snapshot(snapshot_id))

    async def export_state(self) -> bytes:
        return await self._do(_ops.export_state())

    async def import_state(self, state: bytes) -> None:
        await self._do(_ops.import_state(state))

    async def mount(self, mount: Mount) -> None:
        await self._do(_ops.ask("mount",
                                **_args.mount_of_files("mount", mount)))

    async def reset(self) -> None:
        await self._do(_ops.ask("sandbox.reset"))

    async def history(self) -> List[str]:
        result = await self._do(_ops.ask("shell.history.list"))
        return [e["command"] for e in result["entries"]]

    async def status(self) -> Dict[str, Any]:
        return dict(await self._do(_ops.ask("status")))

    async def limits(self) -> Dict[str, Any]:
        return dict(await self._do(_ops.ask("limits.get")))

    async def cancel(self) -> None:
        await self._do(_ops.ask("cancel"))

    async def destroy(self) -> None:
        if self.sandbox_id is None:
            raise RuntimeError(
                "Cannot destroy root sandbox; use kill() instead")
        assert self._channel
        if not self._channel.is_closed:
            await self._do(_ops.ask("sandbox.destroy"))
            self._channel.is_closed = True

    async def kill(self) -> None:
        if self._channel:
            await asyncio.get_running_loop().run_in_executor(
                None, self._channel.connection.close)

    async def __aenter__(self) -> "AsyncSandbox":
        if not self._channel:
            await self._start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self.sandbox_id is None:
            await self.kill()
            return
        try:
            await self.destroy()
        except SandboxError:
            pass
