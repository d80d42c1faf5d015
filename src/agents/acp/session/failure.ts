/**
 * The failures of an external agent, each with the code and the text of a ConversationErrorEvent (contract/events.md,
 * section 2.4).
 *
 * Agents may put any integer into `error.code` and the real cause into `data`. Some report a missing login as text
 * (agents/acp/agents.md, "Failures, questions, usage").
 */
import { messageOf } from '../../../base/errors.ts'
import { objectOf, textOf } from '../../../base/fields.ts'
import { RpcError } from '../../../rpc/errors.ts'

export type AcpFailureCode =
  | 'ACPSpawnError'
  | 'ACPInitError'
  | 'ACPStartupTimeout'
  | 'ACPAuthRequired'
  | 'ACPPromptError'
  | 'UsagePolicyRefusal'
  | 'MaxIterationsReached'
  | 'UnaskedAction'

export class AcpFailure extends Error {
  override readonly name = 'AcpFailure'
  readonly code: AcpFailureCode

  constructor(code: AcpFailureCode, detail: string, cause?: unknown) {
    super(detail, cause === undefined ? undefined : { cause })
    this.code = code
  }
}

const detailLimitChars = 500
const tailLimitChars = 500
const authRequired = -32000

/** Matches a text about a missing or refused login. */
const authWords = new RegExp([
  '(?:invalid|incorrect) (?:api key|x-api-key)|api key is missing|authentication required|not logged in',
  'please log ?in|login required',
].join('|'), 'i')

/** Matches the HTTP status of a refused login. `refusedWords` is separate: one pattern would take quadratic time. */
const refusedStatus = /\b(?:401|403)\b/
const refusedWords = /unauthori[sz]ed|forbidden|api key|authenticat|credential/i

/** True when a line has the HTTP status 401 or 403 and then a word about logins. */
function hasRefusedStatus(text: string): boolean {
  return text.split(/[\n\r\u2028\u2029]/).some((line) => {
    const at = line.search(refusedStatus)
    return at !== -1 && refusedWords.test(line.slice(at))
  })
}

/** Returns an AcpFailure unchanged. Converts an RpcError about a login to ACPAuthRequired, other errors to `code`. */
export function failureOf(thrown: unknown, code: AcpFailureCode, loginRefused?: RegExp): AcpFailure {
  if (thrown instanceof AcpFailure) return thrown
  if (!(thrown instanceof RpcError)) return new AcpFailure(code, cutDetail(messageOf(thrown)), thrown)
  return new AcpFailure(isAuthError(thrown, loginRefused) ? 'ACPAuthRequired' : code, describe(thrown), thrown)
}

/** Returns `[<code>] <message>: <data text>`, cut to `detailLimitChars`. The data text may be missing. */
export function describe(error: RpcError): string {
  const data = dataText(error.data)
  return cutDetail(`[${error.code}] ${error.message}${data === '' ? '' : `: ${data}`}`)
}

/**
 * Adds the end of stderr to the text of a failure. Leaves ACPAuthRequired unchanged. Skips lines that match `idleTalk`.
 */
export function withTail(failure: AcpFailure, stderrTail: string, idleTalk?: RegExp): AcpFailure {
  const lines = stderrTail.split('\n').filter((line) => idleTalk?.test(line.trim()) !== true)
  const tail = lastLines(lines.join('\n').trim())
  if (tail === '' || failure.code === 'ACPAuthRequired') return failure
  return new AcpFailure(failure.code, `${failure.message}; it wrote: ${tail}`, failure.cause)
}

/** Cuts a long text to its last `tailLimitChars` characters, then drops the text before the first newline in them. */
function lastLines(text: string): string {
  if (text.length <= tailLimitChars) return text
  const end = text.slice(-tailLimitChars)
  return end.slice(end.indexOf('\n') + 1)
}

/** Changes ACPPromptError into ACPAuthRequired when stderr matches `refused`. Returns any other failure unchanged. */
export function withRefusedLogin(failure: AcpFailure, stderrTail: string, refused: RegExp | undefined): AcpFailure {
  if (failure.code !== 'ACPPromptError' || refused?.test(stderrTail) !== true) return failure
  return new AcpFailure('ACPAuthRequired', failure.message, failure.cause)
}

function isAuthError(error: RpcError, loginRefused: RegExp | undefined): boolean {
  if (error.code === authRequired || error.code === 401 || error.code === 403) return true
  const name = textOf(objectOf(error.data)['errorName']) ?? ''
  return isAuthText(`${error.message} ${dataText(error.data)} ${name}`, loginRefused)
}

/** True for a text that `hasRefusedStatus`, `authWords` or `loginRefused` matches. */
export function isAuthText(text: string, loginRefused?: RegExp): boolean {
  return hasRefusedStatus(text) || authWords.test(text) || loginRefused?.test(text) === true
}

function dataText(data: unknown): string {
  if (data === undefined || data === null) return ''
  if (typeof data === 'string') return data
  const { details, message, errorKind } = objectOf(data)
  return textOf(details) ?? textOf(message) ?? textOf(errorKind) ?? JSON.stringify(data)
}

export function cutDetail(text: string): string {
  return text.length <= detailLimitChars ? text : `${text.slice(0, detailLimitChars - 3)}...`
}
