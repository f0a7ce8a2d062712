"""The values that calls give back."""

from __future__ import annotations

import html
import os
from dataclasses import dataclass, field
from typing import Dict, Mapping, Optional, Union


@dataclass(frozen=True)
class CommandResult:
    """How a command ended, and what it printed."""

    stdout: str
    stderr: str
    exit_code: int
    execution_time_ms: float
    truncated: Optional[Dict[str, bool]] = None
    error_class: Optional[str] = None
    limit: Optional[str] = None
    cpu_ms: float = 0.0
    max_memory_bytes: int = 0
    background: str = ""
    # What is not UTF-8, by stream: those bytes are U+FFFD in the text.
    raw: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    @property
    def stdout_bytes(self) -> bytes:
        return self.raw.get("stdout", self.stdout.encode())

    @property
    def stderr_bytes(self) -> bytes:
        return self.raw.get("stderr", self.stderr.encode())

    @property
    def ok(self) -> bool:
        return self.exit_code == 0

    def _repr_html_(self) -> str:
        color = "#2a7" if self.ok else "#c33"
        parts = [f'<div style="border-left:3px solid {color};padding-left:8px">']
        for text, shade in ((self.stdout, "inherit"), (self.stderr, "#c33")):
            if text:
                parts.append(f'<pre style="margin:0;color:{shade}">'
                             f"{html.escape(text)}</pre>")
        note = f"exit {self.exit_code} in {self.execution_time_ms:.1f} ms"
        if self.error_class:
            note += f", {self.error_class}"
        if self.truncated:
            note += ", output cut"
        parts.append(f"<small>{html.escape(note)}</small></div>")
        return "".join(parts)


@dataclass(frozen=True)
class FileInfo:
    """A file, folder ("dir") or symbolic link ("symlink")."""

    name: str
    type: str
    size: int

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
