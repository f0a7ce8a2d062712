"""Sandboxes for threads: each call waits for its result."""

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
from ._types import (BytesResult, CommandResult, Execution, FileInfo, Mount,
                     Network, SandboxInfo)
from ._wire import Event, Lease, Sink

T = TypeVar("T")
C = TypeVar("C", bound="_Channel")
Text = Union[str, bytes, Pattern[bytes]]


class _Pending:
    """A request in progress. If its caller stops waiting, the request is
    cancelled, and its effect is undone when the answer arrives."""

    def __init__(self, channel: "_Channel", request: Request,
                 sink: Sink) -> None:
        self._channel = channel
        self._request = request
        self._sink = sink
        self.number = channel.connection.new_id()
        self._writer: Optional[threading.Thread] = None
        self._lock = threading.Lock()  # guards the members below
        self._answer: Optional[Event] = None
        self._is_abandoned = False

    def send(self) -> None:
        self._writer = self._channel.connection.send(
            self._request.method, self._channel.addressed(self._request.params),
            self._take, self.number)

    def abandon(self) -> None:
        """Cancels the request, without waiting."""
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
        """Prepares for the output of a new process at once, because it may
        follow the answer immediately."""
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
    """A connection, and the sandbox that requests on it are for."""

    def __init__(self, lease: Lease, sandbox_id: Optional[str]) -> None:
        self.lease: Optional[Lease] = lease
        self.connection = lease.connection
        self.sandbox_id = sandbox_id

    def beside(self: "C", sandbox_id: str) -> "C":
        """Returns a channel to another sandbox of the same server."""
        if not self.lease:
            raise SandboxClosed("the sandbox was destroyed")
        return type(self)(self.lease, sandbox_id)

    @property
    def is_closed(self) -> bool:
        return self.lease is None

    def describe(self, kind: str, limits: Mapping[str, Any]) -> str:
        """Returns the text for repr()."""
        closed = self.is_closed or self.connection.is_over
        text = ", ".join(f"{name}={value}" for name, value in limits.items())
        return (f"<{kind} {self.sandbox_id or 'root'} of server "
                f"{self.connection.pid}{', closed' if closed else ''}: {text}>")

    def close(self) -> None:
        """Releases the server after the sandbox was destroyed."""
        self.lease = None

    def __del__(self) -> None:
        if self.sandbox_id is None or self.is_closed or self.connection.is_over:
            return  # the lease ends the server
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
        """Adds the id of this sandbox, unless the parameters name another
        one."""
        if self.sandbox_id is not None:
            params.setdefault("sandboxId", self.sandbox_id)
        return params

    def do(self, op: Op[T]) -> T:
        """Runs an operation to its end."""
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
        """Returns a function that lets the server send more output, if enough
        was read."""
        def give_back() -> None:
            used = output.take_used()
            if used:
                self.connection.notify("output.window",
                                       self.for_it({"bytes": used, **whose}))
        return give_back


def until(output: Output, ready: "Callable[[], Union[T, Later]]",
          seconds: Optional[float], give_back: Callable[[], None]) -> T:
    """Waits until ready() returns a value other than LATER, and returns it.
    Raises TimeoutError."""
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
    """Returns the sink for the answer to process.wait. It does not refer to
    the channel, so a running process does not keep its sandbox alive."""
    connection, sandbox_id = channel.connection, channel.sandbox_id

    def sink(event: Event) -> None:
        connection.unwatch(sandbox_id, process_id)
        output.sink(event)
    return sink


def leave(channel: _Channel, process_id: int, output: Output) -> None:
    """Discards the output of the process from now on. For finalizers."""
    output.leave()
    channel.connection.post("output.window", channel.for_it(
        {"processId": process_id, "bytes": 1 << 53}))


def still_running(process_id: int, seconds: Optional[float]) -> str:
    return f"process {process_id} is still running, after {seconds} s"


