/**
 * Mutations of the hostile requests at a real server, without a key that is right: nothing that needs a key may be
 * served, nothing may fail inside, nothing may hang, and nothing may change.
 *
 * The short run is part of the tests, the long one of the soak; both print their seed, with which a run can be repeated
 * as a whole. The message of a failure holds the bytes that were sent.
 */
import * as assert from 'uvu/assert'
import { createRandom } from '../base/masking-random.ts'
import { open } from '../http/raw-client.ts'
import { accessRows } from './hostile-access.ts'
import { changesOf, startTarget, type Target } from './hostile-entrances.ts'
import { key, type HostileRow } from './hostile-row.ts'
import { wireRows } from './hostile-wire.ts'

export interface FuzzReport {
  readonly sent: number
  /** How often which status was answered; `none` where the server closed without a word. */
  readonly statuses: Readonly<Record<string, number>>
}

interface Attack {
  /** Written one after the other. */
  readonly pieces: readonly Buffer[]
}

export async function fuzzEntrance(
  { seed, rounds }: { readonly seed: number; readonly rounds: number },
): Promise<FuzzReport> {
  const target = await startTarget('keyed', { headersTimeoutMs: 500 })
  const counts = new Map<string, number>()
  const attacks = attacksFrom(seed)
  try {
    const before = await target.state()
    const work = async (): Promise<void> => {
      for (let left = attackShare(rounds); left > 0; left--) {
        for (const status of await statusesOf(attacks(), target)) counts.set(status, (counts.get(status) ?? 0) + 1)
      }
    }
    await Promise.all(Array.from({ length: lanes }, work))
    assert.equal(changesOf(before, await target.state()), [])
    assert.not.ok(target.hasRun())
    assert.not.match(target.log.join(''), 'unexpectedly')
  } finally {
    await target.close()
  }
  return { sent: attackShare(rounds) * lanes, statuses: Object.fromEntries([...counts].sort()) }
}

/** Connections at the same time. */
const lanes = 100

function attackShare(rounds: number): number {
  return Math.ceil(rounds / lanes)
}

const allowedSuccess = [
  // The open routes, by the content of their answers.
  /\r\n\r\n\{"status":"(?:ok|ready)"\}$/,
  /\r\n\r\n\{"[^]*"sdk_version":/,
  /\r\n\r\n\{"openapi":/,
  /^307 [^]*\r\nLocation: \/[^/]/,
  // OPTIONS.
  /^204 [^]*\r\nAllow: GET/,
  /^200 [^]*\r\nAccess-Control-Allow-Methods: /,
  // A socket that waits for a key in its first message, and is told nothing but that it was not one.
  /^101 [^]*\r\n\r\n(?:\x88[^]*)?$/,
  /^100 Continue\r\n\r\n$/,
]

async function statusesOf({ pieces }: Attack, { port }: Target): Promise<string[]> {
  const connection = open(port)
  const shown = JSON.stringify(Buffer.concat(pieces).toString('latin1').slice(0, 2000))
  let timer: NodeJS.Timeout | undefined
  const hung = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The server has not closed the connection after ${shown}`)), 30_000)
  })
  for (const piece of pieces) {
    connection.socket.write(piece)
    // The server gets a piece of its own, as far as the system does not join pieces.
    await new Promise((resolve) => setImmediate(resolve))
  }
  const text = await Promise.race([connection.closed(), hung]).finally(() => {
    clearTimeout(timer)
    connection.socket.destroy()
  })
  const answers = text.split('HTTP/1.1 ').slice(1)
  for (const answer of answers) {
    const status = Number(answer.slice(0, 3))
    const isFine = status >= 400
      ? status < 500 || status === 501 || status === 505
      : allowedSuccess.some((pattern) => pattern.test(answer))
    if (!isFine) throw new Error(`${shown} was answered ${JSON.stringify(answer.slice(0, 1000))}`)
  }
  return answers.length === 0 ? ['none'] : answers.map((answer) => answer.slice(0, 3))
}

const wrongKey = 'x'.repeat(key.length)
/** HEAD is left out: its answers have no body that tells them apart. */
const rows = bytesOf([...accessRows, ...wireRows])
/** The rows that come far: most of the others end in the parser. */
const soundRows = bytesOf(
  accessRows.filter(({ kind }) => ['no key', 'wrong key', 'other forms', 'keys of sockets'].includes(kind)),
)
const specials = [
  '\r', '\n', '\r\n', '\r\n\r\n', '\0', '\t', ' ', ':', ',', ';', '"', '%', '%00', '%2f', '%2e%2e', '/', '\\', '?', '#',
  '\x7f', '\xff', '\xc0\xaf', '0', '5', '-', '+',
]

/** The same attacks in the same order for the same seed. */
function attacksFrom(seed: number): () => Attack {
  const { below, pick } = createRandom(seed)
  const pickRow = (): string => pick(below(2) === 0 ? soundRows : rows)
  const mutate = (text: string): string => {
    const place = below(text.length + 1)
    const end = Math.min(text.length, place + 1 + below(8))
    const lines = text.split('\r\n')
    const line = below(lines.length)
    switch (below(8)) {
      case 0: return text.slice(0, place) + pick(specials) + text.slice(place)
      case 1: return text.slice(0, place) + text.slice(end)
      case 2: return text.slice(0, place) + String.fromCharCode(below(256)) + text.slice(place + 1)
      case 3: return text.slice(0, end) + text.slice(place)
      case 4: return lines.toSpliced(line, 0, pick(pickRow().split('\r\n'))).join('\r\n')
      case 5: return lines.toSpliced(line, 1).join('\r\n')
      case 6: return lines.toSpliced(line, 0, pick(lines)).join('\r\n')
      default: return text + pickRow()
    }
  }
  return () => {
    let text = pickRow()
    for (let left = 1 + below(4); left > 0; left--) text = mutate(text)
    const bytes = Buffer.from(text, 'latin1')
    const cut = below(3) === 0 ? below(bytes.length) : bytes.length
    return { pieces: [bytes.subarray(0, cut), bytes.subarray(cut)] }
  }
}

function bytesOf(list: readonly HostileRow[]): string[] {
  return list.map(({ bytes }) => bytes.replaceAll(key, wrongKey)).filter((bytes) => !bytes.startsWith('HEAD'))
}
