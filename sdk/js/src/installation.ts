/** Where the parts of an installation are. */
import { accessSync, constants, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { SandboxError } from "./errors.js";

/** Returns the path of wasm-sandbox: `given`, $WASMSAND_SERVER, or the one of
 * the platform's package. */
export function findServer(given?: string): string {
  const chosen = given ?? process.env["WASMSAND_SERVER"];
  if (chosen) return chosen;
  const platform = `@wasmsand/${process.platform}-${process.arch}`;
  try {
    return createRequire(import.meta.url).resolve(`${platform}/bin/wasm-sandbox`);
  } catch {
    throw new SandboxError(
      `there is no wasm-sandbox: install the package ${platform}, or set WASMSAND_SERVER to the path of one`);
  }
}

/** Finds a file that is installed with the program: in its own folder, or
 * beside that. */
export function findBeside(server: string, name: string): string | undefined {
  return ["", ".."].map((up) => join(dirname(server), up, name)).find(isReadable);
}

/** Returns the further images of an installation, as pairs of name and path. */
export function findImages(server: string): [string, string][] {
  const dir = findBeside(server, "share/wasmsand/images");
  if (!dir) return [];
  return readdirSync(dir).filter((f) => f.endsWith(".tar")).map((f) => [f.slice(0, -4), join(dir, f)]);
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
