"""Users: root inside, sudo and su. The sandbox is the boundary, not the uid: what
refuses something to uid 1000 from outside refuses it to root."""
import os
import stat

import pytest
from rpc import encode, needs_image

pytestmark = needs_image


@pytest.fixture
def root(server):
    server.call("create", user="root")
    return server


# --- who one is


def test_the_usual_user_is_not_root(client):
    assert client.out("id -u; id -un; echo $UID $EUID $HOME $USER; pwd") == (
        "1000\nuser\n1000 1000 /home/user user\n/home/user\n")


def test_root(root):
    assert root.out("id; echo $UID $EUID $HOME $USER $LOGNAME; pwd; cd; pwd; echo ~") == (
        "uid=0(root) gid=0(root) groups=0(root)\n0 0 /root root root\n/root\n/root\n/root\n")


def test_root_has_the_variables_it_was_given(server):
    server.call("create", user="root", env={"HOME": "/tmp", "A": "1"})
    assert server.out("echo $HOME $A") == "/tmp 1\n"


def test_root_makes_folders_anywhere_and_files_are_its_own(root):
    assert root.out("mkdir /app /testbed && echo x >/app/f && stat -c '%U %G %a' /app /app/f") == (
        "root root 755\nroot root 644\n")
    root.call("files.mkdir", path="/data")
    root.call("files.write", path="/data/f", data=encode(b"x"))
    root.call("files.symlink", path="/data/l", target="f")
    root.call("mount", path="/m", files={"f": encode(b"x")}, writable=True)
    assert root.out("stat -c %u:%g /data /data/f /data/l /m /m/f").split() == ["0:0"] * 5


def test_files_belong_to_the_usual_user(client):
    client.call("files.mkdir", path="/data")
    client.call("files.write", path="/data/f", data=encode(b"x"))
    assert client.out("stat -c %u:%g /data /data/f").split() == ["1000:1000"] * 2


def test_an_unknown_user(server):
    error = server.fails("create", user="nobody")
    assert error.code == 1 and "'nobody' is not \"user\" or \"root\"" in error.message


def test_forks_snapshots_and_resets_keep_the_user(root):
    snapshot = root.call("snapshot.create")["id"]
    fork = root.call("sandbox.fork")["sandboxId"]
    assert root.out("id -u; echo $UID", sandboxId=fork) == "0\n0\n"
    root.call("snapshot.restore", id=snapshot)
    assert root.out("id -u; echo $UID ~") == "0\n0 /root\n"
    root.call("sandbox.reset")
    assert root.out("id -u; echo $UID ~") == "0\n0 /root\n"


def test_new_sandboxes_have_the_user_of_the_first(root):
    same = root.call("sandbox.create")["sandboxId"]
    assert root.out("id -u; echo ~", sandboxId=same) == "0\n/root\n"


def test_export_and_import_keep_owners(root):
    root.run("mkdir /app; chown 1000:1000 /app; echo x >/app/f")
    data = root.call("persistence.export")["data"]
    root.call("sandbox.reset")
    root.call("persistence.import", data=data)
    assert root.out("stat -c %u /app /app/f").split() == ["1000", "0"]


def output_of(client, id):
    """The first of what a process wrote."""
    while True:
        message = client.next()
        if message["method"] == "output" and message["params"]["process_id"] == id:
            return message["params"]["data"]


@pytest.mark.parametrize("user, expected", [
    ("root", "0 root /root"), ("user", "1000 user /home/user"), (None, "1000 user /home/user")])
def test_a_process_has_its_own_user(client, user, expected):
    params = {"user": user} if user else {}
    id = client.call("process.start", command="echo $(id -u) $USER $HOME", **params)["processId"]
    assert output_of(client, id).strip() == expected


def test_a_process_of_an_unknown_user(client):
    error = client.fails("process.start", command="true", user="games")
    assert "'games' is not" in error.message


# --- PATH

SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
USER_PATH = f"/home/user/.local/bin:{SYSTEM_PATH}"
ROOT_PATH = f"/root/.local/bin:{SYSTEM_PATH}"


def path_of_a_process(client, **params):
    id = client.call("process.start", command="echo $PATH", **params)["processId"]
    return output_of(client, id).strip()


