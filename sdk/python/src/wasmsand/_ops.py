"""The operations of a sandbox, shared by Sandbox and AsyncSandbox.

Each operation is a generator. It yields requests, receives their results, and
returns the value for the caller. `Sandbox` runs it on a thread that waits, and
`AsyncSandbox` in an event loop."""

from __future__ import annotations

import base64
import codecs
import os
import posixpath
from dataclasses import dataclass
from typing import (Any, Callable, Dict, Generator, Iterable, List, Mapping,
                    Optional, Tuple, TypeVar, Union, cast)

from ._args import (Command, Data, HostPath, command_line, encode, flag,
                    function, host_folder, host_path, integer, known_encoding,
                    known_limits, maybe_integer, maybe_text, mount_params, need,
                    optional, path_of, text, texts, to_bytes, variables)
from ._errors import (CommandFailed, FileNotFound, RpcError, SandboxError,
                      Timeout, advice)
from ._output import WINDOW_BYTES, Output
from ._types import (BytesResult, CodeError, CodeResult, CommandResult,
                     DeniedHost, Execution, FileInfo, Mount, Network,
                     SandboxInfo)
from ._wire import (MAX_LINE_BYTES, Connection, Lease, printable,
                    server_command)

T = TypeVar("T")
Extension = Callable[[List[str], str], Any]
OnText = Callable[[str], Any]
OnBytes = Callable[[bytes], Any]
OnOutput = Callable[[Any], Any]  # one of them
AnyResult = Union[CommandResult, BytesResult]
PART_BYTES = 4 << 20  # of a file in one request, before base64
INPUT_BYTES = 256 << 10  # of a process's input in one request
# Real projects have more files and longer commands than a server allows unless
# it is asked for more.
DEFAULT_LIMITS = {"fileCount": 100_000, "commandBytes": 1 << 20}
PAUSE_SECONDS = 0.001, 0.05  # the first and the longest, for it to read


@dataclass
class Request:
    """One request.

    on_output receives the stream and the bytes of the output of a run. The
    output of a started process goes to `output`. If the caller stops waiting,
    undo(result) returns the request that undoes the effect; the result is None
    if the request failed."""

    method: str
    params: Dict[str, Any]
    on_output: Optional[Callable[[str, bytes], None]] = None
    output: Optional[Output] = None
    undo: Optional[Callable[[Any], Optional["Request"]]] = None

    def __post_init__(self) -> None:
        """Functions of files do not wait for a running command."""
        if self.method.startswith("files."):
            self.params["concurrent"] = True


@dataclass
class Pause:
    """A pause, in which other threads or tasks run."""

    seconds: float


Step = Union[Request, Pause]
Op = Generator[Step, Any, T]


# --- commands

def decoded(value: str) -> bytes:
    return base64.b64decode(value)


def result_of(r: Mapping[str, Any], encoding: Optional[str]) -> AnyResult:
    """Converts the result of a run that used the encoding base64."""
    data: Dict[str, Any] = {
        name: decoded(r.get(name, ""))
        for name in ("stdout", "stderr", "background")}
    rest = {"exit_code": r["exitCode"],
            "execution_time_ms": r["executionTimeMs"],
            "truncated": r.get("truncated"),
            "error_class": r.get("errorClass"), "limit": r.get("limit"),
            "message": advice(r.get("message")),
            "omitted_bytes": r.get("omittedBytes"),
            "denied": tuple(DeniedHost(d["host"], d.get("port"), d["reason"])
                            for d in r.get("denied", ())),
            "cpu_ms": r.get("cpuMs", 0.0),
            "max_memory_bytes": r.get("maxMemoryBytes", 0)}
    if encoding is None:
        return BytesResult(**data, **rest)
    texts: Dict[str, Any] = {
        name: d.decode(encoding, "replace") for name, d in data.items()}
    return CommandResult(**texts, **rest, raw={
        n: d for n, d in data.items() if texts[n].encode() != d})


