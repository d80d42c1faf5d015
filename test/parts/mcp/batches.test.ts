/** Batches of messages in one line, taken apart for a peer that knows none. */
import { PassThrough } from 'node:stream'
import * as assert from 'uvu/assert'
import { withoutBatches } from '../../../src/parts/mcp/batches.ts'
import { LineFraming } from '../../../src/rpc/lines.ts'
import { RpcPeer } from '../../../src/rpc/peer.ts'
import { turns, until, v } from '../../support/rpc.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/mcp/batches')

function open(onMessage: (value: unknown) => void) {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const ends: unknown[] = []
  const framing = withoutBatches(new LineFraming({ input, output }))
  framing.start({ onMessage, onNoise: (excerpt) => ends.push(excerpt), onClosed: (error) => ends.push(error) })
  return { input, output, framing, ends }
}

test('messages of a batch come one by one, between those before and after it', async () => {
  const seen: unknown[] = []
  const { input, ends } = open((value) => seen.push(value))
  input.end('1\n[2,3]\n[]\n4\nno json\n')
  await until(() => ends.length === 2)
  assert.equal([seen, ends], [[1, 2, 3, 4], ['no json', undefined]])
})

test('none comes while the peer has paused, not even of the same batch', async () => {
  const seen: unknown[] = []
  const { input, framing } = open((value) => {
    seen.push(value)
    if (value !== 3) framing.pause()
  })
  input.write('[1,2,3]\n4\n')
  for (const expected of [[1], [1, 2], [1, 2, 3, 4], [1, 2, 3, 4]]) {
    await turns()
    assert.equal(seen, expected)
    framing.resume()
  }
})

test('nothing comes after a close, and what is sent goes out as it is', async () => {
  const seen: unknown[] = []
  const { input, output, framing } = open((value) => {
    seen.push(value)
    framing.close()
  })
  await framing.send({ a: 1 })
  assert.is(String(output.read()), '{"a":1}\n')
  input.write('[1,2]\n3\n')
  await turns()
  assert.equal(seen, [1])
})

test('a peer gets the answers to its requests from one batch', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const peer = new RpcPeer({ framing: withoutBatches(new LineFraming({ input, output })) })
  const answers = Promise.all([peer.request('a', {}), peer.request('b', {})])
  const [first, second] = [1, 2].map((result, id) => ({ ...v, id, result }))
  await turns()
  const ids = String(output.read()).trim().split('\n').map((line) => Object(JSON.parse(line)).id)
  input.write(`${JSON.stringify([{ ...second, id: ids[1] }, { ...first, id: ids[0] }])}\n`)
  assert.equal(await answers, [1, 2])
  peer.close()
})

test.run()
