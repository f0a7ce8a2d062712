"""Writes WebAssembly modules byte by byte, right or wrong."""

I32, I64, FUNCREF, EXNREF = 0x7F, 0x7E, 0x70, 0x69
NOP, BLOCK, LOOP, END, BR, CALL, DROP = b"\x01", b"\x02\x40", b"\x03\x40", b"\x0b", 0x0C, 0x10, b"\x1a"
FUNCTION, TABLE, MEMORY, GLOBAL, TAG = 0, 1, 2, 3, 4


def leb(n):
    """An unsigned number."""
    out = bytearray()
    while True:
        n, low = n >> 7, n & 0x7F
        out.append(low | (0x80 if n else 0))
        if not n:
            return bytes(out)


def const(n):
    """i32.const, of a signed number."""
    out = bytearray(b"\x41")
    while True:
        low = n & 0x7F
        n >>= 7
        done = (n == 0 and not low & 0x40) or (n == -1 and low & 0x40)
        out.append(low if done else low | 0x80)
        if done:
            return bytes(out)


def vec(items):
    return leb(len(items)) + b"".join(items)


def name(text):
    data = text if isinstance(text, bytes) else text.encode()
    return leb(len(data)) + data


def section(number, content):
    return bytes([number]) + leb(len(content)) + content


def signature(params=(), results=()):
    return b"\x60" + vec([bytes([t]) for t in params]) + vec([bytes([t]) for t in results])


def body(code, local_groups=()):
    content = vec([leb(n) + bytes([t]) for n, t in local_groups]) + code + END
    return leb(len(content)) + content


def call(index):
    return bytes([CALL]) + leb(index)


def limits(low, high=None, flags=0):
    if high is None:
        return bytes([flags]) + leb(low)
    return bytes([flags | 1]) + leb(low) + leb(high)


FOREVER = LOOP + bytes([BR, 0]) + END


def module(
    code=b"",
    *,
    types=(),
    imports=(),
    functions=(),
    tables=(),
    memories=(limits(1),),
    tags=(),
    globals_=(),
    exports=None,
    start=None,
    elements=(),
    data=(),
    locals_=(),
    custom=b"",
):
    """A module with one function of type () -> (), exported as _start, whose
    body is `code`; more types and functions come behind it."""
    imported = sum(1 for i in imports if i[2] == FUNCTION)
    if exports is None:
        exports = [("memory", MEMORY, 0), ("_start", FUNCTION, imported)]
    parts = [
        (1, vec([signature(), *types])),
        (2, vec([name(m) + name(n) + bytes([kind]) + what for m, n, kind, what in imports])),
        (3, vec([leb(0), *(leb(t) for t, _ in functions)])),
        (4, vec(list(tables))),
        (5, vec(list(memories))),
        (13, vec(list(tags))),
        (6, vec(list(globals_))),
        (7, vec([name(n) + bytes([kind]) + leb(i) for n, kind, i in exports])),
        (8, None if start is None else leb(start)),
        (9, vec(list(elements))),
        (10, vec([body(code, locals_), *(b for _, b in functions)])),
        (11, vec(list(data))),
    ]
    out = b"\0asm\1\0\0\0" + custom
    for number, content in parts:
        if content is not None and content != b"\0":
            out += section(number, content)
    return out


WASI_EXIT_7 = module(
    const(7) + call(0),
    types=[signature([I32])],
    imports=[("wasi_snapshot_preview1", "proc_exit", FUNCTION, leb(1))],
)


def get(i):
    return b"\x20" + leb(i)


def put(i):
    return b"\x21" + leb(i)


def nested_loops(depth, variables, functions=1):
    """A small module of functions each of which takes the compiler time and
    memory in proportion to depth * variables."""
    code = b"".join(
        LOOP + get(i % variables) + const(1) + b"\x6a" + put(i % variables) for i in range(depth)
    )
    code += b"".join(get(i * 7 % variables) + b"\x0d\0" + END for i in range(depth))
    return module(functions=[(0, body(code, [(variables, I32)]))] * functions)
