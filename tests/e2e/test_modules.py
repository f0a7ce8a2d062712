"""Hostile modules: each is refused with one clear line, or dies as a program
does; the host never crashes, and never hangs."""
import pytest

import wasm
from sandbox import IS_SANITIZED, PROBE, command, run
from wasm import (
    END,
    FOREVER,
    FUNCTION,
    GLOBAL,
    I32,
    I64,
    MEMORY,
    TABLE,
    body,
    call,
    const,
    leb,
    limits,
    module,
    signature,
    vec,
)

SLOW = 10 if IS_SANITIZED else 1
SIGILL, SIGABRT, SIGKILL, SIGSEGV = 132, 134, 137, 139
SYS_EXIT_GROUP = 94
# sys.call(nr, a0..a5) -> i32
CALL_TYPE = signature([I32] * 7, [I32])
EXIT_5 = const(SYS_EXIT_GROUP) + const(5) + const(0) * 5 + call(0) + wasm.DROP


PATIENT_MS, ENDLESS_MS = 100000, 1000  # for what ends, and for what does not


def execute(tmp_path, content, *options, timeout_ms=PATIENT_MS):
    path = tmp_path / "module.wasm"
    path.write_bytes(content)
    return run(command("--timeout-ms", str(timeout_ms), *options, str(path)), timeout_s=120 * SLOW)


def check_refused(result, *words):
    lines = result.err.decode(errors="replace").splitlines()
    assert result.status == 126, result
    assert len(lines) == 1 and "module.wasm: " in lines[0], result
    for word in words:
        assert word in lines[0], result
    assert result.rss_mb < 1000 * SLOW


def test_the_builder_makes_programs_that_run(tmp_path):
    assert execute(tmp_path, module()).status == 0
    assert execute(tmp_path, module(FOREVER), timeout_ms=ENDLESS_MS).status == 124
    exits = module(EXIT_5, types=[CALL_TYPE], imports=[("sys", "call", FUNCTION, leb(1))])
    assert execute(tmp_path, exits).status == 5


DEEP = 5000


def nested(depth):
    return wasm.BLOCK * depth + END * depth


