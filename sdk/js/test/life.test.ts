/** Servers that end, programs that end. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { SandboxClosed, ServerDied } from "../src/index.js";
import { create } from "./create.js";

const helper = new URL("create.js", import.meta.url).href;

function program(code: string) {
  return spawnSync(process.execPath, ["--input-type=module", "-e", `import { create } from "${helper}"; ${code}`],
    { encoding: "utf8" });
}

test("an idle sandbox does not keep the program alive", () => {
  const r = program("const sb = await create(); console.log((await sb.run('echo hi')).stdout)");
  assert.deepEqual([r.status, r.stdout, r.stderr], [0, "hi\n\n", ""]);
});

test("a running command keeps the program alive", () => {
  const r = program("(await create()).run('sleep 0.1; echo hi').then((r) => console.log(r.exitCode))");
  assert.deepEqual([r.status, r.stdout], [0, "0\n"]);
});

test("destroy fails calls in progress, and can be repeated", async () => {
  const sb = await create();
  const rejected = assert.rejects(sb.run("sleep 1000"), SandboxClosed);
  await sb.destroy();
  await rejected;
  await sb.destroy();
  await assert.rejects(sb.run("true"), SandboxClosed);
});

function server(t: { after(f: () => void): void }, script: string): string {
  const dir = mkdtempSync(join(tmpdir(), "wasmsand-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const path = join(dir, "server");
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

test("a server that dies fails its calls with its last words", async (t) => {
  const path = server(t, "read x; echo 'last words' >&2; exit 9");
  await assert.rejects(create({ backend: "child", server: path }), (e) => {
    assert.ok(e instanceof ServerDied);
    assert.match(e.message, /ended with 9\n(.*\n)*last words/);
    return true;
  });
});

test("a server that writes no JSON is not trusted any further", async (t) => {
  const path = server(t, "read x; echo hello; sleep 1000");
  await assert.rejects(create({ backend: "child", server: path }), /not JSON/);
});

test("the command line runs a command", () => {
  const cli = fileURLToPath(new URL("../src/cli.js", import.meta.url));
  const run = (...args: string[]) => spawnSync(process.execPath, [cli, ...args], { encoding: "utf8" });
  const r = run("echo hi; exit 4");
  assert.deepEqual([r.status, r.stdout], [4, "hi\n"]);
  assert.equal(run("a", "b").status, 2);
});

test("programs and worker threads end with sandboxes in use", () => {
  const r = program(`
    import { Worker } from "node:worker_threads";
    const worker = new Worker(\`import("${helper}").then(async ({ create }) => {
      const sb = await create();
      (await import("node:worker_threads")).parentPort.postMessage((await sb.run("echo hi")).stdout);
      void sb.run("sleep 1000");
      process.exit(0);
    })\`, { eval: true });
    worker.on("message", (m) => console.log(m));
    worker.on("exit", async () => { const sb = await create(); void sb.run("sleep 1000"); process.exit(7); });
  `);
  assert.deepEqual([r.status, r.stdout], [7, "hi\n\n"]);
});
