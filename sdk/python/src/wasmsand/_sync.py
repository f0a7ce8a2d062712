"""Sandboxes for callers that wait."""

from __future__ import annotations

import copy
import queue
import threading
import time
from typing import (Any, Dict, Iterator, List, Mapping, MutableMapping,
                    Optional, Sequence, Tuple, TypeVar)

from . import _args, _ops
from ._args import Data, HostPath
from ._errors import SandboxClosed, SandboxError
from ._ops import Extension, OnOutput, Op, Pause, Request, Step
from ._types import CommandResult, FileInfo, Mount, SandboxInfo
from ._wire import Connection, Event, Sink

T = TypeVar("T")


class _Pending:
    """A request under way. If its caller gives it up, it is cancelled, and what
    it has done is undone when it is answered."""

    def __init__(self, channel: "_Channel", request: Request,
                 sink: Sink) -> None:
        self._channel = channel
        self._request = request
        self._sink = sink
        self._number = channel.connection.new_id()
        self._writer: Optional[threading.Thread] = None
        self._lock = threading.Lock()  # guards what follows
        self._answer: Optional[Event] = None
        self._is_abandoned = False

    def send(self) -> None:
        self._writer = self._channel.connection.send(
            self._request.method, self._channel.addressed(self._request.params),
            self._take, self._number)

    def abandon(self) -> None:
        """Does not wait for anything."""
        with self._lock:
            self._is_abandoned = True
            answer = self._answer
        self._post(Request("cancel", {"requestId": self._number}))
        if answer:
            self._undo(answer)

    def _take(self, event: Event) -> None:
        with self._lock:
            if event[0] != "output":
                self._answer = event
            is_abandoned = self._is_abandoned
        if not is_abandoned:
            self._sink(event)
        elif event[0] != "output":
            self._undo(event)

    def _undo(self, answer: Event) -> None:
        kind, value = answer
        undo = self._request.undo
        request = undo(value if kind == "done" else None) if undo else None
        if request:
            self._post(request)

    def _post(self, request: Request) -> None:
        self._channel.connection.post(
            request.method, self._channel.for_it(request.params), self._writer)


class _Channel:
    """A connection and the sandbox on it that requests are for."""

    def __init__(self, connection: Connection,
                 sandbox_id: Optional[str]) -> None:
        self.connection = connection
        self.sandbox_id = sandbox_id
        self.is_closed = False

    def addressed(self, params: Dict[str, Any]) -> Dict[str, Any]:
        if self.is_closed:
            raise SandboxClosed("the sandbox was destroyed")
        return self.for_it(params)

    def for_it(self, params: Dict[str, Any]) -> Dict[str, Any]:
        """For this sandbox, unless they name another."""
        if self.sandbox_id is not None:
            params.setdefault("sandboxId", self.sandbox_id)
        return params

    def do(self, op: Op[T]) -> T:
        """Drives an operation to its end."""
        try:
            request = next(op)
            while True:
                try:
                    result = self._take(request)
                except SandboxError as e:
                    request = op.throw(e)
                else:
                    request = op.send(result)
        except StopIteration as end:
            value: T = end.value
            return value

    def _take(self, step: Step) -> Any:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        return self._wait(step)

    def _wait(self, request: Request) -> Any:
        events: "queue.SimpleQueue[Event]" = queue.SimpleQueue()
        pending = _Pending(self, request, events.put)
        try:
            pending.send()
            kind, value = events.get()
            while kind == "output":
                if request.on_output:
                    request.on_output(value)
                kind, value = events.get()
        except BaseException:  # KeyboardInterrupt, or a callback's own
            pending.abandon()
            raise
        if kind == "error":
            raise value
        return value


class Process:
    """A command that runs beside others, as Commands.start gives it.

    Iterating gives ("stdout" or "stderr", bytes) until it has ended."""

    def __init__(self, channel: _Channel, process_id: int) -> None:
        self._channel = channel
        self.process_id = process_id
        self._events: "queue.SimpleQueue[Event]" = queue.SimpleQueue()
        self._ended = threading.Event()
        self._result: Event = ("done", {})
        channel.connection.watch(channel.sandbox_id, process_id,
                                 self._events.put)
        channel.connection.send(
            "process.wait", channel.addressed({"processId": process_id}),
            self._end)

    def _end(self, event: Event) -> None:
        self._channel.connection.unwatch(self._channel.sandbox_id,
                                         self.process_id)
        self._result = event
        self._ended.set()
        self._events.put(event)

    def __iter__(self) -> Iterator[Tuple[str, bytes]]:
        while True:
            kind, value = self._events.get()
            if kind == "output":
                yield value["stream"], _ops.decoded(value["data"])
                continue
            self._events.put((kind, value))
            return

    def wait(self, timeout: Optional[float] = None) -> int:
        """Its exit code; TimeoutError if it runs longer than that."""
        if not self._ended.wait(_args.maybe_seconds("timeout", timeout)):
            raise TimeoutError(f"process {self.process_id} is still running")
        kind, value = self._result
        if kind == "error":
            raise copy.copy(value)
        return int(value["exitCode"])

    @property
    def is_running(self) -> bool:
        return not self._ended.is_set()

    def send_stdin(self, data: Data) -> None:
        """Waits, as for a full pipe, if it has not read what came before."""
        self._channel.do(_ops.send_stdin(self.process_id, data))

    def close_stdin(self) -> None:
        self._ask("process.write", eof=True)

    def resize(self, rows: int, cols: int) -> None:
        self._ask("process.resize", rows=_args.integer("rows", rows),
                  cols=_args.integer("cols", cols))

    def kill(self, signal: int = 9) -> None:
        """Sends a signal to it and to all that it has started."""
        self._ask("process.kill", signal=_args.integer("signal", signal))

    def _ask(self, method: str, **params: Any) -> None:
        self._channel.do(_ops.ask(method, processId=self.process_id, **params))


