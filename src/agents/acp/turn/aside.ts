/**
 * Asks an external agent a question outside its conversation. A copy of the session answers with text and is then
 * discarded.
 *
 * A session that has worked on no prompt is not copied: a new session answers. Permission requests are denied.
 */
import { AppError, messageOf } from '../../../base/errors.ts'
import { objectOf, type Fields } from '../../../base/fields.ts'
import { deferred, within } from '../../../base/wait.ts'
import { RpcError } from '../../../rpc/errors.ts'
import { blockText } from '../calls/output.ts'
import type { Timers } from '../calls/timers.ts'
import { describe } from '../session/failure.ts'
import { deny, readOptions } from '../session/permissions.ts'
import type { PromptBlock } from '../session/prompt.ts'
import type { AcpSession } from '../session/session.ts'
import { endOf, mergeSigns, type FailureSigns } from './stop-reason.ts'
import { mergeContextUse, mergeMetaUse, type ContextUse } from './usage.ts'

export interface AsideOptions {
  readonly session: AcpSession
  /** False when the session has worked on no prompt. A new session then answers. */
  readonly isPrompted: boolean
  readonly workingDir: string
  readonly prompt: readonly PromptBlock[]
  readonly signal: AbortSignal
  readonly timers: Timers
  readonly idleMs: number
  /** The time that the agent has to respond after `session/cancel`. */
  readonly drainMs: number
  /** The most characters of the answer. Default 256 Ki. */
  readonly limitChars?: number
}

export interface Aside {
  readonly text: string
  /** The result of the agent's response to `session/prompt`. */
  readonly result: unknown
  /** The usage that the agent's updates reported. */
  readonly context: ContextUse
  /** The id of the session that answered. Clients must not see the id. */
  readonly sessionId: string
}

const defaultLimitChars = 256 * 1024

/**
 * Puts the question to a copy of the session, or to a new session if `isPrompted` is false. Returns the answer.
 * @throws AppError `bad_request`, `agent_failed`, `agent_timeout`; AcpFailure; the signal's reason.
 */
export async function askAside(options: AsideOptions): Promise<Aside> {
  const { session, workingDir, isPrompted, signal } = options
  const copy = await session.fork(workingDir, isPrompted)
  try {
    await copy.applyMode({ kind: 'AlwaysConfirm' }, undefined)
    signal.throwIfAborted()
    return await converse(copy, options)
  } finally {
    await copy.discard()
  }
}

type Ending = { readonly result: unknown } | { readonly error: unknown } | 'stopped' | 'silent'

async function converse(copy: AcpSession, options: AsideOptions): Promise<Aside> {
  const { session, prompt, signal, timers, idleMs, drainMs, limitChars = defaultLimitChars } = options
  const stop = deferred<Ending>()
  let text = ''
  let context: ContextUse = {}
  let signs: FailureSigns = {}
  const idle = timers.after(idleMs, () => stop.resolve('silent'))
  const onUpdate = (update: Fields): void => {
    idle.restart()
    if (update['sessionUpdate'] === 'usage_update') context = mergeContextUse(context, update)
    context = mergeMetaUse(context, update)
    signs = mergeSigns(signs, update, session.agent.quirks)
    if (update['sessionUpdate'] !== 'agent_message_chunk') return
    text += blockText(objectOf(update['content'])).slice(0, limitChars - text.length)
  }
  const onPermission = async (params: Fields): Promise<unknown> => deny(readOptions(params['options']))
  const answer = copy.prompt(prompt, { onUpdate, onPermission }).then(
    (result): Ending => ({ result }),
    (error: unknown): Ending => ({ error }),
  )
  const onAbort = (): void => stop.resolve('stopped')
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    const ending = await Promise.race([answer, stop.promise])
    if (typeof ending === 'string') {
      copy.cancelPrompt()
      await within(answer, drainMs)
    }
    return { text, context, result: resultOf(ending, { text, signs }, options), sessionId: copy.id }
  } finally {
    idle.stop()
    signal.removeEventListener('abort', onAbort)
  }
}

/** Returns the agent's result. @throws AppError, AcpFailure, or the signal's reason */
function resultOf(
  ending: Ending,
  { text, signs }: { readonly text: string; readonly signs: FailureSigns },
  { session, signal, idleMs }: AsideOptions,
): unknown {
  if (ending === 'stopped') throw signal.reason
  if (ending === 'silent') {
    throw new AppError('agent_timeout', `Cannot ask the agent: it sent nothing for ${idleMs / 1000} s`)
  }
  if ('error' in ending) {
    const reason = ending.error instanceof RpcError ? describe(ending.error) : messageOf(ending.error)
    throw new AppError('agent_failed', `Cannot ask the agent: ${reason}`, { cause: ending.error })
  }
  const { result } = ending
  // Codex ends a turn as cancelled after a denied permission. With `hasDenied` such an end is no failure.
  const failure = endOf(result, { hasDenied: true, signs, quirks: session.agent.quirks, lastText: text })
  if (failure !== undefined) throw failure
  return result
}
