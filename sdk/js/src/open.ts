/** Starts a server, and creates its first sandbox. */
import { Channel, Lease } from "./channel.js";
import { ChildTransport } from "./child.js";
import { Connection, type Receiver, type Transport } from "./connection.js";
import { SandboxError } from "./errors.js";
import { findServer } from "./installation.js";
import { findAddon, NativeTransport } from "./native.js";
import { createParams, invoke } from "./options.js";
import type { Options } from "./types.js";

export async function openSandbox(o: Options): Promise<Channel> {
  const params = createParams(o);
  const connection = new Connection((receiver) => connect(o, receiver));
  const channel = new Channel(new Lease(connection), undefined);
  if (o.commands) connection.handlers.set("extension.invoke", invoke(o.commands));
  try {
    await channel.call("create", params);
  } catch (e) {
    await channel.close();
    throw e;
  }
  return channel;
}

/** Without a choice, the addon is used where it is installed. */
function connect(o: Options, receiver: Receiver): Transport {
  const server = findServer(o.server);
  const addon = o.backend === "child" ? undefined : findAddon(server);
  const folders = (o.mounts ?? []).flatMap((m) => m.hostPath ?? []);
  if (addon) return new NativeTransport(server, addon, folders, receiver);
  if (o.backend === "native") throw new SandboxError(`there is no native addon beside ${server}`);
  return new ChildTransport(server, folders.flatMap((f) => ["--allow-mount", f]), receiver);
}