class Commands:
    """sb.commands"""

    def __init__(self, channel: _Channel) -> None:
        self._channel = channel

    def run(self, command: str, *, stdin: Optional[Data] = None,
            env: Optional[Mapping[str, str]] = None,
            cwd: Optional[str] = None, timeout_ms: Optional[int] = None,
            on_stdout: Optional[OnOutput] = None,
            on_stderr: Optional[OnOutput] = None,
            check: bool = False) -> CommandResult:
        """Runs a command in the sandbox's shell, to its end. env, cwd and
        timeout_ms are for this command alone. With check, an exit code other
        than 0 raises CommandFailed, or Timeout."""
        return self._channel.do(_ops.run(
            command, stdin=stdin, env=env, cwd=cwd, timeout_ms=timeout_ms,
            on_stdout=on_stdout, on_stderr=on_stderr, check=check))

    def start(self, command: Optional[str] = None, *, pty: bool = False,
              rows: int = 24, cols: int = 80,
              env: Optional[Mapping[str, str]] = None,
              cwd: Optional[str] = None) -> Process:
        """Starts a bash of its own for the command (with pty, without one:
        an interactive shell) and does not wait for it."""
        number = self._channel.do(_ops.start(
            command, pty=pty, rows=rows, cols=cols, env=env, cwd=cwd))
        return Process(self._channel, number)


class Files:
    """sb.files: paths are absolute, in the sandbox."""

    def __init__(self, channel: _Channel) -> None:
        self._channel = channel

    def read(self, path: str) -> bytes:
        return self._channel.do(_ops.read(path))

    def read_text(self, path: str, encoding: str = "utf-8") -> str:
        return self.read(path).decode(encoding)

    def write(self, path: str, data: Data,
              mode: Optional[int] = None) -> None:
        """Writes a file as a whole; its folder must be there."""
        self._channel.do(_ops.write(path, data, mode))

    def list(self, path: str) -> List[FileInfo]:
        return self._channel.do(_ops.list_dir(path))

    def stat(self, path: str) -> FileInfo:
        return self._channel.do(_ops.stat(path))

    def exists(self, path: str) -> bool:
        return self._channel.do(_ops.exists(path))

    def mkdir(self, path: str, recursive: bool = False) -> None:
        self._channel.do(_ops.mkdir(path, recursive))

    def rm(self, path: str, recursive: bool = False) -> None:
        self._channel.do(_ops.rm(path, recursive))

    def rename(self, source: str, target: str) -> None:
        self._channel.do(_ops.rename(source, target))

    def chmod(self, path: str, mode: int) -> None:
        self._channel.do(_ops.chmod(path, mode))

    def symlink(self, target: str, path: str) -> None:
        self._channel.do(_ops.symlink(target, path))

    def upload(self, host_dir: HostPath, path: str) -> int:
        """Copies a folder of the host, without symbolic links, into the
        sandbox; the number of files."""
        return self._channel.do(_ops.upload(host_dir, path))

    def download(self, path: str, host_dir: HostPath) -> int:
        """Copies a folder of the sandbox, without symbolic links, to the
        host; the number of files."""
        return self._channel.do(_ops.download(path, host_dir))


