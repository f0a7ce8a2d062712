/** From options to the parameters of requests. */
import { toBase64 } from "./bytes.js";
import type { Handler } from "./connection.js";
import type { CommandReply, HostCommand, Mount, Options } from "./types.js";

/** Real projects have more files and longer commands than a server allows
 * unless it is asked for more. */
const DEFAULT_LIMITS = { fileCount: 100_000, commandBytes: 1 << 20 };

/** Options of this package with the names of parameters of `create`. */
export function createParams(o: Options): Record<string, unknown> {
  const { backend, memoryBytes, processes, fileBytes, limits, mounts, commands, toolsDir,
    server: _, ...same } = o;
  if (backend !== undefined && backend !== "native" && backend !== "child")
    throw new TypeError(`backend: '${backend}' is neither 'native' nor 'child'`);
  for (const [name, value] of Object.entries({ memoryBytes, processes }))
    if (value !== undefined && limits?.[name as "processes"] !== undefined)
      throw new TypeError(`${name} and limits.${name} are the same limit: give one of them`);
  for (const [name, f] of Object.entries(commands ?? {}))
    if (typeof f !== "function") throw new TypeError(`commands.${name} is not a function`);
  return {
    ...same,
    fsLimitBytes: fileBytes,
    limits: { ...DEFAULT_LIMITS, ...limits, ...present({ memoryBytes, processes }) },
    mounts: mounts?.map(mountParams),
    extensions: commands && Object.keys(commands).map((name) => ({ name })),
    wasmDir: toolsDir,
  };
}

function present(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, v]) => v !== undefined));
}

export function mountParams({ files, ...rest }: Mount): Record<string, unknown> {
  if (!files) return rest;
  return { ...rest, files: Object.fromEntries(Object.entries(files).map(([p, d]) => [p, toBase64(d)])) };
}

/** Returns the handler of extension.invoke. */
export function invoke(commands: Record<string, HostCommand>): Handler {
  return async (params) => {
    const command = Object.hasOwn(commands, params.name) ? commands[params.name] : undefined;
    if (!command) throw new Error(`no command ${params.name}`);
    return answer(await command(params));
  };
}

function answer(reply: CommandReply): { stdout: string; stderr?: string; exitCode: number } {
  if (typeof reply === "string") return { stdout: reply, exitCode: 0 };
  return { stdout: "", exitCode: 0, ...reply };
}
