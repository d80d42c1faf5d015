/**
 * Makes a ModelError from a provider's refusal, or from an error within a stream.
 *
 * The first fitting rule of `rules` decides the code. If none fits, mostly the HTTP status does. LLMAuthenticationError
 * quotes the provider's message only with the status 403, because some servers repeat a wrong key in the message.
 *
 * Bodies: OpenAI and LiteLLM `{error: {message, type, code}}`, Anthropic `{error: {type, message}}`, Gemini `{error:
 * {code, message, status, details}}` (also in an array), vLLM `{message, type, code}`, Ollama `{error: text}`.
 */
import { objectOf, objectsOf, textOf, type Fields } from '../../../base/fields.ts'
import { isObject } from '../../../base/json.ts'
import { createMasker } from '../../../base/masking.ts'
import { ModelError, type ModelErrorCode } from './model.ts'
import { retryAfterMsOf, type RetryHeaders } from './retry-after.ts'

export interface Refusal {
  /** The provider's name in error messages: `OpenAI`, `Anthropic` ... */
  readonly provider: string
  /** The HTTP status; undefined for an error within a stream. */
  readonly status?: number
  readonly headers?: RetryHeaders
  /** The body: parsed if it is JSON, else the text. */
  readonly body: unknown
  /** The secrets to mask in the provider's message. */
  readonly secrets: readonly string[]
  /** Returns the current time in milliseconds since 1970. */
  readonly now: () => number
}

export function failureOf(refusal: Refusal): ModelError {
  const told = readError(refusal.body)
  const status = refusal.status ?? told.status
  const retryAfterMs = retryAfterMsOf(refusal.headers ?? {}, told.details, refusal.now)
  const code = codeOf(status, told, retryAfterMs !== undefined)
  const label = [status, told.label].filter((part) => part !== undefined).join(' ')
  const quote = code === 'LLMAuthenticationError' && status !== 403 ? '' : quoteOf(told.message, refusal.secrets)
  const suffix = `${label === '' ? '' : ` (${label})`}${quote === '' ? '' : `: ${quote}`}`
  const detail = `${refusal.provider} ${verbs[code]}${suffix}`
  return new ModelError(code, detail, retryAfterMs === undefined ? {} : { retryAfterMs })
}

interface ToldError {
  readonly message: string
  /** The code, type or status as the provider spells it, for the error message. */
  readonly label: string | undefined
  /** The error's code, type, status, message and details in lower case. The rules search this text. */
  readonly words: string
  readonly status: number | undefined
  readonly details: readonly Fields[]
}

function readError(body: unknown): ToldError {
  const outer = objectOf(Array.isArray(body) ? body[0] : body)
  const inner = isObject(outer['error']) ? objectOf(outer['error']) : outer
  const messages = [inner['message'], outer['error'], outer['detail'], outer['message']].map(textOf)
  const message = messages.find((text) => text !== undefined)
  const names = [inner['code'], inner['type'], inner['status']].flatMap((name) => nameOf(textOf(name)))
  const details = objectsOf(inner['details'])
  const text = message ?? (typeof body === 'string' ? body : '')
  return {
    message: text,
    label: names[0],
    words: [...names, text, ...details.map((detail) => JSON.stringify(detail))].join('\n').toLowerCase(),
    status: statusOf(inner['code']),
    details,
  }
}

/** Returns `[text]` if the text looks like a code or a type, but is not just `error`; otherwise `[]`. */
function nameOf(text: string | undefined): string[] {
  return text !== undefined && /^[A-Za-z][\w.-]{0,63}$/.test(text) && text !== 'error' ? [text] : []
}

/** Returns the code of an error body as an HTTP status; undefined when it is no error status. */
function statusOf(code: unknown): number | undefined {
  const status = Number(code)
  return Number.isInteger(status) && status >= 400 && status < 600 ? status : undefined
}

interface Rule {
  readonly code: ModelErrorCode
  /** The statuses to which the rule applies. For an error without a status, all rules are tried. */
  readonly statuses: readonly number[]
  readonly words: RegExp
}