class Decoder:
    """Passes output on as text, even if a piece ends within a character; or as
    bytes, without an encoding."""

    def __init__(self, on_stdout: Optional[OnOutput],
                 on_stderr: Optional[OnOutput],
                 encoding: Optional[str] = "utf-8") -> None:
        self._to = {"stdout": on_stdout, "stderr": on_stderr}
        self._text = {} if encoding is None else {
            name: codecs.getincrementaldecoder(encoding)("replace")
            for name in self._to}

    def __call__(self, stream: str, data: bytes) -> None:
        self._give(stream, data)

    def end(self) -> None:
        for stream in self._to:
            self._give(stream, b"", final=True)

    def _give(self, stream: str, data: bytes, final: bool = False) -> None:
        to, text_of = self._to[stream], self._text.get(stream)
        piece = text_of.decode(data, final) if text_of else data
        if to and piece:
            to(piece)


def in_folder(cwd: Optional[str], request: Request) -> Op[Any]:
    """Sends a request that has a cwd. An error about the cwd names that
    argument."""
    try:
        return (yield request)
    except RpcError as e:
        name, _, rest = e.message.partition(": ")
        if not cwd or not e.errno_name or cwd not in rest:
            raise
        raise type(e)(e.code, f"{name}: cwd: {rest}") from None


def run(command: Command, *, stdin: Optional[Data],
        env: Optional[Mapping[str, str]], cwd: Optional[str],
        timeout_ms: Optional[int], on_stdout: Optional[OnOutput],
        on_stderr: Optional[OnOutput], check: bool, merge_stderr: bool,
        encoding: Optional[str],
        undo: Optional[Callable[[Any], Request]] = None) -> Op[AnyResult]:
    params = optional(
        {"command": command_line("command", command), "encoding": "base64",
         "keep": "ends", "mark": encoding is not None},
        mergeStderr=flag("merge_stderr", merge_stderr) or None,
        stdin=None if stdin is None else encode(to_bytes("stdin", stdin)),
        env=variables("env", env), cwd=maybe_text("cwd", cwd),
        timeoutMs=maybe_integer("timeout_ms", timeout_ms))
    function("on_stdout", on_stdout)
    function("on_stderr", on_stderr)
    flag("check", check)
    known_encoding("encoding", encoding)
    on_output = None
    if on_stdout or on_stderr:
        params.update(stream=True, windowBytes=WINDOW_BYTES)
        on_output = Decoder(on_stdout, on_stderr, encoding)
    result = result_of((yield from in_folder(
        cwd, Request("run", params, on_output, undo=undo))), encoding)
    if on_output:
        on_output.end()
    if check and result.exit_code:
        failed = Timeout if result.error_class == "TIMEOUT" else CommandFailed
        raise failed(result)
    return result


def start(command: Optional[str], output: Output, *, pty: bool, rows: int,
          cols: int, env: Optional[Mapping[str, str]],
          cwd: Optional[str], user: Optional[str]) -> Op[int]:
    params = optional(
        {"pty": flag("pty", pty), "encoding": "base64",
         "windowBytes": WINDOW_BYTES},
        command=maybe_text("command", command), cwd=maybe_text("cwd", cwd),
        user=maybe_text("user", user), env=variables("env", env))
    if pty:
        params.update(rows=integer("rows", rows), cols=integer("cols", cols))
    result = yield from in_folder(cwd, Request(
        "process.start", params, output=output, undo=lambda made: made and Request(
            "process.kill", {"processId": made["processId"], "signal": 9})))
    return int(result["processId"])


def send_stdin(process_id: int, raw: bytes,
               give_back: Callable[[], None]) -> Op[None]:
    """Writes like to a pipe: waits until the process has read earlier input.
    The process may itself wait until its output is read."""
    pause, longest = PAUSE_SECONDS
    at = 0
    while at < len(raw):
        give_back()
        try:
            yield Request("process.write", {
                "processId": process_id, "encoding": "base64",
                "data": encode(raw[at:at + INPUT_BYTES])})
            at += INPUT_BYTES
            pause = PAUSE_SECONDS[0]
        except RpcError as e:
            if e.errno_name != "EAGAIN":
                raise
            yield Pause(pause)
            pause = min(2 * pause, longest)


