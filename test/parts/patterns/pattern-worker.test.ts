import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { serveExpression } from '../../../src/parts/patterns/pattern-worker.ts'

const test = suite('parts/patterns/pattern-worker')

function serve(data: unknown): { readonly sent: readonly unknown[]; readonly give: (message: unknown) => void } {
  const sent: unknown[] = []
  const listeners: ((message: unknown) => void)[] = []
  serveExpression(data, {
    on: (_, listener) => listeners.push(listener),
    postMessage: (message) => void sent.push(message),
  })
  return { sent, give: (message) => listeners.forEach((listener) => listener(message)) }
}

test('it is ready once, and answers every text in order', () => {
  const { sent, give } = serve({ source: '^b', flags: 'm' })
  for (const message of ['a\nb', 'a', Buffer.from('b')]) give(message)
  assert.equal(sent, [{ ready: true }, { matches: true }, { matches: false }, { matches: true }])
})

test('what is no expression is an error and answers nothing', () => {
  const { sent, give } = serve({ source: '(', flags: '' })
  give('a')
  assert.is(sent.length, 1)
  assert.match(JSON.stringify(sent), /Unterminated group/)
  for (const data of [null, {}, { source: 'a' }, { source: 1, flags: '' }]) {
    assert.match(JSON.stringify(serve(data).sent), /Expected the source and the flags/)
  }
})

test('what is no text is a mistake of the caller', () => {
  assert.throws(() => serve({ source: 'a', flags: '' }).give(7), /Expected a text or bytes/)
})

test.run()
