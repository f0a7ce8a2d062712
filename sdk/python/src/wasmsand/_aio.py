"""Sandboxes for asyncio, with the methods of Sandbox as coroutines."""

from __future__ import annotations

import asyncio
import copy
import time
from typing import (Any, AsyncIterator, Callable, Dict, Generator, List,
                    Mapping, Optional, Sequence, Tuple, TypeVar, Union, overload)

from . import _args, _ops
from ._args import Command, Data, HostPath
from ._errors import SandboxError
from ._ops import (AnyResult, Extension, OnBytes, OnOutput, OnText, Op, Pause,
                   Request, Step)
from ._output import LATER, Later, Output
from ._sync import (Text, _Channel, _Pending, end_of, leave, still_running)
from ._types import (BytesResult, CommandResult, Execution, FileInfo, Mount,
                     Network, SandboxInfo)

T = TypeVar("T")


def _waker(wake: Callable[[], None]) -> Callable[[], None]:
    """Returns a function, for any thread, that makes this event loop call
    wake(). Several calls may be combined into one, so that a busy loop does
    not accumulate them."""
    loop = asyncio.get_running_loop()
    is_due = False

    def call() -> None:
        nonlocal is_due
        is_due = False
        wake()

    def call_soon() -> None:
        nonlocal is_due
        if is_due:
            return
        is_due = True
        try:
            loop.call_soon_threadsafe(call)
        except RuntimeError:
            pass  # the loop was closed: nobody waits
    return call_soon


class _Signal:
    """An Output for the tasks of this event loop, with the event that wakes
    them."""

    def __init__(self) -> None:
        self._changed = asyncio.Event()
        self.output = Output(_waker(self._changed.set))

    async def until(self, ready: "Callable[[], Union[T, Later]]",
                    seconds: Optional[float],
                    give_back: Callable[[], None]) -> T:
        """Waits until ready() returns a value other than LATER, and returns
        it. Raises TimeoutError."""
        over = None if seconds is None else time.monotonic() + seconds
        while True:
            self._changed.clear()
            value = ready()
            give_back()
            if not isinstance(value, Later):
                return value
            left = None if over is None else over - time.monotonic()
            try:
                await asyncio.wait_for(self._changed.wait(), left)
            except asyncio.TimeoutError:  # before 3.11, not TimeoutError
                raise TimeoutError from None

    async def next(self, give_back: Callable[[], None]) -> \
            Optional[Tuple[str, bytes]]:
        """Returns the next piece, or None at the end. Other tasks get their
        chance, even if the guest writes faster than the caller reads."""
        await asyncio.sleep(0)
        return await self.until(self.output.next, None, give_back)


class _AsyncChannel(_Channel):
    async def ado(self, op: Op[T]) -> T:
        """Runs an operation to its end."""
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
        signal = _Signal()
        output = signal.output
        pending = _Pending(self, request, output.sink)
        give_back = self.giver(output, requestId=pending.number)
        try:
            pending.send()
            while request.on_output:
                piece = await signal.next(give_back)
                if not piece:
                    break
                request.on_output(*piece)
            kind, value = await signal.until(output.result, None, give_back)
        except BaseException:  # the task was cancelled, or a callback's own
            pending.abandon()
            raise
        if kind == "error":
            raise value
        return value


