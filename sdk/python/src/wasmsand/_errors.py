"""The exceptions of this package."""

from __future__ import annotations

import errno
import re
from typing import TYPE_CHECKING, Any, Dict, Optional, Tuple, Type, Union

if TYPE_CHECKING:
    from ._types import BytesResult, CommandResult


class SandboxError(Exception):
    """The base class of all errors of this package. They can be pickled."""

    def _made_of(self) -> Tuple[Any, ...]:
        """Returns the arguments that create an equal error."""
        return self.args

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), self._made_of()


class RpcError(SandboxError):
    """The server refused a request."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def _made_of(self) -> Tuple[Any, ...]:
        return self.code, self.message

    @property
    def errno_name(self) -> Optional[str]:
        """The name at the beginning of the message, such as "ENOENT". None for
        errors with a code other than 1."""
        name = self.message.split(":", 1)[0]
        return name if self.code == 1 and name.isupper() else None


class FileNotFound(RpcError, FileNotFoundError):
    """A file, or a folder in its path, does not exist."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(code, message)
        self.errno = errno.ENOENT


class QuotaExceeded(RpcError):
    """A limit of the sandbox for files, bytes or snapshots was reached."""


class SandboxClosed(SandboxError):
    """The sandbox was killed or destroyed before this call."""


class ServerDied(SandboxError):
    """The server ended unexpectedly; `stderr` contains its last lines."""

    def __init__(self, message: str, stderr: str) -> None:
        super().__init__(f"{message}\n{stderr}" if stderr else message)
        self.message = message
        self.stderr = stderr

    def _made_of(self) -> Tuple[Any, ...]:
        return self.message, self.stderr


class CommandFailed(SandboxError):
    """A command with check=True ended with a status other than 0."""

    def __init__(self, result: Union[CommandResult, BytesResult]) -> None:
        stderr = result.stderr_bytes.decode(errors="replace")
        tail = stderr.strip().splitlines()[-1:]
        why = [result.message] if result.message else tail
        super().__init__(
            ": ".join([f"the command ended with {result.exit_code}", *why]))
        self.result = result

    def _made_of(self) -> Tuple[Any, ...]:
        return (self.result,)


class Timeout(CommandFailed):
    """A command with check=True reached its time limit."""


_BY_NAME: Dict[str, Type[RpcError]] = {
    "ENOENT": FileNotFound,
    "ENOSPC": QuotaExceeded,
}


# Parameters of the server whose arguments have other names here.
_ARGUMENTS = {
    "clock": "clock_ms",
    "fsLimitBytes": "fs_limit_bytes",
    "timeoutMs": "timeout_ms",
}


def advice(message: Optional[str]) -> Optional[str]:
    """Replaces the server's names of parameters in a message by the names of
    arguments."""
    for theirs, ours in _ARGUMENTS.items():
        message = message and re.sub(rf"\b{theirs}\b", ours, message)
    return message


def rpc_error(code: int, message: str) -> RpcError:
    """Returns the most specific exception for an error of the server."""
    first, space, rest = message.partition(" ")
    message = _ARGUMENTS.get(first, first) + space + rest
    name = RpcError(code, message).errno_name
    return _BY_NAME.get(name or "", RpcError)(code, message)
