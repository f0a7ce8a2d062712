/**
 * A connection to a server: JSON-RPC requests, their answers, output, and
 * requests of the server. A transport carries the lines.
 */
import { RpcError, SandboxClosed, SandboxError } from "./errors.js";

/** Carries lines to a server. Lines of the server go to the receiver. */
export interface Transport {
  send(line: string): void;
  /** While it is in use, the program does not end by itself. */
  use(isUsed: boolean): void;
  /** Waits for lines, and passes them to the receiver. Only a server inside
   * this process can be waited for. */
  wait?(): void;
  /** Ends the server. Resolves when it has ended. */
  close(): Promise<void>;
}

export interface Receiver {
  line(line: string): void;
  /** The server has ended. */
  end(error: SandboxError): void;
}

export type Params = Record<string, unknown>;

export interface OutputEvent {
  stream: "stdout" | "stderr";
  data: string;
}

export type OutputSink = (event: OutputEvent) => void;
export type Handler = (params: any) => Promise<unknown>;

interface Pending {
  method: string;
  resolve(result: unknown): void;
  reject(error: Error): void;
  onOutput: OutputSink | undefined;
  onResult: ((result: any) => void) | undefined;
  onError: ((error: Error) => void) | undefined;
}

interface Message {
  id?: number | string | null;
  method?: string;
  params?: any;
  result?: unknown;
  error?: { code: number; message: string };
}

export interface Watch {
  /** Receives the output of a run. */
  onOutput?: OutputSink;
  /** Called with the result before any later line is served. */
  onResult?: (result: any) => void;
  onError?: (error: Error) => void;
}

export class Connection implements Receiver {
  readonly handlers = new Map<string, Handler>();
  readonly #transport: Transport;
  readonly #pending = new Map<number, Pending>();
  readonly #outputs = new Map<string, OutputSink>();
  #lastId = 0;
  #end: SandboxError | undefined;

  constructor(connect: (receiver: Receiver) => Transport) {
    this.#transport = connect(this);
    this.#transport.use(false);
  }

  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** Sends a request. The id is for `cancel` and `output.window`. */
  request(method: string, params: Params, watch: Watch = {}): { id: number; result: Promise<any> } {
    const id = ++this.#lastId;
    const result = new Promise<unknown>((resolve, reject) => {
      if (this.#end) {
        reject(this.#end);
        return;
      }
      const line = JSON.stringify({ jsonrpc: "2.0", id, method, params });
      this.#pending.set(id, {
        method, resolve, reject, onOutput: watch.onOutput, onResult: watch.onResult,
        onError: watch.onError });
      if (this.#pending.size === 1) this.#transport.use(true);
      this.#transport.send(line);
    });
    return { id, result };
  }

  call(method: string, params: Params, watch?: Watch): Promise<any> {
    return this.request(method, params, watch).result;
  }

  /** Waits for the answer in this function. Other lines that arrive meanwhile
   * are served as usual. */
  callSync(method: string, params: Params): any {
    let outcome: { result: unknown } | { error: Error } | undefined;
    if (!this.#transport.wait)
      throw new SandboxError("synchronous calls need the native addon (backend 'native')");
    if (this.#end) throw this.#end;
    this.call(method, params, {
      onResult: (result) => (outcome = { result }),
      onError: (error) => (outcome = { error }),
    }).catch(() => {}); // it is thrown below
    while (!outcome) this.#transport.wait();
    if ("error" in outcome) throw outcome.error;
    return outcome.result;
  }

  notify(method: string, params: Params): void {
    if (!this.#end) this.#transport.send(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  /** Passes the output of a process to the sink until it is removed. */
  watch(process: string, sink: OutputSink | undefined): void {
    if (sink) this.#outputs.set(process, sink);
    else this.#outputs.delete(process);
  }

  async close(): Promise<void> {
    this.#over(new SandboxClosed("the sandbox was destroyed"));
    await this.#transport.close();
  }

  // --- lines of the server

  line(line: string): void {
    const message = JSON.parse(line) as Message;
    if (message.method === undefined) this.#answer(message);
    else if (message.id !== undefined) void this.#serve(message);
    else if (message.method === "output") this.#output(message.params);
  }

  end(error: SandboxError): void {
    this.#over(error);
  }

  #over(error: SandboxError): void {
    this.#end ??= error;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    this.#outputs.clear();
    for (const p of pending) {
      p.onError?.(this.#end);
      p.reject(this.#end);
    }
    if (pending.length) this.#transport.use(false);
  }

  #answer(message: Message): void {
    const pending = this.#pending.get(message.id as number);
    if (!pending) return;
    this.#pending.delete(message.id as number);
    if (!this.#pending.size) this.#transport.use(false);
    if (message.error) {
      const error = new RpcError(message.error.code, message.error.message);
      pending.onError?.(error);
      pending.reject(error);
    } else {
      pending.onResult?.(message.result);
      pending.resolve(message.result);
    }
  }

  #output(params: any): void {
    if (params.process_id === undefined) this.#pending.get(params.request_id)?.onOutput?.(params);
    else this.#outputs.get(processKey(params.sandbox_id, params.process_id))?.(params);
  }

  async #serve(message: Message): Promise<void> {
    const answer = (rest: object) =>
      this.#transport.send(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...rest }));
    try {
      const handler = this.handlers.get(message.method!);
      if (!handler) throw new Error(`no handler for ${message.method}`);
      const result = await handler(message.params);
      if (!this.#end) answer({ result });
    } catch (e) {
      if (!this.#end) answer({ error: { code: 1, message: String(e).slice(0, 1000) } });
    }
  }
}

/** The key of a process in Connection.watch. The root sandbox has no id. */
export function processKey(sandboxId: string | undefined, processId: number): string {
  return `${sandboxId ?? ""}/${processId}`;
}
