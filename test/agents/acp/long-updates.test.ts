/** Updates of many megabytes: chunks of a message, and tool calls whose parts are too long to be kept whole. */
import * as assert from 'uvu/assert'
import { createMasker } from '../../../src/base/masking.ts'
import { chunksOf, isLong, maskedInTurns } from '../../../src/agents/acp/turn/long-updates.ts'
import { limitedEntries } from '../../../src/agents/acp/calls/plan.ts'
import { mergeToolCall, newToolCall } from '../../../src/agents/acp/calls/tool-calls.ts'
import { blockText, imageUrl, outputOf } from '../../../src/agents/acp/calls/output.ts'
import { suite } from '../../support/suite.ts'
import { memoryHost } from './memory-host.ts'

const test = suite('agents/acp/turn/long-updates')

const long = 'x'.repeat(3_000_000)

test('a long chunk becomes chunks with the same text, id and kind', () => {
  for (const sessionUpdate of ['agent_message_chunk', 'agent_thought_chunk']) {
    const update = { sessionUpdate, messageId: 'm', content: { type: 'text', text: `${long}end` } }
    assert.ok(isLong(update))
    const chunks = chunksOf(update) ?? []
    assert.ok(
      chunks.length > 10 &&
        chunks.every((chunk) => {
          return chunk['sessionUpdate'] === sessionUpdate && chunk['messageId'] === 'm' && !isLong(chunk)
        }),
    )
    assert.is(
      chunks.map(({ content }) => {
        return (content !== null && typeof content === 'object' && 'text' in content ? String(content.text) : '')
      }).join(''),
      `${long}end`,
    )
  }
})

test('an image and a tool call stay whole', () => {
  assert.is(
    chunksOf({ sessionUpdate: 'agent_message_chunk', content: { type: 'image', data: long, mimeType: 'image/png' } }),
    undefined,
  )
  assert.is(chunksOf({ sessionUpdate: 'tool_call', rawInput: long }), undefined)
})

test('the data of an image is read once, however often its block is asked about', () => {
  for (const [data, url] of [['iVBO', 'data:image/png;base64,iVBO'], ['no base64', undefined]]) {
    let reads = 0
    const block = { type: 'image', mimeType: 'image/png', get data() { return ++reads, data } }
    for (let times = 0; times < 3; times++) {
      assert.is(imageUrl(block), url)
      assert.is(blockText(block) === '', url !== undefined)
    }
    assert.is(reads, 1)
  }
})

test('a long image is looked through in a turn of its own', async () => {
  const turnsFor = async (type: string): Promise<number> => {
    let turns = 0
    let timer = setImmediate(function count() {
      turns++
      timer = setImmediate(count)
    })
    await maskedInTurns(
      { sessionUpdate: 'agent_message_chunk', content: { type, data: long, mimeType: 'image/png' } }, memoryHost('/'),
    )
    clearImmediate(timer)
    return turns
  }
  assert.is(await turnsFor('image') - await turnsFor('other'), 2)
})

test('hides secrets and the id of the session in long texts and short ones', async () => {
  const host = memoryHost('/')
  host.keep('session', { id: 'the-id-of-a-session' })
  const said = 'SECRET-VALUE-1 and the-id-of-a-session'
  const masked = await maskedInTurns({ toolCallId: said, rawInput: { a: `${long} ${said}`, b: [said] } }, host)
  assert.not.match(JSON.stringify(masked), /SECRET-VALUE|the-id-of/)
  assert.is(JSON.stringify(masked).split('<session>').length - 1, 3)
})

test('hides the id of the session in a text that is shorter after its secrets were hidden', async () => {
  const host = memoryHost('/')
  host.keep('session', { id: 'the-id-of-a-session' })
  const secret = 'long-secret'.repeat(200)
  const masker = createMasker()
  masker.register([secret])
  const masking = { ...host, mask: (text: string) => masker.mask(text), maskingStream: () => masker.stream() }
  const text = `${'x'.repeat(64_000)} ${secret} the-id-of-a-session`
  const masked = await maskedInTurns({ rawInput: { text } }, masking)
  assert.match(JSON.stringify(masked), /x <secret-hidden> <session>/)
})

test('a plan keeps a thousand entries, and the beginning of a long one', () => {
  const entries = limitedEntries([
    { content: long, status: 'pending' }, ...Array(2000).fill({ content: 'a', status: 'pending' }),
  ])
  assert.is(entries.length, 1000)
  assert.ok(JSON.stringify(entries).length < 100_000)
})

test(
  'a title has a limit, and the output of a terminal; output in a fence of any length is looked through once',
  () => {
    assert.is(mergeToolCall(newToolCall, { title: long }, false).title.length, 10_000)
    assert.ok(mergeToolCall(
      newToolCall, { _meta: { terminal_output_delta: { data: long } } }, false,
    ).terminalOutput.length < 1_000_100)
    const ticks = '`'.repeat(1_000_000)
    const text = `${ticks}\n${ticks}${ticks}x`
    assert.is(outputOf({ ...newToolCall, rawOutput: [{ type: 'text', text }] }).text, text)
    const fenced = (inside: string): string =>
      outputOf({ ...newToolCall, rawOutput: [{ type: 'text', text: inside }] }).text
    assert.equal(
      ['```\na\n```', '```sh\na\n```\n', '````\n```\n````', '```\na', '``\na\n``', '```a b\nc\n```', '```'].map(fenced),
      ['a', 'a', '```', '```\na', '``\na\n``', '```a b\nc\n```', '```'],
    )
  },
)

test.run()
