/**
 * Sends one message in a conversation and waits for the end of its run.
 *
 * The run is interrupted when the caller's signal aborts: the client has disconnected, or the time limit has passed.
 */
import { AppError } from '../../base/errors.ts'
import { parseOwnJsonBytes } from '../../base/json-turns.ts'
import { untilAborted } from '../../base/wait.ts'
import type { Conversation } from '../../conversation/conversation.ts'
import { isEnded } from '../../conversation/log/status-table.ts'
import { storedEvent } from '../../conversation/log/stored-event.ts'
import type { Message } from '../../schema/generated/values.ts'

/** The result of `serve`: the run finished, or the HTTP status and the message of the error response. */
export type RunEnd =
  | { readonly kind: 'finished' }
  | { readonly kind: 'failed'; readonly status: 409 | 500; readonly message: string }

/** Throws AppError `conflict` for a conversation with the status `running` or `waiting_for_confirmation`. */
export function assertFree(conversation: Conversation): void {
  const { execution_status: status } = conversation.state
  // The last run may still be saving its state. The run of a new message begins after that.
  if (isEnded(status)) return
  throw new AppError('conflict', `The conversation is at work: its status is "${status}"`)
}

/**
 * Sends a message and waits until its run ends or waits for a confirmation, or the conversation is closed.
 * @param onSendSettled called when the conversation has accepted or refused the message
 * @throws the signal's reason; the errors of `Conversation.send`
 */
export async function serve(
  conversation: Conversation, message: Message, signal: AbortSignal, onSendSettled?: () => void,
): Promise<RunEnd> {
  const end = conversation.nextEnd()
  const waiting = untilWaiting(conversation)
  const sent = conversation.send(message, true).finally(onSendSettled)
  try {
    await untilAborted(sent.then(() => Promise.race([end, waiting.promise])), signal)
  } catch (thrown) {
    if (signal.aborted) await stop(conversation, sent)
    throw thrown
  } finally {
    waiting.stop()
  }
  return endOf(conversation)
}

/** Interrupts the run of a message once the message is recorded. An earlier interrupt would not stop the run. */
async function stop(conversation: Conversation, sent: Promise<void>): Promise<void> {
  try {
    await sent
    await conversation.interrupt()
  } catch {
    // The message was refused, or the conversation is being closed.
  }
}

/**
 * Watches a conversation until `stop` is called. `promise` resolves when the conversation waits for a confirmation or
 * is closed.
 */
function untilWaiting(conversation: Conversation): { readonly promise: Promise<void>; readonly stop: () => void } {
  let resolve = (): void => undefined
  const promise = new Promise<void>((yes) => (resolve = yes))
  const look = (): boolean => {
    if (conversation.state.execution_status === 'waiting_for_confirmation') resolve()
    return true
  }
  const reader = conversation.join({ from: 'now', encode: (json) => json, sink: { write: look, end: () => resolve() } })
  return { promise, stop: () => reader.close() }
}

async function endOf(conversation: Conversation): Promise<RunEnd> {
  const { execution_status: status } = conversation.state
  switch (status) {
    case 'finished':
      return { kind: 'finished' }
    case 'error':
    case 'stuck':
      return { kind: 'failed', status: 500, message: await failureOf(conversation, status) }
    case 'idle':
    case 'running':
    case 'paused':
    case 'waiting_for_confirmation':
    case 'deleting':
      return { kind: 'failed', status: 409, message: `The run did not finish: its status is "${status}"` }
  }
}

async function failureOf({ events }: Conversation, status: string): Promise<string> {
  const { items: [json] } = await events.page({ kind: 'ConversationErrorEvent', newestFirst: true, limit: 1 })
  const event = json === undefined ? undefined : storedEvent(await parseOwnJsonBytes(json))
  return event?.kind === 'ConversationErrorEvent' ? `${event.code}: ${event.detail}` : `The run ended with "${status}"`
}
