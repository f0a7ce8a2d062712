"""Options and errors of the program, its jail, and its two ways to execute code."""
import os
import pathlib
import re
import subprocess

import pytest

import conftest
from sandbox import SANDBOX


def refused(*options):
    done = subprocess.run([SANDBOX, "--mode", "v86", *options], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=120, check=False)
    assert done.returncode != 0 and done.stdout == b""
    return done.stderr.decode()


@pytest.mark.parametrize("options, text", [
    ([], "--mode v86 needs --disk-image FILE"),
    (["--disk-image", "x", "--memory-limit", "39"], "--memory-limit in mode v86 must be a number from 40"),
    (["--disk-image", "x", "--root", "y"], "--root"),
    (["--disk-image", "/no/such"], "/no/such: No such file or directory"),
    (["--disk-image", "/"], "not a disk image"),
    (["--disk-image", "x", "--jit", "maybe"], "neither on nor off"),
])
def test_a_bad_command_line(options, text):
    assert text in refused(*options)


@pytest.mark.parametrize("content, text", [
    (b"", "not a disk image"),
    (b"QFI\xfb" + bytes(1000), "qemu-img convert -O raw"),
    (bytes(100000), "not an image of tools/v86-image"),
    (bytes(range(256)) * 400, "not an image of tools/v86-image"),
], ids=["empty", "qcow2", "zeros", "noise"])
def test_files_that_are_no_image(tmp_path, content, text):
    path = tmp_path / "disk.img"
    path.write_bytes(content)
    assert text in refused("--disk-image", str(path))


def damaged(image, tmp_path, change):
    """A copy of the beginning of the image, without most of the root file system."""
    path = tmp_path / "disk.img"
    with open(image, "rb") as f:
        data = bytearray(f.read(40 << 20))
    change(data)
    path.write_bytes(data)
    return str(path)


def test_a_damaged_kernel(image, tmp_path):
    def change(data):
        at = (1 << 20) + 4096
        data[at:at + 4] = b"what"
    assert "its kernel is damaged" in refused("--disk-image", damaged(image, tmp_path, change))


def test_a_truncated_image_does_not_boot(image, tmp_path):
    text = refused("--disk-image", damaged(image, tmp_path, lambda data: data.__delitem__(slice(22 << 20, None))))
    assert "its kernel cannot be read" in text or "console" in text


def test_a_boot_that_takes_too_long(image):
    assert "has not booted within 1 ms" in refused("--disk-image", image, "--boot-timeout-ms", "1")


# --- the jail


def children(pid):
    return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_processes_of_guests_are_jailed(machine):
    zygote, = children(machine.process.pid)
    running = children(zygote)
    assert running
    for pid in [zygote, *running]:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        assert "Seccomp:\t2" in status and "NoNewPrivs:\t1" in status
        assert "CapEff:\t0000000000000000" in status
        limits = pathlib.Path(f"/proc/{pid}/limits").read_text()
        assert re.search(r"Max processes +1200 +1200 ", limits), limits
        maps = pathlib.Path(f"/proc/{pid}/maps").read_text()
        assert not [line for line in maps.splitlines() if line.split()[1].startswith("rwx")]


def test_machines_end_with_the_server(image):
    client = conftest.start()
    assert client.line("shell", command="echo x")["stdout"] == "x\n"
    zygote, = children(client.process.pid)
    pids = [zygote, *children(zygote)]
    handles = [os.pidfd_open(pid) for pid in pids]
    client.process.kill()
    client.process.wait()
    import select
    for handle in handles:
        assert select.select([handle], [], [], 60)[0]
        os.close(handle)
    client.watchdog.cancel()


# --- the compiler, and native programs


