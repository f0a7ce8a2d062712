"""Processes are not copied by forks and snapshots: the answers name them, and the
shell of the copy knows that they are gone."""
import pytest
from rpc import needs_image

pytestmark = needs_image


RUNS = "until [[ $(</proc/$!/comm) = sleep ]]; do :; done"


def started(client, **params):
    """A process that was started by process.start: its id and pid."""
    id = client.call("process.start", command="echo $$; exec sleep 1000", **params)["processId"]
    while True:
        message = client.next()
        if message["params"].get("process_id") == id:
            pid = int(message["params"]["data"])
            client.run(f"until [[ $(</proc/{pid}/comm) = sleep ]]; do :; done")
            return id, pid


def test_a_fork_names_what_it_does_not_have(client):
    pid = int(client.out(f"sleep 1001 & {RUNS}; echo $!"))
    id, other = started(client)
    answer = client.call("sandbox.fork")
    assert answer["notCopied"] == [
        {"pid": pid, "command": "sleep 1001"},
        {"pid": other, "processId": id, "command": "sleep 1000"}]
    assert "notCopied" not in client.call("sandbox.fork", sandboxId=answer["sandboxId"])
    assert client.out("jobs").split()[1] == "Running"


def test_nothing_is_named_where_nothing_runs(client):
    client.run("sleep 0 & wait")
    assert list(client.call("sandbox.fork")) == ["sandboxId"]
    id = client.call("snapshot.create")["id"]
    assert client.call("snapshot.restore", id=id) == {"ok": True}


def test_restore_names_what_ran_at_the_snapshot(client):
    pid = int(client.out(f"sleep 1001 & {RUNS}; echo $!"))
    id = client.call("snapshot.create")["id"]
    client.run("kill $!; sleep 1002 &")
    for _ in range(2):
        assert client.call("snapshot.restore", id=id) == {
            "ok": True, "notCopied": [{"pid": pid, "command": "sleep 1001"}]}


def test_a_long_command_is_cut(client):
    client.run("sleep " + " ".join(["1000"] * 500) + f" & {RUNS}")
    lost = client.call("sandbox.fork")["notCopied"]
    assert len(lost) == 1 and lost[0]["command"].startswith("sleep 1000 1000")
    assert len(lost[0]["command"]) == 200


# --- message queues


def test_copies_have_the_message_queues(client):
    client.run(": >/dev/mqueue/first; chmod 640 /dev/mqueue/first")
    id = client.call("snapshot.create")["id"]
    fork = client.call("sandbox.fork")["sandboxId"]
    client.run("rm /dev/mqueue/first; : >/dev/mqueue/second")
    assert client.out("ls /dev/mqueue").split() == ["second"]
    assert client.out("stat -c %a /dev/mqueue/first; ls /dev/mqueue", sandboxId=fork).split() == ["640", "first"]
    client.call("snapshot.restore", id=id)
    assert client.out("ls /dev/mqueue; cut -c-7 /dev/mqueue/first").split() == ["first", "QSIZE:0"]


# --- jobs


def copies(client):
    """Each way to a copy of a shell with jobs: the parameters that address it."""
    yield {"sandboxId": client.call("sandbox.fork")["sandboxId"]}
    id = client.call("snapshot.create")["id"]
    client.call("snapshot.restore", id=id)
    yield {}


@pytest.mark.parametrize("way", [0, 1])
def test_jobs_of_a_copy_were_killed_and_are_named_once(client, way):
    client.run("sleep 1001 & sleep 1002 | sleep 1003 &")
    where = list(copies(client))[way]
    assert client.run("true; /bin/true; echo x | cat", **where)["stderr"] == ""
    result = client.run("jobs", **where)
    assert [line.split()[1:3] for line in result["stdout"].splitlines()] == [
        ["Killed", "sleep"], ["Killed", "sleep"]]
    assert client.out("jobs", **where) == ""


@pytest.mark.parametrize("command, expected", [
    ("wait %1; echo $?", "137\n"),
    ("wait $p; echo $?", "137\n"),
    ("wait; echo $?", "0\n"),
    ("sleep 0 & wait $!; echo $?", "0\n"),
    ("jobs -r; jobs | wc -l", "1\n"),
    ("sleep 1002 & jobs | wc -l; kill %2; wait %2; echo $?", "2\n143\n"),
    ("fg 2>/dev/null; echo $?", "1\n"),
])
def test_a_copy_does_not_wait_for_what_is_gone(client, command, expected):
    client.run("sleep 1001 & p=$!")
    where = {"sandboxId": client.call("sandbox.fork")["sandboxId"]}
    assert client.out(command, **where) == expected


def test_questions_before_the_first_command_do_not_bring_jobs_back(client):
    client.run("sleep 1001 &")
    where = {"sandboxId": client.call("sandbox.fork")["sandboxId"]}
    assert client.call("env.get", name="HOME", **where)["value"] == "/home/user"
    client.run("true", cwd="/tmp", **where)
    assert client.out("jobs", **where).split()[1] == "Killed"


def test_a_killed_first_command_does_not_bring_jobs_back(client):
    client.run("sleep 1001 &")
    where = {"sandboxId": client.call("sandbox.fork")["sandboxId"]}
    assert client.run("while :; do :; done", timeoutMs=100, **where)["exitCode"] == 124
    assert client.out("jobs", **where).split()[1] == "Killed"


def test_a_coprocess_of_a_copy_is_gone(client):
    client.run("coproc cat")
    where = {"sandboxId": client.call("sandbox.fork")["sandboxId"]}
    assert client.out("jobs; echo [${COPROC_PID-}]", **where).splitlines()[-1] == "[]"