class AsyncProcess:
    """Like Process; `async for` returns its output."""

    def __init__(self, channel: _AsyncChannel, process_id: int,
                 signal: _Signal) -> None:
        self._channel = channel
        self.process_id = process_id
        self._signal = signal
        self._output = signal.output
        self._give_back = channel.giver(self._output, processId=process_id)
        channel.connection.send(
            "process.wait", channel.addressed({"processId": process_id}),
            end_of(channel, process_id, self._output))

    def __del__(self) -> None:
        if self.is_running:
            leave(self._channel, self.process_id, self._output)

    @property
    def dropped_bytes(self) -> int:
        return self._output.dropped_bytes

    async def __aiter__(self) -> AsyncIterator[Tuple[str, bytes]]:
        with self._output.reading(asyncio.current_task()):
            piece = await self._signal.next(self._give_back)
            while piece:
                yield piece
                piece = await self._signal.next(self._give_back)

    async def read(self, timeout: Optional[float] = None) -> bytes:
        seconds = _args.maybe_seconds("timeout", timeout)
        with self._output.reading(asyncio.current_task()):
            return await self._until(self._output.all, seconds)

    async def read_until(self, pattern: Text,
                         timeout: Optional[float] = None) -> bytes:
        wanted = _args.pattern("pattern", pattern)
        seconds = _args.maybe_seconds("timeout", timeout)
        with self._output.waiting(asyncio.current_task()):
            return await self._until(lambda: self._output.up_to(wanted),
                                     seconds)

    async def wait(self, timeout: Optional[float] = None) -> int:
        seconds = _args.maybe_seconds("timeout", timeout)
        with self._output.waiting(asyncio.current_task()):
            kind, value = await self._until(self._output.result, seconds)
        if kind == "error":
            raise copy.copy(value)
        return int(value["exitCode"])

    async def _until(self, ready: "Callable[[], Union[T, Later]]",
                     seconds: Optional[float]) -> T:
        try:
            return await self._signal.until(ready, seconds, self._give_back)
        except TimeoutError:
            raise TimeoutError(still_running(self.process_id, seconds)) \
                from None

    @property
    def is_running(self) -> bool:
        return self._output.result() is LATER

    async def send_stdin(self, data: Data) -> None:
        raw = _args.to_bytes("data", data)
        with self._output.waiting(asyncio.current_task(), len(raw)):
            await self._channel.ado(_ops.send_stdin(self.process_id, raw,
                                                    self._give_back))

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

    @overload
    async def run(self, command: Command, *, stdin: Optional[Data] = ...,
                  env: Optional[Mapping[str, str]] = ...,
                  cwd: Optional[str] = ...,
                  timeout_ms: Optional[int] = ...,
                  on_stdout: Optional[OnText] = ...,
                  on_stderr: Optional[OnText] = ...,
                  check: bool = ..., merge_stderr: bool = ...,
                  encoding: str = ...) -> CommandResult:
        ...

    @overload
    async def run(self, command: Command, *, stdin: Optional[Data] = ...,
                  env: Optional[Mapping[str, str]] = ...,
                  cwd: Optional[str] = ...,
                  timeout_ms: Optional[int] = ...,
                  on_stdout: Optional[OnBytes] = ...,
                  on_stderr: Optional[OnBytes] = ...,
                  check: bool = ..., merge_stderr: bool = ...,
                  encoding: None) -> BytesResult:
        ...

    async def run(self, command: Command, *, stdin: Optional[Data] = None,
                  env: Optional[Mapping[str, str]] = None,
                  cwd: Optional[str] = None,
                  timeout_ms: Optional[int] = None,
                  on_stdout: Optional[OnOutput] = None,
                  on_stderr: Optional[OnOutput] = None,
                  check: bool = False, merge_stderr: bool = False,
                  encoding: Optional[str] = "utf-8") -> AnyResult:
        return await self._channel.ado(_ops.run(
            command, stdin=stdin, env=env, cwd=cwd, timeout_ms=timeout_ms,
            on_stdout=on_stdout, on_stderr=on_stderr, check=check,
            merge_stderr=merge_stderr, encoding=encoding))

    async def start(self, command: Optional[str] = None, *, pty: bool = False,
                    rows: int = 24, cols: int = 80,
                    env: Optional[Mapping[str, str]] = None,
                    cwd: Optional[str] = None,
                    user: Optional[str] = None) -> AsyncProcess:
        signal = _Signal()
        number = await self._channel.ado(_ops.start(
            command, signal.output, pty=pty, rows=rows, cols=cols, env=env,
            cwd=cwd, user=user))
        return AsyncProcess(self._channel, number, signal)


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


class AsyncNetworking:
    """sb.network: the hosts that the sandbox may reach. Changes apply at once,
    also to a running command."""

    def __init__(self, channel: _AsyncChannel) -> None:
        self._channel = channel

    async def get(self) -> Network:
        return await self._channel.ado(_ops.network_get())

    async def set(self, policy: Network) -> None:
        """Replaces the policy. Connections that it denies are reset."""
        await self._channel.ado(_ops.network_set(policy))

    async def allow(self, *rules: str) -> None:
        await self._channel.ado(_ops.network_add("allow", rules))

    async def deny(self, *rules: str) -> None:
        """Adds rules that override all others."""
        await self._channel.ado(_ops.network_add("deny", rules))


class AsyncPorts:
    """sb.ports: servers in the sandbox that the host can connect to."""

    def __init__(self, channel: _AsyncChannel) -> None:
        self._channel = channel

    async def forward(self, port: int, *, address: Optional[str] = None,
                host_port: Optional[int] = None) -> Tuple[str, int]:
        """Forwards connections to a port of the host. Returns its address,
        127.0.0.1 unless given, and its number."""
        return await self._channel.ado(
            _ops.port_forward(port, address, host_port))

    async def unforward(self, port: int) -> None:
        """Ends a forward; its connections stay."""
        await self._channel.ado(_ops.ask(
            "port.unforward", port=_args.integer("port", port)))

    async def list(self) -> Dict[int, Tuple[str, int]]:
        """Returns the addresses of the host by port of the sandbox."""
        return await self._channel.ado(_ops.port_list())