COMMANDS = r"""
seq 100 | awk '{ s += $1 * $1 } END { print s, s / 7 }'
seq 2000 | sort -rn | head -3
echo 'hello world' | sed 's/o/0/g; y/abc/xyz/'
printf '%s\n' b a c | sort | tr 'a-c' 'A-C' | paste -s -d,
seq 1000 | md5sum
seq 1000 | sha1sum
seq 1000 | sha256sum
seq 1000 | sha512sum
seq 1000 | cksum
seq 5000 | gzip -9 | gunzip | tail -n 1
seq 5000 | bzip2 | bunzip2 | wc
echo '2^100; 355/113; sqrt(2)' | bc -l
echo '10 k 2 v p' | dc
factor 1234567890 97
expr 17 \* 3 + 4
i=0; while [ $i -lt 100 ]; do i=$((i * 3 + 1)); done; echo $i
for f in a b c; do echo $f; done | grep -v b | wc -l
echo abcdef | cut -c2-4
echo one two three | awk '{ print $3, $1, NF, length($2) }'
awk 'BEGIN { for (i = 0; i < 5; i++) printf "%.3f ", sin(i) * exp(i / 3); print "" }'
printf '%d %x %o %5.2f|%-5s|%05d\n' 255 255 255 3.14159 ab 42
echo $((0x7fffffff + 1)) $((1 << 31)) $((-7 / 2)) $((-7 % 2))
seq 10 | tac | head -n 2
seq 20 | xargs -n 5 echo
echo abc | od -c
echo abc | xxd -p
echo aGVsbG8= | base64 -d
seq 30 | split -l 10 - /tmp/wsand.; cat /tmp/wsand.*; rm /tmp/wsand.*
echo 'a b' | { read x y; echo "$y-$x"; }
x=hello; echo ${x#he} ${x%lo} ${#x} ${x:-no}
case abc in a*) echo yes;; *) echo no;; esac
f() { [ $1 -le 1 ] && echo 1 || echo $(($1 * $(f $(($1 - 1))))); }; f 6
echo 'x=1;y=2' | tr ';' '\n' | while IFS== read k v; do echo $k:$v; done
yes | head -n 3
seq 3 | sed -n '2{p;q}'
printf 'a\tb\n' | expand -t 4
printf 'long line of words here' | fold -w 8
diff /dev/null /dev/null && echo same
echo foo | tee /tmp/wsand.t | cat - /tmp/wsand.t; rm /tmp/wsand.t
date -u -d @86400 +%Y-%m-%dT%H:%M:%S
""".strip().splitlines()


@pytest.fixture(scope="module")
def busybox(server, tmp_path_factory):
    """The guest's busybox, which also runs on this host, with links for its programs."""
    from rpc import decode
    folder = tmp_path_factory.mktemp("busybox")
    program = folder / "busybox"
    content = server.line("read_file", path="/bin/busybox", encoding="base64")["content"]
    program.write_bytes(decode(content))
    program.chmod(0o755)
    for name in subprocess.run([program, "--list"], capture_output=True, check=True).stdout.split():
        if name != b"busybox":
            (folder / name.decode()).symlink_to("busybox")
    return folder


def test_commands_have_the_output_of_native_busybox(machine, busybox):
    assert len(COMMANDS) == 40
    for command in COMMANDS:
        native = subprocess.run([busybox / "sh", "-c", command], capture_output=True, check=False,
                                env={"PATH": str(busybox), "LANG": "C.UTF-8"}, cwd="/")
        inside = machine.line("shell", command=command)
        assert (inside["stdout"], inside["exit_code"]) == (native.stdout.decode(), native.returncode), command


def compare_ways(machine, commands):
    """Messages about a broken pipe depend on the order of processes, so standard error is not
    compared."""
    client = conftest.start("--jit", "off", "--boot-timeout-ms", "300000", "--timeout-ms", "300000")
    client.watchdog.cancel()
    try:
        for command in commands:
            interpreted = client.line("shell", command=command)
            compiled = machine.line("shell", command=command)
            for name in "stdout", "exit_code", "timed_out":
                assert interpreted[name] == compiled[name], (name, command)
    finally:
        conftest.end(client)


def test_interpreted_and_compiled_code_give_the_same_output(machine):
    compare_ways(machine, COMMANDS[::8])


@pytest.mark.long
def test_all_commands_give_the_same_output_interpreted_and_compiled(machine):
    """Each command runs often enough that the machine compiles its code."""
    repeated = [f"n=0; while [ $n -lt 20 ]; do n=$((n + 1)); {command}\ndone" for command in COMMANDS]
    compare_ways(machine, COMMANDS + repeated)
