import * as assert from 'uvu/assert'
import { Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { deferred } from '../../src/base/wait.ts'
import { Departure } from '../../src/ws/departure.ts'
import { Outbox } from '../../src/ws/outbox.ts'
import { suite } from '../support/suite.ts'

const test = suite('ws/outbox')

/** A socket that takes a write only when told to. */
class SlowSocket extends Duplex {
  readonly writes: string[] = []
  hasEnded = false
  #take: ((error?: Error) => void) | undefined

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    if (chunk.length === 0) return done()
    this.writes.push(chunk.length > 20 ? `${chunk.toString('latin1', 0, 1)} x ${chunk.length}` : chunk.toString())
    this.#take = done
  }

  override _final(done: () => void): void {
    this.hasEnded = true
    done()
  }

  override _read(): void {}

  /** Lets the current write end, and waits for the next one to begin. */
  async release(error?: Error): Promise<void> {
    this.#take?.(error)
    await nextTurn()
    await nextTurn()
  }
}

function open(
  maxBufferedBytes = 1000,
  stallTimeoutMs = 60_000,
): { socket: SlowSocket; outbox: Outbox; empty: string[]; stalled: Promise<void> } {
  const socket = new SlowSocket()
  const empty: string[] = []
  const stalled = deferred<void>()
  const onEmpty = (): void => void empty.push(`after ${socket.writes.length}`)
  return {
    socket,
    empty,
    stalled: stalled.promise,
    outbox: new Outbox(socket, {
      departure: new Departure(),
      limits: { maxBufferedBytes, stallTimeoutMs },
      owner: { onEmpty, onStall: stalled.resolve },
    }),
  }
}

test('writes what one turn pushed together, and what comes later when that was taken', async () => {
  const { socket, outbox, empty } = open()
  for (const text of ['a', 'b', 'c']) outbox.push(Buffer.from(text))
  assert.is(outbox.isWaiting, false)
  await nextTurn()
  for (const text of ['d', 'e']) outbox.push(Buffer.from(text))
  assert.is(outbox.isWaiting, true)
  assert.is(outbox.bufferedBytes, 5)
  assert.equal(socket.writes, ['abc'])
  await socket.release()
  assert.equal(socket.writes, ['abc', 'de'])
  assert.equal(empty, [])
  await socket.release()
  assert.equal([outbox.bufferedBytes, outbox.isWaiting, empty], [0, false, ['after 2']])
  outbox.close()
})

test('is full from its limit on', () => {
  const { outbox } = open(10)
  outbox.push(Buffer.alloc(9))
  assert.is(outbox.isFull, false)
  outbox.push(Buffer.alloc(100))
  assert.is(outbox.isFull, true)
  outbox.close()
  assert.equal([outbox.isFull, outbox.bufferedBytes], [false, 0])
})

test('writes at most 64 KiB at a time, a larger frame in pieces', async () => {
  const { socket, outbox } = open()
  for (const [letter, length] of Object.entries({ a: 30_000, b: 30_000, c: 30_000, d: 140_000, e: 65_536, f: 100 }))
    outbox.push(Buffer.alloc(length, letter))
  await nextTurn()
  for (let count = 0; count < 6; count++) await socket.release()
  assert.equal(socket.writes, ['a x 60000', 'c x 30000', 'd x 65536', 'd x 65536', 'd x 8928', 'e x 65536', 'f x 100'])
  outbox.close()
})

test('sends an urgent frame before all that waits but never inside a frame, and only the newest', async () => {
  const { socket, outbox } = open()
  outbox.push(Buffer.alloc(140_000, 'a'))
  await nextTurn()
  outbox.push(Buffer.from('b'))
  outbox.pushUrgent(Buffer.from('old'))
  outbox.pushUrgent(Buffer.from('new'))
  for (let count = 0; count < 3; count++) await socket.release()
  assert.equal(socket.writes, ['a x 65536', 'a x 65536', 'a x 8929', 'new'])
  await socket.release()
  assert.is(outbox.bufferedBytes, 0)
  outbox.pushUrgent(Buffer.from('alone'))
  await nextTurn()
  assert.is(socket.writes.at(-1), 'alone')
  outbox.close()
})

test('ends the socket once everything was taken', async () => {
  const { socket, outbox, empty } = open()
  outbox.push(Buffer.from('a'))
  outbox.end()
  await nextTurn()
  assert.is(socket.hasEnded, false)
  await socket.release()
  assert.is(socket.hasEnded, true)
  assert.equal(empty, [])
  outbox.close()
})

test('ends the socket at once when nothing waits', async () => {
  const { socket, outbox } = open()
  outbox.end()
  await nextTurn()
  await nextTurn()
  assert.is(socket.hasEnded, true)
})

test('tells when a write is not taken in time, also inside a large frame', async () => {
  const { socket, outbox, stalled } = open(1000, 20)
  outbox.push(Buffer.alloc(100_000))
  await nextTurn()
  await socket.release()
  await stalled
  assert.is(socket.writes.length, 2)
  outbox.close()
})

test('writes nothing more after a failed write', async () => {
  const { socket, outbox, empty } = open()
  socket.on('error', () => undefined)
  outbox.push(Buffer.from('a'))
  await nextTurn()
  outbox.push(Buffer.from('b'))
  await socket.release(new Error('reset'))
  assert.equal([socket.writes, empty], [['a'], []])
  outbox.close()
})

test('writes nothing more when a write fails at once, and does not say that all was taken', async () => {
  const writes: number[] = []
  const socket = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      writes.push(chunk.length)
      done(new Error('reset'))
    },
  })
  socket.on('error', () => undefined)
  const owner = {
    onEmpty: () => assert.unreachable('It was not taken'), onStall: () => assert.unreachable('It did not wait'),
  }
  const outbox = new Outbox(socket, {
    departure: new Departure(), limits: { maxBufferedBytes: 1000, stallTimeoutMs: 60_000 }, owner,
  })
  outbox.push(Buffer.alloc(100_000))
  await nextTurn()
  await nextTurn()
  assert.equal(writes, [65_536])
  outbox.close()
})

test('writes nothing after it was closed', async () => {
  const { socket, outbox } = open()
  outbox.push(Buffer.from('a'))
  outbox.pushUrgent(Buffer.from('b'))
  outbox.close()
  outbox.close()
  await nextTurn()
  assert.equal(socket.writes, [])
})

test.run()