def run_python(code: str, *, stdin: Optional[Data],
               env: Optional[Mapping[str, str]], cwd: Optional[str],
               timeout_ms: Optional[int], on_stdout: Optional[OnText],
               on_stderr: Optional[OnText],
               check: bool) -> Op[CommandResult]:
    path = f"/tmp/run-{os.urandom(6).hex()}.py"
    yield from write(path, text("code", code), None)
    try:
        result = yield from run(
            f"python3 {path}", stdin=stdin, env=env, cwd=cwd,
            timeout_ms=timeout_ms, on_stdout=on_stdout, on_stderr=on_stderr,
            check=check, merge_stderr=False, encoding="utf-8",
            undo=lambda _: Request("files.rm", {"path": path}))
    except (SandboxError, TypeError, ValueError):
        yield from rm(path, recursive=False, missing_ok=True)
        raise
    yield from rm(path, recursive=False, missing_ok=True)
    return cast(CommandResult, result)


def code_run(code: str, context: int, *, timeout_ms: Optional[int],
             on_stdout: Optional[OnText],
             on_stderr: Optional[OnText]) -> Op[Execution]:
    params = optional(
        {"code": text("code", code), "contextId": context,
         "encoding": "base64"},
        timeoutMs=maybe_integer("timeout_ms", timeout_ms))
    function("on_stdout", on_stdout)
    function("on_stderr", on_stderr)
    on_output = None
    if on_stdout or on_stderr:
        params["stream"] = True
        on_output = Decoder(on_stdout, on_stderr)
    r = yield Request("code.run", params, on_output)
    if on_output:
        on_output.end()
    error = r["error"]
    return Execution(
        tuple(CodeResult(x["data"], x["isMain"]) for x in r["results"]),
        decoded(r["stdout"]).decode(errors="replace"),
        decoded(r["stderr"]).decode(errors="replace"),
        error and CodeError(error["name"], error["value"], error["traceback"]),
        r["executionCount"], r.get("errorClass"), r.get("exitCode"),
        r.get("restarted", False), r.get("truncated"))


def code_create(cwd: Optional[str],
                env: Optional[Mapping[str, str]]) -> Op[int]:
    r = yield Request(
        "code.create", optional({}, cwd=maybe_text("cwd", cwd),
                                env=variables("env", env)),
        undo=lambda made: made and Request("code.remove", made))
    return int(r["contextId"])


# --- files

def ask(method: str, **params: Any) -> Op[Any]:
    """Sends one request and returns its result unchanged."""
    return (yield Request(method, params))


def read(path: str) -> Op[bytes]:
    parts = []
    offset = 0
    while True:
        result = yield Request("files.read", {
            "path": path_of("path", path), "offset": offset,
            "length": PART_BYTES})
        part = decoded(result["data"])
        parts.append(part)
        offset += len(part)
        if len(part) < PART_BYTES:
            return b"".join(parts)


def write(path: str, data: Data, mode: Optional[int]) -> Op[None]:
    raw = to_bytes("data", data)
    path_of("path", path)
    maybe_integer("mode", mode)
    if len(raw) <= PART_BYTES:
        yield from write_parts(path, raw, mode, None)
        return
    try:
        old = yield Request("files.stat", {"path": path})
    except FileNotFound:
        old = {"type": "file", "mode": None}
    if old["type"] != "file":  # a link is followed, a folder refused
        yield from write_parts(path, raw, mode, None)
        return
    partial = posixpath.join(posixpath.dirname(path),
                             f".wasmsand-{os.urandom(8).hex()}")
    try:
        yield from write_parts(
            partial, raw, old["mode"] if mode is None else mode,
            lambda _: Request("files.rm", {"path": partial}))
        yield Request("files.rename", {"from": partial, "to": path})
    except RpcError as e:
        yield from rm(partial, recursive=False, missing_ok=True)
        raise type(e)(e.code, e.message.replace(partial, path)) from None


