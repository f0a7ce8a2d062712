/** Commands of the resident shell. */
import { fromBase64, toBase64, toText } from "./bytes.js";
import type { Channel } from "./channel.js";
import type { OutputEvent } from "./connection.js";
import { CommandFailed } from "./errors.js";
import { Window, WINDOW_BYTES } from "./output.js";
import type { RunOptions, RunResult } from "./types.js";

const TEXTS = ["stdout", "stderr", "background"] as const;

/** Streamed output and bytes need base64; everything else is faster as text. */
export async function run(
  channel: Channel, command: string, o: RunOptions,
): Promise<RunResult<string | Uint8Array>> {
  o.signal?.throwIfAborted();
  const isBase64 = o.encoding === "bytes" || o.onOutput !== undefined || o.stdin instanceof Uint8Array;
  const stopper = new Stopper();
  const request = channel.request("run", runParams(command, o, isBase64), {
    ...(o.onOutput && { onOutput: (event: OutputEvent) => stopper.pass(o.onOutput!, event) }),
  });
  stopper.begin(channel, request.id, o.signal);
  let result: RunResult<string | Uint8Array>;
  try {
    result = await request.result;
  } finally {
    stopper.end();
  }
  if (isBase64)
    for (const name of TEXTS) {
      const text = result[name] as string | undefined;
      if (text === undefined) continue;
      const bytes = fromBase64(text);
      result[name] = o.encoding === "bytes" ? bytes : toText(bytes);
    }
  if (o.check && result.exitCode) throw new CommandFailed(result);
  return result;
}

function runParams(command: string, o: RunOptions, isBase64: boolean): Record<string, unknown> {
  return {
    command, keep: o.keep ?? "ends", cwd: o.cwd, env: o.env, timeoutMs: o.timeoutMs, mergeStderr: o.mergeStderr,
    stdin: o.stdin !== undefined && isBase64 ? toBase64(o.stdin) : o.stdin,
    ...(isBase64 && { encoding: "base64", mark: o.encoding !== "bytes" }),
    ...(o.onOutput && { stream: true, windowBytes: WINDOW_BYTES }),
  };
}

/**
 * Ends a run before its time: because of the caller's signal, or because the
 * function that gets its output has thrown. The caller gets that reason when
 * the command has really ended.
 */
export class Stopper {
  #reason: { error: unknown } | undefined;
  #window: Window | undefined;
  #cancel: () => void = () => {};
  #signal: AbortSignal | undefined;
  readonly #onAbort = () => this.#stop(this.#signal!.reason);

  begin(channel: Channel, requestId: number, signal: AbortSignal | undefined): void {
    this.#window = new Window((bytes) => channel.notify("output.window", { requestId, bytes }));
    this.#cancel = () => channel.notify("cancel", { requestId });
    this.#signal = signal;
    signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  pass(to: NonNullable<RunOptions["onOutput"]>, { stream, data }: OutputEvent): void {
    const bytes = fromBase64(data);
    this.#window!.use(bytes.length);
    if (this.#reason) return;
    try {
      to(stream, bytes);
    } catch (error) {
      this.#stop(error);
    }
  }

  end(): void {
    this.#signal?.removeEventListener("abort", this.#onAbort);
    if (this.#reason) throw this.#reason.error;
  }

  #stop(error: unknown): void {
    this.#reason ??= { error };
    this.#cancel();
  }
}
