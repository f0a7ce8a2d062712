export { Code, CodeResult, Context } from "./code.js";
export type { Execution } from "./code.js";
export { CommandFailed, RpcError, SandboxClosed, SandboxError, ServerDied } from "./errors.js";
export type { Piece } from "./output.js";
export { Process, Terminal } from "./process.js";
export { Env, Network, Sandbox } from "./sandbox.js";
export type { Data } from "./bytes.js";
export type * from "./types.js";
