import { suite } from '../support/suite.ts'
import * as assert from 'uvu/assert'
import { RpcError, RpcLimitError, RpcProtocolError, RpcTimeoutError } from '../../src/rpc/errors.ts'
import { rpcCodes } from '../../src/rpc/message.ts'
import type { IncomingCall } from '../../src/rpc/peer.ts'
import { failure, openPeer, turns, until, v } from '../support/rpc.ts'

const test = suite('rpc/peer')

test('sends a request and gives its result', async () => {
  const { peer, sent, receive } = openPeer()
  const answer = peer.request('add', { a: 1 })
  await until(() => sent.length === 1)
  assert.equal(sent, [{ ...v, id: 1, method: 'add', params: { a: 1 } }])
  receive({ ...v, id: 1, result: { sum: 2 } })
  assert.equal(await answer, { sum: 2 })
})

test('gives the error of the other side with code, message and data', async () => {
  const { peer, receive } = openPeer()
  const answer = peer.request('add', undefined)
  receive({ ...v, id: 1, error: { code: 401, message: 'No', data: { details: 'x' } } })
  const error = await failure(answer)
  assert.instance(error, RpcError)
  if (error instanceof RpcError) assert.equal([error.code, error.message, error.data], [401, 'No', { details: 'x' }])
})

test('matches answers that come in another order', async () => {
  const { peer, receive } = openPeer()
  const answers = [peer.request('a', {}), peer.request('b', {}), peer.request('c', {})]
  receive({ ...v, id: 3, result: 'c' }, { ...v, id: 1, result: 'a' }, { ...v, id: 2, result: 'b' })
  assert.equal(await Promise.all(answers), ['a', 'b', 'c'])
})

test('an answer overtakes no notification before it, and none after it overtakes the code that waited', async () => {
  const seen: string[] = []
  const { peer, receive } = openPeer({
    onNotification: async ({ params }) => {
      seen.push(`begin ${JSON.stringify(params)}`)
      await new Promise((resolve) => setTimeout(resolve, 5))
      seen.push('end')
    },
  })
  const working = (async () => {
    await peer.request('prompt', {})
    await Promise.resolve()
    seen.push('answered')
  })()
  const update = (n: number): object => ({ ...v, method: 'update', params: { n } })
  receive(update(1), update(2), { ...v, id: 1, result: null }, update(3))
  await working
  await until(() => seen.length === 7)
  assert.equal(seen, ['begin {"n":1}', 'end', 'begin {"n":2}', 'end', 'answered', 'begin {"n":3}', 'end'])
})

test('a notification handler that returns nothing sees the messages of one read at once, in order', async () => {
  const seen: IncomingCall[] = []
  const { receive } = openPeer({ onNotification: (call) => void seen.push(call) })
  receive({ ...v, method: 'a' }, { ...v, method: 'b', params: [1] })
  await until(() => seen.length === 2)
  assert.equal(seen, [{ method: 'a', params: undefined }, { method: 'b', params: [1] }])
})

test('reports a notification handler that throws or rejects and goes on', async () => {
  const seen: string[] = []
  const { receive, invalid } = openPeer({
    onNotification: ({ method }) => {
      seen.push(method)
      if (method === 'throw') throw new Error('thrown')
      return method === 'reject' ? Promise.reject(new Error('rejected')) : undefined
    },
  })
  receive({ ...v, method: 'throw' }, { ...v, method: 'reject' }, { ...v, method: 'fine' })
  await until(() => seen.length === 3)
  assert.equal(invalid, [['handler_failed', new Error('thrown')], ['handler_failed', new Error('rejected')]])
})

test('answers requests with what the handler returns, each as soon as it is ready', async () => {
  let release: (value: string) => void = () => {}
  const { sent, receive } = openPeer({
    onRequest: ({ method }) => (method === 'slow' ? new Promise((resolve) => (release = resolve)) : undefined),
  })
  receive({ ...v, id: 0, method: 'slow' }, { ...v, id: 'x', method: 'fast' })
  await until(() => sent.length === 1)
  release('done')
  await until(() => sent.length === 2)
  assert.equal(sent, [{ ...v, id: 'x', result: null }, { ...v, id: 0, result: 'done' }])
})

test('answers an unknown method with -32601 when there is no handler', async () => {
  const { sent, receive } = openPeer()
  receive({ ...v, id: null, method: 'any' })
  await until(() => sent.length === 1)
  assert.equal(sent, [{ ...v, id: null, error: { code: -32601, message: 'Method not found' } }])
})

