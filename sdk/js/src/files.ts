/** Files of a sandbox. Large ones go in parts, in bounded memory of the server. */
import { concat, fromBase64, toBase64, toBytes, type Data } from "./bytes.js";
import type { Channel } from "./channel.js";
import { RpcError } from "./errors.js";
import type { Stat } from "./types.js";

export const PART_BYTES = 4 << 20;

export async function readFile(channel: Channel, path: string): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for (let offset = 0; ; ) {
    const { data } = await channel.file("read", { path, offset, length: PART_BYTES });
    const part = fromBase64(data);
    parts.push(part);
    offset += part.length;
    if (part.length < PART_BYTES) return concat(parts);
  }
}

/**
 * Missing folders are created. A file of several parts is written under another
 * name and renamed, so that no reader sees a part of it.
 */
export async function writeFile(channel: Channel, path: string, data: Data, mode?: number): Promise<void> {
  const bytes = toBytes(data);
  const old = bytes.length > PART_BYTES ? await statOrNothing(channel, path) : undefined;
  if (bytes.length <= PART_BYTES || (old && old.type !== "file"))
    return writeParts(channel, path, bytes, mode); // a link is followed, a folder refused
  const partial = `${path.slice(0, path.lastIndexOf("/") + 1)}.wasmsand-${crypto.randomUUID()}`;
  try {
    await writeParts(channel, partial, bytes, mode ?? old?.mode);
    await channel.file("rename", { from: partial, to: path });
  } catch (e) {
    await channel.file("rm", { path: partial }).catch(() => {});
    throw e instanceof RpcError ? new RpcError(e.code, e.message.replace(partial, path)) : e;
  }
}

async function writeParts(channel: Channel, path: string, bytes: Uint8Array, mode?: number): Promise<void> {
  const first = { parents: true, ...(mode === undefined ? {} : { mode }) };
  for (let at = 0; at === 0 || at < bytes.length; at += PART_BYTES) {
    const data = toBase64(bytes.subarray(at, at + PART_BYTES));
    await channel.file("write", { path, data, ...(at ? { append: true } : first) });
  }
}

async function statOrNothing(channel: Channel, path: string): Promise<Stat | undefined> {
  try {
    return (await channel.file("stat", { path })) as Stat;
  } catch (e) {
    if (e instanceof RpcError && e.errno === "ENOENT") return undefined;
    throw e;
  }
}

export async function exists(channel: Channel, path: string): Promise<boolean> {
  try {
    await channel.file("stat", { path });
    return true;
  } catch (e) {
    const gone = ["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"];
    if (e instanceof RpcError && gone.includes(e.errno ?? "")) return false;
    throw e;
  }
}
