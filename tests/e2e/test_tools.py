"""--tools: the programs of a host folder as commands."""
import shutil

import pytest

import wasm
from sandbox import PROBE, command, run
from wasm import FUNCTION, I32, call, const, leb, module, signature


def exits(status):
    """A program of the sys ABI."""
    return module(
        const(94) + const(status) + const(0) * 5 + call(0) + wasm.DROP,
        types=[signature([I32] * 7, [I32])],
        imports=[("sys", "call", FUNCTION, leb(1))],
    )


def wasi_exits(status):
    return module(
        const(status) + call(0),
        types=[signature([I32])],
        imports=[("wasi_snapshot_preview1", "proc_exit", FUNCTION, leb(1))],
    )


@pytest.fixture
def tools(tmp_path):
    folder = tmp_path / "tools"
    folder.mkdir()
    return folder


def execute(tools, *args, **kwargs):
    return run(command("--tools", str(tools), PROBE, *args), **kwargs)


def test_a_file_is_a_command_of_its_name(tools):
    (tools / "five.wasm").write_bytes(exits(5))
    (tools / "six.with.dots.wasm").write_bytes(wasi_exits(6))
    assert execute(tools, "exec-name", "five").status == 5
    assert execute(tools, "exec-name", "six.with.dots").status == 6
    assert execute(tools, "exec-name", "five.wasm").out == b"ENOENT\n"


def test_true_and_false(tools):
    (tools / "true-cmd.wasm").write_bytes(module())
    (tools / "false-cmd.wasm").write_bytes(exits(1))
    (tools / "other-cmd.wasm").write_bytes(exits(3))
    assert execute(tools, "exec-name", "true").status == 0
    assert execute(tools, "exec-name", "false").status == 1
    assert execute(tools, "exec-name", "other-cmd").status == 3
    assert execute(tools, "exec-name", "true-cmd").out == b"ENOENT\n"


def test_it_comes_before_the_others_on_path(tools):
    (tools / "probe.wasm").write_bytes(exits(5))
    assert execute(tools, "exec-name", "probe", "exit", "4").status == 5
    assert execute(tools, "exec-file", "/bin/probe", "exit", "4").status == 4


def test_guests_cannot_change_it(tools):
    shutil.copy(PROBE, tools / "tool.wasm")
    result = execute(tools, "write-file", "/usr/local/bin/tool", "x")
    assert result.out == b"EACCES\n"


def test_several_folders_add_up(tools, tmp_path):
    more = tmp_path / "more"
    more.mkdir()
    (tools / "a.wasm").write_bytes(exits(5))
    (more / "b.wasm").write_bytes(exits(6))
    for name, status in (("a", 5), ("b", 6)):
        result = run(command("--tools", str(tools), "--tools", str(more), PROBE, "exec-name", name))
        assert result.status == status


def test_other_files_are_ignored(tools):
    (tools / "README").write_text("not a program")
    (tools / ".hidden.wasm").write_text("not a program")
    assert execute(tools, "exit", "3").status == 3


def test_an_empty_folder_is_fine(tools):
    assert execute(tools, "exit", "3").status == 3


def check_refused(result, *words):
    lines = result.err.decode(errors="replace").splitlines()
    assert result.status == 2, result
    assert len(lines) == 1 and result.out == b"", result
    for word in words:
        assert word in lines[0], result


def test_a_folder_that_is_not_there(tmp_path):
    missing = tmp_path / "missing"
    check_refused(execute(missing, "exit", "0"), str(missing), "No such file or directory")


def test_a_folder_that_is_a_file(tmp_path):
    check_refused(execute(PROBE, "exit", "0"), PROBE, "Not a directory")


@pytest.mark.parametrize(
    "content, reason",
    [
        (b"", "not a WebAssembly module"),
        (b"\0as", "not a WebAssembly module"),
        (b"#!/bin/sh\n", "not a WebAssembly module"),
        (module()[:-2], "damaged"),
        (open(PROBE, "rb").read()[:5000], "damaged"),
        (module(imports=[("env", "abort", FUNCTION, leb(0))]), 'unknown import "env" "abort"'),
        (module(exports=[]), "no memory"),
        (module(b"\x1a"), ""),
    ],
)
def test_nothing_starts_with_a_bad_tool(tools, content, reason):
    (tools / "good.wasm").write_bytes(module())
    bad = tools / "bad.wasm"
    bad.write_bytes(content)
    check_refused(execute(tools, "interleave", "5"), str(bad) + ": ", reason)


def test_a_folder_named_like_a_tool(tools):
    (tools / "dir.wasm").mkdir()
    check_refused(execute(tools, "exit", "0"), "dir.wasm", "Is a directory")


def test_two_files_of_one_name(tools):
    for name in ("true.wasm", "true-cmd.wasm"):
        (tools / name).write_bytes(module())
    check_refused(execute(tools, "exit", "0"), "/usr/local/bin/true")
