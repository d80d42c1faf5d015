/**
 * The duties of every client of a model's API, for any wire format (src/parts/builtin/llm/model.ts): the same suite for
 * each, over real HTTP, against a server that says the streams of test/vectors/llm byte by byte.
 */
import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import {
  ModelError, type ModelAnswer, type ModelClient, type ModelErrorCode, type ModelRequest, type ModelUsage,
} from '../../../../src/parts/builtin/llm/model.ts'
import type { ModelDeps } from '../../../../src/parts/builtin/llm/wire.ts'
import { isObject } from '../../../../src/base/json.ts'
import type { LLM } from '../../../../src/schema/generated/llm.ts'
import { llmOf, type LLMOptions } from '../../../support/llm.ts'
import type { Suite } from '../../../support/suite.ts'
import { withWireServer, type WireReply, type WireServer } from '../../../support/wire-server.ts'
import { answering, text, user, type ExpectedAnswer } from './messages.ts'

export interface ContractOptions {
  /** A folder of test/vectors/llm. */
  readonly vectors: string
  /** The settings for a server at this address, besides the key. */
  readonly settings: (url: string) => LLMOptions
  readonly create: (settings: LLM, deps: ModelDeps) => ModelClient
  /** The header that the key is sent in, and its value. */
  readonly keyHeader: readonly [name: string, value: string]
  /** The usage that `text.sse` reports. */
  readonly usage: ModelUsage
  readonly origin: 'completion' | 'responses'
  /** Where this provider's answers mean something else. */
  readonly errors?: Readonly<Record<string, ModelErrorCode>>
}

/** The codes of the answers in `errors.json`. */
export const errorCodes = {
  authentication: 'LLMAuthenticationError',
  forbidden: 'LLMAuthenticationError',
  model_not_found: 'LLMModelNotFoundError',
  rate_limit: 'LLMRateLimitError',
  quota: 'LLMQuotaExceededError',
  context_too_long: 'LLMContextWindowExceedError',
  content_policy: 'LLMContentPolicyViolationError',
  bad_request: 'LLMBadRequestError',
  server_error: 'LLMServiceUnavailableError',
  overloaded: 'LLMServiceUnavailableError',
} as const satisfies Readonly<Record<string, ModelErrorCode>>

/** The key that is sent in every test. */
export const contractKey = 'key-of-the-contract-suite-9999'

const image = 'iVBORw0KGgoAAAANSUhEUg=='

export function contract(test: Suite, options: ContractOptions): void {
  const bench = benchOf(options)
  answerTests(test, options, bench)
  requestTests(test, options, bench)
  endingTests(test, bench)
  errorTests(test, options, bench)
  brokenTests(test, bench)
  secretTests(test, bench)
}

/** The tools of the tests of one client. */
interface Bench {
  readonly saying: (vector: string) => WireReply
  /** The first half of the answer `text`, whole events of it. */
  readonly half: string
  /** One of `errors.json`. */
  readonly refusing: (name: string) => WireReply
  /** A call without retries, unless the settings say otherwise. */
  readonly complete: (
    server: Pick<WireServer, 'url'>, over?: LLMOptions, request?: Partial<ModelRequest>,
  ) => Promise<ModelAnswer>
  /** A call that fails: gives its error to `check`. */
  readonly failing: (
    reply: WireReply, over: LLMOptions, check: (error: ModelError, server: WireServer) => void | Promise<void>,
  ) => Promise<void>
}

function benchOf({ vectors, settings, create }: ContractOptions): Bench {
  const folder = new URL(`../../../../../test/vectors/llm/${vectors}/`, import.meta.url)
  const bytesOf = (file: string): Buffer => readFileSync(new URL(file, folder))
  const errors: unknown = JSON.parse(bytesOf('errors.json').toString())
  const events = bytesOf('text.sse').toString().replaceAll('\r\n', '\n').split('\n\n')
  const complete: Bench['complete'] = (server, over = {}, request = {}) => {
    const llm = llmOf({ api_key: contractKey, num_retries: 0, ...settings(server.url), ...over })
    return create(llm, contractDeps).complete(requestOf(request))
  }
  return {
    saying: (vector) => ({ chunks: [bytesOf(`${vector}.sse`)] }),
    half: `${events.slice(0, Math.ceil(events.length / 2)).join('\n\n')}\n\n`,
    refusing: (name) => errorReply(errors, name),
    complete,
    failing: (reply, over, check) =>
      withWireServer([reply], async (server) => check(await failureOf(complete(server, over)), server)),
  }
}

