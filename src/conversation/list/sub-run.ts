/**
 * Runs the conversation of a sub-agent for a turn of its parent, and returns how the run ended.
 *
 * The parent's user is asked about the sub-agent's actions, one at a time. One denial rejects all actions of a step.
 */
import { parseOwnJsonBytes } from '../../base/json-turns.ts'
import { toJsonObject, type JsonObject } from '../../base/json.ts'
import { AppError } from '../../base/errors.ts'
import { toMessage } from '../../schema/generated/values.ts'
import type { ExecutionStatus } from '../../schema/generated/conversations.ts'
import type { Allowance } from '../agent/allowance.ts'
import type { ConfirmationAnswer } from '../agent/agent.ts'
import type { Conversation } from '../conversation.ts'
import { newestError } from '../log/failure.ts'
import { storedEvent } from '../log/stored-event.ts'
import type { PendingConfirmation } from '../run/confirmations.ts'
import { watch } from '../watch.ts'

export interface SubRun {
  /** The task, as the user message of the sub-agent's conversation. */
  readonly text: string
  readonly allowance: Allowance
  readonly policy: JsonObject
  readonly analyzer: JsonObject | null
  /** Aborted when the parent's turn is stopped. */
  readonly signal: AbortSignal
  /** Aborted when the parent's turn is to end before its next step. */
  readonly pausing: AbortSignal
  /** Asks the parent's user. `withdrawn` is aborted when the question no longer needs an answer. */
  readonly ask: (question: SubQuestion, withdrawn: AbortSignal) => Promise<ConfirmationAnswer>
}

/** An action of the sub-agent that needs the user's approval. */
export interface SubQuestion {
  readonly toolName: string
  /** The recorded action; null when it cannot be read. */
  readonly action: JsonObject | null
}

export interface SubEnd {
  readonly status: ExecutionStatus
  /** The sub-agent's answer (`EventReader.finalResponse`); empty without an answer. */
  readonly answer: string
  /** Code and detail of the failure, for the status `error`. */
  readonly failure: { readonly code: string; readonly detail: string } | undefined
}

/**
 * Gives the sub-agent the message `run.text`, and returns how the run ended.
 * @throws AppError `conflict` when the sub-agent works already or is closed, or when its question to the user was
 * withdrawn; the errors of `Conversation.send`, `run` and `join`; the reason of `run.signal`
 */
export async function runSub(conversation: Conversation, run: SubRun): Promise<SubEnd> {
  const { signal, pausing } = run
  signal.throwIfAborted()
  if (conversation.isRunning || conversation.state.execution_status === 'waiting_for_confirmation') {
    throw new AppError('conflict', 'The sub-agent is at work already')
  }
  conversation.limitBy(run.allowance)
  let stopping: Promise<void> | undefined
  const stop = (): void => void (stopping ??= stopSub(conversation))
  const pause = (): void => void conversation.pause().catch(ignore) // `pause` rejects when the conversation closes.
  signal.addEventListener('abort', stop, { once: true })
  pausing.addEventListener('abort', pause, { once: true })
  try {
    await serve(conversation, run)
    await stopping
    signal.throwIfAborted()
    return await endOf(conversation)
  } finally {
    signal.removeEventListener('abort', stop)
    pausing.removeEventListener('abort', pause)
    conversation.limitBy(undefined)
  }
}

/** Sends `run.text` to the sub-agent. Resolves at the end of its work, or earlier if `run.signal` is aborted. */
async function serve(conversation: Conversation, run: SubRun): Promise<void> {
  const { text, policy, analyzer, signal } = run
  await conversation.setConfirmationPolicy(policy)
  await conversation.setSecurityAnalyzer(analyzer)
  const end = conversation.nextEnd()
  await conversation.send(toMessage({ role: 'user', content: text }), true)
  if (signal.aborted) return
  await end
  while (!signal.aborted) {
    if (conversation.isClosing) throw closed()
    const { execution_status: status } = conversation.state
    if (status === 'waiting_for_confirmation') await settleQuestions(conversation, run)
    else if (status === 'running') await conversation.nextEnd()
    else return
  }
}

