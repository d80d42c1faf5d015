/**
 * Random frames and random bytes through parser and assembler.
 *
 * Three claims: nothing throws; how the bytes are split makes no difference; and for frames of a known description the
 * outcome agrees with a model, which works on the descriptions and uses TextDecoder where src/ws uses its own check.
 * The seed is printed; FUZZ_SEED repeats a run and FUZZ_ROUNDS makes it longer.
 */
import { TextDecoder } from 'node:util'
import * as assert from 'uvu/assert'
import { Assembler } from '../../src/ws/assembler.ts'
import { checkHandshake } from '../../src/ws/handshake.ts'
import { Parser } from '../../src/ws/parser.ts'
import { suite } from '../support/suite.ts'
import { frame } from '../support/ws-client.ts'

const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000_007)
const rounds = Number(process.env['FUZZ_ROUNDS'] ?? 3000)
process.stdout.write(`FUZZ_SEED=${seed}\n`)

const test = suite('fuzz/ws', 110_000)
const maxMessageBytes = 400
const maxFragments = 3

/** A number from 0 up to but not including 1 (mulberry32). */
let state = seed
function random(): number {
  state = (state + 0x6d2b79f5) | 0
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}
const below = (limit: number): number => Math.floor(random() * limit)
const chance = (probability: number): boolean => random() < probability
function oneOf<T>(values: readonly [T, ...T[]]): T {
  return values[below(values.length)] ?? values[0]
}

interface Description {
  readonly opcode: number
  readonly final: boolean
  readonly reserved: number
  readonly masked: boolean
  readonly lengthBytes: 0 | 2 | 8
  readonly payload: Buffer
}

function describe(): Description {
  const payload = randomPayload()
  const minimal = payload.length < 126 ? 0 : 2
  return {
    opcode: chance(0.02) ? below(16) : oneOf([0, 0, 0, 1, 1, 2, 8, 9, 10]),
    final: chance(0.6),
    reserved: chance(0.02) ? oneOf([0x10, 0x20, 0x40]) : 0,
    masked: !chance(0.01),
    lengthBytes: chance(0.02) ? oneOf([2, 8]) : minimal,
    payload,
  }
}

function randomPayload(): Buffer {
  const text = Buffer.from('né€😀 plain text '.repeat(1 + below(8)))
  const cut = text.subarray(chance(0.3) ? below(text.length) : 0, chance(0.5) ? below(text.length) : undefined)
  if (chance(0.2)) return Buffer.from([oneOf([3, 15, 19]), below(256), ...cut.subarray(0, 20)])
  if (chance(0.05)) cut[0] = below(256)
  if (chance(0.02)) return Buffer.alloc(maxMessageBytes - 2 + below(5), 'x')
  return chance(0.2) ? Buffer.alloc(0) : cut
}

/** Returns the expected events, a string each; the last may be the name of a broken rule. */
function model(frames: Description[]): string[] {
  const events: string[] = []
  let message: { opcode: number; parts: Buffer[]; decoder: TextDecoder } | undefined
  for (const each of frames) {
    const { opcode, final, payload } = each
    const broken = brokenHeader(each, message?.parts.reduce((sum, part) => sum + part.length, 0) ?? 0)
    if (broken !== undefined) return [...events, broken]
    if (opcode >= 8) {
      events.push(opcode === 8 ? closeEvent(payload) : `${opcode === 9 ? 'ping' : 'pong'} ${payload.toString('hex')}`)
      if (events.at(-1)?.startsWith('close_')) return events
      continue
    }
    if (opcode === 0 && message === undefined) return [...events, 'continuation_unexpected']
    if (opcode !== 0 && message !== undefined) return [...events, 'continuation_expected']
    message ??= { opcode, parts: [], decoder: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }) }
    message.parts.push(payload)
    if (message.parts.length > maxFragments) return [...events, 'too_many_fragments']
    try {
      if (message.opcode === 1) message.decoder.decode(payload, { stream: !final })
    } catch {
      return [...events, 'text_not_utf8']
    }
    if (!final) continue
    events.push(`${message.opcode === 1 ? 'text' : 'binary'} ${Buffer.concat(message.parts).toString('hex')}`)
    message = undefined
  }
  return events
}

function brokenHeader(
  { opcode, final, reserved, masked, lengthBytes, payload }: Description,
  collected: number,
): string | undefined {
  if (![0, 1, 2, 8, 9, 10].includes(opcode)) return 'opcode_unknown'
  if (reserved !== 0) return 'reserved_bit'
  if (!masked) return 'mask_missing'
  if (opcode >= 8 && !final) return 'control_fragmented'
  if (opcode >= 8 && lengthBytes > 0) return 'control_too_long'
  if (lengthBytes === 8 || (lengthBytes === 2 && payload.length < 126)) return 'length_not_minimal'
  return opcode < 8 && payload.length + collected > maxMessageBytes ? 'message_too_large' : undefined
}