class Process:
    """A command that runs in parallel with others, as returned by
    Commands.start.

    Iterating returns ("stdout" or "stderr", bytes) until the process has
    ended. A process blocks when 1 MiB of its output is unread. If its Process
    object is dropped, it continues, and its output is lost."""

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
        """The number of bytes of output that were lost because nobody read
        them. While a caller is in wait(), read_until() or send_stdin() and no
        other thread reads, only the last 1 MiB is kept."""
        return self._output.dropped_bytes

    def __iter__(self) -> Iterator[Tuple[str, bytes]]:
        with self._output.reading(threading.current_thread()):
            piece = self._until(self._output.next, None)
            while piece:
                yield piece
                piece = self._until(self._output.next, None)

    def read(self, timeout: Optional[float] = None) -> bytes:
        """Returns the output of both streams since the last call. Waits until
        there is some, and raises TimeoutError if that takes too long. The
        result is empty when the process has ended."""
        seconds = _args.maybe_seconds("timeout", timeout)
        with self._output.reading(threading.current_thread()):
            return self._until(self._output.all, seconds)

    def read_until(self, pattern: Text,
                   timeout: Optional[float] = None) -> bytes:
        """Returns the output up to the end of the first match. The pattern is
        a str, bytes, or a compiled bytes pattern. Later output stays unread.
        Nothing is consumed if TimeoutError is raised, or EOFError because the
        process has ended without a match."""
        wanted = _args.pattern("pattern", pattern)
        seconds = _args.maybe_seconds("timeout", timeout)
        with self._output.waiting(threading.current_thread()):
            return self._until(lambda: self._output.up_to(wanted), seconds)

    def wait(self, timeout: Optional[float] = None) -> int:
        """Waits for the end of the process and returns its exit code. Raises
        TimeoutError if it is still running after that time."""
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
        """Writes to the standard input of the process. Waits, as for a full
        pipe, until earlier input was read. Meanwhile, 1 MiB of output and as
        many bytes as are sent are kept."""
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
        """Sends a signal to the process and its descendants."""
        self._ask("process.kill", signal=_args.integer("signal", signal))

    def _ask(self, method: str, **params: Any) -> None:
        self._channel.do(_ops.ask(method, processId=self.process_id, **params))


class Commands:
    """sb.commands: runs and starts commands."""

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
        """Runs a command in the sandbox's shell to its end.

        A list is a program and its arguments. env, cwd and timeout_ms apply to
        this command only. With check, an exit code other than 0 raises
        CommandFailed, or Timeout. With merge_stderr, stdout contains both
        streams in the order of writing. With encoding=None, all output is
        bytes, also for on_stdout and on_stderr."""
        return self._channel.do(_ops.run(
            command, stdin=stdin, env=env, cwd=cwd, timeout_ms=timeout_ms,
            on_stdout=on_stdout, on_stderr=on_stderr, check=check,
            merge_stderr=merge_stderr, encoding=encoding))

    def start(self, command: Optional[str] = None, *, pty: bool = False,
              rows: int = 24, cols: int = 80,
              env: Optional[Mapping[str, str]] = None,
              cwd: Optional[str] = None,
              user: Optional[str] = None) -> Process:
        """Starts a separate bash for the command, without waiting for it.
        Without a command, and with pty, it is an interactive shell. user is
        "user" or "root" [the sandbox's]."""
        output = Output()
        number = self._channel.do(_ops.start(
            command, output, pty=pty, rows=rows, cols=cols, env=env, cwd=cwd,
            user=user))
        return Process(self._channel, number, output)


