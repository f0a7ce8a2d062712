"""wasmsand: a sandboxed computer for untrusted code and AI agents.

    from wasmsand import Sandbox

    with Sandbox() as sb:
        print(sb.commands.run("echo hello | tr a-z A-Z").stdout)
"""

from typing import TYPE_CHECKING, Any

from ._errors import (CommandFailed, FileNotFound, QuotaExceeded, RpcError,
                      SandboxClosed, SandboxError, ServerDied, Timeout)
from ._sync import Context, Process, Sandbox
from ._types import (BytesResult, CodeError, CodeResult, CommandResult,
                     DeniedHost, Execution, FileInfo, Mount, SandboxInfo)

if TYPE_CHECKING:
    from ._aio import AsyncContext, AsyncProcess, AsyncSandbox

__version__ = "0.1.0"
__all__ = [
    "AsyncContext", "AsyncProcess", "AsyncSandbox", "BytesResult", "CodeError",
    "CodeResult", "CommandFailed", "CommandResult", "Context", "DeniedHost",
    "Execution", "FileInfo", "FileNotFound", "Mount", "Process", "QuotaExceeded",
    "RpcError", "Sandbox", "SandboxClosed", "SandboxError", "SandboxInfo",
    "ServerDied", "Timeout",
]


def __getattr__(name: str) -> Any:
    """Imports asyncio only if it is used: that takes longer than starting a
    server."""
    if name not in ("AsyncContext", "AsyncProcess", "AsyncSandbox"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _aio
    return getattr(_aio, name)
