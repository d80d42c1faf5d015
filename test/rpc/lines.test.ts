import { suite } from '../support/suite.ts'
import * as assert from 'uvu/assert'
import { PassThrough, Writable } from 'node:stream'
import { once } from 'node:events'
import { RpcClosedError, RpcLimitError } from '../../src/rpc/errors.ts'
import { LineFraming, type LineFramingOptions } from '../../src/rpc/lines.ts'

const test = suite('rpc/lines')

interface Opened {
  input: PassThrough
  output: PassThrough
  framing: LineFraming
  messages: unknown[]
  noise: string[]
  closed: (Error | undefined)[]
}

function open(
  options: Partial<LineFramingOptions> = {}, onMessage?: (value: unknown, framing: LineFraming) => void,
): Opened {
  const input = new PassThrough()
  const output = new PassThrough()
  const framing = new LineFraming({ input, output, ...options })
  const opened: Opened = { input, output, framing, messages: [], noise: [], closed: [] }
  framing.start({
    onMessage: (value) => {
      opened.messages.push(value)
      onMessage?.(value, framing)
    },
    onNoise: (excerpt) => opened.noise.push(excerpt),
    onClosed: (error) => opened.closed.push(error),
  })
  return opened
}

/** Feeds chunks one by one and ends the stream; resolves when the framing has told that it is closed. */
async function feed(opened: Opened, chunks: readonly (string | Buffer)[]): Promise<void> {
  for (const chunk of chunks) {
    opened.input.write(chunk)
    await turn()
  }
  opened.input.end()
  while (opened.closed.length === 0) await turn()
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** A small generator with a seed (Numerical Recipes' constants), so that a failure can be run again. */
function seeded(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

test('delivers every line of a chunk in order', async () => {
  const opened = open()
  await feed(opened, ['{"a":1}\n{"a":2}\n{"a":3}\n'])
  assert.equal(opened.messages, [{ a: 1 }, { a: 2 }, { a: 3 }])
  assert.equal(opened.closed, [undefined])
})

test('takes and writes NUL for the end of a line where that is wanted', async () => {
  const opened = open({ terminator: '\0' })
  await opened.framing.send({ text: 'a\nb' })
  assert.is(String(opened.output.read()), '{"text":"a\\nb"}\0')
  await feed(opened, ['{"a":1}\0{"a"', ':\n2}', '\0\0', '{"a":3}'])
  assert.equal(opened.messages, [{ a: 1 }, { a: 2 }, { a: 3 }])
})

test('joins a line that came in many chunks, and takes a last one without a newline', async () => {
  const opened = open()
  await feed(opened, ['{"a', '"', ':1', '}\n{"b":', '2}'])
  assert.equal(opened.messages, [{ a: 1 }, { b: 2 }])
})

test('keeps characters whole that are split over chunks', async () => {
  const bytes = Buffer.from('{"a":"ä€😀"}\n')
  const opened = open()
  await feed(opened, Array.from(bytes, (_, index) => bytes.subarray(index, index + 1)))
  assert.equal(opened.messages, [{ a: 'ä€😀' }])
})

test('skips blank lines and takes carriage returns for white space', async () => {
  const opened = open()
  await feed(opened, ['\n\r\n  \n{"a":1}\r\n\n'])
  assert.equal(opened.messages, [{ a: 1 }])
  assert.equal(opened.noise, [])
})

test('delivers JSON of each type, and reports words that begin alike as noise', async () => {
  const opened = open()
  await feed(opened, ['null\ntrue\nfalse\n-1\n7\n"x"\n[]\n\t {}\n', 'nul\ntruth\nword\n}\n+1\n.5\n\n \n'])
  assert.equal(opened.messages, [null, true, false, -1, 7, 'x', [], {}])
  assert.equal(opened.noise, ['nul', 'truth', 'word', '}', '+1', '.5'])
})

test('reports lines that are not JSON as short printable noise and goes on', async () => {
  const opened = open()
  await feed(opened, [`starting\x1b[31m\u202e\n${'x'.repeat(300)}\n{"a":1}\n{"torn":`])
  assert.equal(opened.noise, ['starting?[31m?', 'x'.repeat(200), '{"torn":'])
  assert.equal(opened.messages, [{ a: 1 }])
})

test('reports JSON that nests too deep as noise', async () => {
  const opened = open()
  await feed(opened, [`${'['.repeat(500)}${']'.repeat(500)}\n[]\n`])
  assert.equal(opened.messages, [[]])
  assert.is(opened.noise.length, 1)
})

const tooLong: [string, string[]][] = [
  ['in one chunk, as the first', ['"123456789"\n1\n']],
  ['in one chunk, after another', ['1\n"123456789"\n']],
  ['counted in bytes', ['1\n"äääää"\n']],
  ['over two chunks', ['"123', '456789"\n']],
  ['without an end', ['"1234', '567890']],
]
for (const [name, chunks] of tooLong) {
  test(`ends with a typed error at a line over the limit: ${name}`, async () => {
    const opened = open({ lineLimitBytes: 10 })
    await feed(opened, chunks)
    assert.instance(opened.closed[0], RpcLimitError)
    assert.is(opened.closed[0]?.message, 'Cannot read a line of more than 10 bytes')
    assert.ok(opened.messages.every((value) => value === 1))
    assert.is(opened.closed.length, 1)
  })
}

test('ends at a line over the limit as soon as it has come so far, whatever the pieces', async () => {
  const opened = open({ lineLimitBytes: 10 })
  for (const piece of ['"1234', '567', '8901']) {
    assert.equal(opened.closed, [])
    opened.input.write(piece)
    await turn()
  }
  assert.instance(opened.closed[0], RpcLimitError)
})

test('accepts a line of exactly the limit', async () => {
  const opened = open({ lineLimitBytes: 10 })
  await feed(opened, ['"12345678"\n"1234', '5678"\n"', '12345678"'])
  assert.equal(opened.messages, ['12345678', '12345678', '12345678'])
})

test('delivers nothing while paused, not even the rest of a chunk, and all of it later in order', async () => {
  const opened = open({}, (value, framing) => {
    if (value === 2) framing.pause()
  })
  opened.input.write('1\n2\n3\n')
  await turn()
  opened.input.write('4\n')
  await turn()
  opened.input.write('5\n')
  opened.input.end()
  for (let count = 0; count < 5; count++) await turn()
  assert.equal(opened.messages, [1, 2])
  assert.equal(opened.closed, [])
  opened.framing.resume()
  while (opened.closed.length === 0) await turn()
  assert.equal(opened.messages, [1, 2, 3, 4, 5])
})

test('stops reading the stream while paused', async () => {
  const opened = open()
  opened.framing.pause()
  const chunk = Buffer.alloc(16 * 1024, ' ')
  let taken = 0
  while (opened.input.write(chunk)) {
    taken += 1
    assert.ok(taken < 1000)
    await turn()
  }
  opened.framing.resume()
  await once(opened.input, 'drain')
})

test('delivers what was read before an end that came while paused', async () => {
  const opened = open()
  opened.framing.pause()
  opened.input.end('1\n2')
  for (let count = 0; count < 5; count++) await turn()
  opened.framing.resume()
  while (opened.closed.length === 0) await turn()
  assert.equal(opened.messages, [1, 2])
})

test('may be paused and resumed inside a handler', async () => {
  const opened = open({}, (_, framing) => {
    framing.pause()
    framing.resume()
  })
  await feed(opened, ['1\n2\n3\n'])
  assert.equal(opened.messages, [1, 2, 3])
})

test('may be closed inside a handler and then delivers nothing more', async () => {
  const opened = open({}, (_, framing) => framing.close())
  opened.input.write('1\n2\n3')
  await turn()
  opened.input.write('\n4\n')
  opened.input.end()
  for (let count = 0; count < 5; count++) await turn()
  assert.equal(opened.messages, [1])
  assert.equal(opened.closed, [])
  opened.framing.resume()
  opened.framing.close()
})

test('a last line without a newline may close it too', async () => {
  const opened = open({}, (_, framing) => framing.close())
  opened.input.end('1')
  for (let count = 0; count < 5; count++) await turn()
  assert.equal(opened.messages, [1])
  assert.equal(opened.closed, [])
})

test('tells an error of the input once and stays quiet after', async () => {
  const opened = open()
  const broken = new Error('EIO')
  opened.input.destroy(broken)
  await turn()
  opened.input.emit('error', new Error('again'))
  assert.equal(opened.closed, [broken])
})

test('takes a destroyed input for its end', async () => {
  const opened = open()
  opened.input.destroy()
  await turn()
  assert.equal(opened.closed, [undefined])
})

test('cannot be started twice', () => {
  const { framing } = open()
  assert.throws(
    () => framing.start({ onMessage: () => {}, onNoise: () => {}, onClosed: () => {} }), /Cannot start a framing twice/,
  )
})

test('writes one line per value', async () => {
  const { framing, output } = open()
  await framing.send({ text: 'a\nb' })
  await framing.send([1])
  assert.is(String(output.read()), '{"text":"a\\nb"}\n[1]\n')
})

test('refuses to queue more than the limit, and takes more once that is written', async () => {
  const releases: (() => void)[] = []
  const output = new Writable({ write: (_chunk, _encoding, done) => void releases.push(done) })
  const { framing } = open({ output, queueLimitBytes: 20 })
  const first = framing.send('123456789')
  await rejects(framing.send('123456789'), RpcLimitError, 'Cannot send a message: 24 bytes would wait, the limit is 20')
  releases.shift()?.()
  await first
  const second = framing.send('123456789')
  releases.shift()?.()
  await second
})

test('counts bytes that wait, and not characters', async () => {
  const output = new Writable({ decodeStrings: false, write: () => undefined })
  const { framing } = open({ output, queueLimitBytes: 20 })
  framing.send('äöü€').catch(() => undefined)
  await rejects(framing.send('äöü€'), RpcLimitError, 'Cannot send a message: 24 bytes would wait, the limit is 20')
})

test('fails what is sent after a write error, without ending: answers may still be on their way', async () => {
  const output = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) })
  const opened = open({ output })
  await rejects(opened.framing.send(1), RpcClosedError, 'Cannot send a message: EPIPE')
  await rejects(opened.framing.send(1), RpcClosedError)
  await feed(opened, ['{"last":1}\n'])
  assert.equal(opened.messages, [{ last: 1 }])
})

