/**
 * Whole streams of a client through src/ws, cut and damaged, for the short test and the long test.
 *
 * Each stream is made from a description, so the right output is known. Three claims: a valid stream gives its messages
 * wherever it is cut; a damaged stream gives the output of `support/naive-ws`, however it is cut, and nothing throws;
 * and the memory held while a stream goes on has a bound. Everything follows from the seed.
 */
import { constants, createDeflateRaw, deflateRawSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { Compression } from '../../src/ws/compression.ts'
import { Intake } from '../../src/ws/intake.ts'
import { violations } from '../../src/ws/violation.ts'
import { below, seeded } from '../storage/samples.ts'
import { decodeNaively, type DeflateMode } from '../support/naive-ws.ts'
import { frame } from '../support/ws-client.ts'

type Random = () => number

const limits = { maxMessageBytes: 3000, maxFragments: 6 }
const modes: readonly DeflateMode[] = ['off', 'context', 'no_context']

interface Stream {
  readonly mode: DeflateMode
  readonly bytes: Buffer
  /** As `decodeNaively` tells it. */
  readonly told: readonly string[]
}

/** So many valid streams, cut in two at every place, and in pieces of one byte. */
export async function cutEverywhere(seed: number, streams: number): Promise<void> {
  const random = seeded(seed)
  for (let count = 0; count < streams; count++) {
    const { mode, bytes, told } = await makeStream(random, modes[count % modes.length] ?? 'off', 3, 60)
    const name = `seed ${seed}, stream ${count} (${mode})`
    assert.equal(decodeNaively(bytes, { ...limits, masked: true, deflate: mode }), told, `${name}, naively`)
    assert.equal(await decode(Array.from(bytes, (byte) => Buffer.from([byte])), mode), told, `${name}, byte by byte`)
    for (let at = 0; at <= bytes.length; at++) {
      assert.equal(await decode([bytes.subarray(0, at), bytes.subarray(at)], mode), told, `${name}, cut at ${at}`)
    }
  }
}

export interface DamageReport {
  readonly streams: number
  /** How many the naive decoder could not follow to their end. */
  readonly unsure: number
  /** How many failed, by close code. */
  readonly failed: Readonly<Record<string, number>>
}

/** So many damaged streams, each decoded whole, in random pieces, and by the naive decoder. */
export async function damageThem(seed: number, streams: number): Promise<DamageReport> {
  const random = seeded(seed)
  const failed: Record<string, number> = {}
  let unsure = 0
  for (let count = 0; count < streams; count++) {
    const { mode, bytes: valid } = await makeStream(
      random, modes[below(random, 3)] ?? 'off', 1 + below(random, 8), 3200,
    )
    const bytes = damage(random, valid)
    const name = `seed ${seed}, stream ${count} (${mode})`
    const whole = await decode([bytes], mode)
    assert.equal(await decode(inPieces(random, bytes), mode), whole, `${name}, in pieces`)
    const naive = decodeNaively(bytes, { ...limits, masked: true, deflate: mode })
    const last = naive.at(-1) ?? ''
    if (last === 'unsure') unsure++
    assertAgree(whole, naive, name)
    const end = whole.at(-1) ?? ''
    if (end.startsWith('failed')) failed[end] = (failed[end] ?? 0) + 1
  }
  return { streams, unsure, failed }
}

/** The naive decoder may stop before the end, or leave open which of two codes it is. */
function assertAgree(found: readonly string[], naive: readonly string[], name: string): void {
  const last = naive.at(-1) ?? ''
  if (last === 'unsure') return assert.equal(found.slice(0, naive.length - 1), naive.slice(0, -1), name)
  if (last !== 'failed 1007 or 1009') return assert.equal(found, naive, name)
  assert.equal(found.slice(0, -1), naive.slice(0, -1), name)
  assert.match(found.at(-1) ?? '', /^failed 100[79]$/, name)
}

/** Returns the output of src/ws for the pieces, up to a Close frame or a broken rule. */
async function decode(pieces: readonly Buffer[], mode: DeflateMode): Promise<string[]> {
  const inflater = mode === 'off' ? undefined : new Compression().open(mode === 'context')
  const told: string[] = []
  let wake = (): void => undefined
  const intake = new Intake({ ...limits, inflater, onReady: () => wake() })
  for (const piece of pieces) {
    intake.push(Buffer.from(piece))
    for (;;) {
      const incoming = intake.next()
      if (incoming === undefined && !intake.isBusy) break
      if (incoming === undefined) await new Promise<void>((resolve) => (wake = resolve))
      else if (incoming.kind === 'broken') return [...told, `failed ${violations[incoming.rule].closeCode}`]
      else if (incoming.kind === 'close') return [...told, `close ${incoming.code}`]
      else told.push(
        `${incoming.kind} ${(incoming.kind === 'text' ? Buffer.from(incoming.text) : incoming.data).toString('hex')}`,
      )
    }
  }
  return told
}

/** Messages in fragments, some of them compressed, with control frames in between, and perhaps a Close frame. */
async function makeStream(random: Random, mode: DeflateMode, messages: number, largest: number): Promise<Stream> {
  const compress = mode === 'context' ? inOneContext() : eachAlone
  const frames: Buffer[] = []
  const told: string[] = []
  const add = (opcode: number, payload: Buffer, final = true, reserved = 0): void =>
    void frames.push(frame(opcode, payload, { final, reserved, key: bytesOf(random, 4) }))
  for (let count = 0; count < messages; count++) {
    const isText = random() < 0.6
    const data = isText ? textOf(random, largest) : bytesOf(random, below(random, largest))
    const isCompressed = mode !== 'off' && random() < 0.7
    const payload = isCompressed ? await compress(data) : data
    const fragments = cut(random, payload, 1 + below(random, 4))
    for (const [index, part] of fragments.entries()) {
      if (random() < 0.3) {
        const control = bytesOf(random, below(random, 20))
        add(random() < 0.5 ? 9 : 10, control)
        told.push(`${frames.at(-1)?.[0] === 0x89 ? 'ping' : 'pong'} ${control.toString('hex')}`)
      }
      add(index > 0 ? 0 : isText ? 1 : 2, part, index === fragments.length - 1, index === 0 && isCompressed ? 0x40 : 0)
    }
    told.push(`${isText ? 'text' : 'binary'} ${data.toString('hex')}`)
  }
  if (random() < 0.3) {
    add(8, Buffer.from([0x03, 0xe9]))
    told.push('close 1001')
  }
  return { mode, bytes: Buffer.concat(frames), told }
}

async function eachAlone(data: Buffer): Promise<Buffer> {
  return deflateRawSync(data, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -4)
}

/** One compressor for all messages, as a client has it that keeps its context. */
function inOneContext(): (data: Buffer) => Promise<Buffer> {
  const deflate = createDeflateRaw()
  const output: Buffer[] = []
  deflate.on('data', (chunk: Buffer) => output.push(chunk))
  return async (data) => {
    if (data.length === 0) return Buffer.from([0x00])
    deflate.write(data)
    await new Promise<void>((resolve) => deflate.flush(constants.Z_SYNC_FLUSH, resolve))
    return Buffer.concat(output.splice(0)).subarray(0, -4)
  }
}

function damage(random: Random, valid: Buffer): Buffer {
  let bytes = Buffer.from(valid)
  for (let count = 1 + below(random, 3); count > 0 && bytes.length > 0; count--) {
    const at = below(random, bytes.length)
    const kind = below(random, 5)
    if (kind === 0) {
      bytes = Buffer.concat([bytes.subarray(0, at), bytesOf(random, 1 + below(random, 4)), bytes.subarray(at)])
    } else if (kind === 1) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + below(random, 4))])
    else if (kind === 2) bytes = bytes.subarray(0, at)
    else bytes[at] = kind === 3 ? below(random, 256) : (bytes[at] ?? 0) ^ (1 << below(random, 8))
  }
  return bytes
}

function inPieces(random: Random, bytes: Buffer): Buffer[] {
  const pieces: Buffer[] = []
  const largest = [1, 7, 100, 1000][below(random, 4)] ?? 1
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + below(random, largest)
    pieces.push(bytes.subarray(at, end))
    at = end
  }
  return pieces
}

function cut(random: Random, payload: Buffer, count: number): Buffer[] {
  const places = Array.from({ length: count - 1 }, () => below(random, payload.length + 1)).sort((a, b) => a - b)
  return [0, ...places].map((from, index) => payload.subarray(from, places[index]))
}

function textOf(random: Random, largest: number): Buffer {
  const words = ['né', '€', '😀', 'plain text ', '\0', 'x'.repeat(40)]
  let text = ''
  for (let bytes = below(random, largest); Buffer.byteLength(text) < bytes - 40;) {
    text += words[below(random, words.length)] ?? ''
  }
  return Buffer.from(text)
}

function bytesOf(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => below(random, 256)))
}
