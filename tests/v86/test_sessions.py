"""Sessions of the supervisor that are x86 computers."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "sessions"))
import supervisor  # noqa: E402
from supervisor import Error, Session  # noqa: E402


@pytest.fixture
def sup(image, tmp_path):
    one = supervisor.Supervisor(tmp_path, disk_images={"debian": image},
                                resources={"memoryMb": 64, "diskMb": 64})
    yield one.start()
    one.end()
    supervisor.remove_groups()


def create(client, **params):
    return client.create(mode="v86", diskImage="debian", timeoutMs=120000, **params)


def descendants(pid):
    text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
    for child in map(int, text.split()):
        yield child
        yield from descendants(child)


@pytest.mark.parametrize("params, text", [
    ({"mode": "v86"}, "mode v86 needs diskImage"),
    ({"mode": "v87"}, "mode must be simple or v86"),
    ({"diskImage": "debian"}, "diskImage is for mode v86 only"),
    ({"mode": "v86", "diskImage": "/etc/passwd"}, "diskImage: there is no image '/etc/passwd'; known: debian"),
    ({"mode": "v86", "diskImage": "debian", "user": "root"}, "user is not in mode v86"),
    ({"mode": "v86", "diskImage": "debian", "command": ["true"]}, "is not"),
    ({"mode": "v86", "diskImage": "debian", "limits": {"memoryMb": 39}}, "at least memoryMb 40"),
    ({"image": "debian"}, "image: there is no image 'debian'; known: default"),
])
def test_parameters_that_are_refused(image, sup, params, text):
    with pytest.raises(Error, match=text.replace("[", "\\[")):
        sup.client().create(**params)


def test_a_session_continues_from_its_disk(image, sup):
    session = create(sup.client())
    info = session.info
    assert info["imageName"] == "debian" and info["limits"]["memoryMb"] == 64
    assert session.run("uname -sm; echo one >/etc/one") == "Linux i686\n"
    with pytest.raises(Error, match="Session interrupted: crashed"):
        session.call("run", command="echo lost >/etc/lost; poweroff -f")
    assert session.info["cause"] == "crashed"
    assert session.run("cat /etc/one; ls /etc/lost 2>/dev/null || echo none") == "one\nnone\n"
    assert session.call("session.end")["state"] == "ended"


@pytest.mark.long
def test_the_disk_is_the_state_of_a_session(image, sup):
    client = sup.client()
    session = create(client)
    assert session.run("uname -sm; seq 3000 >/root/numbers; echo one >/etc/one") == "Linux i686\n"
    session.write("/etc/two", b"2")
    assert session.call("status")["memoryLimitBytes"] == 64 << 20
    with pytest.raises(Error, match="EPERM: not in mode v86: process.list"):
        session.call("process.list")
    pids = [session.pid, *descendants(session.pid)]
    assert len(pids) == 3
    for pid in pids:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        assert "Seccomp:\t2" in status and "CapEff:\t0000000000000000" in status

    last = session.last_event()
    supervisor.kill(session.pid)
    session.wait_for("paused", last)
    assert session.run("rm /etc/one; cat /etc/two; tail -n 1 /root/numbers") == "23000\n"
    fork = Session(client, session.call("session.fork")["sessionId"])
    with pytest.raises(Error, match="Session interrupted: crashed"):
        session.call("run", command="echo lost >/etc/lost; poweroff -f")
    info = session.info
    assert info["state"] == "paused" and info["cause"] == "crashed"
    sup.stop()
    client = sup.start().client()
    session, fork = Session(client, session.id), Session(client, fork.id)
    assert session.run("ls /etc/one /etc/lost 2>/dev/null; cat /etc/two") == "2"
    session.call("sandbox.reset")
    assert session.run("ls /etc/two /root/numbers 2>/dev/null; echo 3 >/etc/three; sync") == ""
    session.call("session.pause")
    assert session.run("cat /etc/three; ls /etc/two 2>/dev/null || echo none") == "3\nnone\n"
    assert fork.run("cat /etc/two; dmesg | grep -c 'EXT4-fs error' || true") == "20\n"
    answer = fork.call("run", command="dd if=/dev/zero of=/big bs=1M count=100; rm /big; echo ok >/f; cat /f")
    assert "No space left on device" in answer["stderr"] and answer["stdout"] == "ok\n"
    for one in session, fork:
        assert one.call("session.end")["state"] == "ended"
