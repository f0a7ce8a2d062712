/** The errors of this package. */
import type { RunResult } from "./types.js";

/** The base class of all errors of this package. */
export class SandboxError extends Error {
  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}

/**
 * A request was refused. For errors of the system, `errno` is the name at the
 * beginning of the message, such as "ENOENT".
 */
export class RpcError extends SandboxError {
  readonly errno: string | undefined;
  constructor(readonly code: number, message: string) {
    super(message);
    this.errno = code === 1 ? /^E[A-Z0-9]+(?=:)/.exec(message)?.[0] : undefined;
  }
}

/** The sandbox was destroyed before this call, or during it. */
export class SandboxClosed extends SandboxError {}

/** The server ended unexpectedly; `stderr` has its last lines. */
export class ServerDied extends SandboxError {
  constructor(message: string, readonly stderr: string) {
    super(stderr ? `${message}\n${stderr}` : message);
  }
}

/** A command with `check: true` ended with a status other than 0. */
export class CommandFailed extends SandboxError {
  constructor(readonly result: RunResult<string | Uint8Array>) {
    super(failure(result));
  }
}

function failure(result: RunResult<string | Uint8Array>): string {
  const { stderr, exitCode, message } = result;
  const text = typeof stderr === "string" ? stderr : new TextDecoder().decode(stderr);
  const reason = message ?? text.trim().split("\n").at(-1);
  return `the command ended with ${exitCode}${reason ? `: ${reason}` : ""}`;
}
