/** Options of a sandbox, and wrong ones. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Options } from "../src/index.js";
import { create } from "./create.js";

test("environment, folder, user and limits", async () => {
  await using sb = await create({
    env: { A: "1" }, cwd: "/tmp", user: "root", memoryBytes: 100 << 20, processes: 7, fileBytes: 1 << 20,
    timeoutMs: 5000 });
  assert.equal((await sb.run("echo $A $PWD $(id -un)")).stdout, "1 /tmp root\n");
  const limits = await sb.limits();
  assert.deepEqual([limits["processes"], limits["fsLimitBytes"], limits["timeoutMs"]], [7, 1 << 20, 5000]);
});

test("files and host folders are mounted", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "wasmsand-"));
  t.after(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, "in"), "host");
  await using sb = await create({ mounts: [
    { path: "/data", files: { "a/b": "text", c: new Uint8Array([1, 2]) } },
    { path: "/host", hostPath: dir, writable: true },
  ] });
  assert.equal(await sb.readText("/data/a/b"), "text");
  assert.deepEqual(await sb.readFile("/data/c"), new Uint8Array([1, 2]));
  assert.equal((await sb.run("cat /host/in; echo out >/host/out")).stdout, "host");
  assert.equal(readFileSync(join(dir, "out"), "utf8"), "out\n");
  await sb.mount({ path: "/later", files: { x: "y" } });
  assert.equal(await sb.readText("/later/x"), "y");
});

test("commands call functions", async () => {
  await using sb = await create({ commands: {
    hello: ({ args }) => `hello ${args.join(" ")}\n`,
    upper: async ({ stdin }) => ({ stdout: stdin.toUpperCase(), exitCode: 4 }),
    broken: () => { throw new Error("not today"); },
    nothing: () => {},
  } });
  const r = await sb.run("hello a b; echo x | upper; echo $?; nothing; echo $?");
  assert.equal(r.stdout, "hello a b\nX\n4\n0\n");
  const failed = await sb.run("broken");
  assert.equal(failed.exitCode, 1);
  assert.match(failed.stderr, /^broken: .*not today/);
});

test("a seed makes runs equal", async () => {
  const once = async () => {
    await using sb = await create({ seed: 7, clock: 1_000_000 });
    return (await sb.run("od -An -N8 -tx1 /dev/urandom; date +%s; echo $RANDOM")).stdout;
  };
  assert.equal(await once(), await once());
});

test("a network policy is set, changed and enforced", async () => {
  await using sb = await create({ network: { allow: ["example.com:443"] } });
  await sb.network.deny("a.example.com");
  assert.deepEqual(await sb.network.get(), { allow: ["example.com:443"], deny: ["a.example.com"] });
  const r = await sb.run("curl -sS --max-time 5 http://192.0.2.1/");
  assert.deepEqual([r.errorClass, r.denied?.[0]?.host], ["CAPABILITY_DENIED", "192.0.2.1"]);
});

const WRONG: [Options, RegExp][] = [
  [{ timeoutMs: -1 }, /timeoutMs must be/],
  [{ memoryBytes: 1 }, /memory/i],
  [{ cwd: "/nowhere" }, /ENOENT.*\/nowhere/],
  [{ memoryBytes: 1 << 28, limits: { memoryBytes: 1 << 28 } }, /give one of them/],
  [{ commands: { x: 1 as never } }, /commands\.x is not a function/],
  [{ backend: "other" as never }, /'other'/],
  [{ colour: "red" } as Options, /Unknown param: colour/],
  [{ backend: "child", server: "/nowhere/wasm-sandbox" }, /cannot be started/],
  [{ image: "none" }, /none.*default/],
  [{ network: { allow: ["*.*"] } }, /\*\.\*/],
];
for (const [options, message] of WRONG)
  test(`refused: ${JSON.stringify(options)}`, async () => {
    await assert.rejects(create(options), (e: Error) => {
      assert.match(e.message, message);
      return true;
    });
  });
