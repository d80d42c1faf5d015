/**
 * `npm run bench`: the speed gates, each measured beside the least that its work could cost, in one run.
 *
 * Prints ratios, because absolute times tell more about the machine than about the program, and absolute figures where
 * a user notices them. Nothing is asserted, and the exit code is 0 when everything could be measured. With `--quick` it
 * is much shorter and rougher. With `--peers` libraries of others, with `--python` the public Python server are
 * measured too, both installed outside the tree. `--write` puts the rows into scripts/bench/results.json, from which
 * the tables of the documents are made. Words are parts of the names of gates to measure alone: `npm run bench --
 * --quick fan-out`. A busy machine shows as quartiles that are far from each other.
 */
import { spawnSync } from 'node:child_process'
import { availableParallelism, cpus, release, type } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { commandLine, refuse } from './command-line.ts'
import { ourGates } from './bench/gates.ts'
import { libraryPeers } from './bench/peers/libraries.ts'
import { networkPeers } from './bench/peers/network.ts'
import { pythonPeer } from './bench/peers/python.ts'
import { busyMs } from './bench/processors.ts'
import { readResults, replaceGate, writeResults, type Circumstances, type Result } from './bench/results.ts'
import { printMarkdown, printTable } from './bench/table.ts'
import { stallSentence } from './bench/tables.ts'

const quickShare = 0.1
const loadMs = 500

const { words, flags } = commandLine({
  command: 'npm run bench',
  help: 'Measures this server beside the least that its work could cost, in one run. All of it takes about fifteen ' +
    `minutes; GATE is one of ${ourGates.map(({ name }) => name).join(', ')}.`,
  words: { name: 'GATE', help: 'Only gates with the text in their name' },
  flags: {
    quick: { help: 'Measure for a tenth of the time, and roughly' },
    markdown: { help: 'Print a table of Markdown' },
    write: { help: 'Put the rows into scripts/bench/results.json and the tables of the documents' },
    peers: { help: 'Measure libraries of others too; installs them outside the tree' },
    python: { help: 'Measure the public Python server too, openhands-agent-server; installs it outside the tree' },
  },
})
const isQuick = flags.quick !== undefined
const gates = [
  ...ourGates,
  ...(flags.peers === undefined ? [] : [...(await networkPeers()), ...(await libraryPeers())]),
  ...(flags.python === undefined ? [] : await pythonPeer()),
]
const wanted = gates.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)))
if (wanted.length === 0) {
  refuse(`Could not measure "${words.join(' ')}": expected ${gates.map(({ name }) => name).join(', ')}`)
}

const results: Result[] = []
for (const { name, gate, seconds } of wanted) {
  process.stderr.write(`measuring ${name} ...\n`)
  const measured = await circumstances()
  const rows = await gate({ budgetMs: seconds * 1000 * (isQuick ? quickShare : 1) })
  const fresh = rows.map((row) => ({ gate: name, ...row, measured }))
  results.push(...fresh)
  // The results are written after each gate, so that they stay when a later gate fails.
  if (flags.write !== undefined) writeResults(replaceGate(readResults(), name, fresh))
}
const [first] = results
if (first !== undefined) {
  const { node, machine, load } = first.measured
  say(`Node ${node}, ${machine}, load ${load.toFixed(1)} at the start${isQuick ? ', quick and rough' : ''}`)
}
for (const line of flags.markdown === undefined ? printTable(results) : printMarkdown(results)) say(line)
say('Ratios are ours to the limit, medians of rounds that take turns.')
if (results.some(({ stall }) => stall !== undefined)) say(stallSentence(results))
if (flags.write !== undefined) {
  const documents = fileURLToPath(new URL('documents.js', import.meta.url))
  process.exitCode = spawnSync(process.execPath, [documents], { stdio: 'inherit' }).status ?? 1
}

/**
 * Returns the circumstances that a figure depends on besides the program. A load well above 0 means that other programs
 * used the machine too.
 */
async function circumstances(): Promise<Circumstances> {
  const [begin, busy] = [performance.now(), busyMs()]
  await pause(loadMs)
  return {
    date: new Date().toISOString().slice(0, 10),
    node: process.versions.node,
    machine: `${type()} ${release()}, ${availableParallelism()} cores of ${cpus()[0]?.model ?? 'unknown make'}`,
    load: Math.round(10 * (busyMs() - busy) / (performance.now() - begin)) / 10,
    isRough: isQuick,
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
