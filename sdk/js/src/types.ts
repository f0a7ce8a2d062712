/** The types of arguments and results. Names are those of docs/rpc.md. */
import type { Data } from "./bytes.js";

export type ErrorClass = "TIMEOUT" | "CANCELLED" | "LIMIT_EXCEEDED" | "CAPABILITY_DENIED";
export type Stream = "stdout" | "stderr";

/** The result of a command. Without a hit limit there is no `message`. */
export interface RunResult<T = string> {
  exitCode: number;
  stdout: T;
  stderr: T;
  executionTimeMs: number;
  cpuMs: number;
  maxMemoryBytes: number;
  /** The reason why the command was ended or refused. */
  errorClass?: ErrorClass;
  /** The limit that was hit. */
  limit?: string;
  /** The limit that was hit, and the remedy. */
  message?: string;
  /** The streams whose output was longer than its limit. */
  truncated?: { stdout: boolean; stderr: boolean };
  omittedBytes?: { stdout: number; stderr: number };
  /** Hosts that the command was denied. */
  denied?: DeniedHost[];
  /** Output of background processes of earlier commands. */
  background?: T;
}

export interface DeniedHost {
  host: string;
  port?: number;
  reason: string;
}

export interface Limits {
  stdoutBytes?: number;
  stderrBytes?: number;
  commandBytes?: number;
  rpcBytes?: number;
  fileCount?: number;
  memoryBytes?: number;
  processes?: number;
  cpuMs?: number;
  snapshots?: number;
}

/** A folder in the sandbox: the given files, or a folder of the host. */
export interface Mount {
  path: string;
  files?: Record<string, Data>;
  hostPath?: string;
  writable?: boolean;
}

/** "off", "public", or rules as in docs/network.md. */
export type NetworkPolicy =
  | "off"
  | "public"
  | { allow?: string[]; deny?: string[]; limits?: Record<string, number> };

/** A call of a command that the host implements. */
export interface CommandCall {
  name: string;
  args: string[];
  stdin: string;
  env: Record<string, string>;
  cwd: string;
}

/** The output on stdout, or the whole answer. */
export type CommandReply =
  | string
  | void
  | { stdout?: string; stderr?: string; exitCode?: number };

export type HostCommand = (call: CommandCall) => CommandReply | Promise<CommandReply>;

export interface Options {
  /** Where the sandbox runs. "native": in this process, "child": in a process
   * of its own ["native" where the addon is installed]. */
  backend?: "native" | "child";
  /** The name of the root image ["default"]. */
  image?: string;
  /** Maximum memory of all processes together. */
  memoryBytes?: number;
  /** Maximum number of processes. */
  processes?: number;
  /** Maximum size of all files. */
  fileBytes?: number;
  /** Time limit of a command [30000]. */
  timeoutMs?: number;
  limits?: Limits;
  env?: Record<string, string>;
  /** Initial folder of the shell [/home/user]. */
  cwd?: string;
  user?: "user" | "root";
  mounts?: Mount[];
  /** Commands inside that call functions here. */
  commands?: Record<string, HostCommand>;
  /** A folder of the host; every *.wasm in it is a command. */
  toolsDir?: string;
  writablePaths?: string[];
  allowTools?: string[];
  network?: NetworkPolicy;
  /** Makes runs repeatable: the seed of the random numbers. */
  seed?: number;
  /** Makes runs repeatable: the time at the start, ms since 1970. */
  clock?: number;
  /** Path of the program wasm-sandbox. */
  server?: string;
}

export interface RunOptions {
  stdin?: Data;
  cwd?: string;
  env?: Record<string, string>;
  timeoutMs?: number;
  /** Ends the command; the promise is rejected with the signal's reason. */
  signal?: AbortSignal;
  /** Receives output while the command runs. */
  onOutput?: (stream: Stream, data: Uint8Array) => void;
  /** Adds stderr to stdout, in the order of writing. */
  mergeStderr?: boolean;
  /** Rejects the promise if the exit code is not 0. */
  check?: boolean;
  /** Which output to keep beyond its limit: the first part, or the first and the
   * last ["ends"]. */
  keep?: "head" | "ends";
  /** "bytes": stdout and stderr are Uint8Array ["utf8"]. */
  encoding?: "utf8" | "bytes";
}

export interface CodeOptions {
  timeoutMs?: number;
  /** Interrupts the cell; the promise is rejected with the signal's reason. */
  signal?: AbortSignal;
  /** Receives output while the cell runs. */
  onOutput?: (stream: Stream, data: Uint8Array) => void;
}

export interface CodeError {
  name: string;
  value: string;
  traceback: string;
}

export interface ContextOptions {
  cwd?: string;
  env?: Record<string, string>;
}

export interface ContextInfo {
  contextId: number;
  running: boolean;
  busy: boolean;
  executionCount: number;
}

export interface StartOptions {
  cwd?: string;
  env?: Record<string, string>;
  user?: "user" | "root";
}

export interface TerminalOptions extends StartOptions {
  rows?: number;
  cols?: number;
  /** The program in the terminal [an interactive shell]. */
  command?: string;
}

export type FileType = "file" | "dir" | "symlink" | "other";

export interface Stat {
  name: string;
  type: FileType;
  size: number;
  mode: number;
  mtimeMs: number;
}

export interface LostProcess {
  pid: number;
  processId?: number;
  command: string;
}
