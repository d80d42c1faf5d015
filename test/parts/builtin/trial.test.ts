/** Which answers of a provider say that a model's settings are wrong (contract: settings.md, section 7, "validate"). */
import { once } from 'node:events'
import { createServer } from 'node:http'
import * as assert from 'uvu/assert'
import { createModelClient } from '../../../src/parts/builtin/llm/client.ts'
import { tryModel } from '../../../src/parts/builtin/trial.ts'
import type { ProfileValidation } from '../../../src/parts/builtin/generated.ts'
import { llmOf, type LLMOptions } from '../../support/llm.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/builtin/trial')
const key = 'key-canary-1234'

/** Tries a model at a server that answers so, and returns the request of the server as well. */
async function tried(
  status: number, body: unknown, llm: LLMOptions = {},
): Promise<{ validation: ProfileValidation; asked: string[] }> {
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    asked.push(text)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const base_url = typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : ''
  try {
    const settings = llmOf({ model: 'my-model', base_url, api_key: key, num_retries: 9, stream: true, ...llm })
    return {
      validation: await tryModel(settings, { createModel: createModelClient, signal: new AbortController().signal }),
      asked,
    }
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

const said = (content: string, finish_reason: string): unknown => ({
  id: 'x', choices: [{ message: { role: 'assistant', content }, finish_reason }],
})

/** Status, body, and the type of the error if there is one. */
const answers: readonly (readonly [string, number, unknown, string | undefined])[] = [
  ['an answer', 200, said('OK', 'stop'), undefined],
  ['an answer without words', 200, said('', 'length'), undefined],
  ['a rate limit', 429, { error: { message: 'Slow down' } }, undefined],
  ['a wrong key', 401, { error: { message: `Wrong key ${key}` } }, 'LLMAuthenticationError'],
  ['an unknown model', 404, { error: { message: 'No such model', code: 'model_not_found' } }, 'LLMModelNotFoundError'],
  ['an empty account', 429, { error: { message: 'Pay first', code: 'insufficient_quota' } }, 'LLMQuotaExceededError'],
  ['an outage', 503, { error: { message: 'Later' } }, 'LLMServiceUnavailableError'],
  ['a refusal that repeats the key', 400, { error: { message: `Bad ${key}` } }, 'LLMBadRequestError'],
]
for (const [what, status, body, type] of answers) {
  test(
    `${what} ${type === undefined ? 'is no fault of the settings' : `is ${type}`}, and one call is made`,
    async () => {
      const { validation, asked } = await tried(status, body)
      assert.equal([validation.valid, validation.error?.type], [type === undefined, type])
      assert.not.match(JSON.stringify(validation), 'canary')
      assert.is(asked.length, 1)
      assert.match(asked[0] ?? '', '"max_tokens":16')
    },
  )
}

test('settings that name no model are wrong before anything is sent', async () => {
  const { validation, asked } = await tried(200, {}, { auth_type: 'subscription' })
  assert.equal([validation.valid, validation.error?.type, asked.length], [false, 'LLMBadRequestError', 0])
})

test('a client that goes away ends the try', async () => {
  const settings = llmOf({ model: 'my-model', base_url: 'http://127.0.0.1:1' })
  const failure = await tryModel(settings, {
    createModel: createModelClient, signal: AbortSignal.abort(new Error('gone')),
  }).catch((error: unknown) => error)
  assert.match(String(failure), 'gone')
})

test.run()
