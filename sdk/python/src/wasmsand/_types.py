"""The values that calls give back."""

from __future__ import annotations

import html
import os
from dataclasses import dataclass, field
from typing import AnyStr, Dict, Generic, Mapping, Optional, Union


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
    # The bytes of streams whose text does not give them back.
    raw: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    # Which limit was hit, and what to do about it.
    message: Optional[str] = None
    # By stream, of output that was too long: its middle is left out.
    omitted_bytes: Optional[Dict[str, int]] = None

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
    """How a command ended, and what it printed."""

    background: str = ""


@dataclass(frozen=True)
class BytesResult(_Result[bytes]):
    """How a command that was run with encoding=None ended; what it printed is
    bytes."""

    background: bytes = b""


@dataclass(frozen=True)
class FileInfo:
    """A file, folder ("dir") or symbolic link ("symlink"): its permissions, and
    when it was changed last, in seconds since 1970."""

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
    """A sandbox of a server, as Sandbox.list gives it."""

    sandbox_id: str
    label: Optional[str] = None
    created_at: Union[str, float, None] = None


@dataclass(frozen=True)
class Mount:
    """A folder in the sandbox: one of the host, or the given files."""

    path: str
    host_path: Union[str, "os.PathLike[str]", None] = None
    files: Mapping[str, Union[bytes, str]] = field(default_factory=dict)
    writable: bool = False
