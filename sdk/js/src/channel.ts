/** A connection, and the sandbox that requests on it are for. */
import { processKey, type Connection, type OutputSink, type Params, type Watch } from "./connection.js";
import { SandboxClosed } from "./errors.js";

/** Sandboxes of one server share it. The server ends with the last of them. */
export class Lease {
  #users = 0;
  constructor(readonly connection: Connection) {}

  take(): void {
    this.#users++;
  }

  async leave(): Promise<void> {
    if (--this.#users === 0) await this.connection.close();
  }
}

export class Channel {
  #isClosed = false;

  /** The root sandbox has no id. */
  constructor(readonly lease: Lease, readonly sandboxId: string | undefined) {
    lease.take();
  }

  get isClosed(): boolean {
    return this.#isClosed || this.lease.connection.isOver;
  }

  request(method: string, params: Params, watch?: Watch): { id: number; result: Promise<any> } {
    if (this.#isClosed) throw new SandboxClosed("the sandbox was destroyed");
    return this.lease.connection.request(method, this.#addressed(params), watch);
  }

  async call(method: string, params: Params = {}, watch?: Watch): Promise<any> {
    return this.request(method, params, watch).result;
  }

  callSync(method: string, params: Params = {}): any {
    if (this.#isClosed) throw new SandboxClosed("the sandbox was destroyed");
    return this.lease.connection.callSync(method, this.#addressed(params));
  }

  /** Functions of files do not wait for a running command. */
  file(method: string, params: Params): Promise<any> {
    return this.call(`files.${method}`, { ...params, concurrent: true });
  }

  notify(method: string, params: Params): void {
    this.lease.connection.notify(method, this.#addressed(params));
  }

  watchProcess(processId: number, sink: OutputSink | undefined): void {
    this.lease.connection.watch(processKey(this.sandboxId, processId), sink);
  }

  /** The root sandbox lives as long as its server. Others are destroyed now. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { connection } = this.lease;
    try {
      if (this.sandboxId !== undefined && !connection.isOver)
        await connection.call("sandbox.destroy", this.#addressed({}));
    } finally {
      await this.lease.leave();
    }
  }

  #addressed(params: Params): Params {
    return this.sandboxId === undefined ? params : { sandboxId: this.sandboxId, ...params };
  }
}