/** Asks the parent's user about the pending actions, and applies the answers, unless other clients answer first. */
async function settleQuestions(conversation: Conversation, { ask, signal }: SubRun): Promise<void> {
  const withdrawn = new AbortController()
  const answered = new AbortController()
  const watching = untilSettled(conversation, AbortSignal.any([signal, answered.signal]))
    .finally(() => withdrawn.abort())
  // The `await` below throws the error of `watching`. Until then, this `catch` handles a rejection.
  watching.catch(ignore)
  const asked = conversation.confirmations()
  const denial = await firstDenial(conversation, asked, (question) => ask(question, withdrawn.signal))
  answered.abort()
  const isSettled = await watching
  if (signal.aborted) return
  if (!isSettled && denial?.outcome === 'cancelled') throw new AppError('conflict', 'The question was withdrawn')
  // `watching` may not have read another client's answer yet. So the ids of the pending actions are compared.
  const isAsked = conversation.confirmations().every(({ id }) => asked.some((one) => one.id === id))
  if (!isSettled && isAsked) {
    const reason = denial?.outcome === 'denied' ? denial.reason : ''
    await conversation.respond({ accept: denial === undefined, reason })
  }
  // After a denial the status is `idle`. The sub-agent then runs again, unless a client has started it already.
  if (conversation.state.execution_status === 'idle') await conversation.run().catch(unlessRunning)
}

/** Asks about the actions in order. Returns the first answer that is no approval; undefined if all are approved. */
async function firstDenial(
  conversation: Conversation, asked: readonly PendingConfirmation[],
  ask: (question: SubQuestion) => Promise<ConfirmationAnswer>,
): Promise<Exclude<ConfirmationAnswer, { readonly outcome: 'accepted' }> | undefined> {
  for (const pending of asked) {
    const answer = await ask(await questionOf(conversation, pending))
    if (answer.outcome !== 'accepted') return answer
  }
  return undefined
}

async function questionOf(conversation: Conversation, { action_id, title }: PendingConfirmation): Promise<SubQuestion> {
  const json = action_id === null ? undefined : await conversation.events.find(action_id)
  const event = json === undefined ? undefined : storedEvent(await parseOwnJsonBytes(json))
  const action = event?.kind === 'ActionEvent' && event.action !== null ? toJsonObject(event.action) : null
  return { toolName: title, action }
}

/**
 * Waits until the status is no longer `waiting_for_confirmation`. Returns false when `until` is aborted first.
 * @throws AppError `conflict` when the conversation is closed or its log cannot be read; the errors of
 * `Conversation.join`
 */
async function untilSettled(conversation: Conversation, until: AbortSignal): Promise<boolean> {
  for await (const _frame of watch(conversation, 'now', until)) {
    if (conversation.state.execution_status !== 'waiting_for_confirmation') return true
  }
  if (until.aborted) return conversation.state.execution_status !== 'waiting_for_confirmation'
  throw closed()
}

/** Ends the sub-agent's run, and denies the actions that wait for the user. Never throws. */
async function stopSub(conversation: Conversation): Promise<void> {
  try {
    await conversation.interrupt()
    if (conversation.state.execution_status === 'waiting_for_confirmation') {
      await conversation.respond({ accept: false, reason: 'The task was stopped' })
    }
  } catch {
    // Both calls fail while the conversation closes. Closing ends the run as well, so the error is ignored.
  }
}

async function endOf(conversation: Conversation): Promise<SubEnd> {
  const { execution_status: status } = conversation.state
  const answer = await conversation.events.finalResponse()
  return { status, answer, failure: status === 'error' ? await newestError(conversation.events) : undefined }
}

function closed(): AppError {
  return new AppError('conflict', "The sub-agent's conversation was closed or deleted")
}

/** Throws the error of `Conversation.run` again, unless it says that a run is under way. */
function unlessRunning(thrown: unknown): void {
  if (!(thrown instanceof AppError) || thrown.code !== 'already_running') throw thrown
}

function ignore(): void {}
