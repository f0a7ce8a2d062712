/** Bytes and text. Only this file differs between Node and browsers. */

export type Data = string | Uint8Array;

/** What browsers have of Uint8Array's own base64, and Node 20 has not. */
interface Base64Bytes {
  fromBase64?(text: string): Uint8Array;
  prototype: { toBase64?(this: Uint8Array): string };
}

const own = Uint8Array as unknown as Base64Bytes;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function toBytes(data: Data): Uint8Array {
  return typeof data === "string" ? encoder.encode(data) : data;
}

/** Bytes that are not UTF-8 become U+FFFD. */
export function toText(data: Uint8Array): string {
  return decoder.decode(data);
}

export function toBase64(data: Data): string {
  if (typeof Buffer !== "undefined") {
    if (typeof data === "string") return Buffer.from(data, "utf8").toString("base64");
    return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
  }
  return own.prototype.toBase64!.call(toBytes(data));
}

export function fromBase64(text: string): Uint8Array {
  if (typeof Buffer === "undefined") return own.fromBase64!(text);
  const b = Buffer.from(text, "base64");
  return new Uint8Array(b.buffer, b.byteOffset, b.byteLength);
}

export function concat(parts: Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const all = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of parts) {
    all.set(p, at);
    at += p.length;
  }
  return all;
}
