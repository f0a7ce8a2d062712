"""Root images with names: sessions choose one, and stay with it."""
import glob
import os

import pytest
from images import add_image
from supervisor import ROOT, Error, Session

IMAGE = os.path.abspath(os.environ.get("WASMSAND_ROOT") or ROOT / "build/share/wasmsand/root.tar")
WHICH = "cat /etc/other 2>/dev/null || echo plain"


@pytest.fixture
def image(tmp_path):
    path = add_image(IMAGE, tmp_path / "other.tar", "other\n")
    yield path
    for file in tmp_path.glob("**/*.tar"):
        file.unlink()  # it is large


@pytest.fixture
def sup(make, image):
    return make(fake=False, root_image=IMAGE, images={"other": image})


def name_of(session):
    return session.info["imageName"], session.run(WHICH), session.call("status")["imageName"]


OTHER = ("other", "other\n", "other")
PLAIN = ("default", "plain\n", "default")


def restart(sup, **images):
    sup.stop()
    sup.settings["images"] = images
    sup.start()
    return sup.client()


def test_sessions_choose_an_image(sup):
    client = sup.client()
    other, plain, named = (client.create(image="other"), client.create(),
                           client.create(image="default"))
    assert (name_of(other), name_of(plain), name_of(named)) == (OTHER, PLAIN, PLAIN)
    assert other.info["image"] != plain.info["image"] == named.info["image"]
    listed = {session["sessionId"]: session["imageName"]
              for session in client.call("session.list")["sessions"]}
    assert listed == {other.id: "other", plain.id: "default", named.id: "default"}


def test_pause_fork_and_restart_keep_the_image(sup, image):
    session = sup.client().create(image="other")
    session.run("x=5; echo one > f")
    session.call("session.pause")
    assert session.run("echo $x") == "5\n"
    fork = session.call("session.fork")["sessionId"]
    client = restart(sup, other=image)
    for one in (Session(client, session.id), Session(client, fork)):
        assert one.run("cat f") == "one\n" and name_of(one) == OTHER


def test_a_name_that_moves_leaves_old_sessions_alone(sup, tmp_path):
    session = sup.client().create(image="other")
    session.run("echo one > f")
    newer = add_image(IMAGE, tmp_path / "newer.tar", "newer\n")
    client = restart(sup, other=newer)
    new = client.create(image="other")
    assert name_of(new) == ("other", "newer\n", "other")
    old = Session(client, session.id)
    assert name_of(old) == OTHER and old.run("cat f") == "one\n"
    assert old.info["image"] != new.info["image"]


def test_a_removed_name_leaves_old_sessions_alone(sup, image):
    session = sup.client().create(image="other")
    session.run("echo one > f")
    os.unlink(image)
    client = restart(sup)
    old = Session(client, session.id)
    assert old.run("cat f") == "one\n" and name_of(old) == OTHER
    with pytest.raises(Error, match="image: there is no image 'other'; known: default$"):
        client.create(image="other")
    old.call("session.end")
    assert len(os.listdir(sup.folder / "store/images")) == 1


def test_a_missing_file_is_logged_and_has_no_name(make, tmp_path):
    sup = make(fake=False, root_image=IMAGE, images={"gone": str(tmp_path / "gone.tar")})
    assert name_of(sup.client().create()) == PLAIN
    assert b"image gone: " in sup.said and b"sessions cannot use it" in sup.said
    with pytest.raises(Error, match="known: default$"):
        sup.client().create(image="gone")


@pytest.mark.parametrize("name", ["nope", "", "..", "../other", "/etc/passwd", "a/b"])
def test_an_unknown_name_lists_the_known_ones(sup, name):
    client = sup.client()
    with pytest.raises(Error) as info:
        client.create(image=name)
    assert info.value.message == f"image: there is no image '{name}'; known: default, other"
    assert client.call("session.list")["sessions"] == []


def test_a_command_has_no_image(sup):
    with pytest.raises(Error, match="image is not for a command"):
        sup.client().create(image="other", command=["/bin/true"])
    assert "imageName" not in sup.client().create(command=["/bin/true"]).info


def workers(image):
    """How many processes are workers with this image."""
    found = 0
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue  # it has just ended
        found += words[1:4] == [b"worker", b"--root", image.encode()]
    return found


def wait_for_workers(image, number):
    while workers(image) != number:
        pass


def test_images_in_use_share_the_ready_workers(make, image, tmp_path):
    plain = tmp_path / "plain.tar"
    os.link(IMAGE, plain)
    sup = make(fake=False, root_image=str(plain), images={"other": image}, pool_size=2)
    wait_for_workers(str(plain), 2)
    assert workers(image) == 0
    sessions = [sup.client().create(image="other") for _ in range(2)]
    wait_for_workers(image, 3)  # two in use, one ready
    wait_for_workers(str(plain), 1)
    for session in sessions:
        session.call("session.end")
    wait_for_workers(image, 0)
    wait_for_workers(str(plain), 2)


def test_one_ready_worker_stays_with_the_default_image(make, image, tmp_path):
    sup = make(fake=False, root_image=IMAGE, images={"other": image}, pool_size=1)
    session = sup.client().create(image="other")
    assert name_of(session) == OTHER
    wait_for_workers(image, 1)
    assert name_of(sup.client().create()) == PLAIN