/** The rules that give an error its code. The first rule whose `statuses` and `words` fit the error decides. */
const rules: readonly Rule[] = [
  {
    code: 'LLMQuotaExceededError',
    statuses: [400, 402, 403, 429],
    words: anyOf(
      /insufficient_quota|credit balance|insufficient (?:credit|balance|fund)|out of credits/,
      /billing_(?:error|hard_limit|not_active)|perday/,
    ),
  },
  {
    code: 'LLMContextWindowExceedError',
    statuses: [400, 403, 413, 422, 500],
    words: anyOf(
      /context_length_exceeded|context (?:length|window|size)|maximum context|prompt is too long|prompt too long/,
      /too many (?:input )?tokens|input token count|request_too_large/,
      /exceeds? the (?:model's )?max(?:imum)? (?:number of )?tokens/,
    ),
  },
  {
    code: 'LLMContentPolicyViolationError',
    statuses: [400, 403, 422],
    words: anyOf(
      /content_policy|content_filter|content (?:policy|filter)|content management policy|usage polic/,
      /safety (?:system|reasons|polic)|moderation|was flagged|prohibited_content/,
    ),
  },
  {
    code: 'LLMModelNotFoundError',
    statuses: [400, 403, 404, 422],
    words: anyOf(
      /model_not_found|not_found_error|unknown model|no such model|invalid model|not a valid model/,
      /no healthy deployments/,
      /model\b[^]{0,200}?\b(?:not found|does not exist|not exist|is not supported|not available)/,
    ),
  },
  {
    code: 'LLMAuthenticationError',
    statuses: [400],
    words: /invalid_api_key|authentication_error|api key not valid|api_key_invalid|incorrect api key|unauthenticated/,
  },
  { code: 'LLMRateLimitError', statuses: [], words: /rate_limit|rate limit|resource_exhausted|too many requests/ },
  { code: 'LLMServiceUnavailableError', statuses: [], words: /overloaded|server_error|api_error|internal|unavailable/ },
  { code: 'LLMBadRequestError', statuses: [], words: /invalid_request|invalid_argument/ },
]

function anyOf(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'))
}

function codeOf(status: number | undefined, told: ToldError, asksToWait: boolean): ModelErrorCode {
  const rule = rules.find(
    ({ statuses, words }) => (status === undefined || statuses.includes(status)) && words.test(told.words),
  )
  if (rule !== undefined) return rule.code
  // Gemini uses this phrase for a limit per minute too, but then its answer has a time to wait.
  if (status === 429 && !asksToWait && told.words.includes('exceeded your current quota')) {
    return 'LLMQuotaExceededError'
  }
  return status === undefined ? 'LLMServiceUnavailableError' : codeOfStatus(status)
}

function codeOfStatus(status: number): ModelErrorCode {
  switch (status) {
    case 401:
    case 403:
      return 'LLMAuthenticationError'
    case 402:
      return 'LLMQuotaExceededError'
    case 404:
      return 'LLMModelNotFoundError'
    case 408:
    case 504:
      return 'LLMTimeoutError'
    case 413:
      return 'LLMContextWindowExceedError'
    case 429:
      return 'LLMRateLimitError'
    default:
      return status >= 500 ? 'LLMServiceUnavailableError' : 'LLMBadRequestError'
  }
}

const verbs: Readonly<Record<ModelErrorCode, string>> = {
  LLMAuthenticationError: 'refused the key or its permissions',
  LLMQuotaExceededError: 'says that the quota is used up',
  LLMRateLimitError: 'says that there are too many requests',
  LLMModelNotFoundError: 'does not know the model, or the base URL is wrong',
  LLMContextWindowExceedError: 'says that the input is too long for the model',
  LLMContentPolicyViolationError: 'refused the content',
  LLMBadRequestError: 'refused the request',
  LLMServiceUnavailableError: 'cannot answer now',
  LLMTimeoutError: 'did not answer in time',
  LLMBrokenStreamError: 'broke off its answer',
  LLMNoResponseError: 'gave no answer',
}

const quoteLimitChars = 500

function quoteOf(message: string, secrets: readonly string[]): string {
  const masker = createMasker()
  masker.register(secrets)
  const line = masker.mask(message).replace(/\s+/g, ' ').trim()
  return line.length <= quoteLimitChars ? line : `${line.slice(0, quoteLimitChars)} ...`
}

/** Returns the error for an answer that a content policy broke off. */
export function brokenOff(model: string): ModelError {
  return new ModelError(
    'LLMContentPolicyViolationError', `The answer of ${model} was broken off because of a content policy`,
  )
}
