"""Output of processes and runs: it is bounded, and nobody hangs on it."""

import asyncio
import base64
import re
import threading
import tracemalloc

import pytest

from wasmsand import AsyncSandbox, Sandbox
from wasmsand._output import KEPT_BYTES, WINDOW_BYTES, Output

MUCH = "head -c 5000000 /dev/zero; exit 3"
LEFT = 5_000_000 - KEPT_BYTES


def put(output, data, stream="stdout"):
    output.sink(("output", {"stream": stream,
                            "data": base64.b64encode(data).decode()}))


def is_full(output):
    """Waits until the process waits for its reader."""
    while output._held + output._used < WINDOW_BYTES:
        output.wait(output.version, 120)
    return output._held == len(output._data) == WINDOW_BYTES


# --- the buffer

def test_pieces_of_one_stream_become_one():
    output = Output()
    for data, stream in ((b"a", "stdout"), (b"b", "stdout"), (b"c", "stderr"),
                         (b"d", "stdout")):
        put(output, data, stream)
    output.sink(("done", {}))
    assert [output.next() for _ in range(4)] == [
        ("stdout", b"ab"), ("stderr", b"c"), ("stdout", b"d"), None]


def test_single_bytes_take_little_memory():
    output = Output()
    tracemalloc.start()
    for _ in range(10_000):
        put(output, b"o")
        put(output, b"e", "stderr")
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used < 400_000
    assert output.all() == b"oe" * 10_000


