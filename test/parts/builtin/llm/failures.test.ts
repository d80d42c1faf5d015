/** The codes that the error answers of providers and compatible servers get. */
import * as assert from 'uvu/assert'
import { failureOf, type Refusal } from '../../../../src/parts/builtin/llm/failures.ts'
import type { ModelErrorCode } from '../../../../src/parts/builtin/llm/model.ts'
import { suite } from '../../../support/suite.ts'

const test = suite('agents/llm/failures')

const now = (): number => Date.parse('2026-01-01T00:00:00Z')

function refusal(status: number | undefined, body: unknown, over: Partial<Refusal> = {}): Refusal {
  return { provider: 'OpenAI', ...(status === undefined ? {} : { status }), body, secrets: [], now, ...over }
}

const openAi = (message: string, code: string | null, type = 'invalid_request_error'): object => ({
  error: { message, type, param: null, code },
})
const anthropic = (type: string, message = 'Some text'): object => ({ type: 'error', error: { type, message } })
const gemini = (code: number, status: string, message: string, details: readonly object[] = []): object => ({
  error: { code, message, status, details },
})

const cases: readonly (readonly [status: number | undefined, body: unknown, code: ModelErrorCode])[] = [
  [401, openAi('Incorrect API key provided', 'invalid_api_key'), 'LLMAuthenticationError'],
  [403, openAi('Country, region, or territory not supported', 'unsupported_country_region_territory'),
    'LLMAuthenticationError'],
  [404, openAi('The model `gpt-9` does not exist or you do not have access to it.', 'model_not_found'),
    'LLMModelNotFoundError'],
  [404, '<html>404</html>', 'LLMModelNotFoundError'],
  [400, openAi("This model's maximum context length is 8192 tokens.", 'context_length_exceeded'),
    'LLMContextWindowExceedError'],
  [400, openAi('Your request was rejected by our safety system', 'content_policy_violation'),
    'LLMContentPolicyViolationError'],
  [400, openAi("Unsupported value: 'temperature'", 'unsupported_value'), 'LLMBadRequestError'],
  [429, openAi('Rate limit reached for gpt-x: too many tokens per min', 'rate_limit_exceeded', 'tokens'),
    'LLMRateLimitError'],
  [429, openAi('You exceeded your current quota, please check your plan', 'insufficient_quota', 'insufficient_quota'),
    'LLMQuotaExceededError'],
  [429, openAi('You exceeded your current quota, please check your plan', null), 'LLMQuotaExceededError'],
  [500, openAi('The server had an error', null, 'server_error'), 'LLMServiceUnavailableError'],
  [503, '', 'LLMServiceUnavailableError'],
  [408, '', 'LLMTimeoutError'],
  [504, 'upstream', 'LLMTimeoutError'],
  [413, 'too large', 'LLMContextWindowExceedError'],
  [301, '', 'LLMBadRequestError'],
  [401, anthropic('authentication_error', 'invalid x-api-key'), 'LLMAuthenticationError'],
  [404, anthropic('not_found_error', 'model: claude-9'), 'LLMModelNotFoundError'],
  [400, anthropic('invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'),
    'LLMContextWindowExceedError'],
  [400, anthropic('invalid_request_error', 'Your credit balance is too low to access the API'),
    'LLMQuotaExceededError'],
  [400, anthropic('invalid_request_error', 'messages: roles must alternate'), 'LLMBadRequestError'],
  [529, anthropic('overloaded_error', 'Overloaded'), 'LLMServiceUnavailableError'],
  [400, gemini(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.'), 'LLMAuthenticationError'],
  [400, gemini(400, 'INVALID_ARGUMENT', 'The input token count (2000000) exceeds the maximum number of tokens allowed'),
    'LLMContextWindowExceedError'],
  [400, gemini(400, 'INVALID_ARGUMENT', 'Please use a valid role'), 'LLMBadRequestError'],
  [404, gemini(404, 'NOT_FOUND', 'models/gemini-9 is not found for API version v1beta'), 'LLMModelNotFoundError'],
  [429, gemini(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota', [{ retryDelay: '13s' }]),
    'LLMRateLimitError'],
  [
    429,
    gemini(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota', [
      { violations: [{ quotaId: 'RequestsPerDay-Free' }] }, { retryDelay: '13s' },
    ]),
    'LLMQuotaExceededError',
  ],
  [503, [gemini(503, 'UNAVAILABLE', 'The model is overloaded')], 'LLMServiceUnavailableError'],
  [402, 'Payment Required', 'LLMQuotaExceededError'],
  [402, { error: { code: 402, message: 'Insufficient credits' } }, 'LLMQuotaExceededError'],
  [403, { error: { code: 403, message: 'Your input was flagged', metadata: { reasons: ['x'] } } },
    'LLMContentPolicyViolationError'],
  [404, { error: "model 'llama9' not found" }, 'LLMModelNotFoundError'],
  [400, { object: 'error', message: 'The model `x` does not exist.', type: 'NotFoundError', code: 404 },
    'LLMModelNotFoundError'],
  [400, openAi('You passed in model=x. There are no healthy deployments for this model', '400'),
    'LLMModelNotFoundError'],
  [400, { detail: 'There was an error parsing the body' }, 'LLMBadRequestError'],
  [undefined, anthropic('overloaded_error', 'Overloaded'), 'LLMServiceUnavailableError'],
  [undefined, anthropic('rate_limit_error'), 'LLMRateLimitError'],
  [undefined, anthropic('authentication_error'), 'LLMAuthenticationError'],
  [undefined, anthropic('invalid_request_error'), 'LLMBadRequestError'],
  [undefined, { error: { message: 'Provider disconnected', code: 502 } }, 'LLMServiceUnavailableError'],
  [undefined, { error: { message: 'Something else' } }, 'LLMServiceUnavailableError'],
]

for (const [status, body, code] of cases) {
  test(`takes ${status ?? 'an error in a stream'} ${JSON.stringify(body)} for ${code}`, () => {
    assert.is(failureOf(refusal(status, body)).code, code)
  })
}

test('names the provider, the status, its code and its message', () => {
  assert.is(failureOf(refusal(400, openAi('Bad\n  value', 'unsupported_value'))).message,
    'OpenAI refused the request (400 unsupported_value): Bad value')
  assert.is(failureOf(refusal(503, '')).message, 'OpenAI cannot answer now (503)')
  assert.is(failureOf(refusal(undefined, {})).message, 'OpenAI cannot answer now')
})

test('shows no key: not the one that was sent, and nothing of what is said about a wrong one', () => {
  const secrets = ['sk-very-secret-key']
  assert.is(failureOf(refusal(401, openAi('Incorrect key: sk-very-***-key', 'invalid_api_key'), { secrets })).message,
    'OpenAI refused the key or its permissions (401 invalid_api_key)')
  assert.is(failureOf(refusal(400, openAi('Bad header: sk-very-secret-key', null), { secrets })).message,
    'OpenAI refused the request (400 invalid_request_error): Bad header: <secret-hidden>')
})

test('cuts a long message', () => {
  assert.ok(failureOf(refusal(400, 'x'.repeat(10_000))).message.endsWith(`${'x'.repeat(500)} ...`))
})

const waits: readonly (readonly [headers: Record<string, string>, ms: number | undefined])[] = [
  [{ 'retry-after': '20' }, 20_000],
  [{ 'retry-after': '0.5' }, 500],
  [{ 'retry-after-ms': '1500', 'retry-after': '2' }, 1500],
  [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30_000],
  [{ 'retry-after': 'Thu, 01 Jan 2025 00:00:30 GMT' }, 0],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': '99999999999999' }, undefined],
  [{}, undefined],
]

for (const [headers, ms] of waits) {
  test(`reads ${JSON.stringify(headers)} as ${ms === undefined ? 'no wait' : `a wait of ${ms} ms`}`, () => {
    assert.is(failureOf(refusal(429, {}, { headers })).retryAfterMs, ms)
  })
}

test('reads the wait that Gemini puts in the body', () => {
  assert.is(
    failureOf(
      refusal(429, gemini(429, 'RESOURCE_EXHAUSTED', 'x', [{ '@type': 'a' }, { retryDelay: '12.5s' }])),
    ).retryAfterMs,
    12_500,
  )
  assert.is(
    failureOf(refusal(429, gemini(429, 'RESOURCE_EXHAUSTED', 'x', [{ retryDelay: 'long' }]))).retryAfterMs, undefined,
  )
})

test.run()
