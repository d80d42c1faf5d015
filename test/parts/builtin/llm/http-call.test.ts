/** A call against a server that says raw bytes: whole answers, refusals of any length, and bytes that are no answer. */
import * as assert from 'uvu/assert'
import { AppError } from '../../../../src/base/errors.ts'
import { postForEvents, usualAnswerLimits, type CallEnd } from '../../../../src/parts/builtin/llm/http-call.ts'
import { ModelError } from '../../../../src/parts/builtin/llm/model.ts'
import type { JsonObject } from '../../../../src/base/json.ts'
import { suite } from '../../../support/suite.ts'
import { withWireServer, type SeenRequest, type WireReply } from '../../../support/wire-server.ts'

const test = suite('agents/llm/http-call')

interface Outcome {
  readonly events: readonly JsonObject[]
  readonly end: CallEnd | undefined
  readonly error: unknown
  readonly requests: readonly SeenRequest[]
}

async function call(
  reply: WireReply, signal: AbortSignal = new AbortController().signal, onEvent = (): void => undefined,
): Promise<Outcome> {
  const events: JsonObject[] = []
  let end: CallEnd | undefined
  let error: unknown
  let seen: readonly SeenRequest[] = []
  await withWireServer([reply], async ({ url, requests }) => {
    seen = requests
    const secrets = ['key-number-one']
    const options = {
      limits: usualAnswerLimits, provider: 'Stand-in', url: `${url}/v1/x`, headers: { 'x-key': 'key-number-one' },
      body: [Buffer.from('{"a":'), Buffer.from('[1]}')], timeoutMs: 8000, signal, secrets, now: () => 0,
    }
    end = await postForEvents(options, (event) => {
      events.push(event)
      onEvent()
    }).catch((thrown: unknown) => {
      error = thrown
      return undefined
    })
  })
  return { events, end, error, requests: seen }
}

const json = { 'content-type': 'application/json; charset=utf-8' }

/** `code: message` of the failure. */
function failure({ error }: Outcome): string {
  return error instanceof ModelError ? `${error.code}: ${error.message}` : String(error)
}

test('posts the body as JSON, with the headers it was given', async () => {
  const { requests } = await call({ chunks: [] })
  assert.is(requests[0]?.path, '/v1/x')
  assert.equal(requests[0]?.body, { a: [1] })
  const { 'x-key': key, 'content-type': type, accept } = requests[0]?.headers ?? {}
  assert.equal([key, type, accept], ['key-number-one', 'application/json', 'text/event-stream, application/json'])
})

test('hands on the objects of a stream up to the mark of its end, and says how it ended', async () => {
  const stream = 'event: x\ndata: {"a":1}\n\n: ping\n\ndata: {"a":2}\n\n'
  const closed = await call({ chunks: [stream] })
  assert.equal([closed.events, closed.end], [[{ a: 1 }, { a: 2 }], 'closed'])
  const said = await call({ chunks: [`${stream}data: [DONE]\n\ndata: {"a":3}\n\n`], then: 'silence' })
  assert.equal([said.events, said.end], [[{ a: 1 }, { a: 2 }], 'said'])
})

test('takes a whole answer of a server that does not stream', async () => {
  const { events, end } = await call({ headers: json, chunks: ['{"a"', ':1}'] })
  assert.equal([events, end], [[{ a: 1 }], 'said'])
})

test('takes what is no JSON object for a broken answer, and does not quote it', async () => {
  const broken = 'LLMBrokenStreamError: Could not read the answer of Stand-in: expected a JSON object'
  assert.is(failure(await call({ headers: json, chunks: ['[1]'] })), broken)
  assert.is(failure(await call({ headers: json, chunks: ['{"secret":'] })), broken)
  assert.is(failure(await call({ chunks: ['data: 7\n\n'] })), broken)
})

test(
  'refuses an answer over its limits: of bytes as a whole, of values over all events, of which each has some free',
  async () => {
    const tooMany = 'LLMBrokenStreamError: Could not read the answer of Stand-in: it has more than 50000 JSON values'
    assert.is(failure(await call({ headers: json, chunks: ['['.repeat(60_000)] })), tooMany)
    const rich = `data: {"a":[${'0,'.repeat(20_000)}0]}\n\n`
    const outcome = await call({ chunks: [rich, rich, rich, rich] })
    assert.is(failure(outcome), tooMany)
    assert.is(outcome.events.length, 2)
    const usual = `data: {"a":[${'0,'.repeat(150)}0]}\n\n`
    assert.is((await call({ chunks: Array.from({ length: 1000 }, () => usual) })).events.length, 1000)
    const long = JSON.stringify({ a: 'x'.repeat(usualAnswerLimits.limitBytes) })
    assert.match(
      failure(await call({ headers: json, chunks: [long] })),
      /^LLMBrokenStreamError: .* it has more than 16777216 bytes$/,
    )
    assert.match(
      failure(await call({ chunks: [`data: ${long}\n\n`] })), /expected events of at most 16777216 characters/,
    )
  },
)

test('reads no more of an error answer than it needs', async () => {
  const long = `${'x'.repeat(1000)}\n`.repeat(1000)
  assert.match(
    failure(await call({ status: 400, chunks: [long], then: 'silence' })),
    /^LLMBadRequestError: Stand-in refused the request \(400\): x{500} \.\.\.$/,
  )
})

test('knows an error answer that breaks off by its status', async () => {
  const outcome = await call({ status: 429, headers: { 'content-length': '100' }, chunks: ['{"error"'], then: 'cut' })
  assert.is(failure(outcome), 'LLMRateLimitError: Stand-in says that there are too many requests (429): {"error"')
})

const interrupted: Readonly<Record<string, WireReply>> = {
  'the head is awaited': { chunks: [], then: 'silence' },
  'an error answer is read': { status: 400, headers: { 'content-length': '100' }, chunks: ['half'], then: 'silence' },
  'a stream is read': { chunks: ['data: {}\n\n'], then: 'silence' },
}
for (const [when, reply] of Object.entries(interrupted)) {
  for (const reason of [new Error('stop'), new AppError('conflict', 'The agent is closed')]) {
    test(`throws the reason of the signal, "${reason.message}", while ${when}`, async () => {
      const stop = new AbortController()
      const pending = call(reply, stop.signal)
      setTimeout(() => stop.abort(reason), 50)
      assert.is((await pending).error, reason)
    })
  }
}

test('throws what the receiver throws, and leaves the server', async () => {
  const fault = new TypeError('a fault of ours')
  const { error, events } = await call({ chunks: ['data: {}\n\ndata: {}\n\n'], then: 'silence' }, undefined, () => {
    throw fault
  })
  assert.is(error, fault)
  assert.is(events.length, 1)
})

test.run()
