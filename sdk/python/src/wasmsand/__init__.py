"""wasmsand: a sandboxed computer for untrusted code and AI agents.

    from wasmsand import Sandbox

    with Sandbox() as sb:
        print(sb.commands.run("echo hello | tr a-z A-Z").stdout)
"""

from typing import TYPE_CHECKING, Any

from ._errors import (CommandFailed, FileNotFound, QuotaExceeded, RpcError,
                      SandboxClosed, SandboxError, ServerDied, Timeout)
from ._sync import Process, Sandbox
from ._types import (BytesResult, CommandResult, FileInfo, Mount,
                     SandboxInfo)

if TYPE_CHECKING:
    from ._aio import AsyncProcess, AsyncSandbox

__version__ = "0.1.0"
__all__ = [
    "AsyncProcess", "AsyncSandbox", "BytesResult", "CommandFailed",
    "CommandResult", "FileInfo", "FileNotFound", "Mount", "Process", "QuotaExceeded",
    "RpcError", "Sandbox", "SandboxClosed", "SandboxError", "SandboxInfo",
    "ServerDied", "Timeout",
]


def __getattr__(name: str) -> Any:
    """Imports asyncio only if it is used: that takes longer than starting a
    server."""
    if name not in ("AsyncProcess", "AsyncSandbox"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _aio
    return getattr(_aio, name)
