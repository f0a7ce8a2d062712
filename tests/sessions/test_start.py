"""What a supervisor does before it serves anybody."""
import os
import socket

import pytest
from supervisor import FAKE, Error, Session, Supervisor


@pytest.fixture
def sup(tmp_path):
    """One that is not started."""
    one = Supervisor(tmp_path)
    yield one
    one.end()


@pytest.fixture
def gate(sup):
    """Workers that are not ready before somebody opens their gate, a FIFO."""
    gate = sup.folder / "gate"
    os.mkfifo(gate)
    worker = sup.folder / "worker"
    worker.write_text(f"#!/bin/sh\n: < {gate}\nexec {FAKE}\n")
    worker.chmod(0o755)
    sup.settings["worker"] = str(worker)
    return gate


def test_clients_wait_until_there_is_a_worker(sup, gate):
    sup.begin().wait_until_it_says(b"the first worker is not ready yet")
    assert not sup.socket.exists()
    with open(gate, "w"):
        sup.wait_until_it_says(b"serving on")
        sup.log_to_file()
        client = sup.client()
        assert client.create().run("quiet x") == "x"
    assert sup.stop() == 0


def test_a_supervisor_without_a_pool_serves_at_once(sup, gate):
    sup.settings["pool_size"] = 0
    assert sup.start().client().call("session.list") == {"sessions": []}


def test_a_worker_that_cannot_be_started_is_told_and_clients_are_served(sup):
    sup.settings["worker"] = "/bin/false"
    sup.start()
    assert b"no worker can be started" in sup.said
    assert sup.client().call("session.list") == {"sessions": []}


def test_sigterm_while_it_waits_for_the_first_worker(sup, gate):
    sup.begin().wait_until_it_says(b"the first worker is not ready yet")
    sup.log_to_file()
    assert sup.stop() == 0


def test_sigterm_while_a_call_waits_for_its_session(sup, gate):
    sup.settings["pool_size"] = 0
    client = sup.start().client()
    created = client.ask("session.create")
    with open(gate, "w"):
        s = Session(client, client.wait(created)["sessionId"])
    s.call("session.pause")
    waiting = s.ask("run", command="quiet x")
    assert Session(sup.client(), s.id).wait_for("starting", s.last_event() - 1)
    assert sup.stop() == 0
    with pytest.raises(Error, match="shutting down"):
        client.wait(waiting)


@pytest.mark.parametrize("settings, said", [
    ({}, "enforces the limit 'cpu'; --allow-unenforced cpu starts without it"),
    ({"allow_unenforced": ["cpu"], "compile": "separate"},
     "enforces the limit 'memory' with compile: separate; --allow-unenforced memory"),
])
def test_a_limit_that_nothing_enforces_is_a_refusal_to_start(sup, settings, said):
    sup.settings.update(settings, backend="rlimits")
    with pytest.raises(RuntimeError, match=said):
        sup.start()
    assert sup.process.returncode == 125


def test_it_starts_without_a_limit_that_the_configuration_names(sup):
    sup.settings.update(backend="rlimits", allow_unenforced=["cpu"])
    assert sup.start().client().create().run("quiet x") == "x"
    sup.stop()
    sup.settings.update(allow_unenforced=["cpu", "memory"], compile="separate")
    sup.start()


def test_a_socket_in_use_is_refused_before_a_worker_is_started(sup, gate):
    sup.socket.parent.mkdir()
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(sup.socket))
        other.listen()
        with pytest.raises(RuntimeError, match="Address already in use"):
            sup.start()
    assert sup.process.returncode == 125