class Env(MutableMapping[str, str]):
    """sb.env: the variables that the shell exports."""

    def __init__(self, channel: _Channel) -> None:
        self._channel = channel

    def _all(self) -> Dict[str, str]:
        result = self._channel.do(_ops.ask("env.list"))
        return dict(result["env"])

    def __getitem__(self, name: str) -> str:
        value = self._channel.do(_ops.ask(
            "env.get", name=_args.text("name", name)))["value"]
        if value is None:
            raise KeyError(name)
        return str(value)

    def __setitem__(self, name: str, value: str) -> None:
        self._channel.do(_ops.ask("env.set", name=_args.text("name", name),
                                  value=_args.text("value", value)))

    def __delitem__(self, name: str) -> None:
        self[name]  # KeyError
        self._channel.do(_ops.ask("env.unset", name=name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


class Sandbox:
    """A computer for code that is not trusted.

    The first one starts a server, which ends with it (kill, or the end of a
    `with` block); forks and those of new() live on the same server. All
    methods may be called from any thread; calls on one sandbox are served in
    order, different sandboxes side by side."""

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
        params = _ops.create(
            timeout_ms=timeout_ms, fs_limit_bytes=fs_limit_bytes,
            limits=limits, mounts=mounts, env=env, tools_dir=tools_dir,
            writable_paths=writable_paths, allow_tools=allow_tools, seed=seed,
            clock_ms=clock_ms, extensions=extensions)
        connection = _ops.connect(params, extensions)
        self._attach(_Channel(connection, None))
        try:
            self._channel.do(_ops.ask("create", **params))
        except BaseException:
            connection.close()
            raise

    def _attach(self, channel: _Channel) -> None:
        self._channel = channel
        self.commands = Commands(channel)
        self.files = Files(channel)
        self.env = Env(channel)

    @classmethod
    def _on(cls, connection: Connection, sandbox_id: str) -> "Sandbox":
        sb = cls.__new__(cls)
        sb._attach(_Channel(connection, sandbox_id))
        return sb

    @property
    def sandbox_id(self) -> Optional[str]:
        """None for the root sandbox of a server."""
        return self._channel.sandbox_id

    def run_python(self, code: str, *, stdin: Optional[Data] = None,
                   env: Optional[Mapping[str, str]] = None,
                   cwd: Optional[str] = None,
                   timeout_ms: Optional[int] = None,
                   on_stdout: Optional[OnOutput] = None,
                   on_stderr: Optional[OnOutput] = None,
                   check: bool = False) -> CommandResult:
        """Runs a Python program in the sandbox."""
        return self._channel.do(_ops.run_python(
            code, stdin=stdin, env=env, cwd=cwd, timeout_ms=timeout_ms,
            on_stdout=on_stdout, on_stderr=on_stderr, check=check))

    def fork(self) -> "Sandbox":
        """A copy with the same files, shell and limits, in microseconds."""
        return self._on(self._channel.connection,
                        self._channel.do(_ops.fork()))

    def new(self, label: Optional[str] = None) -> "Sandbox":
        """A fresh sandbox on the same server, with the options of the first."""
        return self._on(self._channel.connection,
                        self._channel.do(_ops.new(label)))

    def list(self) -> List[SandboxInfo]:
        """The other sandboxes of this server."""
        return self._channel.do(_ops.sandboxes())

    def snapshot(self) -> str:
        return str(self._channel.do(_ops.ask("snapshot.create"))["id"])

    def restore(self, snapshot_id: str) -> None:
        self._channel.do(_ops.restore(snapshot_id))

    def snapshots(self) -> List[str]:
        """Those that are kept, the oldest first."""
        return self._channel.do(_ops.snapshots())

    def delete_snapshot(self, snapshot_id: str) -> None:
        """Makes room for another: limits()["snapshots"] are kept at most."""
        self._channel.do(_ops.delete_snapshot(snapshot_id))

    def export_state(self) -> bytes:
        """All that was changed, as a tar."""
        return self._channel.do(_ops.export_state())

    def import_state(self, state: bytes) -> None:
        self._channel.do(_ops.import_state(state))

    def mount(self, mount: Mount) -> None:
        """Files given by the caller, as a folder of the sandbox."""
        self._channel.do(_ops.ask("mount",
                                  **_args.mount_of_files("mount", mount)))

    def reset(self) -> None:
        """The state at the beginning."""
        self._channel.do(_ops.ask("sandbox.reset"))

    def history(self) -> List[str]:
        result = self._channel.do(_ops.ask("shell.history.list"))
        return [e["command"] for e in result["entries"]]

    def status(self) -> Dict[str, Any]:
        return dict(self._channel.do(_ops.ask("status")))

    def limits(self) -> Dict[str, Any]:
        return dict(self._channel.do(_ops.ask("limits.get")))

    def cancel(self) -> None:
        """Ends the command that another thread runs here."""
        self._channel.do(_ops.ask("cancel"))

    def destroy(self) -> None:
        """Ends a fork, or one of new(). Once more is fine."""
        if self._channel.sandbox_id is None:
            raise RuntimeError(
                "Cannot destroy root sandbox; use kill() instead")
        if not self._channel.is_closed:
            self._channel.do(_ops.ask("sandbox.destroy"))
            self._channel.is_closed = True

    def kill(self) -> None:
        """Ends the server with all its sandboxes. Once more is fine."""
        self._channel.connection.close()

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *exc: object) -> None:
        if self._channel.sandbox_id is None:
            self.kill()
            return
        try:
            self.destroy()
        except SandboxError:
            pass
