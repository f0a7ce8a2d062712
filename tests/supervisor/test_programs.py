"""Programs of many kinds run in a jail: its filter of system calls and its /proc
have what their runtimes need. Each uses threads or processes, files and sockets."""
import os
import shutil
import subprocess

import pytest
from jail import limit

JAIL_PATH = "/usr/local/bin:/usr/bin:/bin"

PYTHON = """
import asyncio, mmap, multiprocessing, os, socket, subprocess, sys, tempfile, threading

def serve(s):
    with s.accept()[0] as c:
        c.sendall(b"hello")

async def child():
    p = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1)
    return (await p.communicate(b"async"))[0]

assert ("127.0.0.1", 7) in [a[4] for a in socket.getaddrinfo("localhost", 7)]
with socket.create_server(("127.0.0.1", 0)) as s:
    thread = threading.Thread(target=serve, args=[s])
    thread.start()
    assert socket.create_connection(s.getsockname()).recv(9) == b"hello"
    thread.join()
with multiprocessing.Pool(2) as pool:
    assert pool.map(abs, [-1, -2]) == [1, 2]
with tempfile.TemporaryFile() as f:
    f.truncate(4096)
    mmap.mmap(f.fileno(), 4096)[0] = 1
assert asyncio.run(child()) == b"async"
assert subprocess.check_output(["echo", "child"]) == b"child\\n"
assert os.sysconf("SC_NPROCESSORS_ONLN") > 0 and os.sysconf("SC_PHYS_PAGES") > 0
print("done")
"""

NODE = """
const {Worker, isMainThread, parentPort} = require("worker_threads");
const {execSync} = require("child_process");
const fs = require("fs"), net = require("net"), os = require("os"), crypto = require("crypto");
const worker = new Worker("require('worker_threads').parentPort.postMessage(7)", {eval: true});
worker.on("message", (seven) => {
    const server = net.createServer((c) => c.end("hello")).listen(0, "127.0.0.1", () => {
        net.connect(server.address().port, "127.0.0.1").on("data", async (data) => {
            await fs.promises.writeFile("file", data);
            const child = execSync("cat file").toString();
            if (os.cpus().length && os.totalmem() && crypto.randomBytes(8) && seven === 7)
                console.log(child === "hello" ? "done" : child);
            server.close();
        });
    });
});
"""

GIT = """
set -e
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git init -q one && cd one
seq 1000 >file && git add file && git commit -qm first
git checkout -qb other && echo more >>file && git commit -qam second
git gc -q && cd .. && git clone -q one two && cd two
[ "$(git log --oneline | wc -l)" = 2 ] && git fsck --no-progress && echo done
"""

GCC = r"""
set -e
cat >a.c <<'END'
#include <pthread.h>
#include <stdio.h>
static void *thread(void *text) { return puts(text) < 0 ? 0 : text; }
int main(void)
{
    pthread_t t;
    void *result;
    return pthread_create(&t, 0, thread, "done") || pthread_join(t, &result) || !result;
}
END
gcc -O2 -pthread a.c -o a && ./a
"""

JAVA = """
import java.io.*;
import java.net.*;
import java.nio.file.*;
import java.util.concurrent.*;
import java.util.stream.*;

public class Main {
    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        pool.submit(() -> {
            try (Socket c = server.accept()) {
                c.getOutputStream().write("hello".getBytes());
            }
            return null;
        });
        Socket c = new Socket(server.getInetAddress(), server.getLocalPort());
        Files.write(Path.of("file"), c.getInputStream().readAllBytes());
        Process child = new ProcessBuilder("cat", "file").start();
        String text = new String(child.getInputStream().readAllBytes());
        int sum = IntStream.range(0, 1000).parallel().sum();
        pool.shutdown();
        System.gc();
        System.out.println(text.equals("hello") && sum == 499500 ? "done" : text);
    }
}
"""

GO = """
package main

import (
    "fmt"
    "io"
    "net"
    "os"
    "os/exec"
    "runtime"
)

func main() {
    server, err := net.Listen("tcp", "127.0.0.1:0")
    if err != nil {
        panic(err)
    }
    go func() {
        c, _ := server.Accept()
        c.Write([]byte("hello"))
        c.Close()
    }()
    c, _ := net.Dial("tcp", server.Addr().String())
    data, _ := io.ReadAll(c)
    os.WriteFile("file", data, 0o600)
    text, _ := exec.Command("cat", "file").Output()
    runtime.GC()
    if string(text) == "hello" && runtime.NumCPU() > 0 {
        fmt.Println("done")
    }
}
"""


def shell(script):
    return ["sh", "-c", script], b""


def through_stdin(script):
    return lambda text: (["sh", "-c", script], text.encode())


RUNS = {
    "python3": (PYTHON, through_stdin("cat >main.py && exec python3 main.py")),
    "node": (NODE, through_stdin("exec node -")),
    "git": (GIT, shell),
    "gcc": (GCC, shell),
    "java": (JAVA, through_stdin("cat >Main.java && exec java Main.java")),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_program_runs_in_a_jail(name):
    if not shutil.which(name, path=JAIL_PATH):
        pytest.skip(f"{name} is not installed")
    text, run = RUNS[name]
    argv, stdin = run(text)
    r = limit("--", *argv, stdin=stdin)
    assert (r.status, r.out) == (0, b"done\n"), r


def test_a_go_program_runs_in_a_jail(tmp_path):
    if not shutil.which("go"):
        pytest.skip("go is not installed")
    (tmp_path / "main.go").write_text(GO)
    env = {**os.environ, "CGO_ENABLED": "0"}
    subprocess.run(["go", "build", "-o", "main", "main.go"], cwd=tmp_path, env=env, check=True)
    program = (tmp_path / "main").read_bytes()
    r = limit("--", "sh", "-c", "cat >main; chmod +x main; exec ./main", stdin=program)
    assert (r.status, r.out) == (0, b"done\n"), r