REFUSED = {
    "memory not exported": (module(exports=[("_start", FUNCTION, 0)]), "memory"),
    "no memory": (module(memories=[], exports=[("_start", FUNCTION, 0)]), "memory"),
    "no _start": (module(exports=[("memory", MEMORY, 0)]), "_start"),
    "_start is a memory": (module(exports=[("memory", MEMORY, 0), ("_start", MEMORY, 0)]), "_start"),
    "_start is a global": (
        module(
            globals_=[bytes([I32, 0]) + const(0) + END],
            exports=[("memory", MEMORY, 0), ("_start", GLOBAL, 0)],
        ),
        "_start",
    ),
    "memory is a function": (
        module(exports=[("memory", FUNCTION, 0), ("_start", FUNCTION, 0)]),
        "memory",
    ),
    "_start takes arguments": (
        module(
            types=[signature([I32])],
            functions=[(1, body(b""))],
            exports=[("memory", MEMORY, 0), ("_start", FUNCTION, 1)],
        ),
        "_start",
    ),
    "an import nobody offers": (
        module(imports=[("evil", "system", FUNCTION, leb(0))]),
        "evil",
        "system",
    ),
    "an import of a known module": (
        module(imports=[("sys", "no_such_call", FUNCTION, leb(0))]),
        "no_such_call",
    ),
    "import of a wrong type": (module(imports=[("sys", "call", FUNCTION, leb(0))]), "call"),
    "import that is a global": (
        module(imports=[("sys", "call", GLOBAL, bytes([I32, 0]))]),
        "call",
    ),
    "imported memory": (
        module(imports=[("env", "memory", MEMORY, limits(1))], memories=[]),
        "memory",
    ),
    "imported table": (
        module(imports=[("env", "table", TABLE, bytes([0x70]) + limits(1))]),
        "table",
    ),
    "import name of 100 kB": (module(imports=[("x" * 100000, "y" * 100000, FUNCTION, leb(0))]),),
    "import name with control characters": (
        module(imports=[("a\nb\x1b[31m", "c", FUNCTION, leb(0))]),
    ),
    "two memories": (module(memories=[limits(1), limits(1)]),),
    "memory64": (module(memories=[limits(1, flags=4)]),),
    "shared memory": (module(memories=[limits(1, 2, flags=2)]),),
    "GC types": (module(types=[b"\x5f" + vec([bytes([I32, 0])])]),),
    "custom page size": (module(memories=[limits(1, flags=8) + b"\0"]),),
    "more than 4 GiB": (module(memories=[limits(65537)]),),
    "memory with minimum over maximum": (module(memories=[limits(10, 1)]),),
    "a table of 2^32 - 1": (module(tables=[bytes([0x70]) + limits(0xFFFFFFFF)]),),
    "duplicate exports": (
        module(exports=[("memory", MEMORY, 0), ("_start", FUNCTION, 0), ("_start", FUNCTION, 0)]),
    ),
    "export of nothing": (
        module(exports=[("memory", MEMORY, 0), ("_start", FUNCTION, 4000000000)]),
    ),
    "call of nothing": (module(call(4000000000)),),
    "stack underflow": (module(wasm.DROP),),
    "too many locals": (module(locals_=[(0xFFFFFFFF, I64)] * 3),),
    "50,001 locals": (module(locals_=[(50001, I64)]),),
    "function without an end": (module(wasm.BLOCK),),
    "count of functions that lies": (
        b"\0asm\1\0\0\0" + wasm.section(1, b"\1\x60\0\0") + wasm.section(3, leb(0xFFFFFFFF)),
    ),
    "section longer than the file": (b"\0asm\1\0\0\0\x01\xff\xff\xff\xff\x0f",),
    "number that never ends": (b"\0asm\1\0\0\0" + b"\x01" + b"\xff" * 100,),
    "component": (b"\0asm\x0d\0\1\0",),
    "version 2": (b"\0asm\2\0\0\0",),
    "sections in the wrong order": (
        b"\0asm\1\0\0\0" + wasm.section(10, b"\0") + wasm.section(1, b"\0"),
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_refused(tmp_path, kind):
    content, *words = REFUSED[kind]
    check_refused(execute(tmp_path, content), *words)


def grow_then_trap():
    return const(65535) + b"\x40\0" + wasm.DROP + b"\0"


DIES = {
    "data out of bounds": (module(data=[b"\0" + const(65536) + END + wasm.name("x")]), SIGSEGV),
    "data at a negative offset": (module(data=[b"\0" + const(-1) + END + wasm.name("x")]), SIGSEGV),
    "elements out of bounds": (
        module(
            tables=[bytes([0x70]) + limits(1)],
            elements=[b"\0" + const(1) + END + vec([leb(0)])],
        ),
        SIGSEGV,
    ),
    "start function that never ends": (module(FOREVER, start=0), 124),
    "start function that traps": (module(b"\0", start=0), SIGILL),
    "start function that recurses": (module(call(0), start=0), SIGSEGV),
    "recursion in _start": (module(call(0)), SIGSEGV),
    "recursion with many locals": (module(call(0), locals_=[(1000, I64)]), SIGSEGV),
    "unreachable": (module(b"\0"), SIGILL),
    "load beyond memory": (module(const(-1) + b"\x28\0\0" + wasm.DROP), SIGSEGV),
    "load with a huge offset": (
        module(const(-1) + b"\x28\0" + leb(0xFFFFFFFF) + wasm.DROP),
        SIGSEGV,
    ),
    "fill beyond memory": (module(const(-16) + const(1) + const(32) + b"\xfc\x0b\0"), SIGSEGV),
    "grow and trap": (module(grow_then_trap()), SIGILL),
    "uncaught exception": (module(b"\x08\0", tags=[b"\0\0"]), SIGABRT),
    "call through an empty table": (
        module(const(0) + b"\x11\0\0", tables=[bytes([0x70]) + limits(1)]),
        SIGSEGV,
    ),
    "call outside the table": (
        module(const(-1) + b"\x11\0\0", tables=[bytes([0x70]) + limits(1)]),
        SIGSEGV,
    ),
    "tail calls for ever": (module(b"\x12\0"), 124),
    "many globals": (module(globals_=[bytes([I32, 1]) + const(0) + END] * 10000), 0),
    "many small functions": (module(functions=[(0, body(b""))] * 5000), 0),
    "deep nesting": (module(nested(DEEP)), 0),
    "a large custom section": (
        module(custom=wasm.section(0, wasm.name("x") + bytes(8 << 20))),
        0,
    ),
    "memory larger than the limit": (module(memories=[limits(10000)]), SIGKILL),
    "memory of 4 GiB": (module(memories=[limits(65536)]), SIGKILL),
    "50,000 locals": (module(locals_=[(50000, I64)]), 0),
}


@pytest.mark.parametrize("kind", DIES)
def test_dies_cleanly(tmp_path, kind):
    content, status = DIES[kind]
    result = execute(tmp_path, content, timeout_ms=ENDLESS_MS if status == 124 else PATIENT_MS)
    assert result.status == status, result
    assert len(result.err.splitlines()) == (status != 0), result
    assert result.rss_mb < 1000 * SLOW


def test_very_deep_nesting(tmp_path):
    """The compiler must not recurse with the depth of blocks."""
    result = execute(tmp_path, module(nested(10**5)))
    assert result.status in (0, 126), result


def test_large_table(tmp_path):
    """Refused, or dead before it starts; never allocated."""
    result = execute(tmp_path, module(tables=[bytes([0x70]) + limits(100_000_000)]))
    assert result.status in (126, SIGKILL), result
    assert result.rss_mb < 300 * SLOW


def test_table_growth_is_bounded(tmp_path):
    """table.grow until it fails, then exit."""
    grow = b"\xd0\x70" + const(1000) + b"\xfc\x0f\0" + const(-1) + b"\x47\x0d\0"
    code = wasm.LOOP + grow + END
    result = execute(tmp_path, module(code, tables=[bytes([0x70]) + limits(0)]))
    assert result.status == 0, result
    assert result.rss_mb < 300 * SLOW


def test_memory_growth_is_bounded(tmp_path):
    """memory.grow until it fails, then exit."""
    code = wasm.LOOP + const(1) + b"\x40\0" + const(-1) + b"\x47\x0d\0" + END
    result = execute(tmp_path, module(code), "--memory-limit", "10")
    assert result.status == 0, result


def test_exceptions_for_ever(tmp_path):
    """Thrown and caught in a loop: what they are made of is given back."""
    # block exnref try_table (catch_all_ref 0) throw 0 end unreachable end drop
    once = b"\x02\x69\x1f\x40\x01\x03\x00\x08\x00\x0b\x00\x0b" + wasm.DROP
    code = wasm.LOOP + once + bytes([wasm.BR, 0]) + END
    result = execute(tmp_path, module(code, tags=[b"\0\0"]), timeout_ms=ENDLESS_MS)
    assert result.status in (124, SIGKILL), result
    assert result.rss_mb < 900 * SLOW


def test_module_that_is_hard_to_compile(tmp_path):
    """One function of 10,000 branches, in one variable."""
    step = b"\x20\0\x20\0\x6a\x21\0"  # local 0 = local 0 + local 0
    branchy = b"\x20\0\x04\x40" + step + b"\x0b"
    result = execute(tmp_path, module(branchy * 10000, locals_=[(1, I32)]))
    assert result.status == 0, result


# --- modules that a program in the sandbox brings itself


def execute_inside(tmp_path, content):
    path = tmp_path / "brought.wasm"
    path.write_bytes(content)
    path.chmod(0o755)
    options = ["--timeout-ms", str(PATIENT_MS), "--mount", f"{tmp_path}:/m"]
    return run(command(*options, PROBE, "exec-file", "/m/brought.wasm"), timeout_s=120 * SLOW)


def test_brought_module_runs(tmp_path):
    exits = module(EXIT_5, types=[CALL_TYPE], imports=[("sys", "call", FUNCTION, leb(1))])
    assert execute_inside(tmp_path, exits).status == 5


@pytest.mark.parametrize(
    "content",
    [
        module(b"\x01" * (1 << 20)),  # one function of 1 MiB
        module(custom=wasm.section(0, wasm.name("x") + bytes(17 << 20))),
        module(functions=[(0, body(b""))] * 50001),
        REFUSED["two memories"][0],
        REFUSED["an import nobody offers"][0],
        REFUSED["count of functions that lies"][0],
        b"\0asm\1\0\0\0" + wasm.section(10, leb(5) + leb(0xFFFFFFFF)),
    ],
    ids=["hard", "large", "functions", "memories", "import", "count", "code"],
)
def test_brought_module_is_refused(tmp_path, content):
    result = execute_inside(tmp_path, content)
    assert result.out == b"ENOEXEC\n", result
    assert result.rss_mb < 200 * SLOW
