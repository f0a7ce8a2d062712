"""Changes of the disk that outlive the machine: --disk-overlay, exports."""
import subprocess

import pytest

import conftest
from rpc import decode, encode
from sandbox import SANDBOX


def shell(client, command):
    answer = client.line("shell", command=command)
    assert answer["exit_code"] == 0, answer
    return answer["stdout"]


def kill(client):
    client.process.kill()
    client.process.wait()
    client.watchdog.cancel()
    for thread in client.threads:
        thread.join()


@pytest.fixture
def overlay(tmp_path):
    return tmp_path / "overlay"


def start(overlay, *options):
    return conftest.start("--disk-overlay", str(overlay), *options)


def refused(image, overlay):
    done = subprocess.run([SANDBOX, "--mode", "v86", "--disk-image", image, "--disk-overlay", overlay],
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False)
    assert done.returncode != 0
    return done.stderr.decode()


def test_changes_outlive_a_killed_server(image, overlay):
    client = start(overlay)
    shell(client, "echo one >/etc/one; rm /etc/hosts")
    kill(client)
    client = start(overlay)
    assert shell(client, "cat /etc/one; ls /etc/hosts 2>/dev/null || echo none") == "one\nnone\n"
    conftest.end(client)


@pytest.mark.long
def test_changes_are_kept_at_each_answer(image, overlay):
    client = start(overlay)
    shell(client, "echo one >/etc/one; seq 20000 >/root/numbers; cd /tmp")
    client.line("write_file", path="/etc/two", content="2")
    shell(client, "rm /etc/one; echo three >/etc/three")
    assert "another process uses it" in refused(image, str(overlay))
    kill(client)
    size = overlay.stat().st_size

    with open(overlay, "ab") as f:  # a commit that was cut
        f.write(overlay.read_bytes()[:60])
    client = start(overlay)
    assert shell(client, "ls /etc/one 2>/dev/null || cat /etc/two /etc/three; tail -n 1 /root/numbers") == "2three\n20000\n"
    client.line("shell", command="echo 4 >/etc/four; sync; poweroff -f")
    assert shell(client, "cat /etc/three; dmesg | grep -c 'EXT4-fs error' || true") == "three\n0\n"
    shell(client, "echo 5 >/etc/five")
    conftest.end(client)
    assert overlay.stat().st_size < 3 * size

    client = start(overlay)
    assert shell(client, "cat /etc/five") == "5\n"
    assert client.line("reset")["success"] is True
    shell(client, "rm /etc/five")
    snapshot = client.call("snapshot.create")["id"]
    shell(client, "echo 6 >/etc/six")
    client.call("snapshot.restore", id=snapshot)
    conftest.end(client)

    client = start(overlay)
    assert shell(client, "ls /etc/five /etc/six 2>/dev/null | wc -l; cat /etc/three") == "0\nthree\n"
    conftest.end(client)


def test_a_command_that_changes_nothing_adds_little_to_the_file(image, overlay):
    client = start(overlay)
    shell(client, "true")
    size = overlay.stat().st_size
    for _ in range(5):
        shell(client, "cat /etc/passwd >/dev/null")
    assert overlay.stat().st_size < size + 5 * 16384
    conftest.end(client)


@pytest.mark.parametrize("content", [b"x" * 1000, b"P\0" + bytes(100)], ids=["text", "frame"])
def test_a_file_that_is_no_overlay(image, overlay, content):
    overlay.write_bytes(content)
    assert "it is damaged, or belongs to another image" in refused(image, str(overlay))
    assert overlay.read_bytes() == content


def test_an_export_restores_in_another_process(machine):
    machine.run("mkdir -p /srv/a; seq 5000 >/srv/a/numbers; rm /etc/hosts")
    data = machine.call("persistence.export")["data"]
    assert machine.run("cat /etc/hosts; tail -n 1 /srv/a/numbers")["stdout"] == "5000\n"
    client = conftest.start()
    client.call("create")
    client.run("echo gone >/srv-gone; x=5")
    assert client.call("persistence.import", data=data) == {"ok": True}
    assert client.run("cat /etc/hosts; tail -n 1 /srv/a/numbers; ls /srv-gone; echo [$x]")["stdout"] == "5000\n[]\n"
    assert client.run("echo more >/more; cat /more")["stdout"] == "more\n"
    broken = bytearray(decode(data))
    for bad in (b"", bytes(broken[:-1]), bytes(broken) + b"x", b"P" + bytes(broken[:500])):
        assert client.fails("persistence.import", data=encode(bad)).message == "EINVAL: not an export of this disk image"
    assert client.fails("persistence.export", partBytes=5).message == "EPERM: not in mode v86: persistence.export with partBytes"
    assert client.run("cat /more")["stdout"] == "more\n"
    client.call("sandbox.reset")
    assert client.run("ls /srv/a /more")["exitCode"] != 0
    conftest.end(client)
