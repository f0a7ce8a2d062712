"""Checks the arguments of calls and converts them for the server. Errors name
the argument."""

from __future__ import annotations

import base64
import codecs
import inspect
import os
import re
import shlex
from typing import (Any, Dict, Iterable, List, Mapping, Optional, Pattern,
                    Sequence, Union)

from ._types import Mount
from ._wire import MAX_LINE_BYTES

Data = Union[bytes, bytearray, memoryview, str]
HostPath = Union[str, "os.PathLike[str]"]
Command = Union[str, Sequence[str]]

LIMITS = ("stdoutBytes", "stderrBytes", "commandBytes", "rpcBytes", "fileCount",
          "memoryBytes", "processes", "cpuMs", "snapshots")


def need(name: str, value: Any, kind: Any, what: str) -> None:
    """Raises a TypeError that names the argument if the value has another
    type."""
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(f"{name} must be {what}, not {type(value).__name__}")


def text(name: str, value: Any) -> str:
    need(name, value, str, "a str")
    if "\0" in value:
        raise ValueError(f"{name} must not contain NUL")
    try:
        value.encode()
    except UnicodeEncodeError as e:
        raise ValueError(f"{name} cannot be UTF-8: {e.reason}") from None
    return str(value)


def command_line(name: str, value: Any) -> str:
    """Returns the command as a string. A list is a program and its arguments,
    which are quoted for the shell."""
    if not isinstance(value, (list, tuple)):
        need(name, value, str, "a str or a list of str")
        return text(name, value)
    if not value:
        raise ValueError(f"{name} must not be empty")
    return shlex.join(texts(name, value) or ())


def known_encoding(name: str, value: Any) -> None:
    if value is None:
        return
    try:
        codecs.lookup(text(name, value))
    except LookupError:
        raise ValueError(f"{name}: there is no {value!r}") from None


def path_of(name: str, value: Any) -> str:
    """Checks a path in the sandbox: absolute, relative to the shell's folder,
    or below the home folder (~)."""
    if not text(name, value):
        raise ValueError(f"{name} must not be empty")
    return str(value)


def absolute(name: str, value: Any) -> str:
    if not text(name, value).startswith("/"):
        raise ValueError(f"{name} must be absolute, not {value!r}")
    return str(value)


def host_path(name: str, value: Any) -> str:
    need(name, value, (str, os.PathLike), "a path")
    return os.path.abspath(text(name, os.fspath(value)))


def host_folder(name: str, value: Any) -> str:
    path = host_path(name, value)
    if not os.path.isdir(path):
        raise NotADirectoryError(f"{name}: {path} is not a folder")
    return path


def maybe_text(name: str, value: Any) -> Optional[str]:
    return None if value is None else text(name, value)


def integer(name: str, value: Any) -> int:
    need(name, value, int, "an int")
    if not -1 << 63 <= value < 1 << 63:
        raise ValueError(f"{name} must have less than 64 bits")
    return int(value)


def maybe_integer(name: str, value: Any) -> Optional[int]:
    return None if value is None else integer(name, value)


def maybe_seconds(name: str, value: Any) -> Optional[float]:
    if value is not None:
        need(name, value, (int, float), "a number")
    return None if value is None else float(value)


def pattern(name: str, value: Any) -> "Union[bytes, Pattern[bytes]]":
    if isinstance(value, str):
        return to_bytes(name, value)
    if isinstance(value, re.Pattern):
        need(f"the text of {name}", value.pattern, bytes, "bytes")
        return value
    need(name, value, bytes, "a str, bytes, or a compiled pattern of bytes")
    return bytes(value)


def flag(name: str, value: Any) -> bool:
    need(name, value, bool, "a bool")
    return bool(value)


def function(name: str, value: Any) -> None:
    if value is not None and not callable(value):
        raise TypeError(f"{name} must be a function, "
                        f"not {type(value).__name__}")
    if inspect.iscoroutinefunction(value):
        raise TypeError(f"{name} must be a plain function, not an async one: "
                        "nothing awaits it")


def texts(name: str, value: Any) -> Optional[List[str]]:
    if value is None:
        return None
    need(name, value, (list, tuple), "a list of str")
    return [text(f"{name}[{i}]", v) for i, v in enumerate(value)]


def optional(params: Dict[str, Any], **given: Any) -> Dict[str, Any]:
    """Adds the given values that are not None to params, and returns params."""
    params.update({k: v for k, v in given.items() if v is not None})
    return params


def variables(name: str, env: Optional[Mapping[str, str]]) -> \
        Optional[Dict[str, str]]:
    if env is None:
        return None
    need(name, env, Mapping, "a mapping of str to str")
    return {text(f"a name in {name}", k): text(f"{name}[{k!r}]", v)
            for k, v in env.items()}


def known_limits(limits: Optional[Mapping[str, int]]) -> \
        Optional[Dict[str, int]]:
    if limits is None:
        return None
    need("limits", limits, Mapping, "a mapping of str to int")
    for name, value in limits.items():
        if name not in LIMITS:
            raise ValueError(f"limits: there is no {name!r}, only "
                             + ", ".join(LIMITS))
        integer(f"limits[{name!r}]", value)
    if limits.get("rpcBytes", MAX_LINE_BYTES) < MAX_LINE_BYTES:
        raise ValueError(f"limits['rpcBytes'] must be {MAX_LINE_BYTES} or "
                         "more: requests of this package are that long")
    return dict(limits)


def to_bytes(name: str, data: Data) -> bytes:
    if isinstance(data, str):
        try:
            return data.encode()
        except UnicodeEncodeError as e:
            raise ValueError(f"{name} cannot be UTF-8: {e.reason}") from None
    need(name, data, (bytes, bytearray, memoryview), "bytes or a str")
    return bytes(data)


def encode(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def mount_params(mounts: Iterable[Mount]) -> List[Dict[str, Any]]:
    need("mounts", mounts, Iterable, "a list of Mount")
    result = []
    for m in mounts:
        need("mounts", m, Mount, "a list of Mount")
        if m.host_path is None:
            result.append(mount_of_files("mounts", m))
        else:
            result.append({"path": absolute("path in mounts", m.path),
                           "hostPath": host_folder("host_path in mounts",
                                                   m.host_path),
                           "writable": flag("writable in mounts", m.writable)})
    return result


def mount_of_files(name: str, m: Mount) -> Dict[str, Any]:
    need(name, m, Mount, "a Mount")
    if m.host_path is not None:
        raise ValueError(f"{name}: folders of the host are mounted when a "
                         "sandbox is made: Sandbox(mounts=[...])")
    need(f"files in {name}", m.files, Mapping, "a mapping of str to bytes")
    files = {text(f"a path in {name}", k): encode(to_bytes(f"{name}: {k}", v))
             for k, v in m.files.items()}
    return {"path": absolute(f"path in {name}", m.path), "files": files,
            "writable": flag(f"writable in {name}", m.writable)}
