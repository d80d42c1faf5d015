/** Judgements: where a model's verdict is found in its answer, and the record that it judges by. */
import * as assert from 'uvu/assert'
import { askForJudgement, findScored } from '../../../src/parts/builtin/judgement.ts'
import { recordText } from '../../../src/parts/builtin/record-text.ts'
import { toMessage, type Message } from '../../../src/schema/generated/values.ts'
import { scriptModel, text } from '../../support/script-model.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/builtin/judgement')

const found: readonly (readonly [text: string, score: number | undefined])[] = [
  ['{"score":0.5}', 0.5],
  [' {"score": 1, "message": "fine"} ', 1],
  ['Here it is: {"score":0.25,"message":"a } in a string and a \\" too"}. Done.', 0.25],
  ['```json\n{"score": 0.75}\n```', 0.75],
  ['Not {this}, but {"score":0.1}', 0.1],
  ['{ {"score":0.3}', 0.3],
  ['First {"score":0.1}, on reflection {"score":0.2}', 0.2],
  ['{"details":{"score":0.9}}', 0.9],
  ['{"details":{"score":0.9},"score":0.4}', 0.4],
  ['{"score":"0.5"}', undefined],
  ['{"score":null}', undefined],
  ['{"score":0.5', undefined],
  ['[0.5]', undefined],
  ['', undefined],
  ['{'.repeat(100_000), undefined],
]
for (const [said, score] of found) {
  test(`in ${JSON.stringify(said.slice(0, 60))} the score is ${score ?? 'not found'}`, () => {
    assert.is(findScored(said)?.['score'], score)
  })
}

const clamped: readonly (readonly [said: string, score: number])[] = [
  ['{"score":1.5}', 1],
  ['{"score":-1}', 0],
  ['no idea', 0],
]
for (const [said, score] of clamped) {
  test(`${said} counts as ${score}`, async () => {
    const { signal } = new AbortController()
    const judgement = await askForJudgement({
      client: scriptModel([text(said)]), usageId: 'j', instructions: '', conversation: [], question: '',
      mask: (words) => words, signal,
    })
    assert.is(judgement.score, score)
    assert.equal(judgement.usage, { usageId: 'j', model: 'test/script', promptTokens: 10, completionTokens: 5 })
  })
}

const plain = (words: string): string => words

function user(content: string): Message {
  return toMessage({ role: 'user', content })
}

test('a record tells who said and did what, without instructions and without what says nothing', () => {
  const call = { id: '1', name: 'terminal', arguments: '{"command":"ls"}', origin: 'completion' } as const
  assert.is(recordText([
    toMessage({ role: 'system', content: 'Be good' }),
    toMessage({
      role: 'user',
      content: [{ type: 'text', text: 'Look' }, { type: 'image', image_urls: ['data:image/png;base64,AA=='] }],
    }),
    toMessage({ role: 'assistant', content: 'I look', tool_calls: [call] }),
    toMessage({ role: 'tool', content: 'a.txt', name: 'terminal', tool_call_id: '1' }),
    toMessage({ role: 'tool', content: 'b.txt', tool_call_id: '2' }),
    toMessage({ role: 'assistant', content: '' }),
  ], plain), [
    'User: Look\n[image]', 'Agent: I look', 'Agent calls terminal: {"command":"ls"}', 'Result of terminal: a.txt',
    'Result of a tool: b.txt',
  ].join('\n'))
})

test('a long result is shortened in the middle', () => {
  const record = recordText([toMessage({ role: 'tool', content: `a${'-'.repeat(10_000)}z`, name: 'terminal' })], plain)
  assert.match(record, /^Result of terminal: a-+ \[\.\.\. 6002 characters \.\.\.\] -+z$/)
})

test('a long record begins later, and says so', () => {
  const record = recordText(Array.from({ length: 10 }, (_none, place) => user(`${place} ${'x'.repeat(30_000)}`)), plain)
  assert.ok(record.startsWith('[What was before is left out]\nUser: 4 x'))
  assert.ok(record.length < 200_100)
})

test('known secrets are hidden before anything is cut: in words, arguments and results', () => {
  const mask = (words: string): string => words.replaceAll('SECRET', '***')
  const call = { id: '1', name: 'terminal', arguments: '{"command":"echo SECRET"}', origin: 'completion' } as const
  const result = `${'-'.repeat(1997)}SECRET${'-'.repeat(5000)}`
  const record = recordText([
    user('It is SECRET'), toMessage({ role: 'assistant', tool_calls: [call] }),
    toMessage({ role: 'tool', content: result, name: 'terminal' }),
  ], mask)
  assert.match(
    record,
    /^User: It is \*\*\*\nAgent calls terminal: \{"command":"echo \*\*\*"\}\nResult of terminal: -{1997}\*\*\* \[/,
  )
})

test.run()
