#!/usr/bin/env node
/** `npx wasmsand` opens a shell, `npx wasmsand COMMAND` runs one. */
import { spawnSync } from "node:child_process";
import { constants } from "node:os";
import { findServer } from "./installation.js";

const [command, ...rest] = process.argv.slice(2);
if (rest.length) {
  console.error("wasmsand: one command is expected; put quotes around it");
  process.exit(2);
}
const args = ["shell", ...(command === undefined ? [] : ["-c", command])];
const { status, signal, error } = spawnSync(findServer(), args, { stdio: "inherit" });
if (error) throw error;
process.exit(status ?? 128 + constants.signals[signal!]);