/** Each answer twice: as one piece, and byte by byte. */
function answerTests(test: Suite, { usage, origin }: ContractOptions, { saying, complete }: Bench): void {
  for (const [name, expected] of Object.entries(answering(origin))) {
    test(`reads the answer ${name}, however it is cut, and hands its pieces on in order`, () => {
      const whole = saying(name)
      const bytes = whole.chunks.flatMap((chunk) => [...Buffer.from(chunk)].map((byte) => Uint8Array.of(byte)))
      return withWireServer([whole, { chunks: bytes }], async (server) => {
        for (let round = 0; round < 2; round++) {
          const heard = { content: '', reasoning_content: '' }
          const onDelta = ({ content = '', reasoning_content = '' }): void => {
            heard.content += content
            heard.reasoning_content += reasoning_content
          }
          const answer = await complete(server, {}, { onDelta })
          assertAnswer(answer, expected)
          assert.equal(heard, { content: expected.text, reasoning_content: expected.reasoning })
          if (name === 'text') assert.equal(answer.usage, usage)
        }
      })
    }, 30_000)
  }

  test('knows the cost when the settings have prices, and else does not', () => withWireServer([saying('text')], async (
    server,
  ) => {
    assert.is((await complete(server)).usage.cost, undefined)
    const { cost } = (await complete(server, { input_cost_per_token: 0.5, output_cost_per_token: 2 })).usage
    assert.is(cost, 0.5 * (usage.promptTokens ?? 0) + 2 * (usage.completionTokens ?? 0))
  }))
}

function assertAnswer({ id, message, stop }: ModelAnswer, expected: ExpectedAnswer): void {
  assert.ok(id.length > 0)
  assert.is(message.role, 'assistant')
  assert.equal(message.content, expected.text === '' ? [] : [text(expected.text)])
  assert.is(message.reasoning_content ?? '', expected.reasoning)
  const calls = message.tool_calls ?? []
  assert.equal(calls.map(({ name, arguments: args, origin }) => ({ name, arguments: args, origin })), expected.calls)
  assert.is(new Set(calls.map((call) => call.id)).size, calls.length)
  assert.ok(calls.every((call) => call.id !== ''))
  assert.is(stop, expected.stop)
}

function requestTests(test: Suite, { keyHeader }: ContractOptions, { saying, complete }: Bench): void {
  test('sends the key in its header, and the headers of the settings', () => withWireServer([saying('text')], async (
    server,
  ) => {
    await complete(server, { extra_headers: { 'X-Team': 'blue' } })
    const [name, value] = keyHeader
    assert.is(server.requests[0]?.headers[name], value)
    assert.is(server.requests[0]?.headers['x-team'], 'blue')
  }))

  test(
    'sends what the settings add to the body, tools and images',
    () => withWireServer([saying('text')], async (server) => {
      const parameters = { type: 'object', properties: { pattern: { type: 'string' } } }
      const tools = [{ name: 'glob', description: 'Finds files', parameters }]
      const messages = [user('What is it?', `data:image/png;base64,${image}`)]
      await complete(server, { litellm_extra_body: { from_settings: [1] } }, { messages, tools })
      assert.equal(server.requests[0]?.body['from_settings'], [1])
      const sent = JSON.stringify(server.requests[0]?.body)
      for (const part of ['"glob"', 'Finds files', '"pattern"', 'What is it?', image]) {
        assert.ok(sent.includes(part), part)
      }
    }),
  )
}

function endingTests(test: Suite, { saying, half, complete, failing }: Bench): void {
  test('ends a call in mid-stream with the reason of the signal, and the connection with it', () =>
    withWireServer([{ chunks: [half], then: 'silence' }], async (server) => {
      const stop = new AbortController()
      const reason = new Error('the user said stop')
      const request = { signal: stop.signal, onDelta: () => stop.abort(reason) }
      assert.is(await complete(server, { num_retries: 5 }, request).catch((error: unknown) => error), reason)
      await server.left
    }))

  test('calls nobody when the signal is aborted already', () => withWireServer([saying('text')], async (server) => {
    const reason = new Error('too late')
    assert.is(
      await complete(server, {}, { signal: AbortSignal.abort(reason) }).catch((error: unknown) => error), reason,
    )
    assert.is(server.requests.length, 0)
  }))

  for (const [name, chunks] of [['before an answer', []], ['within an answer', [half]]] as const) {
    test(`gives up after a long silence ${name}`, () => failing({ chunks, then: 'silence' }, { timeout: 1 }, async (
      error, server,
    ) => {
      assert.is(error.code, 'LLMTimeoutError')
      await server.left
    }))
  }
}

function errorTests(test: Suite, options: ContractOptions, { saying, refusing, complete, failing }: Bench): void {
  for (const [name, code] of Object.entries({ ...errorCodes, ...options.errors })) {
    test(`takes the error answer ${name} for ${code}`, () => failing(refusing(name), {}, (error) => {
      assert.is(error.code, code)
      assert.not.ok(error.message.includes('9999'), error.message)
    }))
  }

  test('tries an overload again as often as the settings say, then gives up', () => withWireServer(
    [refusing('overloaded')],
    async (server) => {
      assert.is((await failureOf(complete(server, { num_retries: 2 }))).code, 'LLMServiceUnavailableError')
      assert.is(server.requests.length, 3)
    },
  ))

  test('waits as long as a rate limit asks, then goes on', () => withWireServer(
    [refusing('rate_limit'), saying('text')],
    async (server) => {
      const waits: number[] = []
      const answer = await complete(server, { num_retries: 1 }, { onRetry: ({ waitMs }) => waits.push(waitMs) })
      assert.equal(answer.message.content.length, 1)
      assert.equal(waits, [20_000])
    },
  ))

  test('does not try a wrong key again', () => withWireServer([refusing('authentication')], async (server) => {
    await failureOf(complete(server, { num_retries: 5 }))
    assert.is(server.requests.length, 1)
  }))

  test('takes an error within the stream for what it is', () => failing(saying('overloaded'), {}, (error) => {
    assert.is(error.code, 'LLMServiceUnavailableError')
  }))
}