def test_each_user_has_programs_of_its_own_on_path(root, start):
    assert root.out("echo $PATH; env | grep ^PATH=") == f"{ROOT_PATH}\nPATH={ROOT_PATH}\n"
    assert path_of_a_process(root) == path_of_a_process(root, user="root") == ROOT_PATH
    assert path_of_a_process(root, user="user") == USER_PATH
    client = start()
    client.call("create")
    assert client.out("echo $PATH") == f"{USER_PATH}\n"
    assert path_of_a_process(client) == path_of_a_process(client, user="user") == USER_PATH
    assert path_of_a_process(client, user="root") == ROOT_PATH


@pytest.mark.parametrize("user, uid", [("user", 1000), ("root", 0)])
def test_programs_in_the_home_folder_are_commands(client, user, uid):
    make = ("mkdir -p ~/.local/bin; printf '#!/bin/sh\\necho local $(id -u)\\n' >~/.local/bin/mine; "
            "chmod +x ~/.local/bin/mine; mine")
    id = client.call("process.start", command=make, user=user)["processId"]
    assert output_of(client, id) == f"local {uid}\n"
    id = client.call("process.start", command="mine", user=user)["processId"]
    assert output_of(client, id) == f"local {uid}\n"


def test_copies_have_the_path_of_their_user(root):
    root.run("export PATH=$PATH:/opt")
    snapshot = root.call("snapshot.create")["id"]
    fork = root.call("sandbox.fork")["sandboxId"]
    assert root.out("echo $PATH", sandboxId=fork) == f"{ROOT_PATH}:/opt\n"
    root.call("snapshot.restore", id=snapshot)
    assert root.out("echo $PATH") == f"{ROOT_PATH}:/opt\n"
    root.call("sandbox.reset")
    assert root.out("echo $PATH") == f"{ROOT_PATH}\n"
    new = root.call("sandbox.create")["sandboxId"]
    assert root.out("echo $PATH", sandboxId=new) == f"{ROOT_PATH}\n"


def test_a_path_that_was_given_stays(server):
    server.call("create", user="root", env={"PATH": "/usr/bin"})
    assert server.out("echo $PATH") == "/usr/bin\n"
    assert path_of_a_process(server) == path_of_a_process(server, user="user") == "/usr/bin"
    assert path_of_a_process(server, user="user", env={"PATH": "/bin"}) == "/bin"


