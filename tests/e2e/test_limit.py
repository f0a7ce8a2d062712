"""wasm-sandbox limit and serve --probe become the supervisor beside the program."""
import os
import shutil

from sandbox import SANDBOX, run

NO_GROUPS = ("--backend", "rlimits", "--allow-unenforced", "cpu")


def test_limit_runs_a_command_in_a_jail():
    r = run([SANDBOX, "limit", *NO_GROUPS, "--", "sh", "-c", "pwd; exit 3"])
    assert (r.status, r.out) == (3, b"/workspace\n"), r
    assert b"limit: exited: status 3" in r.err


def test_the_supervisor_is_found_where_it_is_installed(tmp_path):
    (tmp_path / "bin").mkdir()
    program = shutil.copy(SANDBOX, tmp_path / "bin")
    argv = [program, "limit", *NO_GROUPS, "--", "true"]
    r = run(argv)
    assert r.status == 127 and b"wasmsand-supervisor is not installed" in r.err, r
    libexec = os.path.join(os.path.dirname(SANDBOX), "libexec")
    shutil.copytree(libexec, tmp_path / "libexec")
    assert run(argv).status == 0


def test_serve_probe_prints_the_table():
    for words in ["--probe", "--backend", "rlimits"], ["--backend", "rlimits", "--probe"]:
        r = run([SANDBOX, "serve", *words])
        assert r.status == 1 and b"cpu        NOT ENFORCED\n" in r.out, r
    assert run([SANDBOX, "serve", "--nonsense"]).status == 2
