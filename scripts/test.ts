/**
 * `npm test`: runs every test file in a process of its own and adds up the numbers that they report.
 *
 * A file has failed when a test in it failed, when it exited with another code than 0, when it reported no test, or
 * when it was still alive after its time: a test that leaves a handle open keeps its process alive and is found that
 * way. Arguments are substrings of the paths to run. Without any, all files run but the long tests,
 * `*-long.test.ts`: those run with `--long`, as in `npm run coverage` and so in `.ci/run`, or when an argument names
 * them. With `--slow` it is the tests in `test/slow` instead, one at a time, which take from minutes to half an hour
 * each: `npm run soak`. The last line is always `N passed, N failed`, followed by `, N skipped` where a test said it
 * lacks something.
 */
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { join, relative } from 'node:path'
import { commandLine } from './command-line.ts'

const root = fileURLToPath(new URL('../test/', import.meta.url))
const { words: wanted, flags } = commandLine({
  command: 'npm test',
  help: 'Runs the tests, each file in a process of its own.',
  words: { name: 'TEXT', help: 'Only files with the text in their path, such as ws/ or cli/options' },
  flags: {
    long: { help: 'The long tests too, *-long.test.ts, which otherwise run when TEXT is in their path' },
    slow: { help: 'The slow tests of test/slow instead, one at a time (npm run soak)' },
  },
})
const isSlow = flags.slow !== undefined
/** A whole file, not a test: single tests have their own deadline in test/support/suite. */
const fileTimeoutMs = isSlow ? 2_400_000 : 240_000
/** Slow tests measure memory, and so the collector is theirs to call and the machine too. */
const nodeOptions = isSlow ? ['--enable-source-maps', '--expose-gc'] : ['--enable-source-maps']

interface Report {
  file: string
  passed: number
  failed: number
  skipped: number
  output: string
  ms: number
}

const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.js') && path.startsWith('slow') === isSlow)
  .filter((path) => {
    if (wanted.length > 0) return wanted.some((part) => path.includes(part))
    return flags.long !== undefined || !path.endsWith('-long.test.js')
  })
  .sort()

if (files.length === 0) process.stderr.write(`No test file has ${wanted.join(' or ')} in its path below test/\n`)
const queue = [...files]
const reports: Report[] = []
// Tests wait more than they work.
await Promise.all(Array.from({ length: isSlow ? 1 : 3 * availableParallelism() }, work))

const total = { passed: 0, failed: 0, skipped: 0 }
for (const report of reports) {
  total.passed += report.passed
  total.failed += report.failed
  total.skipped += report.skipped
}
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : ''
process.stdout.write(`${total.passed} passed, ${total.failed} failed${skipped}\n`)
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0

async function work(): Promise<void> {
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    const report = await run(file)
    reports.push(report)
    const word = report.failed > 0 ? 'FAIL' : 'ok'
    process.stdout.write(
      `${word.padEnd(5)}${relative('.', join('test', report.file))}  ${report.passed} passed  ${report.ms} ms\n`,
    )
    // People read the measurements of a slow test.
    if (report.failed > 0 || isSlow) process.stdout.write(`${report.output}\n`)
  }
}

function run(file: string): Promise<Report> {
  return new Promise((resolve) => {
    const start = Date.now()
    const child = spawn(process.execPath, [...nodeOptions, join(root, file)], { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
    let late = false
    const timer = setTimeout(() => {
      late = true
      child.kill('SIGKILL')
    }, fileTimeoutMs)
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      resolve(read(file, output, code, signal, late, Date.now() - start))
    })
  })
}

/** uvu ends a file with lines `Total: 3`, `Passed: 2`, `Skipped: 1`. */
function read(
  file: string, output: string, code: number | null, signal: string | null, late: boolean, ms: number,
): Report {
  const count = (word: string): number => Number(new RegExp(`${word}:\\s+(\\d+)`).exec(output)?.[1] ?? 0)
  const passed = count('Passed')
  const skipped = count('Skipped')
  let failed = count('Total') - passed
  if (failed === 0 && (code !== 0 || passed + skipped === 0)) failed = 1
  if (late) output += `\nkilled: still running after ${fileTimeoutMs} ms (a handle left open, or a wait without end)`
  else if (signal !== null) output += `\nkilled by ${signal}`
  return { file, passed, failed, skipped, output, ms }
}