def write_parts(path: str, raw: bytes, mode: Optional[int],
                undo: Optional[Callable[[Any], Request]]) -> Op[None]:
    for at in range(0, max(len(raw), 1), PART_BYTES):
        yield Request("files.write", optional(
            {"path": path, "data": encode(raw[at:at + PART_BYTES])},
            append=True if at else None, mode=None if at else mode,
            parents=None if at else True), undo=undo)


def info(entry: Mapping[str, Any]) -> FileInfo:
    return FileInfo(entry["name"], entry["type"], entry["size"],
                    entry["mode"], entry["mtimeMs"] / 1000)


def list_dir(path: str) -> Op[List[FileInfo]]:
    result = yield Request("files.list", {"path": path_of("path", path),
                                          "details": True})
    return [info(e) for e in result["entries"]]


def stat(path: str) -> Op[FileInfo]:
    return info((yield Request("files.stat", {"path": path_of("path", path)})))


def exists(path: str) -> Op[bool]:
    try:
        yield from stat(path)
    except RpcError as e:
        if e.errno_name not in ("ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"):
            raise
        return False
    return True


def mkdir(path: str, recursive: bool) -> Op[None]:
    yield Request("files.mkdir", {"path": path_of("path", path),
                                  "recursive": flag("recursive", recursive)})


def rename(source: str, target: str) -> Op[None]:
    yield Request("files.rename", {"from": path_of("source", source),
                                   "to": path_of("target", target)})


def chmod(path: str, mode: int) -> Op[None]:
    yield Request("files.chmod", {"path": path_of("path", path),
                                  "mode": integer("mode", mode)})


def symlink(target: str, path: str) -> Op[None]:
    yield Request("files.symlink", {"target": text("target", target),
                                    "path": path_of("path", path)})


def rm(path: str, recursive: bool, missing_ok: bool = False) -> Op[None]:
    try:
        yield Request("files.rm", {"path": path_of("path", path),
                                   "recursive": flag("recursive", recursive)})
    except FileNotFound:
        if not missing_ok:
            raise


def upload(host_dir: HostPath, path: str) -> Op[int]:
    """Copies a folder or a file of the host into the sandbox. Returns the
    number of files."""
    path_of("path", path)
    top = host_path("host_dir", host_dir)
    if os.path.isfile(top):
        if (yield from is_folder(path)):
            path = f"{path.rstrip('/')}/{os.path.basename(top)}"
        yield from upload_file(top, path)
        return 1
    host_folder("host_dir", top)
    count = 0
    for folder, dirs, files in os.walk(top):
        dirs.sort()
        below = os.path.relpath(folder, top)
        to = path if below == "." else f"{path.rstrip('/')}/{below}"
        yield Request("files.mkdir", {"path": to, "recursive": True})
        for name in sorted(files):
            source = os.path.join(folder, name)
            if os.path.islink(source) or not os.path.isfile(source):
                continue
            yield from upload_file(source, f"{to.rstrip('/')}/{name}")
            count += 1
    return count


def upload_file(source: str, path: str) -> Op[None]:
    with open(source, "rb") as f:
        data = f.read()
    yield from write(path, data, os.stat(source).st_mode & 0o777)


def is_folder(path: str) -> Op[bool]:
    try:
        found = yield Request("files.stat", {"path": path, "follow": True})
    except FileNotFound:
        return False
    return bool(found["type"] == "dir")


def download(path: str, host_dir: HostPath) -> Op[int]:
    """Copies a folder of the sandbox to the host. Returns the number of files.
    Symbolic links are omitted, because they could lead anywhere on the host."""
    count = 0
    pending = [(path, host_path("host_dir", host_dir))]
    while pending:
        folder, to = pending.pop()
        entries = yield from list_dir(folder)
        os.makedirs(to, exist_ok=True)
        for e in entries:
            if e.name in (".", "..") or "/" in e.name or "\0" in e.name:
                continue
            source = f"{folder.rstrip('/')}/{e.name}"
            target = os.path.join(to, e.name)
            if e.is_dir:
                pending.append((source, target))
            elif e.type == "file":
                data = yield from read(source)
                with open(target, "wb") as f:
                    f.write(data)
                count += 1
    return count


