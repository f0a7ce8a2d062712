"""The package as a whole: what it offers, and what it needs."""

import ast
import copy
import dataclasses
import errno
import importlib
import pathlib
import pickle
import pkgutil
import subprocess
import sys

import pytest

import wasmsand
from wasmsand import (CommandFailed, CommandResult, FileInfo, FileNotFound,
                      QuotaExceeded, RpcError, Sandbox, SandboxClosed,
                      SandboxError, SandboxInfo, ServerDied, Timeout)

FOLDER = pathlib.Path(wasmsand.__file__).parent
SOURCES = sorted(FOLDER.glob("*.py"))
# Names of the standard library that Python 3.9 does not have.
NEWER = {"tomllib", "ExceptionGroup", "TaskGroup", "StrEnum", "ParamSpec",
         "Self", "TypeAlias", "TypeGuard", "Never", "pairwise", "batched",
         "aiter", "anext", "kw_only", "slots"}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_python_3_9_and_its_library_suffice(path):
    tree = ast.parse(path.read_text(), feature_version=(3, 9))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(node.module.split(".")[0])
        elif isinstance(node, (ast.Name, ast.Attribute)):
            name = node.id if isinstance(node, ast.Name) else node.attr
            assert name not in NEWER, name
    assert names <= set(getattr(sys, "stdlib_module_names", names))


def test_the_types_are_told():
    assert (FOLDER / "py.typed").exists()


def test_the_program_of_the_package():
    done = subprocess.run([sys.executable, "-m", "wasmsand", "--version"],
                          check=True, capture_output=True, text=True)
    assert done.stdout == f"wasm-sandbox {wasmsand.__version__}\n"


def test_every_name_is_there():
    for name in wasmsand.__all__:
        assert getattr(wasmsand, name).__name__ == name
    with pytest.raises(AttributeError, match="no_such_name"):
        wasmsand.no_such_name  # pylint: disable=pointless-statement
    for module in pkgutil.iter_modules(wasmsand.__path__):
        assert importlib.import_module(f"wasmsand.{module.name}")


@pytest.mark.parametrize("kind, base", [
    (SandboxError, Exception), (RpcError, SandboxError),
    (FileNotFound, RpcError), (FileNotFound, FileNotFoundError),
    (QuotaExceeded, RpcError), (SandboxClosed, SandboxError),
    (ServerDied, SandboxError), (CommandFailed, SandboxError),
    (Timeout, CommandFailed)])
def test_errors_have_a_common_base(kind, base):
    assert issubclass(kind, base)


@pytest.mark.parametrize("error", [
    SandboxError("why"), RpcError(1, "EIO: why"), FileNotFound(1, "ENOENT: p"),
    QuotaExceeded(1, "ENOSPC: p"), SandboxClosed("why"),
    ServerDied("why", "log\n"),
    CommandFailed(CommandResult("out", "err", 3, 0.5)),
    Timeout(CommandResult("out", "err", 124, 0.5))],
    ids=lambda error: type(error).__name__)
def test_errors_go_from_process_to_process(error):
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(other) is type(error) and other is not error
        assert str(other) == str(error) and vars(other) == vars(error)


def test_a_file_that_is_not_there_has_its_errno(root):
    with pytest.raises(OSError) as caught:
        root.files.read("/none")
    assert caught.value.errno == errno.ENOENT
    assert str(caught.value).startswith("ENOENT: ")


def test_the_surface(root):
    """As people know it of such packages."""
    for part, names in (
            (root.commands, "run start"),
            (root.files, "read read_text write list stat mkdir rm exists"
                         " upload download"),
            (root.env, "keys values items get update pop"),
            (root, "fork snapshot restore export_state import_state reset kill"
                   " run_python list destroy")):
        for name in names.split():
            assert callable(getattr(part, name)), name
    result = root.commands.run("echo out; echo err >&2; exit 3")
    assert isinstance(result, CommandResult)
    assert (result.stdout, result.stdout_bytes) == ("out\n", b"out\n")
    assert (result.stderr, result.stderr_bytes) == ("err\n", b"err\n")
    assert result.exit_code == 3 and result.execution_time_ms >= 0
    assert [f.name for f in dataclasses.fields(result)][:6] == [
        "stdout", "stderr", "exit_code", "execution_time_ms", "truncated",
        "error_class"]
    assert result.truncated is None and result.error_class is None
    assert dataclasses.astuple(root.files.stat("/etc/passwd"))[:4] == (
        "passwd", "file", len(root.files.read("/etc/passwd")), 0o644)
    assert FileInfo("name", "dir", 0).is_dir
    with root.new(label="named") as other:
        infos = Sandbox.list(root)
        assert [type(i) for i in infos] == [SandboxInfo]
        assert (infos[0].sandbox_id, infos[0].label) == (
            other.sandbox_id, "named")
        assert infos[0].created_at