class AsyncContext:
    """Like Context."""

    def __init__(self, channel: _AsyncChannel, context_id: int) -> None:
        self._channel = channel
        self.context_id = context_id

    async def run(self, code: str, *, timeout_ms: Optional[int] = None,
                  on_stdout: Optional[OnText] = None,
                  on_stderr: Optional[OnText] = None) -> Execution:
        return await self._channel.ado(_ops.code_run(
            code, self.context_id, timeout_ms=timeout_ms, on_stdout=on_stdout,
            on_stderr=on_stderr))

    async def interrupt(self) -> None:
        await self._ask("code.interrupt")

    async def restart(self) -> None:
        await self._ask("code.restart")

    async def remove(self) -> None:
        await self._ask("code.remove")

    async def _ask(self, method: str) -> None:
        await self._channel.ado(_ops.ask(method, contextId=self.context_id))


class AsyncCode(AsyncContext):
    """Like Code."""

    def __init__(self, channel: _AsyncChannel) -> None:
        super().__init__(channel, 0)

    async def create(self, *, cwd: Optional[str] = None,
                     env: Optional[Mapping[str, str]] = None) -> AsyncContext:
        return AsyncContext(self._channel, await self._channel.ado(
            _ops.code_create(cwd, env)))

    async def contexts(self) -> List[Dict[str, Any]]:
        result = await self._channel.ado(_ops.ask("code.list"))
        return list(result["contexts"])


class AsyncSandbox:
    """Like Sandbox. `async with AsyncSandbox() as sb` or `await
    AsyncSandbox()` starts it."""

    commands: AsyncCommands
    files: AsyncFiles
    env: AsyncEnv
    network: AsyncNetworking
    ports: AsyncPorts
    code: AsyncCode
    _limits: Dict[str, Any]

    def __init__(self, *, timeout_ms: Optional[int] = None,
                 fs_limit_bytes: Optional[int] = None,
                 limits: Optional[Mapping[str, int]] = None,
                 mounts: Sequence[Mount] = (),
                 env: Optional[Mapping[str, str]] = None,
                 cwd: Optional[str] = None,
                 user: Optional[str] = None,
                 tools_dir: Optional[HostPath] = None,
                 writable_paths: Optional[List[str]] = None,
                 allow_tools: Optional[List[str]] = None,
                 seed: Optional[int] = None, clock_ms: Optional[int] = None,
                 extensions: Optional[Mapping[str, Extension]] = None,
                 network: Optional[Network] = None,
                 image: Optional[str] = None) -> None:
        self._params = _ops.create(
            timeout_ms=timeout_ms, fs_limit_bytes=fs_limit_bytes,
            limits=limits, mounts=mounts, env=env, cwd=cwd, user=user,
            tools_dir=tools_dir, writable_paths=writable_paths, allow_tools=allow_tools, seed=seed,
            clock_ms=clock_ms, extensions=extensions, network=network,
            image=image)
        self._extensions = extensions
        self._channel: Optional[_AsyncChannel] = None

    def __await__(self) -> Generator[Any, None, "AsyncSandbox"]:
        return self.__aenter__().__await__()

    async def _start(self) -> None:
        lease = _ops.connect(self._params, self._extensions)
        self._attach(_AsyncChannel(lease, None))
        try:
            self._limits = await self._do(_ops.make(self._params))
        except BaseException:
            lease.connection.close()
            raise

    def _attach(self, channel: _AsyncChannel) -> None:
        self._channel = channel
        self._limits = {}
        self.commands = AsyncCommands(channel)
        self.files = AsyncFiles(channel)
        self.env = AsyncEnv(channel)
        self.network = AsyncNetworking(channel)
        self.ports = AsyncPorts(channel)
        self.code = AsyncCode(channel)

    async def _do(self, op: Op[T]) -> T:
        if not self._channel:
            raise SandboxError("not started: use `async with`, or await it")
        return await self._channel.ado(op)

    async def _other(self, op: Op[str]) -> "AsyncSandbox":
        sandbox_id = await self._do(op)
        assert self._channel
        sb = type(self).__new__(type(self))
        sb._attach(self._channel.beside(sandbox_id))
        sb._limits = self._limits
        return sb

    def __repr__(self) -> str:
        if not self._channel:
            return "<AsyncSandbox, not started>"
        return self._channel.describe("AsyncSandbox", self._limits)

    @property
    def sandbox_id(self) -> Optional[str]:
        return self._channel.sandbox_id if self._channel else None

    async def run_python(self, code: str, *, stdin: Optional[Data] = None,
                         env: Optional[Mapping[str, str]] = None,
                         cwd: Optional[str] = None,
                         timeout_ms: Optional[int] = None,
                         on_stdout: Optional[OnText] = None,
                         on_stderr: Optional[OnText] = None,
                         check: bool = False) -> CommandResult:
        return await self._do(_ops.run_python(
            code, stdin=stdin, env=env, cwd=cwd, timeout_ms=timeout_ms,
            on_stdout=on_stdout, on_stderr=on_stderr, check=check))

    async def fork(self) -> "AsyncSandbox":
        return await self._other(_ops.fork())

    async def new(self, label: Optional[str] = None, *,
                  image: Optional[str] = None) -> "AsyncSandbox":
        return await self._other(_ops.new(label, image))

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
            self._channel.close()

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
