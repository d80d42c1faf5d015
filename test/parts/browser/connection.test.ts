/** The DevTools protocol on a pipe: commands and answers, events by session, and every way in which a command ends. */
import { PassThrough } from 'node:stream'
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/base/errors.ts'
import { parseJson } from '../../../src/base/json.ts'
import { CdpConnection, CdpSession, type CdpEvent } from '../../../src/parts/browser/connection.ts'
import { objectOf } from '../../../src/base/fields.ts'
import { suite } from '../../support/suite.ts'

const test = suite('browser/connection')

function open(timeoutMs = 5000) {
  const input = new PassThrough()
  const output = new PassThrough()
  const connection = new CdpConnection({ input, output, timeoutMs })
  const receive = (...messages: object[]): void =>
    void input.write(messages.map((message) => `${JSON.stringify(message)}\0`).join(''))
  const sent = (): Record<string, unknown>[] =>
    String(output.read() ?? '').split('\0').filter(Boolean).map((text) => ({ ...objectOf(parseJson(text)) }))
  return { connection, input, receive, sent, root: new CdpSession(connection, '') }
}

const failure = (promise: Promise<unknown>): Promise<string> => promise.then(() => 'no failure', (thrown: unknown) => {
  return thrown instanceof AppError ? `${thrown.code}: ${thrown.message}` : String(thrown)
})

test('a command is answered by its id, whatever comes between', async () => {
  const { root, receive, sent } = open()
  const first = root.call('A.first', { x: 1 })
  const second = root.sibling('S').call('A.second')
  assert.equal(sent(), [
    { id: 1, method: 'A.first', params: { x: 1 } }, { id: 2, method: 'A.second', params: {}, sessionId: 'S' },
  ])
  receive({ method: 'Some.event', params: {} }, { id: 2, result: { two: 2 } }, { id: 1, result: { one: 1 } }, {
    id: 9, result: {},
  })
  assert.equal(await Promise.all([first, second]), [{ one: 1 }, { two: 2 }])
})

test('events go to the listener of their session, in order', async () => {
  const { root, receive } = open()
  const events: [string, CdpEvent][] = []
  const session = root.sibling('S')
  root.listen((event) => events.push(['root', event]))
  session.listen((event) => events.push(['session', event]))
  receive({ method: 'E.one', params: { n: 1 } }, { method: 'E.two', sessionId: 'S' }, {
    method: 'E.three', sessionId: 'T',
  })
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(events, [['root', { method: 'E.one', params: { n: 1 } }], ['session', { method: 'E.two', params: {} }]])
  session.forget()
  receive({ method: 'E.four', sessionId: 'S' })
  await new Promise((resolve) => setImmediate(resolve))
  assert.is(events.length, 2)
})

test('an error of the browser is told with its words', async () => {
  const { root, receive } = open()
  const call = failure(root.call('A.wrong'))
  receive({ id: 1, error: { code: -32000, message: 'Not found' } })
  assert.is(await call, 'upstream_failed: The browser refused: Not found (-32000)')
})

test('a command ends with its time, its signal, or the connection', async () => {
  const { root, input, connection } = open(20)
  assert.is(await failure(root.call('A.slow')), 'upstream_timeout: The browser did not answer within 20 ms (A.slow)')
  assert.is(
    await failure(root.call('A.slower', {}, { timeoutMs: 10 })),
    'upstream_timeout: The browser did not answer within 10 ms (A.slower)',
  )
  const stop = new AbortController()
  const stopped = failure(root.call('A.stopped', {}, { signal: stop.signal, timeoutMs: 5000 }))
  stop.abort(new Error('Enough'))
  assert.is(await stopped, 'Error: Enough')
  const cut = failure(root.call('A.cut', {}, { timeoutMs: 5000 }))
  input.end()
  assert.is(await cut, 'upstream_failed: The browser has ended')
  assert.ok(connection.isClosed)
  assert.is(await failure(root.call('A.late')), 'upstream_failed: The browser has ended')
})

test('closing ends what is open, and may be done twice', async () => {
  const { root, connection } = open()
  const call = failure(root.call('A.open'))
  root.tell('A.told')
  connection.close()
  connection.close()
  assert.is(await call, 'upstream_failed: The browser has ended')
})

test('what is no protocol is passed over', async () => {
  const { root, input, receive } = open()
  const call = root.call('A.first')
  input.write('not JSON\0[]\0"text"\0null\0')
  receive({}, { id: 1 })
  assert.equal(await call, {})
})

test.run()
