// measure.mjs PEER FOLDER: the best times of a sandboxed shell from npm, which
// is installed in FOLDER, as `name value unit` on standard output.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const ROUNDS = 300;
// One of them has a limit of 10,000.
const FILES = "mkdir -p /tmp/d; cd /tmp/d; for i in {1..9900}; do : > $i; done";

const peers = {
  "just-bash": ({ Bash }) => ({
    create: () => new Bash({ executionLimits: { maxLoopIterations: 100000, maxCommandCount: 100000 } }),
    run: (shell, command) => shell.exec(command),
  }),
  "@everruns/bashkit": ({ Bash }) => {
    const options = { maxLoopIterations: 100000, maxCommands: 1000000 };
    return {
      create: () => new Bash(options),
      run: (shell, command) => shell.executeSync(command),
      fork: (shell) => Bash.fromSnapshot(shell.snapshot(), options),
    };
  },
};

const commands = {
  "run true": "true",
  "run echo": "echo a",
  "run echo | tr | sort": "echo b | tr b a | sort",
  "run substitution": "x=$(echo a)",
};

async function best(rounds, work) {
  let ns = Infinity;
  for (let i = 0; i < rounds; i++) {
    const start = process.hrtime.bigint();
    await work();
    ns = Math.min(ns, Number(process.hrtime.bigint() - start));
  }
  return (ns / 1e3).toFixed(2);
}

async function run(peer, shell, command) {
  const result = await peer.run(shell, command);
  if (result.exitCode !== 0) throw new Error(`${command}: ${result.stderr || result.error}`);
}

async function fork_row(peer) {
  const shell = peer.create();
  await run(peer, shell, FILES);
  console.log(`fork of a sandbox ${await best(10, () => peer.fork(shell))} us`);
}

const [name, folder] = process.argv.slice(2);
const entry = createRequire(join(folder, "package.json")).resolve(name);
const peer = peers[name](await import(pathToFileURL(entry)));
console.log(`create ${await best(ROUNDS, peer.create)} us`);
console.log(`create + run ${await best(ROUNDS, () => run(peer, peer.create(), "true"))} us`);
for (const [row, command] of Object.entries(commands)) {
  const shell = peer.create();
  console.log(`${row} ${await best(ROUNDS, () => run(peer, shell, command))} us`);
}
if (peer.fork) await fork_row(peer);
process.exit(0);
