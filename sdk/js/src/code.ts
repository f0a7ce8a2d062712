/** Cells of Python in contexts that keep their state (docs/python.md). */
import { fromBase64, toText } from "./bytes.js";
import type { Channel } from "./channel.js";
import type { OutputEvent } from "./connection.js";
import { Stopper } from "./run.js";
import type { CodeError, CodeOptions, ContextInfo, ContextOptions, ErrorClass } from "./types.js";

/** A value that a cell has displayed, or its last expression (isMain). `data`
 * has each form of it by MIME type, binary ones in base64. */
export class CodeResult {
  constructor(readonly data: Record<string, unknown>, readonly isMain: boolean) {}

  get text(): string | undefined {
    return this.data["text/plain"] as string | undefined;
  }
  get html(): string | undefined {
    return this.data["text/html"] as string | undefined;
  }
  get png(): Uint8Array | undefined {
    const png = this.data["image/png"] as string | undefined;
    return png === undefined ? undefined : fromBase64(png);
  }
  get svg(): string | undefined {
    return this.data["image/svg+xml"] as string | undefined;
  }
  get latex(): string | undefined {
    return this.data["text/latex"] as string | undefined;
  }
  get json(): unknown {
    return this.data["application/json"];
  }
  /** The data of a plot. */
  get chart(): unknown {
    return this.data["application/vnd.wasmsand.chart+json"];
  }
}

/** The outcome of a cell. */
export interface Execution {
  results: CodeResult[];
  /** The value of the last expression, as text. */
  text?: string;
  stdout: string;
  stderr: string;
  error?: CodeError;
  executionCount: number;
  errorClass?: ErrorClass;
  /** The process of the context has ended with the cell. */
  exitCode?: number;
  /** An earlier process had ended, and its namespace is lost. */
  restarted?: boolean;
  truncated?: { stdout: boolean; stderr: boolean };
}

interface Answer extends Omit<Execution, "results" | "error" | "text"> {
  results: { data: Record<string, unknown>; isMain: boolean }[];
  error: CodeError | null;
  encoding?: string;
}

async function runCell(channel: Channel, contextId: number, code: string, o: CodeOptions): Promise<Execution> {
  o.signal?.throwIfAborted();
  const stopper = new Stopper();
  const { onOutput } = o;
  const request = channel.request("code.run", {
    code, contextId, timeoutMs: o.timeoutMs, encoding: "base64", stream: onOutput !== undefined,
  }, { ...(onOutput && { onOutput: (event: OutputEvent) => stopper.pass(onOutput, event) }) });
  stopper.begin(channel, request.id, o.signal);
  try {
    return execution(await request.result);
  } finally {
    stopper.end();
  }
}

function execution({ results, error, stdout, stderr, encoding: _, ...rest }: Answer): Execution {
  const made = results.map((r) => new CodeResult(r.data, r.isMain));
  const text = made.find((r) => r.isMain)?.text;
  return {
    ...rest,
    results: made,
    stdout: toText(fromBase64(stdout)),
    stderr: toText(fromBase64(stderr)),
    ...(text !== undefined && { text }),
    ...(error && { error }),
  };
}

/** A namespace with a Python process of its own. */
export class Context {
  readonly #channel: Channel;
  /** @internal */
  constructor(channel: Channel, readonly contextId: number) {
    this.#channel = channel;
  }
  /** Runs a cell. An error of the cell is part of the result. */
  run(code: string, o: CodeOptions = {}): Promise<Execution> {
    return runCell(this.#channel, this.contextId, code, o);
  }
  /** Raises KeyboardInterrupt in the running cell. */
  async interrupt(): Promise<void> {
    await this.#call("interrupt");
  }
  /** The next cell has a fresh namespace. */
  async restart(): Promise<void> {
    await this.#call("restart");
  }
  async remove(): Promise<void> {
    await this.#call("remove");
  }
  #call(method: string): Promise<unknown> {
    return this.#channel.call(`code.${method}`, { contextId: this.contextId });
  }
}

/** The context that always exists, and others beside it. */
export class Code extends Context {
  readonly #channel: Channel;
  /** @internal */
  constructor(channel: Channel) {
    super(channel, 0);
    this.#channel = channel;
  }
  async create(o: ContextOptions = {}): Promise<Context> {
    const { contextId } = await this.#channel.call("code.create", { ...o });
    return new Context(this.#channel, contextId);
  }
  async contexts(): Promise<ContextInfo[]> {
    return (await this.#channel.call("code.list")).contexts;
  }
}