@pytest.mark.parametrize("command, expected", [
    ("su - -c 'echo $PATH'", ROOT_PATH),
    ("sudo -i sh -c 'echo $PATH'", ROOT_PATH),
    ("sudo sh -c 'echo $PATH'", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
    ("su - user -c 'echo $PATH'", USER_PATH),
    ("sudo -iu user sh -c 'echo $PATH'", USER_PATH),
])
@pytest.mark.parametrize("user", ["user", "root"])
def test_path_after_sudo_and_su(server, user, command, expected):
    server.call("create", user=user)
    assert server.out(command).strip() == expected


# --- sudo and su


@pytest.mark.parametrize("command, expected", [
    ("sudo id -u", "0"),
    ("sudo mkdir /app /testbed /data; stat -c %u /app /testbed /data | tr -d '\\n'", "000"),
    ("sudo -u user id -un", "user"),
    ("sudo -u nobody id -un", "nobody"),
    ("sudo -u '#1000' id -un", "user"),
    ("sudo sudo -u user id -u", "1000"),
    ("A=1 sudo sh -c 'echo [$A] $HOME $USER $SUDO_USER $SUDO_UID'", "[] /root root user 1000"),
    ("A=1 sudo -E sh -c 'echo [$A] $USER'", "[1] root"),
    ("A=1 B=2 sudo --preserve-env=A sh -c 'echo [$A$B]'", "[1]"),
    ("sudo A=1 sh -c 'echo [$A]'", "[1]"),
    ("sudo -n -- id -u", "0"),
    ("cd /tmp; sudo -i pwd", "/root"),
    ("cd /tmp; sudo -s pwd", "/tmp"),
    ("sudo -s echo 'a  b' '$HOME'", "a  b /root"),
    ("sudo -D /usr pwd", "/usr"),
    ("echo 'echo $0 $(id -u)' | sudo -i", "-bash 0"),
    ("sudo -v && echo yes", "yes"),
    ("su -c 'id -u; echo $HOME' | tr '\\n' ' '", "0 /root"),
    ("cd /tmp; su - -c 'id -u; pwd' | tr '\\n' ' '", "0 /root"),
    ("cd /tmp; A=1 su -c 'pwd; echo [$A]' | tr '\\n' ' '", "/tmp [1]"),
    ("A=1 su -l root -c 'echo [$A]'", "[]"),
    ("sudo su user -c 'id -un'", "user"),
    ("su nobody -s /bin/sh -c 'id -un'", "nobody"),
    ("su root -- -c 'echo $0 $1' a b", "a b"),
    ("sudo sh -c 'umask 077; echo x >/tmp/f'; cat /tmp/f 2>&1", "cat: /tmp/f: Permission denied"),
    ("sudo sleep 1000 & until [[ $(</proc/$!/comm) = sleep ]]; do :; done; "
     "kill $! 2>&1 | sed 's/.*- //'; sudo kill $!; wait $!; echo $?", "Operation not permitted\n143"),
])
def test_sudo_and_su(client, command, expected):
    assert client.out(command).strip() == expected


@pytest.mark.parametrize("command, status, message", [
    ("sudo", 1, "usage: sudo"),
    ("sudo nope", 1, "sudo: nope: command not found"),
    ("sudo -u nope id", 1, "sudo: unknown user nope"),
    ("sudo -i -s id", 1, "both"),
    ("sudo sh -c 'exit 7'", 7, ""),
    ("su nope", 1, "su: user nope does not exist"),
    ("su -c 'exit 7'", 7, ""),
    ("su nobody -c id", 127, "nologin"),
    ("cp /usr/bin/sudo /tmp/s; chmod u+s /tmp/s; /tmp/s id", 1, "effective uid is not 0"),
])
def test_sudo_and_su_fail(client, command, status, message):
    result = client.run(command, timeoutMs=600000)
    assert result["exitCode"] == status and message in result["stderr"]


# --- what root does not pass


@pytest.fixture(params=["root", "sudo"])
def powers(request, server):
    """Makes a sandbox whose commands are root's, in one way or the other."""
    def make(**params):
        if request.param == "root":
            server.call("create", user="root", **params)
            return server, ""
        server.call("create", **params)
        return server, "sudo "
    return make


def test_root_has_no_more_files(powers):
    client, sudo = powers(limits={"fileCount": 50}, fsLimitBytes=100000)
    result = client.run(f"{sudo}bash -c 'for i in {{1..100}}; do touch /opt/$i || exit 3; done'")
    assert result["exitCode"] == 3 and "No space left" in result["stderr"]
    assert client.run(f"{sudo}head -c 200000 /dev/zero | {sudo}tee /opt/1 >/dev/null")["exitCode"] == 1
    assert int(client.out(f"{sudo}stat -c %s /opt/1")) <= 100000


def test_root_has_no_more_processes_and_descriptors(powers):
    client, sudo = powers(limits={"processes": 12})
    result = client.run(
        f"{sudo}bash -c 'ulimit -u 1000 || echo no; ulimit -n 100000 || echo no'")
    assert result["stdout"] == "no\nno\n"
    result = client.run(f"{sudo}python3 -c 'import subprocess\n"
                        "for i in range(20): subprocess.Popen([\"sleep\", \"1000\"])'")
    assert result["exitCode"] == 1 and "Resource temporarily unavailable" in result["stderr"]


def test_root_has_no_more_memory(powers):
    client, sudo = powers(limits={"memoryBytes": 128 << 20})
    result = client.run(f"{sudo}python3 -c 'x = bytearray(200 << 20)'")
    assert result["exitCode"] == 1 and "MemoryError" in result["stderr"]


def test_root_has_no_more_time(powers):
    client, sudo = powers()
    result = client.run(f"{sudo}bash -c 'trap \"\" TERM; while :; do :; done'", timeoutMs=300)
    assert (result["exitCode"], result["errorClass"]) == (124, "TIMEOUT")


def test_root_writes_only_where_it_may(powers):
    client, sudo = powers(writablePaths=["/work"])
    result = client.run(f"{sudo}touch /work/a /etc/b; {sudo}chmod 777 /etc; {sudo}rm /etc/passwd; "
                        f"{sudo}mount -o remount,rw /")
    assert result["stderr"].count("Read-only file system") == 3
    assert client.out("ls /work; ls /etc/passwd") == "a\n/etc/passwd\n"


@pytest.mark.parametrize("how", [
    "iconv -l",
    "mv /usr/bin/iconv /usr/bin/ls; ls -l",
    "cp /usr/bin/iconv /usr/bin/ls; /usr/bin/ls -l",
    "ln -f /usr/bin/iconv /usr/bin/ls; /usr/bin/ls -l",
    "ln -sf iconv /usr/bin/ls; /usr/bin/ls -l",
    "cat /usr/bin/iconv >/usr/bin/ls; /usr/bin/ls -l",
    "mkdir /b; mv /usr/bin/iconv /b/ls; /b/ls -l",
    "mv /usr/bin /usr/b; /usr/b/mkdir /usr/bin; /usr/b/ln /usr/b/iconv /usr/bin/ls; /usr/bin/ls -l",
])
def test_root_runs_only_tools_that_are_allowed(powers, how):
    tools = ["ls", "mv", "cp", "ln", "cat", "mkdir", "sudo", "bash"]
    client, sudo = powers(allowTools=tools)
    result = client.run(f"{sudo}bash <<'END'\n{how}\nEND")
    assert result["exitCode"] == 126 and result["stdout"] == ""
    assert result["errorClass"] == "CAPABILITY_DENIED"


def test_what_is_allowed_stays_so_under_its_name(powers):
    client, sudo = powers(allowTools=["ls", "mv", "chown", "touch", "sudo"])
    assert client.out(f"{sudo}chown user /usr/bin/ls; {sudo}touch /usr/bin/ls; "
                      f"{sudo}mv /usr/bin /usr/b; /usr/b/ls -d /") == "/\n"


@pytest.fixture
def shared(tmp_path):
    """A host folder with a file of another user of the host."""
    folder = tmp_path / "shared"
    folder.mkdir()
    os.chmod(folder, 0o755)
    (folder / "ours").write_text("ours\n")
    os.chmod(folder / "ours", 0o600)
    other = folder / "theirs"
    other.write_text("secret\n")
    os.chmod(other, 0o600)
    if os.geteuid() == 0:
        os.chown(other, 4242, 4242)
    else:
        os.chmod(other, 0)
    return folder


@pytest.mark.parametrize("sudo", ["", "sudo "])
def test_root_has_no_more_rights_to_host_folders(sudo, shared, start):
    client = start("--allow-mount", str(shared.parent))
    user = {} if sudo else {"user": "root"}
    client.call("create", mounts=[
        {"path": "/ro", "hostPath": str(shared)},
        {"path": "/rw", "hostPath": str(shared), "writable": True}], **user)
    assert client.out(f"{sudo}cat /rw/ours") == "ours\n"
    for command in ("cat /rw/theirs", "chmod 777 /rw/theirs", "chown user /rw/theirs"):
        result = client.run(sudo + command)
        assert result["exitCode"] == 1 and ("denied" in result["stderr"] or "not permitted" in result["stderr"])
    for command in ("touch /ro/new", "rm /ro/ours", "chmod 777 /ro/ours"):
        result = client.run(sudo + command)
        assert result["exitCode"] == 1 and "Read-only file system" in result["stderr"]
    client.run(f"{sudo}touch /rw/new; {sudo}chmod 6755 /rw/new; {sudo}chown root /rw/new")
    made = os.stat(shared / "new")
    assert made.st_uid == os.geteuid() and not made.st_mode & (stat.S_ISUID | stat.S_ISGID)
    assert os.stat(shared / "theirs").st_mode & 0o777 in (0o600, 0)


def test_root_has_no_network(powers):
    client, sudo = powers()
    code = ("import socket\n"
            "s = socket.socket()\n"
            "try: s.connect((\"192.0.2.1\", 80))\n"
            "except OSError as e: print(e.strerror)")
    assert client.out(f"{sudo}python3 -c '{code}'") == "Network is unreachable\n"


def test_root_makes_no_devices_and_changes_no_root(powers):
    client, sudo = powers()
    assert client.run(f"{sudo}mknod /tmp/d c 1 3")["exitCode"] == 1
    assert client.run(f"{sudo}chroot /tmp true")["exitCode"] == 125


# --- apt


def test_apt(client):
    result = client.run("apt-get update && apt update")
    assert result["exitCode"] == 0 and "no archive" in result["stdout"]
    result = client.run("sudo apt-get install -y --no-install-recommends git curl jq=1.6 && apt install -y python3-pip")
    assert (result["exitCode"], result["stderr"]) == (0, "")
    result = client.run("apt-get -o a=b install -qq -y jq nginx python3-yaml ./x.deb")
    assert result["exitCode"] == 100
    lines = result["stderr"].splitlines()
    assert len(lines) == 3 and all(line.startswith("E: ") for line in lines)
    assert "nginx is not available" in lines[0] and "pip install pyyaml" in lines[1]
