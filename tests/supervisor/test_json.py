"""Our reader and writer of JSON beside Python's, on texts made from a corpus."""
import json
import math
import random
import subprocess
from pathlib import Path

PROGRAM = Path("build/tests/supervisor/json_lines").resolve()

CORPUS = [
    b'{"jsonrpc":"2.0","id":1,"method":"status"}',
    b'{"jsonrpc":"2.0","id":"x","method":"run","params":{"command":"echo hi","timeoutMs":5000,'
    b'"env":{"A":"b","LANG":"C.UTF-8"},"stdin":"YQ=="}}',
    b'[{"id":1.0},{"id":-0},{"id":1e3},{"id":12345678901234567890}]',
    b'{"a":"\\u00e9\\ud83d\\ude00\\n\\"\\\\\\/\\b\\f\\r\\t\\u0000","\\u0062":[[],{},[{}]]}',
    '{"héé":"日本語 \U0001f600 \x7f","b":[true,false,null]}'.encode(),
    b' [ 0 , -1.5e-7 , 1E+2 , 0.1 , 1e308 , -9223372036854775808 ] ',
    b'"' + b"ABCDefgh" * 40 + b'"',
    b'{"k":' * 30 + b"[]" + b"}" * 30,
]
PIECES = [b'"', b"\\", b"\\u", b"\\ud83d", b"{", b"}", b"[", b"]", b",", b":", b"0", b"-", b".", b"e",
          b"1e999", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x00", b"\x1f", b" ", b"\t", b"null", b"tru"]


def no_twins(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys) or any("\0" in key for key in keys):
        raise ValueError("key")
    return dict(pairs)


def no_constant(name):
    raise ValueError(name)


def has_lone_surrogate(value):
    if isinstance(value, str):
        return any(0xD800 <= ord(c) <= 0xDFFF for c in value)
    if isinstance(value, dict):
        return any(has_lone_surrogate(x) for x in [*value, *value.values()])
    return isinstance(value, list) and any(has_lone_surrogate(x) for x in value)


def read(text):
    """The value as Python reads it, with numbers as they are written; or None: it is not strict JSON."""
    try:
        value = json.loads(text.decode(), object_pairs_hook=no_twins, parse_constant=no_constant,
                           parse_int=lambda s: ("number", s), parse_float=lambda s: ("number", s))
    except (ValueError, RecursionError):
        return None
    return None if has_lone_surrogate(value) else [value]


def mutations(seed, n):
    rng = random.Random(seed)
    for _ in range(n):
        text = bytearray(rng.choice(CORPUS))
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(text) + 1)
            kind = rng.randrange(3)
            if kind == 0:
                text[at:at] = rng.choice(PIECES)
            elif kind == 1:
                del text[at:at + rng.randint(1, 4)]
            else:
                text[at:at + 1] = rng.choice(PIECES)
        yield bytes(text).replace(b"\n", b" ")


def test_reads_what_python_reads_and_refuses_what_it_refuses():
    texts = CORPUS + list(mutations(7, 20000))
    done = subprocess.run([PROGRAM], input=b"".join(t + b"\n" for t in texts), capture_output=True, check=True)
    lines = done.stdout.split(b"\n")[:-1]
    assert len(lines) == len(texts)
    for text, line in zip(texts, lines):
        wanted = read(text)
        if wanted is None:
            assert line == b"refused", text
        else:
            assert read(line) == wanted, text


def test_numbers_have_the_value_that_python_gives_them():
    rng = random.Random(11)
    texts = [repr(rng.choice([rng.uniform(-1, 1), rng.getrandbits(63), 1 / 3, math.pi * 10 ** rng.randint(-300, 300)]))
             for _ in range(1000)]
    done = subprocess.run([PROGRAM], input="".join(t + "\n" for t in texts), capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:-1] == texts
