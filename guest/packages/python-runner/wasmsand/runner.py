"""Runs cells of Python in one namespace, as a notebook does.

Requests come on standard input and answers go to descriptor 3, both as frames: the length
in decimal digits, a newline, and that many bytes of JSON. The cells' own output goes to
standard output and standard error, and their standard input is empty.

    {"code": TEXT}                             a cell
    {"type": "result", "data": BUNDLE, "isMain": BOOL}   while it runs
    {"type": "done", "count": N, "error": {"name", "value", "traceback"} or null}
"""
import ast
import builtins
import inspect
import io
import json
import linecache
import os
import signal
import sys
import threading
import tokenize
import traceback
import types

from wasmsand import display as rich

RESULTS_FD = 3


# --- frames


class Channel:
    """Frames from and to the host, on descriptors that children of cells do not inherit."""

    def __init__(self):
        self.requests = os.fdopen(os.dup(0), "rb")
        self.results = os.fdopen(os.dup(RESULTS_FD), "wb")
        os.close(RESULTS_FD)
        self.lock = threading.Lock()  # threads of cells display, too
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)

    def read(self):
        """The next request, or None at the end of input."""
        line = self.requests.readline()
        return json.loads(self.requests.read(int(line))) if line else None

    def write(self, message):
        data = json.dumps(message, allow_nan=False).encode()
        with self.lock:
            self.results.write(b"%d\n%s" % (len(data), data))
            self.results.flush()


# --- a cell


def is_silent(code):
    """True if the last token is a semicolon, which suppresses the value of a cell."""
    last = None
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER,
               tokenize.DEDENT}
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            last = last if token.type in skipped else token
    except (tokenize.TokenError, SyntaxError):
        return False
    return last is not None and last.string == ";"


def split(code, name):
    """The compiled parts of a cell: its statements, and the last expression if it has one."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    tree = compile(code, name, "exec", flags | ast.PyCF_ONLY_AST, dont_inherit=True)
    parts = [(tree, "exec")]
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not is_silent(code):
        parts.append((ast.Expression(tree.body.pop().value), "eval"))
    return [compile(part, name, mode, flags, dont_inherit=True) for part, mode in parts]


def describe(error):
    """An error with its traceback, from the first line of a cell on."""
    steps = error.__traceback__
    while steps and not steps.tb_frame.f_code.co_filename.startswith("<cell "):
        steps = steps.tb_next
    lines = traceback.format_exception(type(error), error.with_traceback(steps), steps)
    try:
        value = str(error)
    except Exception:
        value = "<str() failed>"
    text = "".join(lines)
    clean = [part.encode("utf-8", "replace").decode() for part in (value, text)]
    return {"name": type(error).__name__, "value": clean[0], "traceback": clean[1]}


class Runner:
    def __init__(self, channel):
        self.channel = channel
        self.count = 0
        self.is_running = False
        self.is_writing = False  # a frame, which must be complete
        self.is_interrupted = False  # meanwhile
        self.loop = None
        module = types.ModuleType("__main__")
        module.__builtins__ = builtins
        module.display = rich.display
        sys.modules["__main__"] = module
        self.namespace = module.__dict__
        rich._sink = self.show

    def show(self, bundle, is_main=False):
        """Sends a result, after the output that was written before it."""
        self.flush()
        self.is_writing = True
        try:
            self.channel.write({"type": "result", "data": bundle, "isMain": is_main})
        finally:
            self.is_writing = False
        if self.is_interrupted:
            self.is_interrupted = False
            raise KeyboardInterrupt

    def flush(self):
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (AttributeError, OSError, ValueError):  # a cell has replaced or closed it
                pass

    def interrupt(self, number, frame):
        """An interrupt between two cells concerns none; one during a frame waits for its
        end."""
        if self.is_running and self.is_writing:
            self.is_interrupted = True
        elif self.is_running:
            raise KeyboardInterrupt

    def wait_for(self, coroutine):
        """Runs a cell with a top-level await. The event loop stays for later cells; an
        interrupted cell does not continue in it."""
        import asyncio
        if self.loop is None or self.loop.is_closed():
            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
        task = self.loop.create_task(coroutine)
        try:
            return self.loop.run_until_complete(task)
        finally:
            if not task.done():
                task.cancel()
                self.loop.run_until_complete(asyncio.wait([task]))

    async def evaluate(self, parts):
        """The value of the last part. All parts see the same event loop."""
        for part in parts:
            value = eval(part, self.namespace)
            if part.co_flags & inspect.CO_COROUTINE:
                value = await value
        return value

    def execute(self, code, name):
        parts = split(code, name)
        if any(part.co_flags & inspect.CO_COROUTINE for part in parts):
            value = self.wait_for(self.evaluate(parts))
        else:
            value = [eval(part, self.namespace) for part in parts][-1]
        if value is not None:
            self.namespace["_"] = value
            self.show(rich.bundle(value), is_main=True)
        rich.show_figures()

    def run(self, code):
        """Runs a cell. Its lines stay known, for tracebacks of later cells."""
        self.count += 1
        name = f"<cell {self.count}>"
        lines = [line + "\n" for line in code.splitlines()]
        linecache.cache[name] = len(code), None, lines, name
        error = None
        self.is_running = True
        try:
            try:
                self.execute(code, name)
            finally:
                self.is_running = False
        except BaseException as caught:
            error = describe(caught)
        if sys.stdin.closed:  # by exit()
            sys.stdin = open(os.devnull)
        self.flush()
        self.channel.write({"type": "done", "count": self.count, "error": error})

    def serve(self):
        signal.signal(signal.SIGINT, self.interrupt)
        while (request := self.channel.read()) is not None:
            self.run(request["code"])


def main():
    os.environ.setdefault("MPLBACKEND", "module://wasmsand.backend")
    runner = Runner(Channel())
    sys.argv, sys.path[0] = [""], ""
    sys.stdin = open(os.devnull)
    sys.stdout.reconfigure(line_buffering=True)
    runner.serve()


if __name__ == "__main__":
    main()
