/** Sandboxes of the backend that is under test. */
import { Sandbox, type Options } from "../src/index.js";

export const backend = process.env["WASMSAND_BACKEND"] as "native" | "child";

export function create(o: Options = {}): Promise<Sandbox> {
  return Sandbox.create({ backend, ...o });
}
