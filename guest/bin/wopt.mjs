// wopt and wopt-many: Binaryen's passes over linked programs.
// SPDX-License-Identifier: MIT
//
//   WASMSAND_BINARYEN  folder of the npm package binaryen (default: in the cache)
//   WASMSAND_OPT       optimisation level 0 to 4 (default 2)
//   WASMSAND_NAMES     1: keep function names, for profiles and backtraces
//   WASMSAND_ASYNCIFY  more arguments of asyncify, as in
//                      "ignore-indirect addlist@_start,main": each one word

import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const VERSION = '132.0.0'
const MODES = ['plain', 'fork', 'forkcast']

function die(message) {
  console.error(`wopt: ${message}`)
  process.exit(1)
}

function isVersion(dir) {
  try {
    const text = fs.readFileSync(path.join(dir, 'package.json'), 'utf8')
    return JSON.parse(text).version === VERSION
  } catch {
    return false
  }
}

function binaryenDir() {
  if (process.env.WASMSAND_BINARYEN) return process.env.WASMSAND_BINARYEN
  const home = process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache')
  const cache = path.join(home, 'wasmsand')
  const entries = fs.existsSync(cache) ? fs.readdirSync(cache) : []
  const found = entries
    .filter((name) => name.startsWith('npm-'))
    .map((name) => path.join(cache, name, 'node_modules', 'binaryen'))
    .find(isVersion)
  return found ?? die(`the npm package binaryen ${VERSION} is not in the cache`)
}

// What Binaryen says on standard error. A function name that asyncify does not
// know is only a warning there, but a program that fails silently.
const complaints = []
const sayError = console.error
console.error = (...words) => {
  complaints.push(words.join(' '))
  sayError(...words)
}

const dir = path.resolve(binaryenDir())
const { default: binaryen } = await import(
  pathToFileURL(path.join(dir, 'index.js')).href
)

// Never all features: Binaryen then writes encodings that engines do not read.
const F = binaryen.Features
const FEATURES =
  F.MutableGlobals | F.NontrappingFPToInt | F.SIMD128 | F.BulkMemory |
  F.BulkMemoryOpt | F.SignExt | F.ExceptionHandling | F.ReferenceTypes |
  F.Multivalue | F.Atomics

function setAsyncifyArguments() {
  const extra = (process.env.WASMSAND_ASYNCIFY ?? '').split(' ').filter(Boolean)
  for (const word of ['imports@sys.fork', 'export-globals', ...extra]) {
    const [name, value = '1'] = word.split('@')
    binaryen.setPassArgument(`asyncify-${name}`, value)
  }
}

// A constant that the host can read without knowing where the linker put
// things: the size of the buffer that libc has for asyncify.
function exportBufferSize(module) {
  const address = (name) => {
    const ref = module.getExport(name)
    if (!ref) return undefined
    const global = module.getGlobal(binaryen.getExportInfo(ref).value)
    const init = binaryen.getGlobalInfo(global).init
    return binaryen.getExpressionInfo(init).value
  }
  const start = address('__asyncify_buffer')
  const end = address('__asyncify_buffer_end')
  if (start === undefined || end === undefined) return
  const size = module.i32.const(end - start)
  module.addGlobal('__asyncify_buffer_size', binaryen.i32, false, size)
  module.addGlobalExport('__asyncify_buffer_size', '__asyncify_buffer_size')
}

// What an export is called inside of the module, or undefined.
function exported(module, name) {
  const ref = module.getExport(name)
  return ref ? binaryen.getExportInfo(ref).value : undefined
}

function sizeOfSegment(module, offset) {
  for (let i = 0; i < module.getNumDataSegments(); i++) {
    const info = module.getDataSegmentInfo(module.getDataSegmentByIndex(i))
    if (info.offset === offset) return info.data.byteLength
  }
  return 0
}

// Makes an exported function return a number; the export goes.
function answer(module, name, value) {
  const func = exported(module, name)
  module.removeExport(name)
  module.removeFunction(func)
  module.addFunction(func, binaryen.none, binaryen.i32, [], module.i32.const(value))
}

// The address of a thread-local variable is the sum of __tls_base and that of
// its initial value. lld 19 makes __tls_base the address of all initial values,
// so that they count twice, and a constant. It must be 0, and a variable in a
// program with threads, whose libc also asks where the initial values are.
function prepareThreadLocals(module) {
  const base = exported(module, '__tls_base')
  if (!base) return
  const hasThreads = exported(module, '__wtls_size') !== undefined
  const { init } = binaryen.getGlobalInfo(module.getGlobal(base))
  const image = binaryen.getExpressionInfo(init).value
  const size = sizeOfSegment(module, image)
  module.removeGlobal(base)
  module.addGlobal(base, binaryen.i32, hasThreads, module.i32.const(0))
  if (hasThreads) {
    answer(module, '__wtls_image', image)
    answer(module, '__wtls_size', size)
  }
  if (!hasThreads || size === 0) module.removeExport('__tls_base')
}

function checkImports(module) {
  for (let i = 0; i < module.getNumFunctions(); i++) {
    const info = binaryen.getFunctionInfo(module.getFunctionByIndex(i))
    if (info.module && info.module !== 'sys')
      die(`imports ${info.module}.${info.base}, which the sandbox does not have`)
  }
}

// Asyncify only knows the legacy form of exception handling, which is also what
// clang emits; the translation to exnref therefore comes last.
function transform(input, mode) {
  const module = binaryen.readBinary(input, FEATURES)
  const level = Number(process.env.WASMSAND_OPT ?? 2)
  binaryen.setOptimizeLevel(level)
  binaryen.setShrinkLevel(0)
  binaryen.setDebugInfo(process.env.WASMSAND_NAMES === '1')
  const run = (...passes) => module.runPasses(passes)

  checkImports(module)
  prepareThreadLocals(module)
  run('strip-dwarf', 'strip-producers', 'strip-target-features')
  if (mode === 'forkcast') run('fpcast-emu')
  if (mode !== 'plain') {
    setAsyncifyArguments()
    exportBufferSize(module)
    run('asyncify')
    binaryen.clearPassArguments()
  }
  if (level > 0) module.optimize()
  run('translate-to-exnref')
  if (!module.validate()) die('the result is not valid')
  if (complaints.some((text) => text.startsWith('warning:'))) process.exit(1)
  const output = module.emitBinary()
  module.dispose()
  return output
}

function convert(mode, from, to) {
  if (!MODES.includes(mode)) die(`unknown mode ${mode}`)
  const part = `${to}.${process.pid}.tmp`
  fs.writeFileSync(part, transform(fs.readFileSync(from), mode))
  fs.renameSync(part, to)
}

function isNewer(to, from) {
  const stat = fs.statSync(to, { throwIfNoEntry: false })
  return stat !== undefined && stat.mtimeMs > fs.statSync(from).mtimeMs
}

function convertList(file) {
  for (const line of fs.readFileSync(file, 'utf8').split('\n')) {
    const words = line.split(/\s+/).filter(Boolean)
    if (words.length === 0) continue
    if (words.length !== 3) die(`${file}: not "MODE IN OUT": ${line}`)
    if (!isNewer(words[2], words[1])) convert(...words)
  }
}

const [first, ...rest] = process.argv.slice(2)
if (first === '--list') convertList(rest[0])
else convert(first, ...rest)
