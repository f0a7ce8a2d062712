/** The first example of the README, as it is printed there. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const folder = process.env["WASMSAND_JS"]!;

test("the example prints what its comment says", () => {
  const readme = readFileSync(`${folder}/README.md`, "utf8");
  const code = /```js\n(.*?)```/s.exec(readme)![1]!.replace(
    '"wasmsand"', JSON.stringify(new URL("../src/index.js", import.meta.url).href));
  const r = spawnSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" });
  const comment = /console\.log\(.*\/\/ (.*)/.exec(code)![1]!.replaceAll("'", "").replaceAll("\\n", "\n");
  assert.equal(r.stdout, `${comment}\n`);
});

test("the version is that of the product", () => {
  const { version } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8")) as { version: string };
  const r = spawnSync(process.env["WASMSAND_SERVER"]!, ["--version"], { encoding: "utf8" });
  assert.equal(r.stdout, `wasm-sandbox ${version}\n`);
});
