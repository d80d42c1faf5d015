/**
 * `npm run bench`: the speed gates, each measured beside the least that its work could cost, in one run.
 *
 * Prints ratios, because absolute times tell more about the machine than about the program; the last column is there to
 * show the size of what was measured. A ratio of costs is better the lower it is, one of speeds the higher; nothing is
 * asserted, and the exit code is 0 when everything could be measured. The whole of it takes about three minutes; with
 * `--quick` it is much shorter and rougher, with `--markdown` the table is one for scripts/bench/README.md, with
 * `--peers` libraries of others, which are installed outside the tree, are measured beside the same limits. Words are
 * parts of the names of gates to measure alone: `npm run bench -- --quick fan-out`. A busy machine shows as quartiles
 * that are far from each other.
 */
import { availableParallelism, cpus, loadavg, release, type } from 'node:os'
import { commandLine, refuse } from './command-line.ts'
import { appendAlone, appendTogether } from './bench/append.ts'
import { compression } from './bench/compression.ts'
import { condensedConversation } from './bench/condensed-steps.ts'
import { echo } from './bench/echo.ts'
import { bursts, fanOut } from './bench/fan-out.ts'
import type { NamedGate, Row } from './bench/gate.ts'
import { getEvent } from './bench/get-event.ts'
import { held } from './bench/held.ts'
import { idleSockets } from './bench/idle-sockets.ts'
import { libraryPeers } from './bench/peers/libraries.ts'
import { networkPeers } from './bench/peers/network.ts'
import { parallelSteps } from './bench/parallel-steps.ts'
import { relay } from './bench/relay.ts'
import { list } from './bench/list.ts'
import { longLog } from './bench/long-log.ts'
import { jsonRpc } from './bench/rpc.ts'
import { longConversation } from './bench/steps.ts'
import { replay } from './bench/replay.ts'
import { start } from './bench/start.ts'
import { printMarkdown, printTable } from './bench/table.ts'
import { manyAgents } from './bench/many-agents.ts'
import { parse, validate } from './bench/validation.ts'
import { waitingModels } from './bench/waiting-models.ts'
import { wholePath } from './bench/whole-path.ts'

const ourGates: readonly NamedGate[] = [
  { name: 'validate', gate: validate, seconds: 5 },
  { name: 'parse', gate: parse, seconds: 5 },
  { name: 'append-alone', gate: appendAlone, seconds: 10 },
  { name: 'append-together', gate: appendTogether, seconds: 10 },
  { name: 'long-log', gate: longLog, seconds: 30 },
  { name: 'list', gate: list, seconds: 20 },
  { name: 'get-event', gate: getEvent, seconds: 25 },
  { name: 'fan-out', gate: fanOut, seconds: 40 },
  { name: 'bursts', gate: bursts, seconds: 10 },
  { name: 'compression', gate: compression, seconds: 6 },
  { name: 'replay', gate: replay, seconds: 15 },
  { name: 'json-rpc', gate: jsonRpc, seconds: 20 },
  { name: 'whole-path', gate: wholePath, seconds: 15 },
  { name: 'echo', gate: echo, seconds: 15 },
  { name: 'held', gate: held, seconds: 60 },
  { name: 'idle-sockets', gate: idleSockets, seconds: 20 },
  { name: 'start', gate: start, seconds: 20 },
  { name: 'relay', gate: relay, seconds: 20 },
  { name: 'many-agents', gate: manyAgents, seconds: 150 },
  { name: 'steps', gate: longConversation, seconds: 40 },
  { name: 'condensed-steps', gate: condensedConversation, seconds: 40 },
  { name: 'parallel-steps', gate: parallelSteps, seconds: 20 },
  { name: 'waiting-models', gate: waitingModels, seconds: 40 },
]
const quickShare = 0.1

const { words, flags } = commandLine({
  command: 'npm run bench',
  help: 'Measures this server beside the least that its work could cost, in one run of about three minutes.',
  words: { name: 'GATE', help: 'Only gates with the text in their name' },
  flags: {
    quick: { help: 'Measure for a tenth of the time, and roughly' },
    markdown: { help: 'Print the table for scripts/bench/README.md' },
    peers: { help: 'Measure libraries of others too; installs them outside the tree' },
  },
})
const isQuick = flags.quick !== undefined
const print = flags.markdown !== undefined ? printMarkdown : printTable
const gates = flags.peers !== undefined ? [...ourGates, ...(await networkPeers()), ...(await libraryPeers())] : ourGates
const wanted = gates.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)))
if (wanted.length === 0) {
  refuse(`Could not measure "${words.join(' ')}": expected ${gates.map(({ name }) => name).join(', ')}`)
}

say(conditions())
const rows: Row[] = []
for (const { name, gate, seconds } of wanted) {
  process.stderr.write(`measuring ${name} ...\n`)
  rows.push(...(await gate({ budgetMs: seconds * 1000 * (isQuick ? quickShare : 1) })))
}
for (const line of print(rows)) say(line)
say('Ratios are ours to the limit, medians of rounds that take turns.')

/** What a figure depends on, besides the program; a load well above 0 says that others used the machine too. */
function conditions(): string {
  const cores = `${availableParallelism()} cores of ${cpus()[0]?.model ?? 'unknown make'}`
  const parts = [
    `Node ${process.versions.node}`, `${type()} ${release()}`, cores, `load ${loadavg()[0]?.toFixed(1)} at the start`,
  ]
  return [...parts, ...(isQuick ? ['quick and rough'] : [])].join(', ')
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
