/** Processes that run in parallel with commands, and terminals. */
import { fromBase64, toBase64, toBytes, type Data } from "./bytes.js";
import type { Channel } from "./channel.js";
import { RpcError } from "./errors.js";
import { Output, WINDOW_BYTES, type Piece } from "./output.js";
import type { TerminalOptions } from "./types.js";

const INPUT_BYTES = 256 << 10;
const PAUSE_MS = { first: 1, longest: 50 };

/**
 * A process. Iterating gives its output until it has ended. It blocks when
 * 1 MiB of its output is unread.
 */
export class Process implements AsyncIterable<Piece> {
  readonly #channel: Channel;
  readonly #output: Output;
  readonly #exit: Promise<number>;

  private constructor(channel: Channel, readonly processId: number, output: Output) {
    this.#channel = channel;
    this.#output = output;
    this.#exit = this.#waitForEnd();
    this.#exit.catch(() => {}); // wait() reports it
  }

  /** The output is watched from the answer on, before any of it arrives. */
  static async start(channel: Channel, params: Record<string, unknown>): Promise<Process> {
    let made: Process | undefined;
    await channel.call("process.start", { ...params, encoding: "base64", windowBytes: WINDOW_BYTES }, {
      onResult: ({ processId }: { processId: number }) => {
        const output = new Output((bytes) =>
          channel.notify("output.window", { processId, bytes }));
        channel.watchProcess(processId, ({ stream, data }) =>
          output.put({ stream, data: fromBase64(data) }));
        made = new Process(channel, processId, output);
      },
    });
    return made!;
  }

  [Symbol.asyncIterator](): AsyncGenerator<Piece, void> {
    return this.#output.read();
  }

  /** Waits for the end, and returns the exit code. Output that nobody reads
   * meanwhile does not block the process; only the last part is kept. */
  wait(): Promise<number> {
    return this.#output.waiting(this.#exit);
  }

  /** Bytes of output that were lost because nobody read them. */
  get droppedBytes(): number {
    return this.#output.droppedBytes;
  }

  /** Writes like to a pipe: waits until the process has read earlier input. */
  async write(data: Data): Promise<void> {
    const bytes = toBytes(data);
    let pause = PAUSE_MS.first;
    for (let at = 0; at < bytes.length; ) {
      try {
        await this.#ask("process.write", {
          encoding: "base64", data: toBase64(bytes.subarray(at, at + INPUT_BYTES)) });
        at += INPUT_BYTES;
        pause = PAUSE_MS.first;
      } catch (e) {
        if (!(e instanceof RpcError) || e.errno !== "EAGAIN") throw e;
        await new Promise((resolve) => setTimeout(resolve, pause));
        pause = Math.min(2 * pause, PAUSE_MS.longest);
      }
    }
  }

  /** Ends the standard input. On a terminal, types ^D. */
  async closeStdin(): Promise<void> {
    await this.#ask("process.write", { eof: true });
  }

  /** Sends a signal, by number [15]. */
  async kill(signal?: number): Promise<void> {
    await this.#ask("process.kill", signal === undefined ? {} : { signal });
  }

  async resize(size: { rows: number; cols: number }): Promise<void> {
    await this.#ask("process.resize", { rows: size.rows, cols: size.cols });
  }

  #ask(method: string, params: Record<string, unknown>): Promise<unknown> {
    return this.#channel.call(method, { processId: this.processId, ...params });
  }

  async #waitForEnd(): Promise<number> {
    try {
      return ((await this.#ask("process.wait", {})) as { exitCode: number }).exitCode;
    } finally {
      this.#channel.watchProcess(this.processId, undefined);
      this.#output.end();
    }
  }
}

/** A terminal of the sandbox with a program in it, for a screen such as
 * xterm.js. Output waits for the first listener. */
export class Terminal {
  readonly #process: Process;
  readonly #listeners = new Set<(data: Uint8Array) => void>();

  private constructor(process: Process) {
    this.#process = process;
  }

  static async start(channel: Channel, o: TerminalOptions): Promise<Terminal> {
    return new Terminal(await Process.start(channel, { ...o, pty: true }));
  }

  /** Calls the function with output from now on. Returns a function that ends
   * this. */
  onData(listener: (data: Uint8Array) => void): () => void {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) void this.#pass();
    return () => this.#listeners.delete(listener);
  }

  /** Types. */
  write(data: Data): Promise<void> {
    return this.#process.write(data);
  }

  resize(size: { rows: number; cols: number }): Promise<void> {
    return this.#process.resize(size);
  }

  /** Waits for the end of the program, and returns its exit code. */
  wait(): Promise<number> {
    return this.#process.wait();
  }

  /** Hangs up. */
  async end(): Promise<void> {
    try {
      await this.#process.kill(1);
    } catch (e) {
      if (!(e instanceof RpcError) || e.errno !== "ESRCH") throw e;
    }
  }

  async #pass(): Promise<void> {
    for await (const { data } of this.#process) {
      for (const listener of this.#listeners) listener(data);
      if (!this.#listeners.size) return;
    }
  }
}
