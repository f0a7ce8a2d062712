"""wasmsand: a sandboxed computer for untrusted code and AI agents.

    from wasmsand import Sandbox

    with Sandbox() as sb:
        print(sb.commands.run("echo hello | tr a-z A-Z").stdout)
"""

from ._aio import AsyncProcess, AsyncSandbox
from ._errors import (CommandFailed, FileNotFound, QuotaExceeded, RpcError,
                      SandboxClosed, SandboxError, ServerDied, Timeout)
from ._sync import Process, Sandbox
from ._types import CommandResult, FileInfo, Mount, SandboxInfo

__version__ = "0.1.0"
__all__ = [
    "AsyncProcess", "AsyncSandbox", "CommandFailed", "CommandResult",
    "FileInfo", "FileNotFound", "Mount", "Process", "QuotaExceeded",
    "RpcError", "Sandbox", "SandboxClosed", "SandboxError", "SandboxInfo",
    "ServerDied", "Timeout",
]
