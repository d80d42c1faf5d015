/** The rules that all formats share: the error for an answer that never came, and the private parts of it. */
import * as assert from 'uvu/assert'
import { ModelError } from '../../../../src/parts/builtin/llm/model.ts'
import { createWireClient, defaultDeps, type AnswerFold, type Wire } from '../../../../src/parts/builtin/llm/wire.ts'
import type { JsonObject } from '../../../../src/base/json.ts'
import { llmOf, type LLMOptions } from '../../../support/llm.ts'
import { suite } from '../../../support/suite.ts'
import { withWireServer, type WireReply } from '../../../support/wire-server.ts'

const test = suite('agents/llm/wire')

/** A format whose answers are ended by `{"last": ...}`. */
function wireAt(url: string, over: Partial<Wire> = {}): Wire {
  return {
    provider: 'Stand-in', url, headers: {}, takesImages: true, privateMembers: ['sealed'],
    historyMember: 'list', itemsOf: () => [], bodyOf: () => ({ list: [{ sealed: 1, open: 2 }] }), startFold: foldLast,
    ...over,
  }
}

function foldLast(): AnswerFold {
  let last: JsonObject | undefined
  return {
    push(event) {
      if (event['last'] !== undefined) last = event
      return {}
    },
    finish: () => last === undefined ? undefined : {
      id: 'a', message: { role: 'assistant', content: [], thinking_blocks: [] }, stop: 'end', usage: {}, response: last,
    },
  }
}

async function complete(
  reply: WireReply, settings: LLMOptions = {},
): ReturnType<ReturnType<typeof createWireClient>['complete']> {
  const results: Awaited<ReturnType<typeof complete>>[] = []
  await withWireServer([reply], async ({ url }) => {
    const client = createWireClient(llmOf({ num_retries: 0, ...settings }), wireAt(url))
    results.push(
      await client.complete({
        messages: [], tools: [], signal: new AbortController().signal, onDelta: () => assert.unreachable(),
      }),
    )
  })
  const [result] = results
  if (result === undefined) throw new TypeError('Expected an answer')
  return result
}

const failure = (promise: Promise<unknown>): Promise<string> =>
  promise.then(() => 'no failure', (error: unknown) => {
    return error instanceof ModelError ? `${error.code}: ${error.message}` : String(error)
  })

test('tells an answer that is empty from one that broke off', async () => {
  assert.is(
    await failure(complete({ chunks: ['data: {}\n\ndata: [DONE]\n\n'] })),
    'LLMNoResponseError: Stand-in ended its answer without giving one',
  )
  assert.is(
    await failure(complete({ chunks: ['data: {}\n\n'] })),
    'LLMBrokenStreamError: Stand-in closed the connection before its answer was complete',
  )
})

test('hands on nothing for an event that adds nothing', async () => {
  assert.is((await complete({ chunks: ['data: {}\n\ndata: {"last":1}\n\n'] })).id, 'a')
})

test('leaves private members out of what is logged, at any depth and in both directions', async () => {
  const { exchange } = await complete(
    { chunks: ['data: {"last":{"sealed":[1],"deep":[[{"sealed":null,"kept":null}]]}}\n\n'] }, { log_completions: true },
  )
  assert.equal(exchange, { request: { list: [{ open: 2 }] }, response: { last: { deep: [[{ kept: null }]] } } })
})

test('needs no time-out in the settings', async () => {
  for (const timeout of [null, 0, -1]) {
    assert.is((await complete({ chunks: ['data: {"last":1}\n\n'] }, { timeout })).id, 'a')
  }
})

test('has what it depends on unless it is given something else', async () => {
  assert.match(defaultDeps.newId(), /^[0-9a-f-]{36}$/)
  assert.ok(defaultDeps.random() < 1)
  assert.ok(defaultDeps.now() > 0)
  await defaultDeps.sleep(0, new AbortController().signal)
})

test('says what is known of images, unless the settings forbid them', () => {
  const takes = (settings: LLMOptions): boolean | undefined =>
    createWireClient(llmOf(settings), wireAt('http://127.0.0.1:9')).takesImages
  assert.equal([takes({}), takes({ disable_vision: false }), takes({ disable_vision: true })], [true, true, false])
})

test.run()
