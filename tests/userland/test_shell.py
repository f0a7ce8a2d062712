"""bash and the tools of the root image, as scripts use them."""
import io
import os
import subprocess
import tarfile

import pytest

from conftest import RESIDENT, ROOT, SANDBOX

COMMANDS = [
    ("printf '3\\n1\\n2\\n' | cat | sort -n", "1\n2\n3\n"),
    ("echo $(echo x $(echo y $(echo z)))", "x y z\n"),
    ("(exit 3); echo $?; (cd /tmp; y=1); echo [$y]", "3\n[]\n"),
    ("sleep 0.05 & wait; (exit 7) & wait $!; echo $?", "7\n"),
    ("mkfifo /tmp/f; (read x < /tmp/f; echo 1) & (sleep 0.02; echo 2; echo > /tmp/f) & wait", "2\n1\n"),
    ("cat <<EOF\nline $((6*7))\nEOF", "line 42\n"),
    ("s=0; while read l; do s=$((s+l)); done < <(seq 10); echo $s", "55\n"),
    ("(while :; do :; done) & kill -9 $!; wait $! 2>/dev/null; echo $?", "137\n"),
    ("yes | head -n 1; yes | true; echo ${PIPESTATUS[0]}", "y\n141\n"),
    ("printf 'ab\\ncd\\n' | grep -n b | sed s/a/X/ | awk -F: '{print $2, $1}'", "Xb 1\n"),
    ("head -c 10000000 /dev/zero | cat | wc -c", "10000000\n"),
    ("seq 100000 | awk '{s+=$1}END{printf \"%d\\n\",s}'", "5000050000\n"),
    ("env -i X=foo /bin/printenv X", "foo\n"),
    ("timeout 0.1 sleep 1000; echo $?", "124\n"),
    ("mkdir -p /tmp/d; touch /tmp/d/a.txt; find /tmp/d -name '*.txt' -exec echo {} \\;",
     "/tmp/d/a.txt\n"),
    ("seq 3 | xargs -n 2 echo", "1 2\n3\n"),
    ("cd /tmp; mkdir q; echo hi >q/x; tar czf a.tgz q; rm -r q; tar xzf a.tgz; cat q/x",
     "hi\n"),
    ("f() { [ $1 -eq 0 ] || f $(($1-1)); }; f 3000; echo deep", "deep\n"),
    ("f() { if [ $1 -eq 0 ]; then echo $(echo a; echo b | cat); else f $(($1-1)); fi; }; f 3000",
     "a b\n"),
    ("for i in {1..50}; do (exit $i); done; echo $?", "50\n"),
    ("printf 'a\\nb\\n' > /tmp/1; printf 'a\\nc\\n' > /tmp/2; diff /tmp/1 /tmp/2",
     "2c2\n< b\n---\n> c\n"),
    ("printf '%5s|\\n' é; echo -n é | wc -m", "   é|\n1\n"),
    ("id -un; echo $HOME; echo ~; pwd", "user\n/home/user\n/home/user\n/home/user\n"),
    ("echo hello | gzip | gzip -d; echo hello | md5sum",
     "hello\nb1946ac92492d2347c6235b4d2611184  -\n"),
]


@pytest.mark.parametrize("command,expected", COMMANDS)
def test_command(shell, command, expected):
    done = shell(command)
    assert (done.stdout, done.stderr) == (expected, "")


def test_exit_statuses(shell):
    assert shell("exit 42").returncode == 42
    assert shell("nope").returncode == 127
    assert shell("kill -TERM $$").returncode == 143
    assert shell("if").returncode == 2


def test_script_on_stdin():
    done = subprocess.run([SANDBOX, "shell", "--root", ROOT], input="echo $((1+1))\n",
                          capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == "2\n"


def test_system_folders_are_not_writable(shell):
    done = shell("touch /usr/x; touch /etc/x; touch /workspace/x && echo fine")
    assert done.stdout == "fine\n"
    assert done.stderr.count("Permission denied") == 2


@pytest.mark.parametrize("user, home", [("user", "/home/user"), ("root", "/root")])
def test_each_user_has_programs_of_its_own_on_path(user, home):
    done = subprocess.run(
        [SANDBOX, "shell", "--root", ROOT, "--user", user, "-c", "echo $HOME $PATH; bash -lc 'echo $PATH'"],
        capture_output=True, text=True, timeout=300, check=True)
    path = f"{home}/.local/bin:/usr/local/bin:/usr/bin:/bin"
    assert done.stdout == f"{home} {path}\n{path}\n"


COUNT_FILES = "stat -f -c %c /"


def test_a_shell_has_files_and_commands_for_real_projects(shell, resident):
    assert shell(COUNT_FILES).stdout == "100000\n"
    assert resident.out(COUNT_FILES) == "100000\n"
    assert resident.out("mkdir d; cd d; seq 12000 | xargs touch; ls | wc -l") == "12000\n"
    long = "x" * ((1 << 20) - len("echo "))
    assert resident.out("echo " + long) == long + "\n"
    answer = resident.run("echo x" + long)
    assert (answer.status, answer.out) == (1, "") and "command too long" in answer.err


def test_a_shell_may_have_other_limits():
    done = subprocess.run([SANDBOX, "shell", "--root", ROOT, "--file-count", "50", "-c", COUNT_FILES],
                          capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == "50\n"


def test_fork_bomb_leaves_the_shell(shell):
    """Which forks no more itself: it could be refused, and bash would end."""
    done = shell("mkfifo /tmp/never; :(){ :|:& };: 2>/dev/null; read -t 0.3 <>/tmp/never; echo still here")
    assert done.stdout.endswith("still here\n")


def test_program_from_the_image():
    done = subprocess.run([SANDBOX, "exec", "--root", ROOT, "/bin/ls", "-d", "/tmp"],
                          capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == "/tmp\n"


@pytest.mark.parametrize("content", [b"", b"not a tar", b"\0" * 511, os.urandom(4096)])
def test_bad_root_image(tmp_path, content):
    image = tmp_path / "root.tar"
    image.write_bytes(content)
    done = subprocess.run([SANDBOX, "shell", "--root", str(image), "-c", "true"],
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 2
    assert str(image) in done.stderr and done.stderr.count("\n") == 1


def image_with(path, files):
    with tarfile.open(path, "w") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    return str(path)


@pytest.mark.parametrize("version", ["0.0", "0.10", "0.1.", "9"])
def test_root_image_of_another_version(tmp_path, version):
    image = image_with(tmp_path / "root.tar", {"etc/os-release": f'ID=wasmsand\nVERSION_ID="{version}"\n'})
    done = subprocess.run([SANDBOX, "shell", "--root", image, "-c", "true"],
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 2
    assert done.stderr == f"wasm-sandbox: root image {image}: version {version} instead of 0.1.0\n"


def test_root_image_without_a_shell(tmp_path):
    image = image_with(tmp_path / "root.tar", {"etc/os-release": 'ID=other\nVERSION_ID="9"\n'})
    done = subprocess.run([*RESIDENT, image], input="true\n",
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "/usr/lib/wasmsand/shell.wasm" in done.stderr
