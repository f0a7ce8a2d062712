/** The transport to a server inside this process: the native addon. */
import { createRequire } from "node:module";
import type { Receiver, Transport } from "./connection.js";
import { SandboxError, ServerDied } from "./errors.js";
import { findBeside, findImages } from "./installation.js";

type Handle = { readonly handle: unique symbol };

/** The functions of src/node/addon.c. */
interface Addon {
  open(options: {
    server: string; root: string; code: string | undefined; broker: string | undefined;
    images: [string, string][]; folders: string[] }, wake: () => void): Handle;
  send(handle: Handle, lines: string): void;
  take(handle: Handle, waits: boolean): string | null;
  use(handle: Handle, isUsed: boolean): void;
  close(handle: Handle): void;
  release(handle: Handle): void;
}

const KILL = `{"jsonrpc":"2.0","id":0,"method":"kill","params":{}}\n`;

/** Returns the path of the addon beside the server, or undefined. */
export function findAddon(server: string): string | undefined {
  return findBeside(server, "wasmsand.node") ?? findBeside(server, "lib/wasmsand.node");
}

export class NativeTransport implements Transport {
  readonly #addon: Addon;
  readonly #handle: Handle;
  readonly #receiver: Receiver;
  #ended = false;
  #onEnd: () => void = () => {};

  constructor(server: string, path: string, folders: string[], receiver: Receiver) {
    const root = process.env["WASMSAND_ROOT"] ?? findBeside(server, "share/wasmsand/root.tar");
    if (!root) throw new SandboxError(`there is no root image beside ${server}`);
    this.#receiver = receiver;
    this.#addon = createRequire(import.meta.url)(path) as Addon;
    this.#handle = this.#addon.open({
      server, root, folders, code: findBeside(server, "share/wasmsand/code"),
      broker: findBeside(server, "libexec/wasmsand-netd"), images: findImages(server),
    }, () => this.#take(false));
  }

  send(line: string): void {
    if (!this.#ended) this.#addon.send(this.#handle, `${line}\n`);
  }

  /** Waits for lines, and serves them. */
  wait(): void {
    this.#take(true);
  }

  use(isUsed: boolean): void {
    if (!this.#ended) this.#addon.use(this.#handle, isUsed);
  }

  async close(): Promise<void> {
    if (this.#ended) return;
    this.use(true);
    const ended = new Promise<void>((resolve) => (this.#onEnd = resolve));
    this.#addon.send(this.#handle, KILL);
    this.#addon.close(this.#handle);
    await ended;
  }

  #take(waits: boolean): void {
    if (this.#ended) return;
    const lines = this.#addon.take(this.#handle, waits);
    if (lines === null) {
      this.#ended = true;
      this.#addon.release(this.#handle);
      this.#receiver.end(new ServerDied("the server ended", ""));
      this.#onEnd();
      return;
    }
    let at = 0;
    for (let end = lines.indexOf("\n"); end >= 0; end = lines.indexOf("\n", at)) {
      this.#receiver.line(lines.slice(at, end));
      at = end + 1;
    }
  }
}