class Context:
    """A Python process that runs cells in one namespace, as returned by
    Code.create. Commands do not affect it. Forks, snapshots and paused
    sessions do not contain it."""

    def __init__(self, channel: _Channel, context_id: int) -> None:
        self._channel = channel
        self.context_id = context_id

    def run(self, code: str, *, timeout_ms: Optional[int] = None,
            on_stdout: Optional[OnText] = None,
            on_stderr: Optional[OnText] = None) -> Execution:
        """Runs a cell to its end. A context runs one cell at a time. The time
        limit interrupts the cell."""
        return self._channel.do(_ops.code_run(
            code, self.context_id, timeout_ms=timeout_ms, on_stdout=on_stdout,
            on_stderr=on_stderr))

    def interrupt(self) -> None:
        """Raises KeyboardInterrupt in the cell that another thread runs."""
        self._ask("code.interrupt")

    def restart(self) -> None:
        """Ends the process; the next cell has a fresh namespace."""
        self._ask("code.restart")

    def remove(self) -> None:
        self._ask("code.remove")

    def _ask(self, method: str) -> None:
        self._channel.do(_ops.ask(method, contextId=self.context_id))


class Code(Context):
    """sb.code: runs cells of Python, as a notebook does. It is itself the
    context 0, which every sandbox has."""

    def __init__(self, channel: _Channel) -> None:
        super().__init__(channel, 0)

    def create(self, *, cwd: Optional[str] = None,
               env: Optional[Mapping[str, str]] = None) -> Context:
        """Creates a context with a namespace of its own."""
        return Context(self._channel,
                       self._channel.do(_ops.code_create(cwd, env)))

    def contexts(self) -> List[Dict[str, Any]]:
        return list(self._channel.do(_ops.ask("code.list"))["contexts"])


class Files:
    """sb.files: the files of the sandbox.

    Paths are absolute, relative to the shell's folder, or below the home
    folder (~). No method waits for a running command."""

    def __init__(self, channel: _Channel) -> None:
        self._channel = channel

    def read(self, path: str) -> bytes:
        return self._channel.do(_ops.read(path))

    def read_text(self, path: str, encoding: str = "utf-8") -> str:
        return self.read(path).decode(encoding)

    def write(self, path: str, data: Data,
              mode: Optional[int] = None) -> None:
        """Writes a whole file, and creates missing folders of its path."""
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
        """Copies a file, or a folder without its symbolic links, from the host
        into the sandbox. Returns the number of files. As with cp, a file keeps
        its name if `path` is a folder."""
        return self._channel.do(_ops.upload(host_dir, path))

    def download(self, path: str, host_dir: HostPath) -> int:
        """Copies a folder of the sandbox, without symbolic links, to the host.
        Returns the number of files."""
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


class Networking:
    """sb.network: the hosts that the sandbox may reach. Changes apply at once,
    also to a running command."""

    def __init__(self, channel: _Channel) -> None:
        self._channel = channel

    def get(self) -> Network:
        return self._channel.do(_ops.network_get())

    def set(self, policy: Network) -> None:
        """Replaces the policy. Connections that it denies are reset."""
        self._channel.do(_ops.network_set(policy))

    def allow(self, *rules: str) -> None:
        self._channel.do(_ops.network_add("allow", rules))

    def deny(self, *rules: str) -> None:
        """Adds rules that override all others."""
        self._channel.do(_ops.network_add("deny", rules))


class Ports:
    """sb.ports: servers in the sandbox that the host can connect to."""

    def __init__(self, channel: _Channel) -> None:
        self._channel = channel

    def forward(self, port: int, *, address: Optional[str] = None,
                host_port: Optional[int] = None) -> Tuple[str, int]:
        """Forwards connections to a port of the host. Returns its address,
        127.0.0.1 unless given, and its number."""
        return self._channel.do(
            _ops.port_forward(port, address, host_port))

    def unforward(self, port: int) -> None:
        """Ends a forward; its connections stay."""
        self._channel.do(_ops.ask(
            "port.unforward", port=_args.integer("port", port)))

    def list(self) -> Dict[int, Tuple[str, int]]:
        """Returns the addresses of the host by port of the sandbox."""
        return self._channel.do(_ops.port_list())


