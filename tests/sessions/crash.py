"""Kills at random instants during a workload: nothing that was answered may be
lost. Also a program: crash.py KILLS [SEED]

Each session has a writer of its own, which knows what it was answered. A write
that got no answer may have happened or not; everything else must be there.
"""
import os
import pathlib
import random
import select
import shutil
import subprocess
import sys
import tempfile
import threading

import supervisor
from supervisor import Error, Gone, Session

SESSIONS = 4
KEYS = 6
PADDING = (1, 50, 5000, 200000)


class Lost(AssertionError):
    pass


class Writer(threading.Thread):
    """One session, and the truth about it."""

    def __init__(self, world, seed):
        super().__init__(daemon=True)
        self.world, self.random = world, random.Random(seed)
        self.session = None
        self.known = {}  # key: value, as answered
        self.doubt = {}  # what the last request would have changed
        self.number = 0
        self.answered = 0

    # --- operations: each gives what it will have changed

    def write_file(self, key, value):
        self.session.write(f"/home/user/{key}", value.encode())

    def run_file(self, key, value):
        self.session.call("run", command=f"cat > {key}", stdin=value)

    def run_shell(self, key, value):
        # the shell and a file, in one commit
        self.session.call("run", command=f"v_{key}={value[:40]}; cat > {key}", stdin=value)

    def remove(self, key, value):
        self.session.call("run", command=f"rm -f {key}")

    def change(self):
        key = f"k{self.random.randrange(KEYS)}"
        self.number += 1
        value = f"{self.number}:" + "x" * self.random.choice(PADDING)
        how = self.random.choice((self.write_file, self.run_file, self.run_shell, self.remove))
        new = None if how == self.remove else value
        self.doubt = {key: new}
        how(key, value)
        self.known.update(self.doubt)
        self.doubt = {}

    def turn(self):
        """Something that changes no content."""
        word = self.random.choice(("pause", "stop", "fork", "get"))
        if word == "fork":
            old = self.session
            made = old.call("session.fork")["sessionId"]
            self.world.ids.add(made)
            self.session = Session(old.client, made)
            old.call("session.end")
            self.world.ids.discard(old.id)
            return
        self.session.call(f"session.{word}")
        if word == "stop":
            self.session.call("session.resume")

    # --- what is there

    def content(self):
        text = self.session.call(
            "run", command=f"for k in k{{0..{KEYS - 1}}}; do [ -e $k ] && {{ echo $k; cat $k; echo; }}; done; :",
            timeoutMs=60000)["stdout"].split("\n")
        return dict(zip(text[0:-1:2], text[1::2]))

    def check(self):
        there = self.content()
        before = {k: v for k, v in self.known.items() if v is not None}
        after = {k: v for k, v in {**self.known, **self.doubt}.items() if v is not None}
        if there not in (before, after):
            raise Lost(f"session {self.session.id}: "
                       f"{ {k: (v or '')[:20] for k, v in there.items()} } instead of "
                       f"{ {k: v[:20] for k, v in before.items()} } or "
                       f"{ {k: v[:20] for k, v in after.items()} }")
        self.known = {k: there.get(k) for k in set(there) | set(self.known)}
        self.doubt = {}

    # --- going on after a kill

    def connect(self):
        self.client = self.world.connect()
        if self.session:
            self.session.client = self.client
            while not self.resume():
                pass

    def begin(self):
        while not self.session:
            made = self.client.create(label=f"w{self.number}", limits={"memoryMb": 64, "diskMb": 32})
            self.session = made
            self.world.ids.add(made.id)

    def work(self):
        self.begin()
        while not self.world.is_over:
            if self.random.random() < 0.05:
                self.turn()
            else:
                self.change()
            self.answered += 1
            self.world.step()

    def resume(self):
        """False: killed again."""
        try:
            if self.session:
                self.session.call("session.resume")
                self.check()
            return True
        except Error as error:
            self.accept(error)
            return False

    def run(self):
        try:
            while not self.world.is_over:
                try:
                    self.connect()
                    self.go_on()
                except Gone:
                    pass
                except Error as error:
                    self.accept(error)
        except BaseException as error:  # told by the main thread
            self.world.fail(error)

    def go_on(self):
        while not self.world.is_over:
            try:
                self.work()
            except Error as error:
                self.accept(error)
                while not self.resume():
                    pass

    def accept(self, error):
        """Only what a kill explains."""
        for word in ("interrupted", "not resumed: killed", "not resumed: the worker ended", "no worker within",
                     "not created", "Session error (killed"):
            if word in error.message:
                return
        raise error