function closeEvent(payload: Buffer): string {
  if (payload.length === 0) return 'close 1005 '
  if (payload.length === 1) return 'close_length'
  const code = payload.readUInt16BE(0)
  const isAllowed =
    (code >= 3000 && code < 5000) ||
    [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014].includes(code)
  if (!isAllowed) return 'close_code'
  try {
    const reason = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(payload.subarray(2))
    return `close ${code} ${Buffer.from(reason).toString('hex')}`
  } catch {
    return 'close_reason'
  }
}

/** Returns the events that src/ws makes of the bytes, in the words of the model. */
function run(pieces: Buffer[], deflate: boolean): string[] {
  const parser = new Parser(deflate)
  const assembler = new Assembler({ maxMessageBytes, maxFragments })
  const events: string[] = []
  for (const piece of pieces) {
    parser.push(Buffer.from(piece))
    for (
      let found = parser.next(assembler.remainingBytes);
      found !== undefined;
      found = parser.next(assembler.remainingBytes)
    ) {
      const incoming = found.kind === 'frame' ? assembler.add(found) : found
      if (incoming === undefined) continue
      if (incoming.kind === 'broken') return [...events, incoming.rule]
      if (incoming.kind === 'text') events.push(`text ${Buffer.from(incoming.text).toString('hex')}`)
      else if (incoming.kind === 'undecoded') events.push(`compressed ${incoming.payload.toString('hex')}`)
      else if (incoming.kind === 'close')
        events.push(`close ${incoming.code} ${Buffer.from(incoming.reason).toString('hex')}`)
      else events.push(`${incoming.kind} ${incoming.data.toString('hex')}`)
    }
  }
  return events
}

function split(bytes: Buffer): Buffer[] {
  const pieces: Buffer[] = []
  const largest = oneOf([1, 3, 20, 200])
  for (let at = 0; at < bytes.length;) {
    const length = 1 + below(largest)
    pieces.push(bytes.subarray(at, at + length))
    at += length
  }
  return pieces
}

test('random frames in random pieces come out as the model says', () => {
  for (let round = 0; round < rounds; round++) {
    const frames = Array.from({ length: 1 + below(12) }, describe)
    const bytes = Buffer.concat(frames.map((each) => frame(each.opcode, each.payload, each)))
    const expected = model(frames)
    assert.equal(run([bytes], false), expected, `seed ${seed}, round ${round}, whole`)
    assert.equal(run(split(bytes), false), expected, `seed ${seed}, round ${round}, in pieces`)
  }
})

test('random and damaged bytes never throw, and their split makes no difference', () => {
  for (let round = 0; round < rounds; round++) {
    const frames = Array.from({ length: 1 + below(5) }, () => ({ ...describe(), reserved: chance(0.3) ? 0x40 : 0 }))
    const bytes = Buffer.concat(frames.map((each) => frame(each.opcode, each.payload, each)))
    for (let count = below(4); count > 0; count--) bytes[below(bytes.length)] = below(256)
    const whole = run([bytes], true)
    assert.equal(run(split(bytes), true), whole, `seed ${seed}, round ${round}`)
  }
})

test('random handshake headers never throw', () => {
  const pieces = [
    'permessage-deflate',
    'x',
    ';',
    ',',
    '=',
    '"',
    '\\',
    ' ',
    '\t',
    '15',
    'client_max_window_bits',
    'server_max_window_bits',
    'é',
    'websocket',
    'Upgrade',
  ]
  const text = (): string => Array.from({ length: below(12) }, () => pieces[below(pieces.length)]).join('')
  for (let round = 0; round < rounds; round++) {
    const fixed = {
      host: 'a',
      upgrade: 'websocket',
      connection: 'Upgrade',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    }
    const headers = {
      ...fixed,
      [oneOf(['upgrade', 'connection', 'sec-websocket-key', 'sec-websocket-extensions'])]: text(),
    }
    const handshake = checkHandshake({ method: 'GET', httpVersion: '1.1', headers }, { mayKeepContext: true })
    const extensions = handshake.headers['Sec-WebSocket-Extensions'] ?? 'permessage-deflate; server_no_context_takeover'
    assert.match(
      extensions,
      /^permessage-deflate; server_no_context_takeover(; server_max_window_bits=15)?$/,
      `seed ${seed}, round ${round}`,
    )
  }
})

test.run()
