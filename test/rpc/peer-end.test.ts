import { suite } from '../support/suite.ts'
import * as assert from 'uvu/assert'
import { PassThrough } from 'node:stream'
import { RpcClosedError, RpcLimitError } from '../../src/rpc/errors.ts'
import { LineFraming } from '../../src/rpc/lines.ts'
import { RpcPeer } from '../../src/rpc/peer.ts'
import { failure, openPeer, turns, until, v } from '../support/rpc.ts'

const test = suite('rpc/peer: how it ends')

test('works without any handler', async () => {
  const { peer, input, sent } = openPeer({ onInvalid: () => {} })
  const bare = new RpcPeer({ framing: new LineFraming({ input: new PassThrough(), output: new PassThrough() }) })
  bare.close()
  const quiet = new PassThrough()
  const output = new PassThrough()
  const silent = new RpcPeer({ framing: new LineFraming({ input: quiet, output }) })
  const failed = failure(silent.request('m', {}))
  quiet.end(
    'junk\n[]\n{"jsonrpc":"2.0","method":"n"}\n{"jsonrpc":"2.0","id":9,"result":1}\n' +
      '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}\n',
  )
  assert.instance(await failed, RpcClosedError)
  input.write('{"jsonrpc":"2.0","method":"n"}\n')
  await peer.notify('n', undefined)
  await until(() => sent.length === 1)
  assert.equal(sent, [{ ...v, method: 'n' }])
})

test('a handler that fails without anybody to report it to is still answered', async () => {
  const input = new PassThrough()
  const output = new PassThrough()
  const peer = new RpcPeer({
    framing: new LineFraming({ input, output }),
    onRequest: ({ method }) => {
      if (method === 'throw') throw new Error('x')
      return 1n
    },
    onNotification: ({ method }) => {
      if (method === 'throw') throw new Error('x')
      return Promise.reject(new Error('x'))
    },
  })
  let text = ''
  output.on('data', (chunk: Buffer) => (text += chunk.toString()))
  input.write('{"jsonrpc":"2.0","method":"throw"}\n{"jsonrpc":"2.0","method":"reject"}\n')
  input.write('{"jsonrpc":"2.0","id":1,"method":"throw"}\n{"jsonrpc":"2.0","id":2,"method":"big"}\n')
  await until(() => text.split('\n').length === 3)
  assert.is(text.match(/-32603/g)?.length, 2)
  peer.close()
})

test('the end of the connection fails what is pending, aborts what is being answered, and is told once', async () => {
  const closed: unknown[] = []
  let aborted: unknown
  const { peer, input, receive, sent } = openPeer({
    onClosed: (error) => closed.push(error),
    onRequest: ({ signal }) => new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        aborted = signal.reason
        reject(signal.reason)
      })
    }),
  })
  const waiting = failure(peer.request('m', {}))
  receive({ ...v, id: 1, method: 'ask' })
  input.end()
  const error = await waiting
  assert.instance(error, RpcClosedError)
  assert.match(String(error), 'The connection closed before the answer came')
  assert.instance(aborted, RpcClosedError)
  await turns()
  assert.equal(closed, [undefined])
  assert.is(sent.length, 1)
  peer.close()
  assert.instance(await failure(peer.request('m', {})), RpcClosedError)
  await peer.notify('m', {}).catch((thrown: unknown) => assert.instance(thrown, RpcClosedError))
})

test('a failed connection names its cause', async () => {
  const closed: unknown[] = []
  const { peer, input } = openPeer({ onClosed: (error) => closed.push(error) })
  const waiting = failure(peer.request('m', {}))
  const cause = new Error('EIO')
  input.destroy(cause)
  const error = await waiting
  assert.match(String(error), 'The connection failed: EIO')
  assert.equal(closed, [cause])
})

test('close is idempotent, takes a reason and is not told to the one who called it', async () => {
  const closed: unknown[] = []
  const { peer, input, receive } = openPeer({ onClosed: (error) => closed.push(error) })
  const waiting = failure(peer.request('m', {}))
  peer.close(new Error('agent exited with code 1'))
  peer.close()
  assert.match(String(await waiting), 'The connection failed: agent exited with code 1')
  receive({ ...v, id: 1, result: 1 })
  input.end()
  await turns()
  assert.equal(closed, [])
})

test('closing right after an answer leaves nothing that runs later', async () => {
  const { peer, receive } = openPeer()
  const answer = peer.request('m', {})
  receive({ ...v, id: 1, result: 1 })
  await answer
  peer.close()
})

test('ends the connection when an answer does not fit into the queue', async () => {
  const closed: unknown[] = []
  const { receive, peer } = openPeer({ onRequest: () => 'x'.repeat(200), onClosed: (error) => closed.push(error) }, 100)
  receive({ ...v, id: 1, method: 'm' }, { ...v, id: 2, method: 'm' })
  await until(() => closed.length > 0)
  await turns()
  assert.is(closed.length, 1)
  assert.instance(closed[0], RpcLimitError)
  assert.instance(await failure(peer.request('m', {})), RpcClosedError)
})

test('fails a request that does not fit into the queue', async () => {
  const { peer } = openPeer({}, 100)
  assert.instance(await failure(peer.request('m', { text: 'x'.repeat(200) })), RpcLimitError)
})

test('an answer that the other side cannot take any more is dropped', async () => {
  const { receive, output, invalid } = openPeer({ onRequest: () => 1 })
  output.destroy()
  receive({ ...v, id: 1, method: 'm' })
  await turns()
  assert.equal(invalid, [])
})

test('a request handler that ends after the close answers nobody', async () => {
  let release: (value: number) => void = () => {}
  const { peer, receive, sent } = openPeer({ onRequest: () => new Promise((resolve) => (release = resolve)) })
  receive({ ...v, id: 1, method: 'm' })
  await turns()
  peer.close()
  release(1)
  await turns()
  assert.equal(sent, [])
})

test('two peers over one pair of streams understand each other', async () => {
  const there = new PassThrough()
  const back = new PassThrough()
  const server = new RpcPeer({
    framing: new LineFraming({ input: there, output: back }),
    onRequest: async ({ params }) => ({ echo: params, again: await server.request('twice', params) }),
  })
  const client = new RpcPeer({
    framing: new LineFraming({ input: back, output: there }),
    onRequest: ({ params }) => [params, params],
  })
  const answers = await Promise.all([client.request('a', { n: 1 }), client.request('a', { n: 2 })])
  assert.equal(answers, [
    { echo: { n: 1 }, again: [{ n: 1 }, { n: 1 }] }, { echo: { n: 2 }, again: [{ n: 2 }, { n: 2 }] },
  ])
  client.close()
  server.close()
})

test.run()
