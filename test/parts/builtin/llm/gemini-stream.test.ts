/** The events that only Gemini's streams have (the rest: gemini.test.ts). */
import * as assert from 'uvu/assert'
import { geminiBody } from '../../../../src/parts/builtin/llm/gemini-request.ts'
import { foldGemini } from '../../../../src/parts/builtin/llm/gemini-stream.ts'
import type { ModelMessage } from '../../../../src/parts/builtin/llm/model.ts'
import type { JsonObject, JsonValue } from '../../../../src/base/json.ts'
import { llmOf } from '../../../support/llm.ts'
import { suite } from '../../../support/suite.ts'
import { answerOf, folded, vector } from './folding.ts'
import { text } from './messages.ts'

const test = suite('agents/llm/gemini-stream')

/** A chunk with these parts, the last one if it has a reason. */
const chunk = (parts: readonly JsonObject[], finishReason?: string, usageMetadata?: JsonObject): JsonObject => ({
  candidates: [{ content: { parts: [...parts] }, ...(finishReason && { finishReason }) }],
  ...(usageMetadata && { usageMetadata }),
})

/** Returns the form in which a vector's answer is sent back. */
function sentBack(
  name: string, change: (answer: ModelMessage) => ModelMessage = (same) => same,
): JsonValue | undefined {
  const { message, state } = answerOf(foldGemini, vector(`gemini/${name}`))
  const messages = [change({ message, ...(state && { state }) })]
  const request = { messages, tools: [], signal: new AbortController().signal }
  return geminiBody(request, 'gemini-3-pro', llmOf({}))['contents']
}

const model = (...parts: readonly JsonObject[]): JsonObject[] => [{ role: 'model', parts: [...parts] }]

test('joins the pieces of a text, but keeps apart for the way back what is signed', () => {
  const { message } = answerOf(foldGemini, vector('gemini/signed-text'))
  assert.equal(message.content, [text('One, two.Three.')])
  assert.is(message.reasoning_content, 'I think.')
  assert.equal(sentBack('signed-text'), model(
    { text: 'I think.', thought: true, thoughtSignature: 'c2lnbmF0dXJlLTQ=' },
    { text: 'One, ' },
    { text: 'two.', thoughtSignature: 'c2lnbmF0dXJlLTU=' },
    {
      functionCall: { id: 'made-1', name: 'terminal', args: { command: 'pwd' } }, thoughtSignature: 'c2lnbmF0dXJlLTY=',
    },
    { text: 'Three.' },
  ))
})

test('sends a signature back that came with an empty text, and no thought that is not signed', () => {
  assert.equal(sentBack('reasoning'), model({ text: '4' }, { text: '', thoughtSignature: 'c2lnbmF0dXJlLTM=' }))
})

test('sends parallel calls back with the one signature that they have', () => {
  assert.equal(sentBack('parallel-calls'), model(
    {
      functionCall: { id: 'made-1', name: 'read_file', args: { file_path: '/a' } },
      thoughtSignature: 'c2lnbmF0dXJlLTI=',
    },
    { functionCall: { id: 'fc-1', name: 'glob', args: { pattern: '*.ts' } } },
  ))
})

test('keeps the signatures of calls when the text was changed since', () => {
  const masked = sentBack('signed-text', ({ message, ...rest }) => ({
    ...rest, message: { ...message, content: [text('The <secret-hidden>')] },
  }))
  assert.equal(masked, model(
    { text: 'The <secret-hidden>' },
    {
      functionCall: { id: 'made-1', name: 'terminal', args: { command: 'pwd' } }, thoughtSignature: 'c2lnbmF0dXJlLTY=',
    },
  ))
})

test('keeps no state for an answer in which nothing is signed', () => {
  assert.is(answerOf(foldGemini, vector('gemini/text')).state, undefined)
})

test('takes words before a call that was none for thoughts, since they are no answer', () => {
  const { message, stop } = answerOf(foldGemini, vector('gemini/malformed-call'))
  assert.equal(message, { role: 'assistant', content: [], reasoning_content: 'I call the tool.', thinking_blocks: [] })
  assert.is(stop, 'end')
})

test('takes a prompt that was blocked for a refusal without words', () => {
  const { message, stop, response } = answerOf(foldGemini, vector('gemini/blocked'))
  assert.equal(message.content, [])
  assert.is(stop, 'refusal')
  assert.ok(JSON.stringify(response).includes('PROHIBITED_CONTENT'))
})

test('shows no signature in the response that is logged', () => {
  const { response } = answerOf(foldGemini, vector('gemini/signed-text'))
  assert.not.ok(JSON.stringify(response).includes('c2lnbmF0dXJl'))
  assert.ok(JSON.stringify(response).includes('I think.'))
})

for (const [reason, stop] of [
  ['STOP', 'end'], ['OTHER', 'end'], ['MAX_TOKENS', 'length'], ['SAFETY', 'refusal'], ['RECITATION', 'refusal'],
  ['PROHIBITED_CONTENT', 'refusal'],
] as const) {
  test(`takes the finish reason ${reason} for ${stop}`, () => {
    assert.is(answerOf(foldGemini, [chunk([{ text: 'Hello' }], reason)]).stop, stop)
  })
}

test('counts a call as one even when the answer is said to have ended badly', () => {
  const { stop, message } = answerOf(foldGemini, [chunk([{ functionCall: {} }], 'UNEXPECTED_TOOL_CALL')])
  assert.is(stop, 'tool_calls')
  assert.equal(message.tool_calls, [{ id: 'made-1', name: '', arguments: '{}', origin: 'completion' }])
})

test('reads an answer that was not streamed as a stream of one, in pieces of text and thought', () => {
  const parts = [{ text: 'Hm', thought: true }, { text: 'Yes' }, { inlineData: {} }]
  const { answer, pieces } = folded(foldGemini, [chunk(parts, 'STOP')])
  assert.equal(pieces, [{ content: 'Yes', reasoning_content: 'Hm' }])
  assert.is(answer?.id, 'made-1')
})

test('leaves unknown what is not told', () => {
  assert.equal(answerOf(foldGemini, [chunk([], 'STOP')]).usage, {})
  assert.equal(answerOf(foldGemini, [chunk([], 'STOP', { thoughtsTokenCount: 3 })]).usage, {
    completionTokens: 3, reasoningTokens: 3,
  })
  assert.equal(answerOf(foldGemini, [chunk([], 'STOP', { candidatesTokenCount: 3 })]).usage, { completionTokens: 3 })
})

test('has no answer before it is told why it ended', () => {
  assert.is(folded(foldGemini, [chunk([{ text: 'Hello' }])]).answer, undefined)
})

test('fails with what an error in the stream tells', () => {
  assert.throws(() => folded(foldGemini, vector('gemini/overloaded')), /UNAVAILABLE/)
})

test.run()
