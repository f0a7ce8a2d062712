/** Commands, files and copies, through the public API alone. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { CommandFailed, RpcError, SandboxClosed, type Sandbox } from "../src/index.js";
import { create } from "./create.js";

let sb: Sandbox;
before(async () => {
  sb = await create();
});
after(() => sb.destroy());

async function errno(p: Promise<unknown>): Promise<string | undefined> {
  const e: unknown = await p.then(() => undefined, (x: unknown) => x);
  assert.ok(e instanceof RpcError, `${e}`);
  return e.errno;
}

describe("run", () => {
  test("returns output, exit code and measurements", async () => {
    const r = await sb.run("echo out; echo err >&2; exit 3");
    assert.deepEqual([r.exitCode, r.stdout, r.stderr], [3, "out\n", "err\n"]);
    assert.ok(r.executionTimeMs >= 0 && r.maxMemoryBytes > 0);
    assert.equal(r.errorClass, undefined);
  });
  test("keeps variables and folder for the next command", async () => {
    await sb.run("cd /tmp; x=7");
    assert.equal((await sb.run("echo $PWD $x; cd")).stdout, "/tmp 7\n");
  });
  test("takes stdin, cwd and env", async () => {
    const r = await sb.run("cat; echo $PWD $A", { stdin: "in\n", cwd: "/usr", env: { A: "ä" } });
    assert.equal(r.stdout, "in\n/usr ä\n");
  });
  test("keeps all bytes with encoding bytes", async () => {
    const all = Uint8Array.from({ length: 256 }, (_, i) => i);
    const r = await sb.run("cat", { stdin: all, encoding: "bytes" });
    assert.deepEqual(r.stdout, all);
  });
  test("replaces bytes that are not UTF-8 in text", async () => {
    assert.equal((await sb.run("printf 'a\\377b'")).stdout, "a\ufffdb");
    const r = await sb.run("printf 'a\\377b'", { stdin: new Uint8Array() });
    assert.equal(r.stdout, "a\ufffdb");
  });
  test("reports a time limit", async () => {
    const r = await sb.run("echo begun; while :; do :; done", { timeoutMs: 100 });
    assert.deepEqual([r.exitCode, r.errorClass, r.stdout], [124, "TIMEOUT", "begun\n"]);
    assert.match(r.message ?? "", /timeoutMs/);
  });
  test("reports truncated streams", async () => {
    const one = await create({ limits: { stdoutBytes: 100 } });
    const r = await one.run("seq 1000");
    assert.deepEqual(r.truncated, { stdout: true, stderr: false });
    await one.destroy();
  });
  test("merges stderr into stdout", async () => {
    const r = await sb.run("echo a; echo b >&2; echo c", { mergeStderr: true });
    assert.equal(r.stdout, "a\nb\nc\n");
  });
  test("rejects a failed command with check", async () => {
    await assert.rejects(sb.run("echo no >&2; false", { check: true }), (e) => {
      assert.ok(e instanceof CommandFailed);
      assert.equal(e.message, "the command ended with 1: no");
      return e.result.exitCode === 1;
    });
  });
  test("refuses an unknown option of the server by name", async () => {
    await assert.rejects(sb.run("true", { timeoutMs: 0 }), /timeoutMs must be/);
  });
});

describe("output while a command runs", () => {
  test("arrives in pieces, with its stream", async () => {
    const seen: Record<string, string> = { stdout: "", stderr: "" };
    const r = await sb.run("echo a; echo b >&2; echo c", {
      onOutput: (stream, data) => {
        seen[stream] += new TextDecoder().decode(data);
      },
    });
    assert.deepEqual(seen, { stdout: "a\nc\n", stderr: "b\n" });
    assert.equal(r.stdout, "a\nc\n");
  });
  test("passes the window many times", async () => {
    let bytes = 0;
    const r = await sb.run("head -c 5000000 /dev/zero", { onOutput: (_, data) => { bytes += data.length; } });
    assert.equal(bytes, 5_000_000);
    assert.equal(r.truncated?.stdout, true);
  });
  test("ends the command when the function throws", async () => {
    const fault = new Error("enough");
    await assert.rejects(sb.run("yes", { onOutput: () => { throw fault; } }), fault);
    assert.equal((await sb.run("echo next")).stdout, "next\n");
  });
});

describe("AbortSignal", () => {
  test("ends the command and rejects with its reason", async () => {
    const stop = new AbortController();
    const fault = new Error("stop");
    await assert.rejects(sb.run("echo on; sleep 1000", {
      signal: stop.signal, onOutput: () => stop.abort(fault) }), fault);
    assert.equal((await sb.run("echo next")).stdout, "next\n");
  });
  test("that was aborted before runs nothing", async () => {
    await assert.rejects(sb.run("touch /tmp/ran", { signal: AbortSignal.abort() }), { name: "AbortError" });
    assert.equal(await sb.exists("/tmp/ran"), false);
  });
});

describe("files", () => {
  test("are written and read, with their folders", async () => {
    await sb.writeFile("/tmp/d/e/f.txt", "ü", { mode: 0o600 });
    assert.equal(await sb.readText("/tmp/d/e/f.txt"), "ü");
    const s = await sb.stat("/tmp/d/e/f.txt");
    assert.deepEqual([s.type, s.size, s.mode], ["file", 2, 0o600]);
    assert.deepEqual((await sb.list("/tmp/d")).map((e) => [e.name, e.type]), [["e", "dir"]]);
  });
  test("of many parts are complete, and keep their mode", async () => {
    const data = new Uint8Array(9_000_001).map((_, i) => i * 31);
    await sb.writeFile("/tmp/big", "", { mode: 0o640 });
    await sb.writeFile("/tmp/big", data);
    assert.deepEqual(await sb.readFile("/tmp/big"), data);
    assert.equal((await sb.stat("/tmp/big")).mode, 0o640);
    assert.deepEqual((await sb.list("/tmp")).filter((e) => e.name.startsWith(".wasmsand")), []);
  });
  test("are moved, linked and removed", async () => {
    await sb.mkdir("/tmp/m/n", { recursive: true });
    await sb.writeFile("/tmp/m/a", "1");
    await sb.rename("/tmp/m/a", "/tmp/m/b");
    await sb.symlink("b", "/tmp/m/c");
    await sb.chmod("/tmp/m/b", 0o400);
    assert.equal(await sb.readText("/tmp/m/c"), "1");
    assert.equal(await errno(sb.remove("/tmp/m")), "ENOTEMPTY");
    await sb.remove("/tmp/m", { recursive: true });
    assert.equal(await sb.exists("/tmp/m"), false);
  });
  test("have errors with the errno's name", async () => {
    assert.equal(await errno(sb.readFile("/nowhere")), "ENOENT");
    assert.equal(await errno(sb.writeFile("/tmp", "x")), "EISDIR");
    assert.equal(await errno(sb.list("/etc/passwd")), "ENOTDIR");
  });
  test("are read while a command runs", async () => {
    const command = sb.run("until [ -e /tmp/go ]; do sleep 0.01; done; echo done");
    await sb.writeFile("/tmp/go", "");
    assert.equal((await command).stdout, "done\n");
  });
});

describe("copies", () => {
  test("fork has files and shell, and is independent", async () => {
    await sb.run("echo 1 >/tmp/v; y=5");
    const copy = await sb.fork();
    await copy.run("echo 2 >/tmp/v");
    assert.equal((await copy.run("cat /tmp/v; echo $y")).stdout, "2\n5\n");
    assert.equal((await sb.run("cat /tmp/v")).stdout, "1\n");
    await copy.destroy();
    await assert.rejects(copy.run("true"), SandboxClosed);
    assert.equal((await sb.run("echo on")).stdout, "on\n");
  });
  test("a fork outlives the sandbox that it was made of", async () => {
    const first = await create();
    const copy = await first.fork();
    await first.destroy();
    assert.equal((await copy.run("echo on")).stdout, "on\n");
    await copy.destroy();
  });
  test("sibling is fresh", async () => {
    await sb.writeFile("/tmp/mine", "");
    const other = await sb.sibling();
    assert.equal(await other.exists("/tmp/mine"), false);
    await other.destroy();
  });
  test("snapshots restore files", async () => {
    await sb.writeFile("/tmp/s", "1");
    const id = await sb.snapshot();
    await sb.writeFile("/tmp/s", "2");
    assert.deepEqual(await sb.restore(id), []);
    assert.equal(await sb.readText("/tmp/s"), "1");
    assert.deepEqual(await sb.snapshots(), [id]);
    await sb.deleteSnapshot(id);
    assert.equal(await errno(sb.restore(id)), "ENOENT");
  });
  test("export and import carry files and shell to another server", async () => {
    await sb.writeFile("/home/user/big", new Uint8Array(6 << 20).fill(7));
    await sb.run("z=9");
    const tar = await sb.export();
    await using other = await create();
    await other.import(tar);
    assert.equal((await other.run("echo $z; wc -c <big")).stdout, "9\n6291456\n");
    assert.equal(await errno(other.import(new Uint8Array(10))), "EINVAL");
  });
  test("reset returns to the start", async () => {
    const one = await create();
    await one.writeFile("/tmp/x", "");
    await one.reset();
    assert.equal(await one.exists("/tmp/x"), false);
    await one.destroy();
  });
});

describe("environment, history, status", () => {
  test("variables are set, read and removed", async () => {
    await sb.env.set("K", "v w");
    assert.equal(await sb.env.get("K"), "v w");
    assert.equal((await sb.env.all())["K"], "v w");
    await sb.env.unset("K");
    assert.equal(await sb.env.get("K"), undefined);
  });
  test("history has the commands", async () => {
    await sb.run(": remember");
    assert.equal((await sb.history()).at(-1), ": remember");
  });
  test("status and limits", async () => {
    assert.equal((await sb.limits())["fileCount"], 100_000);
    assert.ok((await sb.status())["memoryUsedBytes"]! > 0);
  });
});

test("100 commands in one sandbox keep their order", async () => {
  const all = await Promise.all(Array.from({ length: 100 }, (_, i) => sb.run(`echo $((n++)) ${i}`)));
  assert.deepEqual(all.map((r) => r.stdout), Array.from({ length: 100 }, (_, i) => `${i} ${i}\n`));
});