# --- commands of the host

def exited(code: Any) -> Dict[str, Any]:
    """Returns the answer for a SystemExit: a number is the exit status, and
    anything else is a message, as at the end of a Python program."""
    if code is None or isinstance(code, int):
        return {"stdout": "", "exitCode": int(code or 0)}
    return {"stdout": "", "exitCode": 1, "stderr": printable(f"{code}\n")}


def extension_handler(extensions: Mapping[str, Extension]) -> \
        Callable[[Dict[str, Any]], Dict[str, Any]]:
    """Returns the function that answers extension.invoke. An extension gets
    the arguments and the standard input. It returns its output, or (output,
    exit code), or the whole answer as a dict."""
    def handle(params: Dict[str, Any]) -> Dict[str, Any]:
        try:
            value = extensions[params["name"]](params["args"], params["stdin"])
        except SystemExit as e:
            return exited(e.code)
        if isinstance(value, dict):
            return value
        out, status = value if isinstance(value, tuple) else (value, 0)
        if isinstance(out, (bytes, bytearray, memoryview)):
            out = bytes(out).decode(errors="replace")
        return {"stdout": "" if out is None else str(out),
                "exitCode": int(status or 0)}
    return handle


# --- the network

def network_policy(value: Optional[Network]) -> Any:
    """Returns the parameter `network`."""
    if value is None or isinstance(value, str):
        return value
    need("network", value, Mapping, "a str or a mapping")
    return dict(value)


def network_get() -> Op[Network]:
    policy: Network = (yield Request("network.get", {}))["network"]
    return policy


def network_set(policy: Network) -> Op[None]:
    yield Request("network.set", {"network": network_policy(policy)})


def network_add(method: str, rules: Iterable[str]) -> Op[None]:
    yield Request(f"network.{method}", {"rules": texts("rules", list(rules))})


def port_forward(port: int, address: Optional[str],
                 host_port: Optional[int]) -> Op[Tuple[str, int]]:
    r = yield Request("port.forward", optional(
        {"port": integer("port", port)},
        address=maybe_text("address", address),
        hostPort=maybe_integer("host_port", host_port)))
    return r["address"], r["port"]


def port_list() -> Op[Dict[int, Tuple[str, int]]]:
    r = yield Request("port.list", {})
    return {p["port"]: (p["address"], p["hostPort"]) for p in r["ports"]}


# --- the sandbox

def create(*, timeout_ms: Optional[int], fs_limit_bytes: Optional[int],
           limits: Optional[Mapping[str, int]], mounts: Iterable[Mount],
           env: Optional[Mapping[str, str]], cwd: Optional[str],
           user: Optional[str], tools_dir: Optional[HostPath],
           writable_paths: Optional[List[str]],
           allow_tools: Optional[List[str]], seed: Optional[int],
           clock_ms: Optional[int],
           extensions: Optional[Mapping[str, Extension]],
           network: Optional[Network],
           image: Optional[str]) -> Dict[str, Any]:
    """Returns the parameters of `create`."""
    need("extensions", extensions or {}, Mapping,
         "a mapping of str to function")
    for name, value in (extensions or {}).items():
        function(f"extensions[{name!r}]", value)
    names = [{"name": text("a name in extensions", name)}
             for name in extensions or {}]
    tools = None if tools_dir is None else host_folder("tools_dir", tools_dir)
    return optional(
        {}, timeoutMs=maybe_integer("timeout_ms", timeout_ms),
        fsLimitBytes=maybe_integer("fs_limit_bytes", fs_limit_bytes),
        limits={**DEFAULT_LIMITS, **(known_limits(limits) or {})},
        mounts=mount_params(mounts) or None, env=variables("env", env),
        cwd=maybe_text("cwd", cwd), user=maybe_text("user", user),
        wasmDir=tools,
        writablePaths=texts("writable_paths", writable_paths),
        allowTools=texts("allow_tools", allow_tools),
        seed=maybe_integer("seed", seed),
        clock=maybe_integer("clock_ms", clock_ms), extensions=names or None,
        network=network_policy(network), image=maybe_text("image", image))