test('answers with the RpcError that a handler throws, and with nothing of any other', async () => {
  const { sent, receive, invalid } = openPeer({
    onRequest: ({ method }) => {
      if (method === 'known') throw new RpcError({ code: 7, message: 'Known', data: [1] })
      throw new Error('secret path')
    },
  })
  receive({ ...v, id: 1, method: 'known' }, { ...v, id: 2, method: 'unknown' })
  await until(() => sent.length === 2)
  assert.equal(sent, [
    { ...v, id: 1, error: { code: 7, message: 'Known', data: [1] } },
    { ...v, id: 2, error: { code: -32603, message: 'Internal error' } },
  ])
  assert.equal(invalid, [['handler_failed', new Error('secret path')]])
})

test('answers -32603 when a result cannot be written as JSON', async () => {
  const { sent, receive, invalid } = openPeer({ onRequest: () => 1n })
  receive({ ...v, id: 1, method: 'big' })
  await until(() => sent.length === 1)
  assert.equal(sent, [{ ...v, id: 1, error: { code: -32603, message: 'Internal error' } }])
  assert.is(invalid[0]?.[0], 'handler_failed')
})

test('refuses a second request with the id of an open one, and takes it again once that is answered', async () => {
  let release: () => void = () => {}
  const { sent, receive } = openPeer({ onRequest: () => new Promise<void>((resolve) => (release = resolve)) })
  receive({ ...v, id: 1, method: 'a' }, { ...v, id: 1, method: 'b' })
  await until(() => sent.length === 1)
  assert.equal(sent[0], { ...v, id: 1, error: { code: -32600, message: 'A request with this id is open' } })
  release()
  await until(() => sent.length === 2)
  receive({ ...v, id: 1, method: 'c' })
  await turns()
  release()
  await until(() => sent.length === 3)
  assert.equal(sent[2], { ...v, id: 1, result: null })
})

test('limits how many requests of the other side are open', async () => {
  const { sent, receive } = openPeer({ requestLimit: 2, onRequest: () => new Promise(() => {}) })
  receive({ ...v, id: 1, method: 'a' }, { ...v, id: 2, method: 'a' }, { ...v, id: 3, method: 'a' })
  await until(() => sent.length === 1)
  assert.equal(sent, [{ ...v, id: 3, error: { code: -32603, message: 'Too many open requests' } }])
})

test('limits how many own requests are open', async () => {
  const { peer, receive } = openPeer({ requestLimit: 1 })
  const first = peer.request('a', {})
  const error = await failure(peer.request('b', {}))
  assert.instance(error, RpcLimitError)
  assert.match(String(error), 'Cannot request "b": 1 requests are open already')
  receive({ ...v, id: 1, result: 1 })
  assert.is(await first, 1)
  const third = peer.request('c', {})
  receive({ ...v, id: 2, result: 3 })
  assert.is(await third, 3)
})

test('gives a request up at its time-out, tells the other side and ignores the late answer', async () => {
  const { peer, sent, receive, invalid } = openPeer({ cancelMethod: '$/cancel_request' })
  const error = await failure(peer.request('slow', {}, { timeoutMs: 1 }))
  assert.instance(error, RpcTimeoutError)
  assert.match(String(error), 'No answer to "slow" within 1 ms')
  await until(() => sent.length === 2)
  assert.equal(sent[1], { ...v, method: '$/cancel_request', params: { requestId: 1 } })
  receive({ ...v, id: 1, result: 'late' })
  await until(() => invalid.length === 1)
  assert.equal(invalid, [['unknown_id', 1]])
})

test('uses the time-out of the peer for a request that names none', async () => {
  const { peer } = openPeer({ timeoutMs: 1 })
  assert.instance(await failure(peer.request('slow', {})), RpcTimeoutError)
})

test('does not take a very long time-out for none at all', async () => {
  const { peer, receive } = openPeer()
  const answers = [peer.request('a', {}, { timeoutMs: 1e12 }), peer.request('b', {}, { timeoutMs: Infinity })]
  await turns()
  receive({ ...v, id: 1, result: 'a' }, { ...v, id: 2, result: 'b' })
  assert.equal(await Promise.all(answers), ['a', 'b'])
})

