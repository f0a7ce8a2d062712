#!/usr/bin/python3 -ISs
"""A worker without a sandbox: it speaks the protocol, and breaks it on demand.

Its state is a map from numbers to texts, kept as records of the history. The
commands of `run`:
  set N TEXT     puts a record and commits it
  get N          prints it
  del N          removes it
  quiet TEXT     prints, commits nothing
  exit N, die, hang, lie, and the names in BREAK
"""
import ctypes
import json
import os
import signal
import socket
import struct
import sys
import threading

PUT, DELETE, END = b"P", b"D", b"E"
HEAD = struct.Struct("<cBHI")

state = {}
commits = 0
owed = 0
records = socket.socket(fileno=3)


def frame(op, key=b"", value=b""):
    return HEAD.pack(op, 0, len(key), len(value)) + key + value


def key(number):
    return b"h" + struct.pack(">Q", number)


def commit(frames):
    global commits
    commits += 1
    records.sendall(frames + frame(END, value=struct.pack("<Q", commits)))
    return commits


def send(text):
    os.write(1, (text if isinstance(text, bytes) else text.encode()) + b"\n")


def answer(number, result, made=None):
    line = {"jsonrpc": "2.0", "id": number, "result": result}
    if made:
        line["commit"] = made
    send(json.dumps(line, separators=(",", ":")))


def ran(stdout="", status=0):
    return {"exitCode": status, "stdout": stdout, "stderr": "", "executionTimeMs": 0}


def read_exactly(size):
    data = b""
    while len(data) < size:
        more = records.recv(size - len(data))
        if not more:
            sys.exit(3)
        data += more
    return data


def refuse(number, message):
    send(json.dumps({"jsonrpc": "2.0", "id": number, "error": {"code": 1, "message": message}}))


def load(number):
    while True:
        op, _, key_len, value_len = HEAD.unpack(read_exactly(HEAD.size))
        name, value = read_exactly(key_len), read_exactly(value_len)
        if op == END and value != bytes(8):
            state.clear()
            return refuse(number, "ECANCELED: broken off")
        if op == END and "no load" in state.values():
            return refuse(number, "EINVAL: told to fail")
        if op == END:
            return answer(number, {"ok": True})
        if name[:1] == b"h":
            state[struct.unpack(">Q", name[1:])[0]] = value.decode()


def one(number):
    return frame(PUT, key(1), b"x")


# What a hostile worker may send instead of an answer.
BREAK = {
    "garbage": lambda n: send("what?"),
    "binary": lambda n: send(b"\xff\xfe\x00\x01"),
    "not-utf8": lambda n: send(b'{"jsonrpc":"2.0","id":%d,"result":"\xff"}' % n),
    "surrogate": lambda n: send('{"jsonrpc":"2.0","id":%d,"result":"\\ud800"}' % n),
    "unknown-id": lambda n: send('{"jsonrpc":"2.0","id":99999,"result":{}}'),
    "unasked": lambda n: send('{"jsonrpc":"2.0","id":3,"result":{}}'),
    "twice": lambda n: (answer(n, ran()), answer(n, ran())),
    "no-version": lambda n: send('{"id":%d,"result":{}}' % n),
    "two-kinds": lambda n: send('{"jsonrpc":"2.0","id":%d,"result":{},"error":{}}' % n),
    "neither-kind": lambda n: send('{"jsonrpc":"2.0","id":%d}' % n),
    "more-members": lambda n: send('{"jsonrpc":"2.0","id":%d,"result":{},"x":1}' % n),
    "text-id": lambda n: send('{"jsonrpc":"2.0","id":"%d","result":{}}' % n),
    "callback": lambda n: send('{"jsonrpc":"2.0","id":"cb_1","method":"storage.load","params":{}}'),
    "commit-text": lambda n: send('{"jsonrpc":"2.0","id":%d,"result":{},"commit":"1"}' % n),
    "deep": lambda n: send('{"jsonrpc":"2.0","id":%d,"result":%s%s}' % (n, "[" * 9999, "]" * 9999)),
    "long-line": lambda n: os.write(1, b"[" * (40 << 20) + b"\n"),
    "output-form": lambda n: send('{"jsonrpc":"2.0","method":"output","params":[]}'),
    "other-method": lambda n: send('{"jsonrpc":"2.0","method":"log","params":{}}'),
    "record-garbage": lambda n: (records.sendall(b"\xff" * 4096), signal.pause()),
    "record-key": lambda n: (commit(frame(PUT, b"?key", b"")), signal.pause()),
    "record-long-key": lambda n: (records.sendall(HEAD.pack(PUT, 0, 65535, 0)), signal.pause()),
    "record-long-value": lambda n: (records.sendall(HEAD.pack(PUT, 0, 9, 1 << 31)), signal.pause()),
    "record-order": lambda n: (records.sendall(one(n) + frame(END, value=struct.pack("<Q", 7))), signal.pause()),
    "record-end": lambda n: (records.sendall(frame(END, value=b"")), signal.pause()),
    "record-pages": lambda n: (commit(b"".join(frame(PUT, b"p" + struct.pack(">I", i), b"x")
                                               for i in range(70000))), signal.pause()),
}


