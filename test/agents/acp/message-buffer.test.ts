/** Where one message of an external agent ends and the next begins. */
import * as assert from 'uvu/assert'
import { MessageBuffer } from '../../../src/agents/acp/turn/message-buffer.ts'
import { createMasker } from '../../../src/base/masking.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/acp/turn/message-buffer')

interface Chunk {
  readonly sort: 'text' | 'thought'
  readonly text: string
  readonly id?: string
}

const same = (text: string): string => text
const plain = { mask: same, maskDelta: same, stream: () => createMasker().stream() }

/** The texts and thoughts of the messages that the chunks make, ended where the buffer says that another one begins. */
function messagesOf(chunks: readonly Chunk[], limitChars = 1000): string[] {
  const buffer = new MessageBuffer(limitChars, plain)
  const messages: string[] = []
  const end = (): void => {
    const { content, reasoning } = buffer.take()
    const text = content.map((part) => ('text' in part ? part.text : '[image]')).join('|')
    messages.push(reasoning === '' ? text : `(${reasoning}) ${text}`)
  }
  for (const { sort, text, id } of chunks) {
    const update = { content: { type: 'text', text }, ...(id === undefined ? {} : { messageId: id }) }
    if (buffer.begins(sort, update)) end()
    buffer.add(sort, update)
  }
  end()
  return messages
}

const text = (words: string, id?: string): Chunk => ({ sort: 'text', text: words, ...(id === undefined ? {} : { id }) })
const thought = (words: string, id?: string): Chunk => ({
  sort: 'thought', text: words, ...(id === undefined ? {} : { id }),
})

test('chunks with one message id are one message, and another id begins the next', () => {
  assert.equal(messagesOf([text('a', '1'), text('b', '1'), text('c', '2')]), ['ab', 'c'])
})

test('without ids text goes on the message', () => {
  assert.equal(messagesOf([text('a'), text('b')]), ['ab'])
})

test('a thought before text belongs to its message, and one after text begins the next', () => {
  assert.equal(messagesOf([thought('why'), text('a'), thought('then'), text('b')]), ['(why) a', '(then) b'])
})

test('thoughts of one message id belong to its text, before it or after it', () => {
  assert.equal(messagesOf([thought('why', '1'), text('a', '1'), thought('so', '1')]), ['(whyso) a'])
  assert.equal(messagesOf([text('a', '1'), thought('next', '2'), text('b', '2')]), ['a', '(next) b'])
})

test('an id of a thought says nothing of the text after it', () => {
  assert.equal(messagesOf([thought('why', 'r1'), text('a', 'm1'), text('b', 'm1')]), ['(why) ab'])
})

test('a message that has reached its limit ends, whatever its id', () => {
  assert.equal(messagesOf([text('12345', '1'), text('6', '1'), text('7', '1')], 6), ['123456', '7'])
})

test('nothing begins while nothing was gathered', () => {
  const buffer = new MessageBuffer(10, plain)
  assert.not(buffer.begins('text', { messageId: '1', content: { type: 'text', text: 'a' } }))
  assert.ok(buffer.isEmpty)
})

test.run()
