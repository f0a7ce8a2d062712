"""The types of results and arguments."""

from __future__ import annotations

import base64
import html
import os
from dataclasses import dataclass, field
from typing import (Any, AnyStr, Dict, Generic, List, Mapping, Optional, Tuple,
                    TypedDict, Union)


@dataclass(frozen=True)
class DeniedHost:
    """A host that a command tried to reach. The port is None if only its name
    was looked up."""

    host: str
    port: Optional[int]
    reason: str


@dataclass(frozen=True)
class _Result(Generic[AnyStr]):
    stdout: AnyStr
    stderr: AnyStr
    exit_code: int
    execution_time_ms: float
    truncated: Optional[Dict[str, bool]] = None
    error_class: Optional[str] = None
    limit: Optional[str] = None
    cpu_ms: float = 0.0
    max_memory_bytes: int = 0
    background: Optional[AnyStr] = None
    # The bytes of streams that cannot be restored from their text.
    raw: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    # The limit that was hit, and the remedy.
    message: Optional[str] = None
    # By stream: bytes in the middle of output that was too long.
    omitted_bytes: Optional[Dict[str, int]] = None
    # The hosts that the command was denied.
    denied: Tuple[DeniedHost, ...] = ()

    def _bytes(self, name: str) -> bytes:
        value = getattr(self, name)
        if isinstance(value, bytes):
            return value
        return self.raw.get(name, value.encode())

    @property
    def stdout_bytes(self) -> bytes:
        return self._bytes("stdout")

    @property
    def stderr_bytes(self) -> bytes:
        return self._bytes("stderr")

    @property
    def ok(self) -> bool:
        return self.exit_code == 0

    def _repr_html_(self) -> str:
        color = "#2a7" if self.ok else "#c33"
        parts = [f'<div style="border-left:3px solid {color};padding-left:8px">']
        for name, shade in (("stdout", "inherit"), ("stderr", "#c33")):
            text = getattr(self, name)
            if isinstance(text, bytes):
                text = text.decode(errors="replace")
            if text:
                parts.append(f'<pre style="margin:0;color:{shade}">'
                             f"{html.escape(text)}</pre>")
        note = f"exit {self.exit_code} in {self.execution_time_ms:.1f} ms"
        if self.error_class:
            note += f", {self.error_class}"
        if self.truncated:
            note += ", output cut"
        if self.message:
            note += f": {self.message}"
        parts.append(f"<small>{html.escape(note)}</small></div>")
        return "".join(parts)


@dataclass(frozen=True)
class CommandResult(_Result[str]):
    """The result of a command, with its output as text."""

    background: str = ""


@dataclass(frozen=True)
class BytesResult(_Result[bytes]):
    """The result of a command with encoding=None, with its output as bytes."""

    background: bytes = b""


@dataclass(frozen=True)
class CodeResult:
    """A value that a cell displayed, in all forms that it has, by MIME type.
    Binary forms are in base64. is_main marks the last expression."""

    data: Mapping[str, Any]
    is_main: bool = False

    @property
    def text(self) -> str:
        return str(self.data.get("text/plain", ""))

    @property
    def html(self) -> Optional[str]:
        return self.data.get("text/html")

    @property
    def png(self) -> Optional[bytes]:
        value = self.data.get("image/png")
        return None if value is None else base64.b64decode(value)

    @property
    def svg(self) -> Optional[str]:
        return self.data.get("image/svg+xml")

    @property
    def latex(self) -> Optional[str]:
        return self.data.get("text/latex")

    @property
    def json(self) -> Any:
        return self.data.get("application/json")

    @property
    def chart(self) -> Any:
        """The data of a figure of matplotlib."""
        return self.data.get("application/vnd.wasmsand.chart+json")

    def _repr_mimebundle_(self, include: Any = None,
                          exclude: Any = None) -> Dict[str, Any]:
        return dict(self.data)


@dataclass(frozen=True)
class CodeError:
    """An exception that ended a cell."""

    name: str
    value: str
    traceback: str


@dataclass(frozen=True)
class Execution:
    """The outcome of a cell. exit_code is set if the process of the context
    ended with the cell. restarted means that an earlier process had ended, and
    that its namespace is lost."""

    results: Tuple[CodeResult, ...]
    stdout: str
    stderr: str
    error: Optional[CodeError] = None
    execution_count: int = 0
    error_class: Optional[str] = None
    exit_code: Optional[int] = None
    restarted: bool = False
    truncated: Optional[Dict[str, bool]] = None

    @property
    def ok(self) -> bool:
        return self.error is None

    @property
    def text(self) -> Optional[str]:
        """The value of the last expression as text."""
        for result in self.results:
            if result.is_main:
                return result.text
        return None


@dataclass(frozen=True)
class FileInfo:
    """A file, a folder ("dir") or a symbolic link ("symlink"). mode has the
    permissions, and mtime the time of the last change in seconds since 1970."""

    name: str
    type: str
    size: int
    mode: int = 0
    mtime: float = 0.0

    @property
    def is_dir(self) -> bool:
        return self.type == "dir"


@dataclass(frozen=True)
class SandboxInfo:
    """A sandbox of a server, as returned by Sandbox.list."""

    sandbox_id: str
    label: Optional[str] = None
    created_at: Union[str, float, None] = None


@dataclass(frozen=True)
class Mount:
    """A folder in the sandbox: either a folder of the host, or the given
    files."""

    path: str
    host_path: Union[str, "os.PathLike[str]", None] = None
    files: Mapping[str, Union[bytes, str]] = field(default_factory=dict)
    writable: bool = False


class NetworkPolicy(TypedDict, total=False):
    """Hosts that a sandbox may reach: docs/network.md describes the rules."""

    allow: List[str]
    deny: List[str]
    limits: Dict[str, int]


# "off", "public", or rules.
Network = Union[str, NetworkPolicy]