def threads(count):
    started = 0
    try:
        for _ in range(count):
            threading.Thread(target=threading.Event().wait, daemon=True).start()
            started += 1
    except RuntimeError:
        pass
    return started


def run(number, params):
    global owed
    word, _, rest = params["command"].partition(" ")
    if word in BREAK:
        BREAK[word](number)
    elif word == "set":
        name, _, text = rest.partition(" ")
        state[int(name)] = text
        answer(number, ran(), commit(frame(PUT, key(int(name)), text.encode())))
    elif word == "del":
        state.pop(int(rest), None)
        answer(number, ran(), commit(frame(DELETE, key(int(rest)))))
    elif word == "get":
        answer(number, ran(state.get(int(rest), "")))
    elif word == "fill":  # one commit of many parts
        count, size = map(int, rest.split())
        for i in range(count):
            state[i] = chr(97 + i % 26) * size
        answer(number, ran(), commit(b"".join(
            frame(PUT, key(i), state[i].encode()) for i in range(count))))
    elif word == "owe":  # as many records with the next state.commit, behind its answer
        owed = int(rest)
        answer(number, ran())
    elif word == "lie":  # the answer before its commit, which never comes
        answer(number, ran(), commits + 1)
    elif word == "late":  # the answer before its commit
        state[1] = rest
        answer(number, ran(), commits + 1)
        commit(frame(PUT, key(1), rest.encode()))
    elif word == "half":  # part of a commit, then death
        records.sendall(b"".join(frame(PUT, key(i), b"half" * 1000) for i in range(int(rest))))
        sys.exit(1)
    elif word == "stream":
        for i in range(int(rest)):
            send(json.dumps({"jsonrpc": "2.0", "method": "output", "params": {
                "request_id": number, "stream": "stdout", "data": "x" * 1000, "seq": i}}))
        answer(number, ran())
    elif word == "pretend":  # to be another session
        send('{"jsonrpc":"2.0","method":"output","params":{"request_id":%d,"stream":"stdout","data":"x","seq":0,'
             '"sessionId":"%s","sess\\u0069onId":"%s","sandbox_id":null}}' % (number, rest, rest))
        answer(number, ran())
    elif word == "big":
        answer(number, ran("x" * int(rest)))
    elif word == "die":
        ctypes.string_at(0)
    elif word == "hog":  # as many megabytes
        hoard = [bytearray(os.urandom(1 << 20)) for _ in range(int(rest))]
        answer(number, ran(str(len(hoard))))
    elif word == "hoard":  # and give no answer
        hoard = bytearray(int(rest) << 20)
        hoard[::4096] = b"x" * (len(hoard) // 4096)
        signal.pause()
    elif word == "threads":
        answer(number, ran(str(threads(int(rest)))))
    elif word == "exit":
        sys.exit(int(rest))
    elif word == "hang":
        signal.pause()
    else:
        answer(number, ran(rest))


def serve(line):
    request = json.loads(line)
    number, method = request["id"], request["method"]
    if method == "state.load":
        load(number)
    elif method == "state.commit" and owed:
        answer(number, {"ok": True}, commits + 1)
        commit(b"".join(frame(PUT, key(i), b"x" * 4000) for i in range(owed)))
    elif method == "state.commit":
        answer(number, {"ok": True})
    elif method == "run":
        run(number, request["params"])
    elif method == "process.start":  # one that prints as many kilobytes at once
        answer(number, {"processId": 7})
        for i in range(int(request["params"]["command"])):
            send(json.dumps({"jsonrpc": "2.0", "method": "output", "params": {
                "process_id": 7, "stream": "stdout", "data": "x" * 1000, "seq": i}}))
    elif method == "create" and request["params"].get("env", {}).get("FAIL"):
        refuse(number, "EINVAL: told to fail")
    else:
        answer(number, {"ok": True, "method": method, "params": request["params"]})


def main():
    send('{"jsonrpc":"2.0","method":"worker.ready"}')
    for line in sys.stdin.buffer:
        serve(line)


main()