def open_processes(pids):
    found = []
    for pid in pids:
        try:
            found.append(os.pidfd_open(pid))
        except ProcessLookupError:
            pass
    return found


def wait_for_end(processes):
    """For ever, if one of them stays."""
    for hfd in processes:
        select.select([hfd], [], [])
        os.close(hfd)


class World:
    def __init__(self, folder, seed, **settings):
        self.random = random.Random(seed)
        self.folder = folder
        self.sup = supervisor.Supervisor(folder, fake=False, pool_size=1, **settings)
        self.lock = threading.Condition()
        self.is_over, self.failure = False, None
        self.steps = 0
        self.ids = set()
        self.writers = [Writer(self, self.random.random()) for _ in range(SESSIONS)]

    def connect(self):
        with self.lock:
            while not self.is_over:
                try:
                    return self.sup.client()
                except OSError:
                    self.lock.wait(1)
        raise Gone

    def step(self):
        with self.lock:
            self.steps += 1
            self.lock.notify_all()

    def fail(self, error):
        with self.lock:
            self.failure = self.failure or error
            self.is_over = True
            self.lock.notify_all()

    def wait_for_steps(self, count):
        with self.lock:
            wanted = self.steps + count
            while self.steps < wanted and not self.is_over:
                self.lock.wait(60)
        for _ in range(self.random.randrange(20000)):  # somewhere in between
            pass

    def workers(self):
        found = []
        for pid in os.listdir("/proc"):
            try:
                group = pathlib.Path(f"/proc/{pid}/cgroup").read_text()
            except OSError:
                continue
            if supervisor.CGROUP + "/" in group and pid != str(self.sup.process.pid):
                found.append(int(pid))
        return found

    def family(self):
        """What must not outlive the supervisor, as processes."""
        pid = self.sup.process.pid
        born = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return open_processes({*map(int, born), *self.workers()})

    def kill_some(self):
        what = self.random.choice(("worker", "worker", "supervisor", "both"))
        pids, family = self.workers(), []
        if what == "worker" and pids:
            pids = [self.random.choice(pids)]
        elif what == "supervisor":
            pids = []
        if what != "worker":
            family = self.family()
            self.sup.process.kill()
        for pid in pids:
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                pass
        if what != "worker":
            self.sup.kill()
            wait_for_end(family)
            with self.lock:
                self.sup.start()
                self.lock.notify_all()

    def run(self, kills):
        self.sup.start()
        for writer in self.writers:
            writer.start()
        for _ in range(kills):
            self.wait_for_steps(self.random.randrange(12))
            if self.is_over:
                break
            self.kill_some()
        with self.lock:
            self.is_over = True
            self.lock.notify_all()
        for writer in self.writers:
            writer.join(60)
        if self.failure:
            raise self.failure
        self.finish()

    def finish(self):
        """All again, from a store that was closed; then nothing is left."""
        assert self.sup.stop() == 0
        checked = subprocess.run([supervisor.SUPERVISOR, "fsck", "--store", str(self.folder / "store")],
                                 capture_output=True, text=True)
        assert checked.returncode == 0, checked.stdout + checked.stderr
        client = self.sup.start().client()
        listed = {s["sessionId"] for s in client.call("session.list", limit=1000)["sessions"]}
        for writer in self.writers:
            if writer.session:
                assert writer.session.id in listed, "a session is lost"
                writer.session.client = client
                writer.check()
        assert self.sup.stop() == 0
        wait_for_end(open_processes(self.workers()))
        assert supervisor.groups() == [], "a group is left"
        assert not os.path.exists(self.sup.socket)

    def close(self):
        self.is_over = True
        self.sup.end()


def main():
    kills, seed = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "0"
    folder = pathlib.Path(tempfile.mkdtemp())
    world = World(folder, seed)
    try:
        world.run(kills)
        print(f"{kills} kills, {sum(w.answered for w in world.writers)} answers, nothing lost")
        shutil.rmtree(folder)
    finally:
        world.close()
        supervisor.remove_groups()


if __name__ == "__main__":
    main()
