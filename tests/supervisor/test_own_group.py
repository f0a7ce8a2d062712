"""Without --cgroup, groups are made in the one that we are in."""
import glob
import os
import subprocess

import pytest
from jail import AVAILABLE, CGROUP, SUPERVISOR, limit

CONTROLLED = [b for b in AVAILABLE if b != "rlimits"]
pytestmark = pytest.mark.skipif(not CONTROLLED, reason="this host has no cgroups")


@pytest.fixture
def scope():
    """A group of our own in each hierarchy, as a service manager delegates."""
    assert limit("--", "true").status == 0  # makes the parents
    paths = [p + "/scope" for p in glob.glob(f"/sys/fs/cgroup/**{CGROUP}", recursive=True)]
    for path in paths:
        os.mkdir(path)
    yield paths
    for path in paths:
        os.rmdir(path)


def enter(scope):
    return "".join(f"echo $$ >{path}/cgroup.procs; " for path in scope)


def run_in(scope, script):
    argv = ["sh", "-c", enter(scope) + script, SUPERVISOR]
    return subprocess.run(argv, capture_output=True, text=True)


def test_groups_are_made_in_our_own(scope):
    with subprocess.Popen(
        ["sh", "-c", enter(scope) + 'exec "$0" limit -- sh -c "echo ready; cat"', SUPERVISOR],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as p:
        assert p.stdout.readline() == b"ready\n"
        assert all(glob.glob(path + "/wasmsand-*") for path in scope)
        p.stdin.close()
    assert p.returncode == 0
    assert not any(glob.glob(path + "/wasmsand-*") for path in scope)


def test_probe_finds_the_same_in_our_own(scope):
    r = run_in(scope, 'exec "$0" serve --probe')
    assert f"back end   {CONTROLLED[0]}" in r.stdout, r
    assert r.returncode == 0


def test_v2_hands_nothing_down_beside_other_processes(scope):
    if "v2" not in AVAILABLE:
        pytest.skip("this host has no back end v2")
    r = run_in(scope, '"$0" limit -- true; exit $?')
    assert r.returncode == 125 and "'cpu'" in r.stderr, r


def test_a_jail_is_born_though_our_group_was_once_killed(scope):
    """Kernels then kill what clone3 puts into another group (6.1, 6.18)."""
    for path in scope:
        if os.path.exists(path + "/cgroup.kill"):
            with open(path + "/cgroup.kill", "w") as f:
                f.write("1")
    r = run_in(scope, 'exec "$0" limit -- sh -c "exit 3"')
    assert r.returncode == 3 and "limit: exited: status 3" in r.stderr, r
