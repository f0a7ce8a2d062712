"""Another root image is installed: sessions stay with the one they were made with."""
import io
import os
import shutil
import signal
import tarfile

import pytest
from supervisor import ROOT, Error, Session

IMAGE = os.path.abspath(os.environ.get("WASMSAND_ROOT") or ROOT / "build/share/wasmsand/root.tar")


@pytest.fixture
def sup(make, tmp_path):
    """A supervisor with an image of its own."""
    old = tmp_path / "old.tar"
    old.symlink_to(IMAGE)
    yield make(fake=False, root_image=str(old))
    (tmp_path / "new.tar").unlink()


def upgrade(sup):
    """The next supervisor has an image with one more file; the old one is gone."""
    sup.stop()
    new = sup.folder / "new.tar"
    shutil.copy(IMAGE, new)
    with tarfile.open(new, "a") as tar:
        info = tarfile.TarInfo("./etc/upgraded")
        info.size = 4
        tar.addfile(info, io.BytesIO(b"yes\n"))
    os.unlink(sup.settings["root_image"])
    sup.settings["root_image"] = str(new)
    sup.start()
    return sup.client()


def kept(sup):
    return sorted(os.listdir(sup.folder / "store/images"))


def test_old_sessions_resume_and_new_ones_have_the_new_image(sup):
    old = sup.client().create()
    old.run("x=5; mkdir d; echo one > d/f; echo two > /tmp/g")
    before = kept(sup)
    assert before == [old.info["image"]]
    client = old.client = upgrade(sup)
    assert old.run("echo $x; cat d/f /tmp/g; cat /etc/upgraded 2>&1 || uname") == (
        "5\none\ntwo\ncat: /etc/upgraded: No such file or directory\nLinux\n")
    new = client.create()
    assert new.run("cat /etc/upgraded") == "yes\n"
    assert kept(sup) == sorted({old.info["image"], new.info["image"]}) != before
    fork = Session(client, old.call("session.fork")["sessionId"])
    old.call("session.end")
    assert fork.run("cat d/f") == "one\n"
    assert len(kept(sup)) == 2
    fork.call("session.end")
    assert kept(sup) == [new.info["image"]]  # nobody refers to the other


def replace(path, data):
    """At once, as an upgrade does it."""
    (path.parent / "next").write_bytes(data)
    (path.parent / "next").rename(path)


def test_an_image_that_is_gone_is_an_error_with_its_reason(sup):
    old = sup.client().create()
    old.run("x=5")
    old.client = upgrade(sup)
    path = sup.folder / "store/images" / old.info["image"]
    data = path.read_bytes()
    path.unlink()
    with pytest.raises(Error, match="the root image of the session is missing"):
        old.run("echo $x")
    assert old.state == "error"
    replace(path, data[:-512])  # not what it was
    assert len(kept(sup)) == 2
    with pytest.raises(Error, match="saved with another root image"):
        old.call("session.resume")
    other = io.BytesIO()
    with tarfile.open(fileobj=other, mode="w") as tar:
        info = tarfile.TarInfo("etc/os-release")
        text = b'ID=wasmsand\nVERSION_ID="9"\n'
        info.size = len(text)
        tar.addfile(info, io.BytesIO(text))
    replace(path, other.getvalue())
    with pytest.raises(Error, match="version 9 instead of"):
        old.call("session.resume")
    replace(path, data)
    old.call("session.resume")
    assert old.run("echo $x") == "5\n"
    sup.stop()
    path.write_bytes(data[:-512])
    done = sup.cli("fsck", "--store", sup.folder / "store")
    assert (done.returncode, done.stdout.decode()) == (
        1, f"{path}: a damaged root image: its sessions cannot be resumed\n1 found, 0 repaired\n")


def spawners(sup):
    """The processes that start workers, one for each image: our
    children that are not in namespaces of their own."""
    pid = sup.process.pid
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        children = [int(word) for word in f.read().split()]
    namespace = os.readlink(f"/proc/{pid}/ns/user")
    return [child for child in children if os.readlink(f"/proc/{child}/ns/user") == namespace]


def test_the_end_of_an_images_spawner_costs_no_session_of_another(sup):
    old = sup.client().create()
    old.run("x=5")
    client = old.client = upgrade(sup)
    new = client.create()
    workers = [(s, s.run("y=6; echo $x"), s.pid) for s in (old, new)]
    assert len(spawners(sup)) == 2
    for pid in spawners(sup):
        os.kill(pid, signal.SIGKILL)
        client.create().call("session.end")  # a start, by a new spawner
    for session, said, pid in workers:
        assert session.run("echo $x") == said and session.pid == pid
