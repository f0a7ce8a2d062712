/** The transport to a server that is a child process. */
import { spawn, type ChildProcess } from "node:child_process";
import type { Receiver, Transport } from "./connection.js";
import { ServerDied } from "./errors.js";

const STDERR_BYTES = 4096;
const END_MS = 15_000; // a server gives its sandboxes ten seconds

/** What Node's pipes of a child have, and the type of Stream does not say. */
interface Refable {
  ref?(): void;
  unref?(): void;
}

export class ChildTransport implements Transport {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #stderr = "";

  constructor(server: string, args: string[], readonly receiver: Receiver) {
    const child = spawn(server, args, { stdio: "pipe", detached: true });
    this.#child = child;
    child.stdin!.on("error", () => {}); // the end of the child reports it
    child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_BYTES);
    });
    this.#readLines();
    this.#ended = new Promise((resolve) => {
      child.once("error", (e) => {
        receiver.end(new ServerDied(`${server} cannot be started: ${e.message}`, ""));
        resolve();
      });
      child.once("close", (code, signal) => {
        receiver.end(new ServerDied(`the server ended with ${signal ?? code}`, this.#stderr));
        resolve();
      });
    });
  }

  send(line: string): void {
    this.#child.stdin!.write(`${line}\n`);
  }

  use(isUsed: boolean): void {
    const { stdin, stdout, stderr } = this.#child;
    for (const part of [this.#child, stdin, stdout, stderr] as Refable[])
      if (isUsed) part.ref?.();
      else part.unref?.();
  }

  async close(): Promise<void> {
    this.use(true);
    this.#child.stdin!.end(`{"jsonrpc":"2.0","id":0,"method":"kill","params":{}}\n`);
    const timer = setTimeout(() => this.#kill(), END_MS);
    await this.#ended;
    clearTimeout(timer);
  }

  /** The server leads a group of processes of its own. */
  #kill(): void {
    try {
      process.kill(-this.#child.pid!, "SIGKILL");
    } catch {
      // it has ended
    }
  }

  /** A line that is not of the protocol ends the connection: the rest cannot
   * be trusted. */
  #readLines(): void {
    let parts: string[] = [];
    this.#child.stdout!.setEncoding("utf8").on("data", (text: string) => {
      const lines = text.split("\n");
      parts.push(lines[0]!);
      if (lines.length === 1) return;
      lines[0] = parts.join("");
      parts = [lines.pop()!];
      try {
        for (const line of lines) this.receiver.line(line);
      } catch (e) {
        this.#kill();
        this.receiver.end(new ServerDied(`the server wrote a line that is not JSON: ${e}`, this.#stderr));
      }
    });
  }
}
