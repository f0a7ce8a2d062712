/**
 * The API of the system that wasmsand grew out of: functions of files and
 * variables are synchronous. They need the native addon.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { concat, fromBase64, toBase64, toBytes, type Data } from "./bytes.js";
import { Channel } from "./channel.js";
import { PART_BYTES } from "./files.js";
import { openSandbox } from "./open.js";
import { run } from "./run.js";
import type { FileType, Limits, NetworkPolicy, RunResult, Stat } from "./types.js";

export type { RunResult };
export type DirEntry = { name: string; type: FileType; size: number };
export type StatResult = Stat;

/** The part of a platform that differs between Node and browsers. */
export interface PlatformAdapter {
  /** Returns the programs of a folder, by the name of their command. */
  scanTools(wasmDir: string): Promise<Map<string, string>>;
}

export class NodeAdapter implements PlatformAdapter {
  async scanTools(wasmDir: string): Promise<Map<string, string>> {
    const files = readdirSync(wasmDir).filter((name) => name.endsWith(".wasm"));
    return new Map(files.map((f) => [f.slice(0, -5).replace(/^(true|false)-cmd$/, "$1"), join(wasmDir, f)]));
  }
}

export interface SandboxOptions {
  /** A folder of the host; every *.wasm in it is a command. */
  wasmDir?: string;
  /** Must exist, but is not used: the shell is GNU bash. */
  shellWasmPath?: string;
  adapter?: PlatformAdapter;
  timeoutMs?: number;
  fsLimitBytes?: number;
  network?: NetworkPolicy;
  limits?: Limits;
}

export class Sandbox {
  readonly #channel: Channel;

  private constructor(channel: Channel) {
    this.#channel = channel;
  }

  static async create(o: SandboxOptions = {}): Promise<Sandbox> {
    const { adapter: _, wasmDir, fsLimitBytes, limits, ...rest } = o;
    return new Sandbox(await openSandbox({
      ...rest,
      backend: "native",
      limits: { fileCount: 10_000, commandBytes: 65_536, ...limits },
      ...(wasmDir !== undefined && { toolsDir: wasmDir }),
      ...(fsLimitBytes !== undefined && { fileBytes: fsLimitBytes }),
    }));
  }

  run(command: string): Promise<RunResult> {
    return run(this.#channel, command, { keep: "head" }) as Promise<RunResult>;
  }

  readFile(path: string): Uint8Array {
    const parts: Uint8Array[] = [];
    for (let offset = 0; ; ) {
      const { data } = this.#file("read", { path, offset, length: PART_BYTES });
      const part = fromBase64(data);
      parts.push(part);
      offset += part.length;
      if (part.length < PART_BYTES) return concat(parts);
    }
  }

  writeFile(path: string, data: Data): void {
    const bytes = toBytes(data);
    for (let at = 0; at === 0 || at < bytes.length; at += PART_BYTES)
      this.#file("write", { path, data: toBase64(bytes.subarray(at, at + PART_BYTES)), ...(at > 0 && { append: true }) });
  }

  readDir(path: string): DirEntry[] {
    return this.#file("list", { path }).entries;
  }

  mkdir(path: string): void {
    this.#file("mkdir", { path });
  }

  stat(path: string): StatResult {
    return this.#file("stat", { path });
  }

  /** Removes a file, or a folder with its contents. */
  rm(path: string): void {
    this.#file("rm", { path, recursive: true });
  }

  setEnv(name: string, value: string): void {
    this.#channel.callSync("env.set", { name, value });
  }

  getEnv(name: string): string | undefined {
    return this.#channel.callSync("env.get", { name }).value ?? undefined;
  }

  snapshot(): string {
    return this.#channel.callSync("snapshot.create").id;
  }

  restore(id: string): void {
    this.#channel.callSync("snapshot.restore", { id });
  }

  async fork(): Promise<Sandbox> {
    const { sandboxId } = await this.#channel.call("sandbox.fork");
    return new Sandbox(new Channel(this.#channel.lease, sandboxId));
  }

  /** Frees the sandbox; it can be called twice. */
  destroy(): void {
    this.#channel.close().catch(() => {}); // the server ends in any case
  }

  #file(method: string, params: Record<string, unknown>): any {
    return this.#channel.callSync(`files.${method}`, { ...params, concurrent: true });
  }
}
