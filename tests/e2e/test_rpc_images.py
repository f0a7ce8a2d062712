"""Root images with names: sandboxes of one server have different ones."""
import os
import subprocess

import pytest
from images import add_image
from rpc import IMAGE, needs_image
from sandbox import SANDBOX

pytestmark = needs_image

UNKNOWN = "image: there is no image 'nope'; known: default, other"


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """The list of --images; the file is removed at the end, because it is large."""
    path = add_image(IMAGE, tmp_path_factory.mktemp("images") / "other.tar", "other\n")
    yield f"other={path}"
    os.unlink(path)


@pytest.fixture
def client(start, other):
    return start("--images", other)


def image_of(client, **params):
    """The name that status reports, and the contents."""
    name = client.call("status", **params)["imageName"]
    return name, client.out("cat /etc/other 2>/dev/null || echo plain", **params)


def test_create_chooses_an_image(client):
    assert "imageName" not in client.call("status")
    client.call("create", image="other")
    assert image_of(client) == ("other", "other\n")


def test_sandboxes_of_one_server_have_different_images(client):
    client.call("create")
    assert image_of(client) == ("default", "plain\n")
    id = client.call("sandbox.create", image="other")["sandboxId"]
    same = client.call("sandbox.create")["sandboxId"]
    assert image_of(client, sandboxId=id) == ("other", "other\n")
    assert image_of(client, sandboxId=same) == ("default", "plain\n")
    assert image_of(client) == ("default", "plain\n")


def test_a_sandbox_without_a_name_has_that_of_create(client):
    client.call("create", image="other")
    same = client.call("sandbox.create")["sandboxId"]
    plain = client.call("sandbox.create", image="default")["sandboxId"]
    assert image_of(client, sandboxId=same) == ("other", "other\n")
    assert image_of(client, sandboxId=plain) == ("default", "plain\n")


def test_forks_snapshots_and_resets_keep_the_image(client):
    client.call("create")
    id = client.call("sandbox.create", image="other")["sandboxId"]
    client.run("x=1; echo a > a", sandboxId=id)
    fork = client.call("sandbox.fork", sandboxId=id)["sandboxId"]
    assert client.out("echo $x; cat a /etc/other", sandboxId=fork) == "1\na\nother\n"
    assert image_of(client, sandboxId=fork) == ("other", "other\n")
    snapshot = client.call("snapshot.create", sandboxId=id)["id"]
    client.run("echo b > a", sandboxId=id)
    client.call("snapshot.restore", sandboxId=id, id=snapshot)
    assert client.out("cat a", sandboxId=id) == "a\n"
    client.call("sandbox.reset", sandboxId=id)
    assert image_of(client, sandboxId=id) == ("other", "other\n")


def test_an_export_of_one_image_is_imported_into_another(client):
    client.call("create", image="other")
    client.run("echo mine > /home/user/f")
    data = client.call("persistence.export")["data"]
    plain = client.call("sandbox.create", image="default")["sandboxId"]
    client.call("persistence.import", sandboxId=plain, data=data)
    assert client.out("cat f; cat /etc/other 2>/dev/null || echo plain",
                      sandboxId=plain) == "mine\nplain\n"


def test_an_unknown_name_lists_the_known_ones(client):
    assert client.fails("create", image="nope").message == f"EINVAL: {UNKNOWN}"
    client.call("create")
    assert client.fails("sandbox.create", image="nope").message == f"EINVAL: {UNKNOWN}"
    assert client.call("sandbox.list") == []


@pytest.mark.parametrize("name", ["", "..", "../other", "/etc/passwd", "other.tar", "a/b"])
def test_a_path_is_not_a_name(client, name):
    message = client.fails("create", image=name).message
    assert message == f"EINVAL: image: there is no image '{name}'; known: default, other"
    client.call("create", image="other")


def test_a_removed_image_is_an_error_and_the_others_work(start, tmp_path):
    client = start("--images", f"gone={tmp_path}/gone.tar")
    assert "gone.tar" in client.fails("create", image="gone").message
    client.call("create")
    assert image_of(client) == ("default", "plain\n")


def test_the_option_sets_the_image_of_create(start, other):
    client = start("--images", other, "--image", "other")
    client.call("create")
    assert image_of(client) == ("other", "other\n")


def test_a_small_memory_limit_is_checked_for_each_image(client):
    assert "minimum" in client.fails("create", image="other",
                                     limits={"memoryBytes": 1 << 20}).message


def command_line(*words, images):
    return subprocess.run([SANDBOX, *words], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "WASMSAND_ROOT": IMAGE, "WASMSAND_IMAGES": images})


def test_shell_and_exec_choose_an_image(other):
    shell = command_line("shell", "--image", "other", "-c", "cat /etc/other", images=other)
    assert (shell.stdout, shell.stderr) == ("other\n", "")
    program = command_line("exec", "--image", "other", "/bin/cat", "/etc/other", images=other)
    assert (program.stdout, program.stderr) == ("other\n", "")
    wrong = command_line("shell", "--image", "nope", "-c", "true", images=other)
    assert wrong.returncode != 0 and UNKNOWN in wrong.stderr


@pytest.mark.parametrize("images", ["other", "other=relative.tar", "a/b=/x", "..=/x", "default=/x",
                                    "a=/x,a=/y", "=/x", "a="])
def test_a_wrong_list_is_refused(images):
    result = command_line("shell", "-c", "true", images=images)
    assert result.returncode != 0
    assert result.stderr.startswith(f"wasm-sandbox: images: '{images}' is not NAME=/PATH")