test('gives an aborted request up with the reason of its signal', async () => {
  const { peer, sent } = openPeer()
  const controller = new AbortController()
  const reason = new Error('user')
  const waiting = peer.request('slow', {}, { signal: controller.signal })
  controller.abort(reason)
  assert.is(await failure(waiting), reason)
  assert.is(await failure(peer.request('never sent', {}, { signal: controller.signal })), reason)
  await until(() => sent.length === 1)
  assert.is(sent[0]?.['method'], 'slow')
})

test('many open requests may share a signal without a warning of Node', async () => {
  const warnings: Error[] = []
  const note = (warning: Error): void => void warnings.push(warning)
  process.on('warning', note)
  const { peer } = openPeer()
  const controller = new AbortController()
  const waiting = Array.from({ length: 20 }, () => failure(peer.request('slow', {}, { signal: controller.signal })))
  await turns()
  controller.abort(new Error('enough'))
  await Promise.all(waiting)
  process.off('warning', note)
  assert.equal(warnings, [])
})

test('an answered request is not touched by its signal any more', async () => {
  const { peer, receive, sent } = openPeer({ cancelMethod: 'cancel' })
  const controller = new AbortController()
  const waiting = peer.request('m', {}, { signal: controller.signal })
  receive({ ...v, id: 1, result: 1 })
  assert.is(await waiting, 1)
  controller.abort()
  await turns()
  assert.is(sent.length, 1)
})

test('lets the other side cancel its request', async () => {
  const handled: string[] = []
  const { sent, receive } = openPeer({
    cancelMethod: '$/cancel_request',
    onNotification: ({ method }) => void handled.push(method),
    onRequest: ({ signal, params }) => new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(params === undefined ? new Error('stopped') : signal.reason))
    }),
  })
  receive({ ...v, id: 0, method: 'ask' }, { ...v, id: 'b', method: 'ask', params: {} })
  for (const params of [{ requestId: 99 }, { requestId: {} }, null]) {
    receive({ ...v, method: '$/cancel_request', params })
  }
  receive({ ...v, method: '$/cancel_request', params: { requestId: 0 } }, {
    ...v, method: '$/cancel_request', params: { requestId: 'b' },
  })
  await until(() => sent.length === 2)
  const error = { code: rpcCodes.requestCancelled, message: 'Request cancelled' }
  assert.equal(sent.map(({ id, error: given }) => ({ id, error: given })), [{ id: 0, error }, { id: 'b', error }])
  assert.equal(handled, [])
})

test('survives an error with id null and answers to nothing', async () => {
  const { peer, receive, invalid } = openPeer()
  const error = { code: -32700, message: 'Parse error' }
  receive({ ...v, id: null, error }, { ...v, id: 5, result: 1 }, { ...v, id: 6, error }, { ...v, id: null, result: 1 })
  await until(() => invalid.length === 4)
  assert.equal(invalid, [['null_id', error], ['unknown_id', 5], ['unknown_id', 6], ['unknown_id', null]])
  const answer = peer.request('still works', {})
  receive({ ...v, id: 1, result: 'yes' })
  assert.is(await answer, 'yes')
})

test('a broken answer fails the request that it names', async () => {
  const { peer, receive } = openPeer()
  const waiting = peer.request('m', {})
  receive({ ...v, id: 1, error: 'not an object' })
  const error = await failure(waiting)
  assert.instance(error, RpcProtocolError)
  assert.match(String(error), 'The answer breaks a rule of JSON-RPC: error_shape')
})

test('answers a broken request that has an id, and reports every broken message', async () => {
  const { receive, sent, invalid } = openPeer()
  receive([], 5, { ...v, id: 3, method: 'm', params: 'text' }, { ...v, id: null, method: 5 }, { ...v, method: 5 })
  await until(() => invalid.length === 5)
  await until(() => sent.length === 1)
  assert.equal(sent, [{ ...v, id: 3, error: { code: -32600, message: 'Invalid request' } }])
  assert.equal(invalid.map(([rule]) => rule), ['batch', 'not_an_object', 'params_type', 'method_type', 'method_type'])
})

test('reports noise', async () => {
  const noise: string[] = []
  const { input } = openPeer({ onNoise: (excerpt) => noise.push(excerpt) })
  input.write('npm notice\n')
  await until(() => noise.length === 1)
  assert.equal(noise, ['npm notice'])
})

test.run()
