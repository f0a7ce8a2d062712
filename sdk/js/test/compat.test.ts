/** The second entry point, with the snippets that its users have. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, test } from "node:test";
import { NodeAdapter, Sandbox, type SandboxOptions } from "../src/compat.js";

let sandbox: Sandbox | undefined;
afterEach(() => sandbox?.destroy());
const adapter = new NodeAdapter();

async function create(o: SandboxOptions = {}): Promise<Sandbox> {
  sandbox = await Sandbox.create({ adapter, ...o });
  return sandbox;
}

describe("limits", () => {
  test("a command that is too long", async () => {
    const sb = await create({ limits: { commandBytes: 10 } });
    const r = await sb.run("echo this is a long command that exceeds the limit");
    assert.deepEqual([r.exitCode, r.errorClass], [1, "LIMIT_EXCEEDED"]);
    assert.match(r.stderr, /command too long/);
  });
  test("stdout and stderr that are too long", async () => {
    let sb = await create({ limits: { stdoutBytes: 5 } });
    let r = await sb.run("echo hello world");
    assert.deepEqual([r.stdout, r.truncated], ["hello", { stdout: true, stderr: false }]);
    sb.destroy();
    sb = await create({ limits: { stderrBytes: 5 } });
    r = await sb.run("echo error message >&2");
    assert.deepEqual([r.stderr, r.truncated], ["error", { stdout: false, stderr: true }]);
    assert.equal((await sb.run("echo hello")).truncated, undefined);
  });
  test("too many files, too many bytes", async () => {
    let sb = await create({ limits: { fileCount: 1 } });
    sb.writeFile("/tmp/a.txt", new Uint8Array(1));
    assert.throws(() => sb.writeFile("/tmp/b.txt", new Uint8Array(1)), { message: /^ENOSPC/ });
    sb.destroy();
    sb = await create({ fsLimitBytes: 1000 });
    assert.throws(() => sb.writeFile("/tmp/c", new Uint8Array(5000)), { message: /^ENOSPC/ });
  });
  test("a time limit", async () => {
    const sb = await create({ timeoutMs: 1 });
    const r = await sb.run("yes hello | head -1000000");
    assert.deepEqual([r.exitCode, r.errorClass], [124, "TIMEOUT"]);
  });
});

test("files are synchronous", async () => {
  const sb = await create();
  const all = Uint8Array.from({ length: 256 }, (_, i) => i);
  sb.mkdir("/tmp/d");
  sb.writeFile("/tmp/d/f", all);
  assert.deepEqual(sb.readFile("/tmp/d/f"), all);
  assert.equal((await sb.run("wc -c </tmp/d/f")).stdout, "256\n");
  assert.deepEqual(sb.readDir("/tmp/d"), [{ name: "f", type: "file", size: 256 }]);
  assert.deepEqual([sb.stat("/tmp/d").type, sb.stat("/tmp/d/f").size], ["dir", 256]);
  const big = new Uint8Array(9_000_000).fill(3);
  sb.writeFile("/tmp/d/big", big);
  assert.deepEqual(sb.readFile("/tmp/d/big"), big);
  sb.rm("/tmp/d");
  assert.throws(() => sb.readFile("/tmp/d/f"), { message: /^ENOENT: no such file or directory: \/tmp\/d\/f$/ });
});

test("files are synchronous while a command runs", async () => {
  const sb = await create();
  const command = sb.run("until [ -e /tmp/go ]; do :; done; echo seen");
  sb.writeFile("/tmp/go", "");
  assert.equal((await command).stdout, "seen\n");
});

test("variables, snapshots and forks", async () => {
  const sb = await create();
  sb.setEnv("K", "v");
  assert.equal((await sb.run("printenv K")).stdout, "v\n");
  assert.equal(sb.getEnv("K"), "v");
  assert.equal(sb.getEnv("NOT_THERE"), undefined);
  sb.writeFile("/tmp/x", "1");
  const id = sb.snapshot();
  const copy = await sb.fork();
  sb.writeFile("/tmp/x", "2");
  assert.equal(new TextDecoder().decode(copy.readFile("/tmp/x")), "1");
  sb.restore(id);
  assert.equal(new TextDecoder().decode(sb.readFile("/tmp/x")), "1");
  copy.destroy();
  assert.throws(() => copy.readFile("/tmp/x"), /destroyed/);
  assert.equal((await sb.run("echo on | cat && python3 -c 'print(1)'")).stdout, "on\n1\n");
});

/** (module (memory (export "memory") 1) (func (export "_start"))) */
const EMPTY = Buffer.from(
  "0061736d0100000001040160000003020100050301000107130206" + "6d656d6f7279" + "020006" + "5f7374617274" +
  "00000a040102000b", "hex");

test("every program of a folder is a command", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "wasmsand-"));
  t.after(() => rmSync(dir, { recursive: true }));
  for (const name of ["greet", "true-cmd"]) writeFileSync(join(dir, `${name}.wasm`), EMPTY);
  assert.deepEqual([...(await adapter.scanTools(dir)).keys()].sort(), ["greet", "true"]);
  const sb = await create({ wasmDir: dir });
  assert.equal((await sb.run("greet && echo ran")).stdout, "ran\n");
});

test("destroy can be repeated", async () => {
  const sb = await create();
  sb.destroy();
  sb.destroy();
  await assert.rejects(sb.run("true"), /destroyed/);
});
