"""Sandboxes for callers that wait."""

from __future__ import annotations

import copy
import queue
import threading
import time
import warnings
from typing import (Any, Callable, Dict, Iterator, List, Mapping,
                    MutableMapping, Optional, Pattern, Sequence, Tuple,
                    TypeVar, Union, overload)

from . import _args, _ops
from ._args import Command, Data, HostPath
from ._errors import SandboxClosed, SandboxError
from ._ops import (AnyResult, Extension, OnBytes, OnOutput, OnText, Op, Pause,
                   Request, Step)
from ._output import LATER, Later, Output
from ._types import (BytesResult, CommandResult, FileInfo, Mount,
                     SandboxInfo)
from ._wire import Event, Lease, Sink

T = TypeVar("T")
C = TypeVar("C", bound="_Channel")
Text = Union[str, bytes, Pattern[bytes]]


class _Pending:
    """A request under way. If its caller gives it up, it is cancelled, and what
    it has done is undone when it is answered."""

    def __init__(self, channel: "_Channel", request: Request,
                 sink: Sink) -> None:
        self._channel = channel
        self._request = request
        self._sink = sink
        self.number = channel.connection.new_id()
        self._writer: Optional[threading.Thread] = None
        self._lock = threading.Lock()  # guards what follows
        self._answer: Optional[Event] = None
        self._is_abandoned = False

    def send(self) -> None:
        self._writer = self._channel.connection.send(
            self._request.method, self._channel.addressed(self._request.params),
            self._take, self.number)

    def abandon(self) -> None:
        """Does not wait for anything."""
        with self._lock:
            self._is_abandoned = True
            answer = self._answer
        self._post(Request("cancel", {"requestId": self.number}))
        if answer:
            self._undo(answer)

    def _take(self, event: Event) -> None:
        self._watch(event)
        with self._lock:
            if event[0] != "output":
                self._answer = event
            is_abandoned = self._is_abandoned
        if not is_abandoned:
            self._sink(event)
        elif event[0] != "output":
            self._undo(event)

    def _watch(self, event: Event) -> None:
        """The first output comes right behind the answer."""
        kind, value = event
        if kind == "done" and self._request.output:
            self._channel.connection.watch(
                self._channel.sandbox_id, value["processId"],
                self._request.output.sink)

    def _undo(self, answer: Event) -> None:
        kind, value = answer
        if kind == "done" and self._request.output:
            self._channel.connection.unwatch(self._channel.sandbox_id,
                                             value["processId"])
        undo = self._request.undo
        request = undo(value if kind == "done" else None) if undo else None
        if request:
            self._post(request)

    def _post(self, request: Request) -> None:
        self._channel.connection.post(
            request.method, self._channel.for_it(request.params), self._writer)


class _Channel:
    """A connection and the sandbox on it that requests are for."""

    def __init__(self, lease: Lease, sandbox_id: Optional[str]) -> None:
        self.lease: Optional[Lease] = lease
        self.connection = lease.connection
        self.sandbox_id = sandbox_id

    def beside(self: "C", sandbox_id: str) -> "C":
        """The channel to another sandbox of the same server."""
        if not self.lease:
            raise SandboxClosed("the sandbox was destroyed")
        return type(self)(self.lease, sandbox_id)

    @property
    def is_closed(self) -> bool:
        return self.lease is None

    def describe(self, kind: str, limits: Mapping[str, Any]) -> str:
        """For repr."""
        closed = self.is_closed or self.connection.is_over
        text = ", ".join(f"{name}={value}" for name, value in limits.items())
        return (f"<{kind} {self.sandbox_id or 'root'} of server "
                f"{self.connection.pid}{', closed' if closed else ''}: {text}>")

    def close(self) -> None:
        """Its sandbox was destroyed: the server need not stay for it."""
        self.lease = None

    def __del__(self) -> None:
        if self.sandbox_id is None or self.is_closed or self.connection.is_over:
            return  # the lease ends what is left of a server
        try:
            warnings.warn(f"Sandbox {self.sandbox_id} was not closed: use "
                          "`with`, or destroy()", ResourceWarning)
        finally:
            self.connection.post("sandbox.destroy",
                                 {"sandboxId": self.sandbox_id})

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
        output = Output() if request.on_output else None
        pending = _Pending(self, request, output.sink if output else events.put)
        try:
            pending.send()
            if output and request.on_output:
                events.put(self._read(output, request.on_output,
                                      pending.number))
            kind, value = events.get()
        except BaseException:  # KeyboardInterrupt, or a callback's own
            pending.abandon()
            raise
        if kind == "error":
            raise value
        return value

    def _read(self, output: Output, on_output: Callable[[str, bytes], None],
              number: int) -> Event:
        """Reads the output of a run to its end."""
        give_back = self.giver(output, requestId=number)
        piece = until(output, output.next, None, give_back)
        while piece:
            on_output(*piece)
            piece = until(output, output.next, None, give_back)
        return until(output, output.result, None, give_back)

    def giver(self, output: Output, **whose: int) -> Callable[[], None]:
        """Lets the server send more, if enough was used."""
        def give_back() -> None:
            used = output.take_used()
            if used:
                self.connection.notify("output.window",
                                       self.for_it({"bytes": used, **whose}))
        return give_back


