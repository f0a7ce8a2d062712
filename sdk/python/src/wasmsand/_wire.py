"""The connection to a server: a process, and JSON-RPC lines to and from it.

One thread reads the lines of the server and passes each to the sink of its
request, so that several threads and event loops can have requests in progress.
A sink receives events: `("output", params)` during a run, then one `("done",
result)` or `("error", exception)`. It must not wait.

Finalizers run at any point of any thread, so they take no locks. They put their
requests into a queue, and a separate thread writes them.

A line is always written as a whole, even if a signal handler raises an
exception. A short line fits into the buffer of the pipe's file object, which
keeps the rest of an interrupted flush. A longer line is written by a thread,
where no signal handlers run. The reader never waits for a writer, because a
server whose output is not read stops reading."""

from __future__ import annotations

import atexit
import copy
import itertools
import json
import os
import queue
import subprocess
import threading
import warnings
import weakref
from collections import deque
from typing import (IO, Any, Callable, Deque, Dict, List, Mapping, Optional,
                    Sequence, Tuple)

from ._errors import (RpcError, SandboxClosed, SandboxError, ServerDied,
                      rpc_error)

Event = Tuple[str, Any]
Sink = Callable[[Event], None]
Handler = Callable[[Dict[str, Any]], Dict[str, Any]]
Post = Tuple[str, Mapping[str, Any], Optional[threading.Thread]]

STDERR_LINES = 20
ERROR_CHARS = 1000
END_SECONDS = 5.0
BUFFER_BYTES = 64 << 10
MAX_LINE_BYTES = 8 << 20  # rpcBytes of a server, unless asked for more


def server_command() -> List[str]:
    """Returns the command of the server: $WASMSAND_SERVER, the one in this
    package, or the one of a build."""
    given = os.environ.get("WASMSAND_SERVER")
    if given:
        return [given]
    here = os.path.dirname(os.path.abspath(__file__))
    bundled = os.path.join(here, "bin", "wasm-sandbox")
    if os.access(bundled, os.X_OK):
        return [bundled]
    built = os.path.join(here, *[".."] * 4, "build", "wasm-sandbox")
    if os.access(built, os.X_OK):
        return [os.path.normpath(built)]
    raise SandboxError("there is no wasm-sandbox: install the wheel, or set "
                       "WASMSAND_SERVER to the path of one")


