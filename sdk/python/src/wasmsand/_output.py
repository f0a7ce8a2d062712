"""Output of a process or a run that has arrived and was not read yet.

The server sends at most one window of output. Bytes that were read are returned
to the window, so a guest that writes faster than its reader reads has to wait.

Unread output must not block a caller that waits for something else. While such
a caller waits and nobody reads, all bytes are returned to the window at once.
The newest ones are kept, and older ones are dropped and counted."""

from __future__ import annotations

import base64
import threading
from collections import Counter, deque
from contextlib import contextmanager
from typing import (Any, Callable, Deque, Iterator, Optional, Pattern, Tuple,
                    Union)

from ._wire import Event

WINDOW_BYTES = 1 << 20  # sent, and not returned to the window
KEPT_BYTES = 1 << 20  # while a caller waits without reading
STREAMS = ("stdout", "stderr")


class Later:
    """The value that means that there is nothing yet."""


LATER = Later()


class Output:
    """The buffer of one stream of output. The thread that reads from the
    server fills it, and any other thread uses it. on_change is called after
    each change, on the first of these threads."""

    def __init__(self, on_change: Callable[[], None] = lambda: None) -> None:
        self._on_change = on_change
        self._changed = threading.Condition()  # guards the members below
        self._data = bytearray()
        # Its pieces, as 2 * length + stream: an int is smaller than bytes.
        self._pieces: Deque[int] = deque()
        self._held = 0  # bytes of the window in data
        self._used = 0  # bytes to return to the window
        self._dropped = 0
        self._end: Optional[Event] = None
        self._is_left = False
        self._version = 0
        self._readers: "Counter[Any]" = Counter()  # threads or tasks
        self._waiters: "Counter[Any]" = Counter()
        self._extra = 0  # additional bytes that waiters keep

    # --- arriving output

    def sink(self, event: Event) -> None:
        """Receives the events of a connection."""
        kind, value = event
        with self._changed:
            if kind == "output":
                self._put(STREAMS.index(value["stream"]),
                          base64.b64decode(value["data"]))
            elif not self._end:
                self._end = event
            self._version += 1
            self._changed.notify_all()
        self._on_change()

    def leave(self) -> None:
        """Discards all output from now on. Takes no lock, for finalizers."""
        self._is_left = True

    def _put(self, stream: int, data: bytes) -> None:
        if self._is_left:
            self._data.clear()
            self._pieces.clear()
            return
        self._data += data
        last = self._pieces[-1] if self._pieces else 1 - stream
        if last & 1 == stream:
            self._pieces[-1] = last + 2 * len(data)
        else:
            self._pieces.append(2 * len(data) + stream)
        self._held += len(data)
        if self._is_unread():
            self._let_go()

    def _is_unread(self) -> bool:
        """Returns whether a caller waits while nobody reads."""
        return bool(self._waiters) and not any(
            _is_alive(reader) for reader in tuple(self._readers)
            if reader not in self._waiters)

    def _let_go(self) -> None:
        self._use(self._held)
        excess = len(self._data) - KEPT_BYTES - self._extra
        if excess > 0:
            self._dropped += len(self._cut(excess))

    # --- reading

    def _use(self, size: int) -> None:
        size = min(size, self._held)
        self._held -= size
        self._used += size

    def _cut(self, size: int) -> bytes:
        """Removes and returns the first bytes."""
        self._use(size)
        data = bytes(self._data[:size])
        del self._data[:size]
        while size:
            length, stream = self._pieces[0] >> 1, self._pieces[0] & 1
            if length > size:
                self._pieces[0] = 2 * (length - size) + stream
                break
            self._pieces.popleft()
            size -= length
        return data

    # Each of these returns LATER while there is nothing to return.

    def next(self) -> "Union[Tuple[str, bytes], None, Later]":
        """Returns the next piece, or None at the end."""
        with self._changed:
            if not self._pieces:
                return None if self._end else LATER
            length, stream = self._pieces[0] >> 1, self._pieces[0] & 1
            return STREAMS[stream], self._cut(length)

    def all(self) -> "Union[bytes, Later]":
        """Returns all available bytes of both streams; none at the end."""
        with self._changed:
            if not self._data and not self._end:
                return LATER
            return self._cut(len(self._data))

    def up_to(self, pattern: "Union[bytes, Pattern[bytes]]") -> \
            "Union[bytes, Later]":
        """Returns the bytes up to the end of the first match. Raises EOFError
        if the output has ended without one."""
        with self._changed:
            size = self._find(pattern)
            if size is not None:
                return self._cut(size)
            if self._end:
                raise EOFError(f"the output has ended without {pattern!r}")
            return LATER

    def _find(self, pattern: "Union[bytes, Pattern[bytes]]") -> Optional[int]:
        if isinstance(pattern, bytes):
            at = self._data.find(pattern)
            return at + len(pattern) if at >= 0 else None
        match = pattern.search(self._data)
        return match.end() if match else None

    def result(self) -> "Union[Event, Later]":
        """Returns the last event: the result or the error."""
        return self._end or LATER

    def take_used(self) -> int:
        """Returns the number of bytes to return to the window, or 0 while they
        are few."""
        with self._changed:
            if self._used < WINDOW_BYTES // 2:
                return 0
            used, self._used = self._used, 0
            return used

    # --- changes

    @property
    def dropped_bytes(self) -> int:
        return self._dropped

    @property
    def version(self) -> int:
        return self._version

    def wait(self, version: int, seconds: Optional[float]) -> None:
        """Waits for a change since that version, or until the time is over."""
        with self._changed:
            self._changed.wait_for(lambda: self._version != version, seconds)

    @contextmanager
    def reading(self, caller: Any) -> Iterator[None]:
        """Marks the caller (a thread or a task) as a reader: nothing is
        dropped meanwhile."""
        return self._counted(self._readers, caller)

    @contextmanager
    def waiting(self, caller: Any, extra: int = 0) -> Iterator[None]:
        """Marks the caller (a thread or a task) as waiting without reading.
        `extra` more bytes are kept meanwhile."""
        return self._counted(self._waiters, caller, extra)

    def _counted(self, counts: "Counter[Any]", caller: Any,
                 extra: int = 0) -> Iterator[None]:
        with self._changed:
            counts[caller] += 1
            self._extra += extra
            if self._is_unread():
                self._let_go()
        try:
            yield
        finally:
            with self._changed:
                self._extra -= extra
                counts[caller] -= 1
                if not counts[caller]:
                    del counts[caller]


def _is_alive(caller: Any) -> bool:
    if isinstance(caller, threading.Thread):
        return caller.is_alive()
    return not caller.done()
