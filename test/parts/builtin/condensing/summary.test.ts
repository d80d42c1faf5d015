/** How a summary is asked for. */
import * as assert from 'uvu/assert'
import { digest, shortened } from '../../../../src/parts/builtin/condensing/digest.ts'
import { summarize, type Summary } from '../../../../src/parts/builtin/condensing/summary.ts'
import { ModelError } from '../../../../src/parts/builtin/llm/model.ts'
import { toMessage, type Message } from '../../../../src/schema/generated/values.ts'
import { textOf } from '../../../support/conversation.ts'
import { fails, scriptModel, text, type ScriptModel } from '../../../support/script-model.ts'
import { suite } from '../../../support/suite.ts'

const test = suite('agents/builtin/condensing/summary')

const call = { id: 'c', name: 'read', arguments: '{"path":"a"}', origin: 'completion' } as const
const messages = [
  toMessage({ role: 'user', content: [{ text: 'Look' }, { type: 'image', image_urls: ['data:,'] }] }),
  toMessage({ role: 'assistant', content: 'I read', tool_calls: [call], reasoning_content: 'secretly' }),
  toMessage({ role: 'tool', content: 'x'.repeat(1000), tool_call_id: 'c', name: 'read' }),
]

function ask(
  client: ScriptModel, more: { readonly messages?: readonly Message[]; readonly attempts?: number } = {},
): Promise<Summary> {
  const mask = (said: string): string => said.replaceAll('SECRET', '***')
  return summarize({ messages, client, signal: new AbortController().signal, mask, attempts: 3, scaling: 0.5, ...more })
}

function askedText({ requests }: ScriptModel, place: number): string {
  const last = requests[place]?.messages.at(-1)?.message
  return last === undefined ? '' : textOf(last)
}

async function failure(work: Promise<unknown>): Promise<ModelError> {
  const thrown = await work.then(() => undefined, (error: unknown) => error)
  if (thrown instanceof ModelError) return thrown
  throw new Error(`expected a ModelError, got ${String(thrown)}`)
}

test('a digest says who spoke, with calls as words and without thoughts', () => {
  assert.is(
    digest(messages.slice(0, 2), { mark: '#', limitChars: 100 }),
    '# user\nLook\n[image]\n\n# assistant\nI read\n[calls read with {"path":"a"}]',
  )
  assert.is(
    digest([toMessage({ role: 'tool', content: 'ok', tool_call_id: 'c' })], { mark: '#', limitChars: 9 }),
    '# result of a tool\nok',
  )
})

test('when all of it would be too long, the longest parts lose their middles', () => {
  const short = digest(messages, { mark: '#', limitChars: 300 })
  assert.match(short, 'Look\n[image]')
  assert.match(short, /x{100}\n\[\d+ characters are left out here\]\nx{100}/)
  assert.is(digest(messages, { mark: '#', limitChars: 2000 }), digest(messages, { mark: '#', limitChars: Infinity }))
  assert.is(shortened('abcdef', 4), 'ab\n[2 characters are left out here]\nef')
  assert.is(shortened('abcdef', 1), '\n[6 characters are left out here]\n')
})

test('the record is data between marks that nobody can know, and no tool can be called', async () => {
  const client = scriptModel([text(' What was done '), text('again')])
  const { text: summary, answer } = await ask(client)
  assert.is(
    summary, '[Summary of the earlier part of this conversation, which was taken out to save room.]\n\nWhat was done',
  )
  assert.is(answer.id, 'response-1')
  await ask(client)
  const [first, second] = client.requests
  assert.equal(first?.tools, [])
  assert.equal(first?.messages.map(({ message }) => message.role), ['system', 'user'])
  const mark = /^(\[[0-9a-f-]{36}\]) begin of the record/.exec(askedText(client, 0))?.[1] ?? ''
  assert.is(askedText(client, 0).split(mark).length, 6)
  const system = first?.messages[0]?.message
  assert.match(system === undefined ? '' : textOf(system), `Its parts begin with ${mark}`)
  assert.not.match(askedText(client, 0), 'secretly')
  assert.is(second === undefined || askedText(client, 1).includes(mark), false)
})

test('what the model says is masked before it is cut, and limited', async () => {
  const long = `${'a'.repeat(9_998)}SECRET${'b'.repeat(15_000)}`
  const { text: summary } = await ask(scriptModel([text(long)]))
  assert.not.match(summary, /SEC/)
  assert.match(summary, /a\*\*\n\[\d+ characters are left out here\]/)
  assert.ok(summary.length < 20_200)
})

test('a request that is too long is made again with less, so many times', async () => {
  const client = scriptModel([
    fails('LLMContextWindowExceedError'), fails('LLMContextWindowExceedError'), text('short'),
  ])
  assert.match((await ask(client)).text, /short$/)
  const lengths = [0, 1, 2].map((place) => askedText(client, place).length)
  assert.ok((lengths[0] ?? 0) > (lengths[1] ?? 0) && (lengths[1] ?? 0) > (lengths[2] ?? 0), lengths.join())
  const tooLong = scriptModel([1, 2, 3].map(() => fails('LLMContextWindowExceedError')))
  assert.is((await failure(ask(tooLong, { attempts: 2 }))).code, 'LLMContextWindowExceedError')
  assert.is(tooLong.requests.length, 2)
})

test('no more is sent than the model takes, as far as that is known', async () => {
  const client = scriptModel([], { contextWindow: 150 })
  await ask(client)
  assert.ok(askedText(client, 0).length < 900)
  assert.match(askedText(client, 0), 'characters are left out here')
})

test('any other failure is one, and so is an answer without words or a refusal', async () => {
  const cases = [fails('LLMRateLimitError'), text(' '), text('no', { stop: 'refusal' as const })]
  const codes = ['LLMRateLimitError', 'LLMNoResponseError', 'LLMNoResponseError']
  for (const [place, step] of cases.entries()) {
    const client = scriptModel([step, text('fine')])
    assert.is((await failure(ask(client))).code, codes[place])
    assert.is(client.requests.length, 1)
  }
})

test.run()
