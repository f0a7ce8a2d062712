/** Processes beside the shell, and terminals. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { RpcError, type Process, type Sandbox, type Terminal } from "../src/index.js";
import { create } from "./create.js";

let sb: Sandbox;
before(async () => {
  sb = await create();
});
after(() => sb.destroy());

async function text(p: Process): Promise<string> {
  let all = "";
  let last = "";
  for await (const { stream, data } of p) {
    all += (stream === last ? "" : `${stream}:`) + new TextDecoder().decode(data);
    last = stream;
  }
  return all;
}

test("output arrives by stream, then the exit code", async () => {
  const p = await sb.start("echo a; sleep 0.01; echo b >&2; exit 5");
  assert.equal(await text(p), "stdout:a\nstderr:b\n");
  assert.equal(await p.wait(), 5);
});

test("input goes in, and ends", async () => {
  const p = await sb.start("cat; echo end");
  await p.write("x\n");
  await p.closeStdin();
  assert.equal(await text(p), "stdout:x\nend\n");
});

test("a writer waits for its reader, and loses nothing", async () => {
  const p = await sb.start("head -c 5000000 /dev/zero");
  let bytes = 0;
  for await (const { data } of p) bytes += data.length;
  assert.equal(bytes, 5_000_000);
  assert.equal(p.droppedBytes, 0);
});

test("wait without a reader ends, and keeps the newest output", async () => {
  const p = await sb.start("head -c 5000000 /dev/zero; echo last");
  assert.equal(await p.wait(), 0);
  assert.ok(p.droppedBytes > 3_000_000);
  assert.match(await text(p), /last\n$/);
});

test("more input than the buffers hold", async () => {
  const p = await sb.start("sleep 0.05; wc -c");
  await p.write(new Uint8Array(3_000_000));
  await p.closeStdin();
  assert.equal(await text(p), "stdout:3000000\n");
});

test("runs beside a command, with its own folder and environment", async () => {
  const command = sb.run("until [ -e /tmp/flag ]; do sleep 0.01; done; echo seen");
  const p = await sb.start("echo $A $PWD; touch /tmp/flag", { cwd: "/usr", env: { A: "1" } });
  assert.equal(await text(p), "stdout:1 /usr\n");
  assert.equal((await command).stdout, "seen\n");
});

test("kill ends it with a signal", async () => {
  const p = await sb.start("sleep 1000");
  await p.kill(9);
  assert.equal(await p.wait(), 137);
  await assert.rejects(p.kill(), (e) => e instanceof RpcError && e.errno === "ESRCH");
});

test("restore ends processes", async () => {
  const id = await sb.snapshot();
  const p = await sb.start("sleep 1000");
  await sb.restore(id);
  assert.equal(await p.wait(), 137);
});

function screen(terminal: Terminal): (pattern: RegExp) => Promise<string> {
  let all = "";
  let look = () => {};
  terminal.onData((data) => {
    all += new TextDecoder().decode(data);
    look();
  });
  return (pattern) =>
    new Promise((resolve) => {
      look = () => pattern.test(all) && resolve(all);
      look();
    });
}

test("a terminal runs a shell with job control, and is resized", async () => {
  const terminal = await sb.terminal({ rows: 30, cols: 100 });
  const shows = screen(terminal);
  await terminal.write("stty size\n");
  await shows(/30 100/);
  await terminal.resize({ rows: 40, cols: 120 });
  await terminal.write("stty size; sh -c 'echo up; exec sleep 1000'\n");
  await shows(/40 120\r\nup\r\n/);
  await terminal.write("\x1a");
  await shows(/Stopped/);
  await terminal.write("kill -9 %1; wait; exit 3\n");
  assert.equal(await terminal.wait(), 3);
});

test("a terminal hangs up, once or twice", async () => {
  const terminal = await sb.terminal({ command: "cat" });
  await terminal.end();
  assert.equal(await terminal.wait(), 129);
  await terminal.end();
});