class Connection:
    """A server process. All methods may be called from any thread."""

    def __init__(self, argv: Optional[Sequence[str]] = None) -> None:
        self._ids = itertools.count(1)
        self._write_lock = threading.Lock()  # taken before no other
        self._lock = threading.Lock()  # guards the members below
        self._sinks: Dict[int, Sink] = {}
        self._outputs: Dict[Tuple[Optional[str], int], Sink] = {}
        self._posts: "queue.SimpleQueue[Optional[Post]]" = queue.SimpleQueue()
        self._lease: "Callable[[], Optional[Lease]]" = lambda: None
        self.max_line_bytes = MAX_LINE_BYTES  # of a request
        self._end: Optional[SandboxError] = None
        self._stderr: Deque[str] = deque(maxlen=STDERR_LINES)
        self._process = subprocess.Popen(
            list(argv or server_command()), bufsize=BUFFER_BYTES,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=True)
        try:
            self._stderr_reader = self._start(self._read_stderr)
            self._reader = self._start(self._read_lines)
            self._poster = self._start(self._write_posts)
        except BaseException:  # no room for a thread
            self._process.kill()
            self._process.wait()
            raise
        _connections.add(self)

    @staticmethod
    def _start(work: Callable[[], None]) -> threading.Thread:
        thread = threading.Thread(target=work, name="wasmsand", daemon=True)
        thread.start()
        return thread

    # --- requests

    def new_id(self) -> int:
        return next(self._ids)

    def send(self, method: str, params: Mapping[str, Any], sink: Sink,
             number: Optional[int] = None) -> Optional[threading.Thread]:
        """Sends a request, whose answer goes to the sink. Returns the thread
        that writes it, or None if it is written already."""
        if number is None:
            number = self.new_id()
        line = _encode({"jsonrpc": "2.0", "id": number, "method": method,
                        "params": params})
        if len(line) > self.max_line_bytes:
            large = max(params, key=lambda name: len(str(params[name])))
            raise RpcError(-32700, f"{large} is too large: the request has "
                           f"{len(line)} bytes, the limit rpcBytes is "
                           f"{self.max_line_bytes}")
        with self._lock:
            if self._end:
                raise copy.copy(self._end)
            self._sinks[number] = sink
        return self._write(line)

    def post(self, method: str, params: Mapping[str, Any],
             after: Optional[threading.Thread] = None) -> None:
        """Sends a notification after the thread `after` has ended, without
        waiting. A finalizer may call it."""
        self._posts.put((method, params, after))

    def _write_posts(self) -> None:
        for post in iter(self._posts.get, None):
            method, params, after = post
            if after:
                after.join()
            self.notify(method, params)

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Sends a notification, which has no answer."""
        self._write_now(_encode({"jsonrpc": "2.0", "method": method,
                                 "params": params}))

    def _write(self, line: bytes) -> Optional[threading.Thread]:
        if len(line) > BUFFER_BYTES:
            return self._start(lambda: self._write_now(line))
        self._write_now(line)
        return None

    def _write_now(self, line: bytes) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        with self._write_lock:
            try:
                stdin.write(line)
                stdin.flush()
            except (OSError, ValueError):
                pass  # the reader finds the end, and notifies every sink

    def watch(self, sandbox_id: Optional[str], process_id: int,
              sink: Sink) -> None:
        """Passes the output of a process to the sink. If a sink calls this at
        the answer to process.start, no output is missed."""
        with self._lock:
            self._outputs[(sandbox_id, process_id)] = sink

    def unwatch(self, sandbox_id: Optional[str], process_id: int) -> None:
        with self._lock:
            self._outputs.pop((sandbox_id, process_id), None)

    def lease(self) -> "Lease":
        """Returns the object that keeps the server running while it is
        referenced."""
        lease = Lease(self)
        self._lease = weakref.ref(lease)
        return lease

    # --- lines of the server

    def _read_lines(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        reason = ""
        try:
            with stdout:
                for line in stdout:
                    self._take(json.loads(line))
        except Exception as e:  # not the protocol: the rest cannot be trusted
            self._process.kill()
            reason = f", after a line that is none of its protocol ({e!r})"
        self._over(reason)

    def _take(self, message: Dict[str, Any]) -> None:
        if "method" not in message:
            self._answer(message)
        elif "id" in message:
            self._start(lambda: self._serve(message))
        else:
            self._notify(message["params"])

    def _answer(self, message: Dict[str, Any]) -> None:
        error = message.get("error")
        event: Event = ("done", message.get("result"))
        if error:
            event = ("error", rpc_error(error["code"], error["message"]))
        with self._lock:
            if message["id"] is None:  # one of these was invalid
                sinks = list(self._sinks.values())
                self._sinks.clear()
            else:
                sinks = [self._sinks.pop(message["id"], lambda event: None)]
        for sink in sinks:
            sink(event)

    def _notify(self, params: Dict[str, Any]) -> None:
        with self._lock:
            if "process_id" in params:
                key = (params.get("sandbox_id"), params["process_id"])
                sink = self._outputs.get(key)
            else:
                sink = self._sinks.get(params["request_id"])
        if sink:
            sink(("output", params))

    def _serve(self, message: Dict[str, Any]) -> None:
        reply: Dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        lease = self._lease()
        handler = lease.handlers.get(message["method"]) if lease else None
        try:
            if not handler:
                raise LookupError(f"no handler for {message['method']}")
            line = _encode({**reply, "result": handler(message["params"])})
            if len(line) > self.max_line_bytes:
                raise ValueError(f"an answer of {len(line)} bytes, the limit "
                                 f"rpcBytes is {self.max_line_bytes}")
        except BaseException as e:  # the command in the sandbox reports it
            why = f"{type(e).__name__}: {e}"[:ERROR_CHARS]
            reply["error"] = {"code": 1, "message": printable(why)}
            line = _encode(reply)
        self._write(line)

    def _read_stderr(self) -> None:
        stderr: Optional[IO[bytes]] = self._process.stderr
        assert stderr is not None
        with stderr:
            for line in stderr:
                self._stderr.append(line.decode(errors="replace"))

    # --- the end

    def _wait(self) -> int:
        """Returns the exit status of the server, whose pipes are closed."""
        try:
            return self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def _over(self, reason: str) -> None:
        status = self._wait()
        self._stderr_reader.join(END_SECONDS)
        with self._lock:
            if not self._end:
                self._end = ServerDied(
                    f"the server ended with {status}{reason}",
                    "".join(self._stderr))
            sinks = list(self._sinks.values()) + list(self._outputs.values())
            self._sinks.clear()
            self._outputs.clear()
        for sink in sinks:
            sink(("error", copy.copy(self._end)))
        self._posts.put(None)
        if self._write_lock.acquire(timeout=END_SECONDS):
            self._close_stdin()
            self._write_lock.release()

    def close(self) -> None:
        """Ends the server and its sandboxes. Calls in progress fail."""
        with self._lock:
            if not self._end:
                self._end = SandboxClosed("the sandbox was killed")
        if self._write_lock.acquire(timeout=END_SECONDS):
            self._close_stdin()
            self._write_lock.release()
        self._wait()
        for thread in (self._stderr_reader, self._reader, self._poster):
            if thread is not threading.current_thread():
                thread.join(END_SECONDS)
        self._close_stdin()  # a writer that held the lock has failed by now

    def _close_stdin(self) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        try:
            os.set_blocking(stdin.fileno(), False)
            stdin.close()
        except (OSError, ValueError):
            pass  # closed before, or with bytes that nobody will read

    def drop(self) -> None:
        """Ends the server from a finalizer: closes its input, and leaves the
        rest to the thread that reads from it."""
        stdin = self._process.stdin
        assert stdin is not None
        self._end = SandboxClosed("the sandbox was dropped")
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stdin.fileno(), inheritable=False)
        os.close(null)

    def leave_to_parent(self) -> None:
        """Detaches a forked child process from the server, which belongs to
        the parent."""
        self._lock = threading.Lock()
        self._write_lock = threading.Lock()
        self._posts = queue.SimpleQueue()
        self._end = SandboxClosed("the sandbox is that of the parent process")
        null = os.open(os.devnull, os.O_RDWR)
        for file in (self._process.stdin, self._process.stdout,
                     self._process.stderr):
            if file and not file.closed:
                os.dup2(null, file.fileno(), inheritable=False)
        os.close(null)

    @property
    def is_over(self) -> bool:
        return self._end is not None

    @property
    def pid(self) -> int:
        return self._process.pid


class Lease:
    """Keeps a server running. All sandboxes of the server refer to it, and the
    server ends with the last of them. The handlers of requests from the server
    are here because they may refer to such objects, which the threads of the
    connection must not do."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.handlers: Dict[str, Handler] = {}

    def __del__(self) -> None:
        if self.connection.is_over:
            return
        try:
            warnings.warn(
                f"the Sandbox of server {self.connection.pid} was not closed: "
                "use `with`, or kill()", ResourceWarning, source=self)
        finally:
            self.connection.drop()


def printable(text: str) -> str:
    """Returns the text with escapes for characters that UTF-8 cannot encode."""
    return text.encode(errors="backslashreplace").decode()


def _encode(message: Mapping[str, Any]) -> bytes:
    """Returns the line of a message. Raises ValueError or TypeError for values
    that JSON cannot contain."""
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False,
                      allow_nan=False).encode() + b"\n"


_connections: "weakref.WeakSet[Connection]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for connection in list(_connections):
        connection.close()


def _after_fork() -> None:
    for connection in list(_connections):
        connection.leave_to_parent()
    _connections.clear()


os.register_at_fork(after_in_child=_after_fork)
