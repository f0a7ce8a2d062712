"""Every pair of methods at once, on a sandbox with processes: one answer each, and an orderly end.

The methods are the rows of methods.def, so a new one is tested with all others from its first day on.
"""
import itertools
import re

import pytest

from rpc import encode, needs_image
from sandbox import ROOT

pytestmark = needs_image

AT_ONCE = 24  # sandboxes


def rows():
    """name: {parameter: type} of what a method needs."""
    text = (ROOT / "src/rpc/methods.def").read_text()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    methods = {}
    for kind, name, second, third in re.findall(r'^(METHOD|PARAM)\("([^"]+)", (\w+), ([^,]+),', text, re.M):
        if kind == "METHOD":
            needed = methods.setdefault(("line" if "LINE" in third else "rpc", name), {})
        elif third.strip() == "REQUIRED" and "." not in name:
            needed[name] = second
    return methods


BY_TYPE = {"TEXT": "/tmp/a", "STRING": encode(b"x"), "INT": 1, "ID": 1, "FILES": {"a": encode(b"x")}, "MODE": "0600", "TEXTS": [],
           "OBJECT": {}, "OBJECTS": [], "ENV": {}, "BOOL": True, "ANY": None, "OCTAL": "600", "ENCODING": "text"}
BY_NAME = {"command": "sleep 1000 & echo x >/tmp/a", "name": "X", "to": "/tmp/b"}
METHODS = rows()


def message(kind, name, id, box, values):
    params = {p: values.get((name, p), BY_NAME.get(p, BY_TYPE.get(t, "x"))) for p, t in METHODS[kind, name].items()}
    if kind == "line":
        return {"type": name, "id": id, **params}
    if name == "process.start":
        params["command"] = "sleep 1000"
    if name not in ("create", "kill"):
        params["sandboxId"] = box
    return {"jsonrpc": "2.0", "id": id, "method": name, "params": params}


class Storage:
    """The client's part of offload and rehydrate."""

    def __init__(self, client):
        self.kept = {}
        client.handlers = {"storage.save": self.save, "storage.load": self.load}

    def save(self, params):
        self.kept[params["sandbox_id"]] = params["state"]
        return {"result": {}}

    def load(self, params):
        return {"result": {"state": self.kept.get(params["sandbox_id"], "")}}


def prepare(client, n):
    """Sandboxes, each with a snapshot, a process and background commands."""
    begun = [client.begin("sandbox.create") for _ in range(n)]
    boxes = [client.result(id)["sandboxId"] for id in begun]
    begun = [client.begin(method, sandboxId=box, **params) for box in boxes for method, params in (
        ("snapshot.create", {}), ("run", {"command": "sleep 1000 & sleep 1000 & true"}),
        ("process.start", {"command": "sleep 1000"}))]
    for id in begun:
        client.result(id)
    return boxes


def race(client, boxes, pairs, values):
    """What each pair is sent as, in one piece; the ids."""
    lines, ids = [], []
    for box, (a, b) in zip(boxes, pairs):
        for n, (kind, name) in enumerate((a, b, b, a, a, b, ("rpc", "sandbox.destroy"))):
            ids.append(f"{box} {n} {a[1]} {b[1]}")
            lines.append(message(kind, name, ids[-1], box, {**values, (name, "sandboxId"): box}))
    client.send_all(lines)
    return ids


@pytest.fixture
def racer(start):
    client = start()
    Storage(client)
    client.call("create", storage=True, limits={"processes": 16, "memoryBytes": 1 << 30})
    return client


def exported(client):
    client.run("echo x >/tmp/a")
    return {("persistence.import", "data"): client.call("persistence.export")["data"]}


def test_every_pair_of_methods(racer):
    values = exported(racer)
    pairs = list(itertools.combinations_with_replacement([m for m in METHODS if m[1] != "kill"], 2))
    assert len(pairs) > 1000
    for i in range(0, len(pairs), AT_ONCE):
        some = pairs[i:i + AT_ONCE]
        for id in race(racer, prepare(racer, len(some)), some, values):
            racer.answer(id)
    racer.check_end()


def test_every_method_before_kill(racer):
    values = exported(racer)
    methods = list(METHODS)
    boxes = prepare(racer, len(methods))
    lines = [message(kind, name, f"{kind} {name}", box, {**values, (name, "sandboxId"): box})
             for (kind, name), box in zip(methods, boxes) if name != "kill"]
    racer.send_all([*lines, {"jsonrpc": "2.0", "id": "end", "method": "kill"}])
    for line in lines:
        racer.answer(line["id"])
    assert racer.result("end") == {"ok": True}
    assert racer.wait() == 0


@pytest.mark.parametrize("method", ["snapshot.restore", "sandbox.reset", "persistence.import"])
def test_processes_that_start_while_all_end(racer, method):
    values = exported(racer)
    racer.call("snapshot.create")
    for i in range(20):
        racer.run("sleep 1000 & sleep 1000 & true")
        lines = [message("rpc", method, f"{i}", None, values),
                 *(message("rpc", "process.start", f"{i} {n}", None, {}) for n in range(6))]
        for line in lines:
            line["params"].pop("sandboxId")
        racer.send_all(lines)
        for line in lines:
            assert "result" in racer.answer(line["id"])
    racer.check_end()