function brokenTests(test: Suite, { saying, half, complete, failing }: Bench): void {
  const broken: Readonly<Record<string, WireReply>> = {
    'cut': { chunks: [half], then: 'cut' },
    'ended too early': { chunks: [half] },
    'not JSON': { chunks: [half, 'data: {"broken\n\n'] },
  }
  for (const [name, reply] of Object.entries(broken)) {
    test(`takes a stream that is ${name} for broken, and ends the call when a piece of it has been seen`, () =>
      withWireServer([reply, saying('text')], async (server) => {
        const failure = await failureOf(complete(server, { num_retries: 1 }, { onDelta: () => undefined }))
        assert.is(failure.code, 'LLMBrokenStreamError')
        assert.is(server.requests.length, 1)
      }))
    test(`tries again after a stream that is ${name} while nobody has seen a piece of it`, () =>
      withWireServer([reply, saying('text')], async (server) => {
        assert.equal((await complete(server, { num_retries: 1 })).message.content.length, 1)
        assert.is(server.requests.length, 2)
      }))
  }

  test('says that nothing listens', async () => {
    let gone = ''
    await withWireServer([saying('text')], async ({ url }) => void (gone = url))
    assert.is((await failureOf(complete({ url: gone }))).code, 'LLMServiceUnavailableError')
  })

  test('says that a web page is no answer', () => failing(
    { headers: { 'content-type': 'text/html' }, chunks: ['<html>'] },
    {},
    (error) => {
      assert.is(error.code, 'LLMBadRequestError')
    },
  ))

  test('does not follow a redirect', () => failing(
    { status: 307, headers: { location: '/elsewhere' }, chunks: [] },
    {},
    (error, server) => {
      assert.is(error.code, 'LLMBadRequestError')
      assert.is(server.requests.length, 1)
    },
  ))
}

function secretTests(test: Suite, { saying, complete, failing }: Bench): void {
  test(
    'logs request and answer without key and headers if it is asked to, else nothing',
    () => withWireServer([saying('text')], async (server) => {
      assert.is((await complete(server)).exchange, undefined)
      const { exchange } = await complete(server, {
        log_completions: true, extra_headers: { 'X-Team': 'the-blue-team' },
      })
      assert.equal(exchange?.request, server.requests[1]?.body)
      assert.ok(JSON.stringify(exchange?.response).includes('Grüße, 世界 👋!'))
      for (const secret of [contractKey, 'the-blue-team']) assert.not.ok(JSON.stringify(exchange).includes(secret))
    }),
  )

  test('shows the key in no message, whatever a server says', () => {
    const reply = { status: 400, headers: { 'content-type': 'text/plain' }, chunks: [`bad header: ${contractKey}`] }
    return failing(reply, {}, ({ message }) => assert.ok(message.endsWith('bad header: <secret-hidden>'), message))
  })

  test('refuses a key that no header can hold, without showing it', async () => {
    const error = await failureOf(complete({ url: 'http://127.0.0.1:9' }, { api_key: 'a key\nof two lines' }))
    assert.is(error.code, 'LLMBadRequestError')
    assert.not.ok(error.message.includes('two lines'))
  })
}

const contractDeps: ModelDeps = {
  newId: () => 'made-here', random: () => 0, now: () => 0, sleep: async () => undefined,
}

function requestOf(over: Partial<ModelRequest>): ModelRequest {
  return { messages: [user('Hello')], tools: [], signal: new AbortController().signal, ...over }
}

async function failureOf(promise: Promise<unknown>): Promise<ModelError> {
  try {
    await promise
  } catch (error) {
    if (error instanceof ModelError) return error
    throw error
  }
  throw new Error('Expected a failure')
}

function errorReply(errors: unknown, name: string): WireReply {
  const error = isObject(errors) ? errors[name] : undefined
  if (!isObject(error) || typeof error['status'] !== 'number') throw new TypeError(`Expected an error answer ${name}`)
  const extra = isObject(error['headers'])
    ? Object.fromEntries(Object.entries(error['headers']).map(([key, value]) => [key, String(value)]))
    : {}
  return {
    status: error['status'],
    headers: { 'content-type': 'application/json', ...extra },
    chunks: [JSON.stringify(error['body'])],
  }
}
