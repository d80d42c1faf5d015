/**
 * Lines that take more than one turn of the event loop: their order, pauses meanwhile, and lines with too many values.
 */
import { PassThrough } from 'node:stream'
import * as assert from 'uvu/assert'
import { turnBytes } from '../../src/base/json-turns.ts'
import { RpcLimitError } from '../../src/rpc/errors.ts'
import { LineFraming } from '../../src/rpc/lines.ts'
import { suite } from '../support/suite.ts'

const test = suite('rpc/long-lines')

const long = 'x'.repeat(turnBytes)

/**
 * Feeds chunks, closes the input, and returns the messages that came: of a long text its length. `pauseAfter` pauses
 * after such a message.
 */
async function read(
  chunks: readonly string[], options: { readonly valueLimit?: number; readonly pauseAfter?: unknown } = {},
) {
  const input = new PassThrough()
  const framing = new LineFraming({ input, output: new PassThrough(), valueLimit: options.valueLimit })
  const seen: unknown[] = []
  let isOver = false
  let isPaused = false
  framing.start({
    onMessage(value) {
      seen.push(isPaused ? 'came during a pause' : typeof value === 'string' ? value.length : value)
      if (value !== options.pauseAfter) return
      framing.pause()
      isPaused = true
      void turns(20).then(() => {
        isPaused = false
        framing.resume()
      })
    },
    onNoise: (excerpt) => seen.push(`noise ${excerpt.slice(0, 5)}`),
    onClosed(error) {
      seen.push(error instanceof RpcLimitError ? error.message : error)
      isOver = true
    },
  })
  for (const chunk of chunks) input.write(chunk)
  input.end()
  while (!isOver) await turns(1)
  return seen
}

async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left--) await new Promise((resolve) => setImmediate(resolve))
}

test('hands over a long line in its place among short ones', async () => {
  const line = JSON.stringify(long)
  const text = `1\n2\n${line}\n3\n${line}\n${line}\n4\n5`
  const expected = [1, 2, turnBytes, 3, turnBytes, turnBytes, 4, 5, undefined]
  assert.equal(await read([text]), expected)
  const cuts = Array.from({ length: 100 }, (_, index) => {
    return text.slice((index * text.length) / 100, ((index + 1) * text.length) / 100)
  })
  assert.equal(await read(cuts), expected)
})

test('hands over nothing while it is paused, also what was being parsed when the pause began', async () => {
  const line = JSON.stringify(long)
  assert.equal(await read([`1\n${line}\n2\n${line}\n3\n`], { pauseAfter: 1 }), [
    1, turnBytes, 2, turnBytes, 3, undefined,
  ])
  assert.equal(await read([`1\n2\n${line}\n`, `${line}\n3\n`], { pauseAfter: 2 }), [
    1, 2, turnBytes, turnBytes, 3, undefined,
  ])
})

test('takes a long line that is no JSON for noise', async () => {
  assert.equal(await read([`${long}\n1\n`]), ['noise xxxxx', 1, undefined])
})

test('ends at a line with too many values, long or short, before anything of it is built', async () => {
  const tooMany = 'Cannot read a line: JSON holds more than 50000 values'
  assert.equal(await read([`1\n${'['.repeat(2 * turnBytes)}\n2\n`]), [1, tooMany])
  assert.equal(await read([`1\n${'[],'.repeat(60_000)}\n2\n`]), [1, tooMany])
  assert.equal(await read(['[1,2,3]\n[1,2,3,4]\n'], { valueLimit: 3 }), [
    [1, 2, 3], 'Cannot read a line: JSON holds more than 3 values',
  ])
})

test('hands over what came while a long line was parsed, although nothing comes after it', async () => {
  const input = new PassThrough()
  const framing = new LineFraming({ input, output: new PassThrough() })
  const seen: unknown[] = []
  framing.start({ onMessage: (value) => seen.push(value), onNoise: () => undefined, onClosed: () => undefined })
  // The second piece ends where the line does.
  for (const piece of ['"x', `${long}"\n`, '2\n']) input.write(piece)
  for (let left = 2000; left > 0 && seen.length < 2; left--) await turns(1)
  assert.equal(seen.slice(1), [2])
  framing.close()
})

test.run()
