"""A supervisor of our own, and clients of it."""
import base64
import glob
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SANDBOX = os.path.abspath(os.environ.get("WASM_SANDBOX", ROOT / "build/wasm-sandbox"))
IS_SANITIZED = "/san/" in SANDBOX
SUPERVISOR = os.environ.get("WASMSAND_SUPERVISOR") or os.path.join(
    os.path.dirname(SANDBOX), "libexec/wasmsand-supervisor")
FAKE = ROOT / "tests/sessions/fake_worker.py"
CGROUP = f"/wasmsand-sessions-{os.getpid()}"


class Error(Exception):
    def __init__(self, error):
        super().__init__(error["message"])
        self.code, self.message = error["code"], error["message"]


class Gone(Exception):
    """The supervisor closed the connection."""


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))
        self.socket.settimeout(120)
        self.data = b""
        self.last = 0
        self.notes = []
        self.answers = {}

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError as error:
            raise Gone from error

    def line(self):
        while b"\n" not in self.data:
            try:
                more = self.socket.recv(1 << 20)
            except (ConnectionError, BrokenPipeError) as error:
                raise Gone from error
            if not more:
                raise Gone
            self.data += more
        line, _, self.data = self.data.partition(b"\n")
        return json.loads(line)

    def ask(self, method, **params):
        self.last += 1
        request = {"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}
        self.send(json.dumps(request).encode() + b"\n")
        return self.last

    def wait(self, number):
        while number not in self.answers:
            message = self.line()
            if "method" in message:
                self.notes.append(message["params"])
            else:
                self.answers[message["id"]] = message
        answer = self.answers.pop(number)
        if "error" in answer:
            raise Error(answer["error"])
        return answer["result"]

    def call(self, method, **params):
        return self.wait(self.ask(method, **params))

    def create(self, **params):
        return Session(self, self.call("session.create", **params)["sessionId"])

    def close(self):
        self.socket.close()


class Session:
    def __init__(self, client, number):
        self.client, self.id = client, number

    def call(self, method, **params):
        return self.client.call(method, sessionId=self.id, **params)

    def ask(self, method, **params):
        return self.client.ask(method, sessionId=self.id, **params)

    def run(self, command, **params):
        return self.call("run", command=command, **params)["stdout"]

    def write(self, path, data):
        self.call("files.write", path=path, data=base64.b64encode(data).decode())

    def read(self, path):
        return base64.b64decode(self.call("files.read", path=path)["data"])

    @property
    def info(self):
        return self.call("session.get")

    @property
    def state(self):
        return self.info["state"]

    @property
    def pid(self):
        return self.info["use"]["pid"]

    def last_event(self):
        found = {"last": 0}
        while found.get("events", True):
            found = self.client.call("session.events", sessionId=self.id, after=found["last"])
        return found["last"]

    def wait_for(self, state, after=0):
        """The event of entering a state."""
        while True:
            found = self.client.call("session.events", sessionId=self.id, after=after, waitMs=60000)
            for event in found["events"]:
                if event["to"] == state:
                    return event
            after = found["last"]


class Supervisor:
    def __init__(self, folder, *options, fake=True, **settings):
        self.folder = pathlib.Path(folder)
        self.socket = self.folder / "run/s.sock"
        self.log = self.folder / "log"
        self.process = None
        self.options = list(options)
        self.settings = {"store.dir": str(self.folder / "store"), "pool_size": 1,
                         "cgroup": CGROUP, "idle_pause_s": 0, **settings}
        if fake:
            self.settings["worker"] = str(FAKE)

    def config(self):
        nested = {}
        for name, value in self.settings.items():
            group, _, key = name.rpartition(".")
            (nested.setdefault(group, {}) if group else nested)[key] = value
        path = self.folder / "config.json"
        path.write_text(json.dumps(nested))
        return path

    def begin(self):
        command = [SUPERVISOR, "serve", "--config", str(self.config()), "--socket",
                   str(self.socket), *self.options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE)
        self.said = b""
        return self

    def start(self):
        self.begin().wait_until_it_says(b"serving on")
        self.log_to_file()
        return self

    def wait_until_it_says(self, text):
        while text not in self.said:
            more = os.read(self.process.stderr.fileno(), 4096)
            self.said += more
            if not more:
                self.process.wait()
                raise RuntimeError(self.said.decode())

    def log_to_file(self):
        """What it says from now on goes on being read."""
        self.copier = subprocess.Popen(
            ["cat"], stdin=self.process.stderr, stdout=open(self.log, "ab"))
        self.process.stderr.close()

    def client(self):
        return Client(self.socket)

    def web_address(self):
        said = re.search(rb"serving HTTP on ([\d.]+), port (\d+)", self.said)
        return said[1].decode(), int(said[2])

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.copier.wait()

    def stop(self):
        self.process.terminate()
        status = self.process.wait()
        self.copier.wait()
        return status

    def end(self):
        if self.process and self.process.poll() is None:
            self.kill()
        # may be copies of a large file, which pytest would keep
        shutil.rmtree(self.folder / "store/images", ignore_errors=True)

    def cli(self, *words, **options):
        command = [SANDBOX, "session", *map(str, words)]
        env = {**os.environ, "WASMSAND_SOCKET": str(self.socket)}
        return subprocess.run(command, capture_output=True, timeout=120, env=env, **options)


def group_file(pid, controller, v1, v2):
    """A file of the group of a process: of its hierarchy v1, or of v2."""
    rows = [line.split(":", 2) for line in pathlib.Path(f"/proc/{pid}/cgroup").read_text().splitlines()]
    for _, names, path in rows:
        if controller in names.split(","):
            return pathlib.Path(f"/sys/fs/cgroup/{controller}{path}/{v1}")
    (path,) = [path for number, _, path in rows if number == "0"]
    return pathlib.Path(f"/sys/fs/cgroup{path}/{v2}")


def groups():
    return glob.glob(f"/sys/fs/cgroup/**{CGROUP}/wasmsand-*", recursive=True)


def remove_groups():
    for path in groups() + glob.glob(f"/sys/fs/cgroup/**{CGROUP}", recursive=True):
        try:
            os.rmdir(path)
        except OSError:
            pass


def kill(pid, number=signal.SIGKILL):
    os.kill(pid, number)
