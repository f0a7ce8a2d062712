# SPDX-License-Identifier: MIT
"""Children of a loop are waited for when it gets SIGCHLD, without threads."""
import os
import signal

from . import events
from .unix_events import AbstractChildWatcher


class SignalChildWatcher(AbstractChildWatcher):
    """Belongs to no loop: each that has children has a signal handler."""

    def __init__(self):
        self._children = {}  # by loop: callback and arguments by pid

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def close(self):
        pass

    def is_active(self):
        return True

    def attach_loop(self, loop):
        pass

    def add_child_handler(self, pid, callback, *args):
        loop = events.get_running_loop()
        children = self._children.setdefault(loop, {})
        children[pid] = callback, args
        loop.add_signal_handler(signal.SIGCHLD, self._look, loop)
        loop.call_soon(self._look, loop)  # it may have ended before

    def remove_child_handler(self, pid):
        return any([children.pop(pid, None) for children in self._children.values()])

    def _look(self, loop):
        children = self._children.get(loop, {})
        for pid, (callback, args) in list(children.items()):
            try:
                found, status = os.waitpid(pid, os.WNOHANG)
                code = os.waitstatus_to_exitcode(status)
            except ChildProcessError:  # somebody else has waited for it
                found, code = pid, 255
            if found:
                children.pop(pid, None)
                callback(pid, code, *args)
        if not children and self._children.pop(loop, None) is not None:
            loop.remove_signal_handler(signal.SIGCHLD)
