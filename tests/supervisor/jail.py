"""Running wasmsand-supervisor from the tests."""
import glob
import os
import pathlib
import re
import select
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SANDBOX = os.path.abspath(os.environ.get("WASM_SANDBOX", ROOT / "build/wasm-sandbox"))
SUPERVISOR = os.path.join(os.path.dirname(SANDBOX), "libexec/wasmsand-supervisor")
ESCAPE = ROOT / "build/tests/supervisor/escape"
# Groups of the tests, apart from those of whoever runs them.
CGROUP = f"/wasmsand-test-{os.getpid()}"
BACKENDS = ("v2", "hybrid", "v1", "rlimits")
FIRST_UID = 0x70000000


def probe(*options):
    return subprocess.run(
        [SUPERVISOR, "serve", "--probe", "--cgroup", CGROUP, *options],
        capture_output=True,
        text=True,
    )


def is_here(backend):
    found = probe("--backend", backend).stdout
    return re.search(r"^back end +(\w+)$", found, re.M).group(1) == backend


def landlock():
    found = re.search(r"^Landlock +version (\d+)$", probe().stdout, re.M)
    return int(found.group(1)) if found else 0


AVAILABLE = [b for b in BACKENDS if is_here(b)]


def command(*args, backend=None):
    argv = [SUPERVISOR, "limit", "--cgroup", CGROUP]
    if backend:
        argv += ["--backend", backend]
    if backend == "rlimits":
        argv += ["--allow-unenforced", "cpu"]
    return argv + [str(a) for a in args]


class Result:
    """How a jail ended, and what was said about it."""

    def __init__(self, done):
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr
        last = self.err.decode(errors="replace").strip().rpartition("\n")[2]
        said = re.fullmatch(r"wasm-sandbox: limit: (\w+): ((?:status|signal) .*)", last)
        self.cause, self.said = said.groups() if said else (None, last)

    def number(self, pattern):
        return float(re.search(pattern, self.said).group(1))

    def __repr__(self):
        return f"status {self.status}\n{self.out!r}\n{self.err!r}"


def limit(*args, backend=None, stdin=b"", **options):
    argv = command(*args, backend=backend)
    return Result(
        subprocess.run(argv, input=stdin, capture_output=True, timeout=120, **options)
    )


def escape(*args, options=(), **rest):
    """The program of attacks in a jail, which it enters through stdin."""
    script = 'cat >/tmp/e; chmod +x /tmp/e; exec /tmp/e "$@"'
    return limit(
        *options, "--", "sh", "-c", script, "-", *args, stdin=ESCAPE.read_bytes(), **rest
    )


def groups():
    """The groups of jails that are there."""
    return glob.glob(f"/sys/fs/cgroup/**{CGROUP}/wasmsand-*", recursive=True)


def remove_groups():
    for path in glob.glob(f"/sys/fs/cgroup/**{CGROUP}", recursive=True):
        os.rmdir(path)


def parent(pid):
    with open(f"/proc/{pid}/stat") as f:
        return int(f.read().rpartition(")")[2].split()[1])


def is_ours(pid):
    """Not of somebody else who runs jails now: below us, or an orphan."""
    above = pid
    while above > 1 and above != os.getpid():
        above = parent(above)
    return above > 1 or parent(pid) == 1


def jailed_processes():
    """Processes of users that only jails have."""
    found = []
    for path in glob.glob("/proc/[0-9]*"):
        try:
            if os.stat(path).st_uid >= FIRST_UID and is_ours(int(path[6:])):
                found.append(int(path[6:]))
        except OSError:
            pass
    return found


def descendants(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        children = [int(c) for c in f.read().split()]
    return children + [d for c in children for d in descendants(c)]


def wait_gone(pids):
    """Waits until all these processes have ended."""
    for pid in pids:
        try:
            fd = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        assert select.select([fd], [], [], 30)[0], f"process {pid} lives"
        os.close(fd)