def until(output: Output, ready: "Callable[[], Union[T, Later]]",
          seconds: Optional[float], give_back: Callable[[], None]) -> T:
    """The value of ready(), when it is not LATER any more; TimeoutError."""
    over = None if seconds is None else time.monotonic() + seconds
    while True:
        version = output.version
        value = ready()
        give_back()
        if not isinstance(value, Later):
            return value
        left = None if over is None else over - time.monotonic()
        if left is not None and left <= 0:
            raise TimeoutError
        output.wait(version, left)


def end_of(channel: _Channel, process_id: int, output: Output) -> Sink:
    """For the answer to process.wait. It does not refer to the channel: a
    process that runs does not keep its sandbox."""
    connection, sandbox_id = channel.connection, channel.sandbox_id

    def sink(event: Event) -> None:
        connection.unwatch(sandbox_id, process_id)
        output.sink(event)
    return sink


def leave(channel: _Channel, process_id: int, output: Output) -> None:
    """Nobody will read the output of the process. For finalizers."""
    output.leave()
    channel.connection.post("output.window", channel.for_it(
        {"processId": process_id, "bytes": 1 << 53}))


def still_running(process_id: int, seconds: Optional[float]) -> str:
    return f"process {process_id} is still running, after {seconds} s"


class Process:
    """A command that runs beside others, as Commands.start gives it.

    Iterating gives ("stdout" or "stderr", bytes) until it has ended. A process
    whose output is not read waits where it writes, when there is a megabyte of
    it; one whose Process is dropped does not, and what it writes is lost."""

    def __init__(self, channel: _Channel, process_id: int,
                 output: Output) -> None:
        self._channel = channel
        self.process_id = process_id
        self._output = output
        self._give_back = channel.giver(output, processId=process_id)
        channel.connection.send(
            "process.wait", channel.addressed({"processId": process_id}),
            end_of(channel, process_id, output))

    def __del__(self) -> None:
        if self.is_running:
            leave(self._channel, self.process_id, self._output)

    @property
    def dropped_bytes(self) -> int:
        """The output that nobody has read and that is gone. Only the last
        megabyte is kept while a caller is in wait(), read_until() or
        send_stdin() and no other thread reads."""
        return self._output.dropped_bytes

    def __iter__(self) -> Iterator[Tuple[str, bytes]]:
        with self._output.reading(threading.current_thread()):
            piece = self._until(self._output.next, None)
            while piece:
                yield piece
                piece = self._until(self._output.next, None)

    def read(self, timeout: Optional[float] = None) -> bytes:
        """Returns the output since the last call, of both streams. Waits until
        there is some; raises TimeoutError if that takes longer. The result is
        empty when the process has ended."""
        seconds = _args.maybe_seconds("timeout", timeout)
        with self._output.reading(threading.current_thread()):
            return self._until(self._output.all, seconds)

    def read_until(self, pattern: Text,
                   timeout: Optional[float] = None) -> bytes:
        """Reads up to and with the first place that matches: a str, bytes, or
        a compiled pattern of bytes. What follows stays, and so does all of it
        with TimeoutError, and with EOFError if it has ended without one."""
        wanted = _args.pattern("pattern", pattern)
        seconds = _args.maybe_seconds("timeout", timeout)
        with self._output.waiting(threading.current_thread()):
            return self._until(lambda: self._output.up_to(wanted), seconds)

    def wait(self, timeout: Optional[float] = None) -> int:
        """Its exit code; TimeoutError if it runs longer than that."""
        seconds = _args.maybe_seconds("timeout", timeout)
        with self._output.waiting(threading.current_thread()):
            kind, value = self._until(self._output.result, seconds)
        if kind == "error":
            raise copy.copy(value)
        return int(value["exitCode"])

    def _until(self, ready: "Callable[[], Union[T, Later]]",
               seconds: Optional[float]) -> T:
        try:
            return until(self._output, ready, seconds, self._give_back)
        except TimeoutError:
            raise TimeoutError(still_running(self.process_id, seconds)) \
                from None

    @property
    def is_running(self) -> bool:
        return self._output.result() is LATER

    def send_stdin(self, data: Data) -> None:
        """Waits, as for a full pipe, if it has not read what came before. As
        many bytes of its output are kept meanwhile, beside the last megabyte."""
        raw = _args.to_bytes("data", data)
        with self._output.waiting(threading.current_thread(), len(raw)):
            self._channel.do(_ops.send_stdin(self.process_id, raw,
                                             self._give_back))

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

    @overload
    def run(self, command: Command, *, stdin: Optional[Data] = ...,
            env: Optional[Mapping[str, str]] = ...,
            cwd: Optional[str] = ...,
            timeout_ms: Optional[int] = ...,
            on_stdout: Optional[OnText] = ...,
            on_stderr: Optional[OnText] = ...,
            check: bool = ..., merge_stderr: bool = ...,
            encoding: str = ...) -> CommandResult:
        ...

    @overload
    def run(self, command: Command, *, stdin: Optional[Data] = ...,
            env: Optional[Mapping[str, str]] = ...,
            cwd: Optional[str] = ...,
            timeout_ms: Optional[int] = ...,
            on_stdout: Optional[OnBytes] = ...,
            on_stderr: Optional[OnBytes] = ...,
            check: bool = ..., merge_stderr: bool = ...,
            encoding: None) -> BytesResult:
        ...

    def run(self, command: Command, *, stdin: Optional[Data] = None,
            env: Optional[Mapping[str, str]] = None,
            cwd: Optional[str] = None,
            timeout_ms: Optional[int] = None,
            on_stdout: Optional[OnOutput] = None,
            on_stderr: Optional[OnOutput] = None,
            check: bool = False, merge_stderr: bool = False,
            encoding: Optional[str] = "utf-8") -> AnyResult:
        """Runs a command in the sandbox's shell, to its end; a list is a
        program and its arguments. env, cwd and timeout_ms are for this command
        alone. With check, an exit code other than 0 raises CommandFailed, or
        Timeout. With merge_stderr, stdout has both streams in the order of
        writing; with encoding=None the output is bytes, for on_stdout and
        on_stderr too."""
        return self._channel.do(_ops.run(
            command, stdin=stdin, env=env, cwd=cwd, timeout_ms=timeout_ms,
            on_stdout=on_stdout, on_stderr=on_stderr, check=check,
            merge_stderr=merge_stderr, encoding=encoding))

    def start(self, command: Optional[str] = None, *, pty: bool = False,
              rows: int = 24, cols: int = 80,
              env: Optional[Mapping[str, str]] = None,
              cwd: Optional[str] = None,
              user: Optional[str] = None) -> Process:
        """Starts a bash of its own for the command (with pty, without one:
        an interactive shell) and does not wait for it. user is "user" or
        "root" [the sandbox's]."""
        output = Output()
        number = self._channel.do(_ops.start(
            command, output, pty=pty, rows=rows, cols=cols, env=env, cwd=cwd,
            user=user))
        return Process(self._channel, number, output)