def test_the_window_is_given_back_by_halves():
    output, half = Output(), bytes(WINDOW_BYTES // 2)
    put(output, half[1:])
    assert output.take_used() == 0
    output.all()
    assert output.take_used() == 0
    put(output, b"1")
    assert output.take_used() == 0
    output.all()
    assert output.take_used() == len(half) and output.take_used() == 0


def test_the_newest_is_kept_while_somebody_waits():
    output, me = Output(), threading.current_thread()
    put(output, bytes(WINDOW_BYTES))
    assert output.take_used() == 0
    with output.waiting(me):
        assert output.take_used() == WINDOW_BYTES
        put(output, b"x" * 1000, "stderr")
    assert output.dropped_bytes == 1000
    put(output, b"y" * WINDOW_BYTES)
    assert output.dropped_bytes == 1000
    assert output.next() == ("stdout", bytes(KEPT_BYTES - 1000))
    assert output.next() == ("stderr", b"x" * 1000)
    assert output.next() == ("stdout", b"y" * WINDOW_BYTES)


def test_nothing_is_dropped_while_another_thread_reads():
    output, me = Output(), threading.current_thread()
    reading, go = threading.Event(), threading.Event()

    def read():
        with output.reading(threading.current_thread()):
            reading.set()
            go.wait()
    reader = threading.Thread(target=read)
    reader.start()
    reading.wait()
    with output.waiting(me):
        put(output, bytes(2 * KEPT_BYTES))
        assert output.dropped_bytes == 0 and output.take_used() == 0
        go.set()
        reader.join()
        put(output, b"x")
        assert output.dropped_bytes == KEPT_BYTES + 1


def test_who_waits_with_an_iterator_open_does_not_read():
    output, me = Output(), threading.current_thread()
    with output.reading(me), output.waiting(me):
        put(output, bytes(2 * KEPT_BYTES))
        assert output.dropped_bytes == KEPT_BYTES


# --- processes

def test_an_unread_process_waits_and_takes_bounded_memory(sb):
    process = sb.commands.start("yes")
    assert is_full(process._output)
    assert sb.commands.run("for i in {1..2000}; do :; done").ok
    assert is_full(process._output)
    assert process.is_running and process.dropped_bytes == 0
    process.kill()
    assert process.wait() == 137


def test_wait_does_not_hang_on_unread_output(sb):
    process = sb.commands.start(MUCH)
    assert process.wait() == 3
    assert process.dropped_bytes == LEFT
    assert sum(len(data) for _, data in process) == KEPT_BYTES


def test_wait_goes_on_where_the_process_has_waited(sb):
    process = sb.commands.start(MUCH)
    assert is_full(process._output)
    assert process.wait() == 3 and process.dropped_bytes == LEFT


def test_wait_that_gives_up_lets_the_process_wait_again(sb):
    process = sb.commands.start("yes")
    with pytest.raises(TimeoutError, match="still running"):
        process.wait(0.01)
    is_full(process._output)
    assert len(process._output._data) <= WINDOW_BYTES + KEPT_BYTES
    process.kill()


def test_leaving_the_block_does_not_hang_on_unread_output():
    with Sandbox() as sb:
        processes = [sb.commands.start("yes") for _ in range(2)]
        with sb.fork() as fork:
            processes.append(fork.commands.start("yes"))
            assert all(is_full(p._output) for p in processes)


def test_a_reader_gets_all_while_another_thread_waits(sb):
    process = sb.commands.start(MUCH)
    pieces, ends = iter(process), []
    size = len(next(pieces)[1])
    waiter = threading.Thread(target=lambda: ends.append(process.wait()))
    waiter.start()
    size += sum(len(data) for _, data in pieces)
    waiter.join()
    assert (size, ends, process.dropped_bytes) == (5_000_000, [3], 0)


def test_an_iterator_that_was_left_does_not_hold_up_wait(sb):
    process = sb.commands.start(MUCH)
    pieces = iter(process)
    next(pieces)
    assert process.wait() == 3 and process.dropped_bytes > 0


def test_a_slow_reader_holds_up_nobody(sb):
    slow, quick = sb.commands.start("yes"), sb.commands.start(MUCH)
    assert is_full(slow._output)
    assert sum(len(data) for _, data in quick) == 5_000_000
    assert quick.wait() == 3
    assert sb.commands.run("echo answered").stdout == "answered\n"
    assert next(iter(slow))[1] == b"y\n" * (WINDOW_BYTES // 2)
    slow.kill()


def test_a_process_whose_object_is_dropped_goes_on(sb):
    sb.commands.start(f"{MUCH.split(';')[0]}; echo end >/tmp/end")
    assert sb.commands.run("while [ ! -s /tmp/end ]; do sleep 0.01; done",
                           check=True)


def test_input_does_not_hang_on_unread_output(sb):
    process = sb.commands.start("cat; exit 3")
    process.send_stdin(bytes(3_000_000))
    process.close_stdin()
    assert sum(len(data) for _, data in process) == 3_000_000
    assert process.wait() == 3
    process = sb.commands.start("yes | head -c 9000000; cat >/dev/null")
    process.send_stdin(bytes(3_000_000))
    assert process.dropped_bytes > 0
    process.kill()


def test_read(sb):
    process = sb.commands.start("echo out; read x; echo $x >&2; read x; exit 3")
    assert process.read(30) == b"out\n"
    with pytest.raises(TimeoutError, match=f"process {process.process_id} is"):
        process.read(timeout=0)
    process.send_stdin("more\n")
    assert process.read() == b"more\n"
    process.close_stdin()
    assert process.read() == b"" and process.read(0) == b""
    assert process.wait() == 3


def test_read_until(sb):
    process = sb.commands.start(
        "echo ready: 8000; read x; echo é; echo error 17 >&2; echo rest")
    assert process.read_until("ready: ", timeout=30) == b"ready: "
    assert process.read_until(re.compile(rb"\d+")) == b"8000"
    with pytest.raises(TimeoutError):
        process.read_until("é", timeout=0.01)
    process.send_stdin("\n")
    assert process.read_until("é") == "\né".encode()
    assert process.read_until(b"17\n") == b"\nerror 17\n"
    with pytest.raises(EOFError, match="'no such'"):
        process.read_until("no such")
    assert process.read() == b"rest\n"


def test_read_until_passes_what_nobody_reads(sb):
    process = sb.commands.start(
        "head -c 5000000 /dev/zero; echo ready; sleep 1000")
    assert len(process.read_until("ready\n")) == KEPT_BYTES
    assert process.dropped_bytes == 5_000_006 - KEPT_BYTES
    process.kill()


@pytest.mark.parametrize("pattern", [1, None, re.compile("text"), bytearray()])
def test_patterns_that_are_none(sb, pattern):
    process = sb.commands.start("true")
    with pytest.raises(TypeError, match="pattern must be"):
        process.read_until(pattern)


# --- runs

def test_a_slow_callback_holds_up_its_run_alone(sb):
    """The callback waits for what others do meanwhile."""
    sizes = []

    def on_stdout(text):
        if not sizes:
            beside = sb.commands.start("echo beside")
            assert beside.read_until("beside\n") == b"beside\n"
            assert beside.wait() == 0
        sizes.append(len(text))
    result = sb.commands.run("head -c 900000 /dev/zero; exit 3",
                             on_stdout=on_stdout)
    assert result.exit_code == 3
    assert sum(sizes) == len(result.stdout) == 900_000


# --- asyncio

def test_async_processes():
    async def main():
        async with AsyncSandbox() as sb:
            full = await sb.commands.start("yes")
            while not full._output._held == WINDOW_BYTES:
                await asyncio.sleep(0)
            assert (await sb.commands.run("echo on")).stdout == "on\n"
            process = await sb.commands.start(MUCH)
            assert await process.wait() == 3
            assert process.dropped_bytes == LEFT
            assert sum([len(d) async for _, d in process]) == KEPT_BYTES
            process = await sb.commands.start(MUCH)
            waiter = asyncio.ensure_future(process.wait())
            assert sum([len(d) async for _, d in process]) == 5_000_000
            assert await waiter == 3 and process.dropped_bytes == 0
            await full.kill()
            assert await full.wait() == 137
            await sb.commands.start(f"{MUCH.split(';')[0]}; echo >/tmp/end")
            await sb.commands.run(
                "while [ ! -s /tmp/end ]; do sleep 0.01; done", check=True)
            await sb.commands.start("yes")
    asyncio.run(main())


def test_async_read_and_read_until():
    async def main():
        async with AsyncSandbox() as sb:
            process = await sb.commands.start("echo ready; read x; echo $x")
            assert await process.read_until(b"ready", timeout=30) == b"ready"
            assert await process.read() == b"\n"
            for wait in (process.read(timeout=0.01), process.wait(0.01),
                         process.read_until("x", timeout=0)):
                with pytest.raises(TimeoutError, match="still running"):
                    await wait
            await process.send_stdin("one\n")
            assert await process.read() == b"one\n"
            with pytest.raises(EOFError):
                await process.read_until("two")
            assert await process.read() == b""
    asyncio.run(main())


def test_a_guest_that_writes_does_not_starve_the_loop():
    async def main():
        async with AsyncSandbox() as sb:
            process = await sb.commands.start("yes")

            async def read():
                async for _ in process:
                    pass
            reader = asyncio.ensure_future(read())
            assert (await sb.commands.run("echo on")).stdout == "on\n"
            result = await sb.commands.run(
                "yes | head -c 900000",
                on_stdout=lambda text: asyncio.ensure_future(process.kill()))
            assert len(result.stdout) == 900_000
            await reader
    asyncio.run(main())