class Sandbox:
    """A computer for untrusted code.

    Sandbox() starts a server, which ends with kill() or the `with` block.
    Forks, and sandboxes of new(), are on the same server. All methods may be
    called from any thread. Calls on one sandbox are served in order, and
    different sandboxes in parallel."""

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
        params = _ops.create(
            timeout_ms=timeout_ms, fs_limit_bytes=fs_limit_bytes,
            limits=limits, mounts=mounts, env=env, cwd=cwd, user=user,
            tools_dir=tools_dir, writable_paths=writable_paths, allow_tools=allow_tools, seed=seed,
            clock_ms=clock_ms, extensions=extensions, network=network,
            image=image)
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
        self.network = Networking(channel)
        self.ports = Ports(channel)
        self.code = Code(channel)

    def _other(self, op: Op[str]) -> "Sandbox":
        """Returns the sandbox on the same server that the operation creates."""
        sandbox_id = self._channel.do(op)
        sb = type(self).__new__(type(self))
        sb._attach(self._channel.beside(sandbox_id))
        sb._limits = self._limits
        return sb

    def __repr__(self) -> str:
        return self._channel.describe("Sandbox", self._limits)

    @property
    def sandbox_id(self) -> Optional[str]:
        """The id of the sandbox; None for the root sandbox of a server."""
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
        """Creates a copy with the same files, shell and limits, within
        microseconds."""
        return self._other(_ops.fork())

    def new(self, label: Optional[str] = None, *,
            image: Optional[str] = None) -> "Sandbox":
        """Creates a fresh sandbox on the same server, with the options of the
        first one, or with another root image."""
        return self._other(_ops.new(label, image))

    def list(self) -> List[SandboxInfo]:
        """Returns the other sandboxes of this server."""
        return self._channel.do(_ops.sandboxes())

    def snapshot(self) -> str:
        return str(self._channel.do(_ops.ask("snapshot.create"))["id"])

    def restore(self, snapshot_id: str) -> None:
        self._channel.do(_ops.restore(snapshot_id))

    def snapshots(self) -> List[str]:
        """Returns the ids of the snapshots, oldest first."""
        return self._channel.do(_ops.snapshots())

    def delete_snapshot(self, snapshot_id: str) -> None:
        """Deletes a snapshot. limits()["snapshots"] is the maximum number."""
        self._channel.do(_ops.delete_snapshot(snapshot_id))

    def export_state(self) -> bytes:
        """Returns all changes since the start, as a tar file."""
        return self._channel.do(_ops.export_state())

    def import_state(self, state: bytes) -> None:
        self._channel.do(_ops.import_state(state))

    def mount(self, mount: Mount) -> None:
        """Mounts a folder with the given files."""
        self._channel.do(_ops.ask("mount",
                                  **_args.mount_of_files("mount", mount)))

    def reset(self) -> None:
        """Returns to the state at the start."""
        self._channel.do(_ops.ask("sandbox.reset"))

    def history(self) -> List[str]:
        result = self._channel.do(_ops.ask("shell.history.list"))
        return [e["command"] for e in result["entries"]]

    def status(self) -> Dict[str, Any]:
        return dict(self._channel.do(_ops.ask("status")))

    def limits(self) -> Dict[str, Any]:
        return dict(self._channel.do(_ops.ask("limits.get")))

    def cancel(self) -> None:
        """Cancels the command that another thread runs in this sandbox."""
        self._channel.do(_ops.ask("cancel"))

    def destroy(self) -> None:
        """Ends a fork or a sandbox of new(). May be called again."""
        if self._channel.sandbox_id is None:
            raise RuntimeError(
                "Cannot destroy root sandbox; use kill() instead")
        if not self._channel.is_closed:
            self._channel.do(_ops.ask("sandbox.destroy"))
            self._channel.close()

    def kill(self) -> None:
        """Ends the server with all its sandboxes. May be called again."""
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
