/** Cells of Python. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { RpcError, type Sandbox } from "../src/index.js";
import { create } from "./create.js";

let sb: Sandbox;
before(async () => {
  sb = await create();
});
after(() => sb.destroy());

test("cells keep their state", async () => {
  assert.deepEqual((await sb.code.run("x = 20")).results, []);
  const e = await sb.code.run("import sys\nprint('é'); print(2, file=sys.stderr)\nx + 1");
  assert.deepEqual([e.text, e.stdout, e.stderr, e.executionCount, e.error], ["21", "é\n", "2\n", 2, undefined]);
});

test("results have forms", async () => {
  const { results } = await sb.code.run(
    "class X:\n    def __repr__(self): return 'X'\n    def _repr_html_(self): return '<b>'\n" +
    "    def _repr_png_(self): return b'\\xffpng'\n    def _repr_json_(self): return [1]\ndisplay(5)\nX()");
  const [first, second] = results;
  assert.deepEqual([first!.text, first!.isMain, first!.png], ["5", false, undefined]);
  assert.deepEqual([second!.text, second!.html, second!.json, second!.isMain], ["X", "<b>", [1], true]);
  assert.deepEqual(second!.png, Uint8Array.from([255, 112, 110, 103]));
});

test("an error has its traceback", async () => {
  const { error } = await sb.code.run("1/0");
  assert.deepEqual([error?.name, error?.value], ["ZeroDivisionError", "division by zero"]);
  assert.match(error!.traceback, /line 1, in <module>\n    1\/0/);
});

test("output arrives while a cell runs, and a signal interrupts it", async () => {
  const stop = new AbortController();
  const fault = new Error("stop");
  await assert.rejects(sb.code.run("print('on', flush=True)\nwhile True: pass", {
    signal: stop.signal, onOutput: () => stop.abort(fault) }), fault);
  assert.equal((await sb.code.run("x")).text, "20");
});

test("contexts have folders, variables and namespaces of their own", async () => {
  const context = await sb.code.create({ cwd: "/tmp", env: { A: "b" } });
  assert.equal((await context.run("import os; os.getcwd() + os.environ['A']")).text, "'/tmpb'");
  assert.equal((await sb.code.run("os")).error?.name, "NameError");
  await context.restart();
  assert.equal((await context.run("os")).error?.name, "NameError");
  assert.equal((await sb.code.contexts()).length, 2);
  await context.remove();
  await assert.rejects(context.run("1"), RpcError);
});

test("a process that ends, and a time limit", async () => {
  const context = await sb.code.create();
  assert.equal((await context.run("import os; os._exit(4)")).exitCode, 4);
  assert.equal((await context.run("1")).restarted, true);
  assert.equal((await context.run("while True: pass", { timeoutMs: 300 })).errorClass, "TIMEOUT");
  await context.remove();
});