test('refuses to send once it is closed', async () => {
  const { framing } = open()
  framing.close()
  await rejects(framing.send(1), RpcClosedError, 'Cannot send a message: the connection is closed')
})

test('random splits of a stream give the same messages', async () => {
  const seed = Number(process.hrtime.bigint() % 1_000_000n)
  const random = seeded(seed)
  const values = Array.from({ length: 60 }, (_, index) => ({
    index, text: 'ä😀\n"\\'.repeat(random(40)), list: [null, index],
  }))
  const bytes = Buffer.from(
    values.map((value) => `${JSON.stringify(value)}${random(4) === 0 ? '\n\n' : '\n'}`).join(''),
  )
  for (let round = 0; round < 60; round++) {
    const chunks: Buffer[] = []
    for (let start = 0; start < bytes.length;) {
      const size = 1 + random(round % 2 === 0 ? 30 : 3000)
      chunks.push(bytes.subarray(start, start + size))
      start += size
    }
    const opened = open({}, (_, framing) => {
      if (random(5) !== 0) return
      framing.pause()
      setImmediate(() => framing.resume())
    })
    await feed(opened, chunks)
    assert.equal(opened.messages, values, `seed ${seed}, round ${round}`)
    assert.equal(opened.noise, [], `seed ${seed}, round ${round}`)
  }
})

test('random garbage never throws and ends in order', async () => {
  const seed = Number(process.hrtime.bigint() % 1_000_000n)
  const random = seeded(seed)
  for (let round = 0; round < 200; round++) {
    const chunks = Array.from({ length: random(20) }, () => {
      return Buffer.from(Array.from({ length: random(50) }, () => garbageByte(random)))
    })
    const opened = open({ lineLimitBytes: 100 })
    await feed(opened, chunks)
    assert.is(opened.closed.length, 1, `seed ${seed}, round ${round}`)
    for (const excerpt of opened.noise) assert.not.match(excerpt, /\p{C}/u)
  }
})

function garbageByte(random: (below: number) => number): number {
  const likely = Buffer.from('\n\n{}[]"1,:\\u \r')
  return random(2) === 0 ? (likely[random(likely.length)] ?? 0) : random(256)
}

async function rejects(
  promise: Promise<unknown>, type: new (...args: never[]) => Error, message?: string,
): Promise<void> {
  const error = await promise.then(() => undefined, (thrown: unknown) => thrown)
  assert.instance(error, type)
  if (message !== undefined && error instanceof Error) assert.is(error.message, message)
}

test.run()