def make(params: Dict[str, Any]) -> Op[Dict[str, Any]]:
    """Creates the root sandbox and returns its limits."""
    yield from in_folder(params.get("cwd"), Request("create", params))
    return dict((yield Request("limits.get", {})))


def connect(params: Mapping[str, Any],
            extensions: Optional[Mapping[str, Extension]]) -> Lease:
    """Starts a server for `create` with these parameters. It may mount the
    host folders that they name."""
    argv = server_command()
    for m in params.get("mounts", ()):
        if "hostPath" in m:
            argv += ["--allow-mount", m["hostPath"]]
    connection = Connection(argv)
    connection.max_line_bytes = params.get("limits", {}).get(
        "rpcBytes", MAX_LINE_BYTES)
    lease = connection.lease()
    if extensions:
        lease.handlers["extension.invoke"] = extension_handler(extensions)
    return lease


def fork() -> Op[str]:
    return (yield from made(Request("sandbox.fork", {})))


def new(label: Optional[str], image: Optional[str]) -> Op[str]:
    return (yield from made(Request("sandbox.create", optional(
        {}, label=maybe_text("label", label),
        image=maybe_text("image", image)))))


def made(request: Request) -> Op[str]:
    """Sends a request that creates a sandbox, and returns the id of the
    sandbox."""
    request.undo = lambda made: made and Request(
        "sandbox.destroy", {"sandboxId": made["sandboxId"]})
    return str((yield request)["sandboxId"])


def restore(snapshot_id: str) -> Op[None]:
    yield from of_snapshot("snapshot.restore", snapshot_id)


def delete_snapshot(snapshot_id: str) -> Op[None]:
    yield from of_snapshot("snapshot.delete", snapshot_id)


def of_snapshot(method: str, snapshot_id: str) -> Op[None]:
    try:
        yield Request(method, {"id": text("snapshot_id", snapshot_id)})
    except FileNotFound as e:
        raise RpcError(e.code, f"ENOENT: snapshot_id {snapshot_id!r} is no "
                       "snapshot of this sandbox") from None


def snapshots() -> Op[List[str]]:
    result = yield Request("snapshot.list", {})
    return [str(s["id"]) for s in result["snapshots"]]


def export_state() -> Op[bytes]:
    result = yield Request("persistence.export", {"partBytes": PART_BYTES})
    parts = [decoded(result["data"])]
    while not result["last"]:
        result = yield Request("persistence.export", {
            "transferId": result["transferId"], "seq": result["seq"] + 1})
        parts.append(decoded(result["data"]))
    return b"".join(parts)


def import_state(state: bytes) -> Op[None]:
    raw = to_bytes("state", state)
    transfer = f"import-{os.urandom(8).hex()}"
    parts = range(0, max(len(raw), 1), PART_BYTES)
    try:
        for seq, at in enumerate(parts):
            yield Request("persistence.import", {
                "data": encode(raw[at:at + PART_BYTES]),
                "transferId": transfer, "seq": seq,
                "last": seq + 1 == len(parts)})
    except RpcError as e:
        if e.errno_name != "EINVAL":
            raise
        raise RpcError(e.code, "EINVAL: state is none of export_state: "
                       + e.message[len("EINVAL: "):]) from None


def sandboxes() -> Op[List[SandboxInfo]]:
    result = yield Request("sandbox.list", {})
    return [SandboxInfo(s["sandboxId"], s.get("label"), s.get("createdAt"))
            for s in result]
