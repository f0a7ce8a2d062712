/** A sandbox: a computer with files, processes and limits of its own. */
import { concat, fromBase64, toBase64, toText, type Data } from "./bytes.js";
import { Channel } from "./channel.js";
import { Code } from "./code.js";
import { openSandbox } from "./open.js";
import { exists, PART_BYTES, readFile, writeFile } from "./files.js";
import { mountParams } from "./options.js";
import { Process, Terminal } from "./process.js";
import { run } from "./run.js";
import type {
  LostProcess, Mount, NetworkPolicy, Options, RunOptions, RunResult, StartOptions, Stat,
  TerminalOptions } from "./types.js";

/** Variables of the shell. */
export class Env {
  readonly #channel: Channel;
  /** @internal */
  constructor(channel: Channel) {
    this.#channel = channel;
  }
  async get(name: string): Promise<string | undefined> {
    return (await this.#channel.call("env.get", { name })).value ?? undefined;
  }
  async set(name: string, value: string): Promise<void> {
    await this.#channel.call("env.set", { name, value });
  }
  async unset(name: string): Promise<void> {
    await this.#channel.call("env.unset", { name });
  }
  /** Returns the exported variables. */
  async all(): Promise<Record<string, string>> {
    return (await this.#channel.call("env.list")).env;
  }
}

/** The network policy (docs/network.md). It can change while commands run. */
export class Network {
  readonly #channel: Channel;
  /** @internal */
  constructor(channel: Channel) {
    this.#channel = channel;
  }
  async get(): Promise<NetworkPolicy> {
    return (await this.#channel.call("network.get")).network;
  }
  async set(network: NetworkPolicy): Promise<void> {
    await this.#channel.call("network.set", { network });
  }
  async allow(...rules: string[]): Promise<void> {
    await this.#channel.call("network.allow", { rules });
  }
  async deny(...rules: string[]): Promise<void> {
    await this.#channel.call("network.deny", { rules });
  }
  /** Listens on the host, and forwards connections to a port of the sandbox. */
  forward(port: number, o: { address?: string; hostPort?: number } = {}): Promise<{ address: string; port: number }> {
    return this.#channel.call("port.forward", { port, ...o });
  }
  async unforward(port: number): Promise<void> {
    await this.#channel.call("port.unforward", { port });
  }
  async forwarded(): Promise<{ port: number; address: string; hostPort: number }[]> {
    return (await this.#channel.call("port.list")).ports;
  }
}

export class Sandbox implements AsyncDisposable {
  readonly code: Code;
  readonly env: Env;
  readonly network: Network;
  readonly #channel: Channel;

  private constructor(channel: Channel) {
    this.#channel = channel;
    this.code = new Code(channel);
    this.env = new Env(channel);
    this.network = new Network(channel);
  }

  static async create(o: Options = {}): Promise<Sandbox> {
    return new Sandbox(await openSandbox(o));
  }

  /** The id; undefined for the first sandbox of a server. */
  get sandboxId(): string | undefined {
    return this.#channel.sandboxId;
  }

  // --- commands

  /** Runs a command in the shell, which keeps its variables and folder. */
  run(command: string, o: RunOptions & { encoding: "bytes" }): Promise<RunResult<Uint8Array>>;
  run(command: string, o?: RunOptions & { encoding?: "utf8" }): Promise<RunResult>;
  run(command: string, o: RunOptions = {}): Promise<RunResult<any>> {
    return run(this.#channel, command, o);
  }

  /** Starts a process that runs in parallel with commands. */
  start(command: string, o: StartOptions = {}): Promise<Process> {
    return Process.start(this.#channel, { command, ...o });
  }

  /** Opens a terminal, with a shell or a command in it. */
  terminal(o: TerminalOptions = {}): Promise<Terminal> {
    return Terminal.start(this.#channel, o);
  }

  /** Returns the commands that were run, oldest first. */
  async history(): Promise<string[]> {
    const { entries } = await this.#channel.call("shell.history.list");
    return entries.map((e: { command: string }) => e.command);
  }

  // --- files

  readFile(path: string): Promise<Uint8Array> {
    return readFile(this.#channel, path);
  }
  async readText(path: string): Promise<string> {
    return toText(await this.readFile(path));
  }
  /** Writes a file, and creates missing folders. */
  writeFile(path: string, data: Data, o: { mode?: number } = {}): Promise<void> {
    return writeFile(this.#channel, path, data, o.mode);
  }
  async list(path: string): Promise<Stat[]> {
    return (await this.#channel.file("list", { path, details: true })).entries;
  }
  stat(path: string): Promise<Stat> {
    return this.#channel.file("stat", { path });
  }
  exists(path: string): Promise<boolean> {
    return exists(this.#channel, path);
  }
  /** Creates a folder; with `recursive`, its parents too. */
  async mkdir(path: string, o: { recursive?: boolean; mode?: number } = {}): Promise<void> {
    await this.#channel.file("mkdir", { path, ...o });
  }
  async remove(path: string, o: { recursive?: boolean } = {}): Promise<void> {
    await this.#channel.file("rm", { path, ...o });
  }
  async rename(from: string, to: string): Promise<void> {
    await this.#channel.file("rename", { from, to });
  }
  async chmod(path: string, mode: number): Promise<void> {
    await this.#channel.file("chmod", { path, mode });
  }
  async symlink(target: string, path: string): Promise<void> {
    await this.#channel.file("symlink", { target, path });
  }
  async mount(mount: Mount): Promise<void> {
    await this.#channel.call("mount", mountParams(mount));
  }

  // --- copies

  /** Returns a copy with the same files, shell and limits. */
  async fork(): Promise<Sandbox> {
    const { sandboxId } = await this.#channel.call("sandbox.fork");
    return new Sandbox(new Channel(this.#channel.lease, sandboxId));
  }
  /** Returns a fresh sandbox with the options of the first one. */
  async sibling(): Promise<Sandbox> {
    const { sandboxId } = await this.#channel.call("sandbox.create", { sandboxId: undefined });
    return new Sandbox(new Channel(this.#channel.lease, sandboxId));
  }
  async snapshot(): Promise<string> {
    return (await this.#channel.call("snapshot.create")).id;
  }
  /** Returns to a snapshot, and ends all processes. Returns those that ran when
   * the snapshot was made. */
  async restore(id: string): Promise<LostProcess[]> {
    return (await this.#channel.call("snapshot.restore", { id })).notCopied ?? [];
  }
  async snapshots(): Promise<string[]> {
    const { snapshots } = await this.#channel.call("snapshot.list");
    return snapshots.map((s: { id: string }) => s.id);
  }
  async deleteSnapshot(id: string): Promise<void> {
    await this.#channel.call("snapshot.delete", { id });
  }
  /** Returns to the state at the start. */
  async reset(): Promise<void> {
    await this.#channel.call("sandbox.reset");
  }

  /** Returns all changes since the start, as a tar file. */
  async export(): Promise<Uint8Array> {
    let part = await this.#channel.call("persistence.export", { partBytes: PART_BYTES });
    const parts = [fromBase64(part.data)];
    while (!part.last) {
      const { transferId, seq } = part;
      part = await this.#channel.call("persistence.export", { transferId, seq: seq + 1 });
      parts.push(fromBase64(part.data));
    }
    return concat(parts);
  }
  /** Replaces files, environment and shell by those of an export. */
  async import(tar: Uint8Array): Promise<void> {
    const transferId = crypto.randomUUID();
    const last = Math.max(Math.ceil(tar.length / PART_BYTES) - 1, 0);
    for (let seq = 0; seq <= last; seq++) {
      const data = toBase64(tar.subarray(seq * PART_BYTES, (seq + 1) * PART_BYTES));
      await this.#channel.call("persistence.import", { data, transferId, seq, last: seq === last });
    }
  }

  // --- the sandbox

  /** Returns the use of resources. */
  status(): Promise<Record<string, number>> {
    return this.#channel.call("status");
  }
  limits(): Promise<Record<string, number>> {
    return this.#channel.call("limits.get");
  }
  /** Ends the running command, which then has the exit code 130. */
  async cancel(): Promise<void> {
    await this.#channel.call("cancel");
  }
  /** Frees the sandbox. The server ends with its last sandbox. */
  async destroy(): Promise<void> {
    await this.#channel.close();
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.destroy();
  }
}