class Files:
    """sb.files: paths in the sandbox are absolute, relative to the shell's
    folder, or below its home (~). No method waits for a running command."""

    def __init__(self, channel: _Channel) -> None:
        self._channel = channel

    def read(self, path: str) -> bytes:
        return self._channel.do(_ops.read(path))

    def read_text(self, path: str, encoding: str = "utf-8") -> str:
        return self.read(path).decode(encoding)

    def write(self, path: str, data: Data,
              mode: Optional[int] = None) -> None:
        """Writes a file as a whole, and makes the folders that lead to it."""
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
        """Copies a folder of the host, without symbolic links, or a file into
        the sandbox; the number of files. As with cp, a file keeps its name
        where `path` is a folder."""
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
                 extensions: Optional[Mapping[str, Extension]] = None) -> None:
        params = _ops.create(
            timeout_ms=timeout_ms, fs_limit_bytes=fs_limit_bytes,
            limits=limits, mounts=mounts, env=env, cwd=cwd, user=user,
            tools_dir=tools_dir, writable_paths=writable_paths, allow_tools=allow_tools, seed=seed,
            clock_ms=clock_ms, extensions=extensions)
        lease = _ops.connect(params, extensions)
        self._attach(_Channel(lease, None))
        try:
            self._limits = self._channel.do(_ops.make(params))
        except BaseException:
            lease.connection.close()
            raise

    def _attach(self, channel: _Channel) -> None:
        self._channel = channel
        self._limits = {}
        self.commands = Commands(channel)
        self.files = Files(channel)
        self.env = Env(channel)

    def _other(self, op: Op[str]) -> "Sandbox":
        """The sandbox on the same server that the operation makes."""
        sandbox_id = self._channel.do(op)
        sb = type(self).__new__(type(self))
        sb._attach(self._channel.beside(sandbox_id))
        sb._limits = self._limits
        return sb

    def __repr__(self) -> str:
        return self._channel.describe("Sandbox", self._limits)

    @property
    def sandbox_id(self) -> Optional[str]:
        """None for the root sandbox of a server."""
        return self._channel.sandbox_id

    def run_python(self, code: str, *, stdin: Optional[Data] = None,
                   env: Optional[Mapping[str, str]] = None,
                   cwd: Optional[str] = None,
                   timeout_ms: Optional[int] = None,
                   on_stdout: Optional[OnText] = None,
                   on_stderr: Optional[OnText] = None,
                   check: bool = False) -> CommandResult:
        """Runs a Python program in the sandbox."""
        return self._channel.do(_ops.run_python(
            code, stdin=stdin, env=env, cwd=cwd, timeout_ms=timeout_ms,
            on_stdout=on_stdout, on_stderr=on_stderr, check=check))

    def fork(self) -> "Sandbox":
        """A copy with the same files, shell and limits, in microseconds."""
        return self._other(_ops.fork())

    def new(self, label: Optional[str] = None) -> "Sandbox":
        """A fresh sandbox on the same server, with the options of the first."""
        return self._other(_ops.new(label))

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
            self._channel.close()

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
