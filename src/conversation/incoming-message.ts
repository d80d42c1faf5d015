/**
 * Records a user message.
 *
 * First the agent returns the events and contents that go with the message. That may take as long as the agent's hooks
 * and delays only this message. Then everything is recorded together. A skill whose text the model already has is left
 * out.
 */
import { toTextContent, type Message, type TextContent } from '../schema/generated/values.ts'
import { addedContent, blockedNote, blockedReason } from './blocked-message.ts'
import type { Driver } from './driver.ts'
import type { Journal } from './journal.ts'
import type { KeyedRequest } from './requests.ts'
import type { Titles } from './titles.ts'
import { assertFits, suffixOf, userMessageEvent, userMessageOf } from './user-message.ts'

export interface IncomingOptions {
  readonly journal: Journal
  readonly driver: Pick<Driver, 'introduce' | 'contextOf' | 'serve' | 'isRunning'>
  readonly titles: Pick<Titles, 'begin'>
  /** The largest event that the log accepts. */
  readonly eventLimitBytes: number
  /** @throws AppError when the conversation was closed meanwhile, or when the message is no longer wanted */
  readonly assertOpen: () => void
  readonly onRunEnd: () => Promise<void>
  /** The keyed request that the message came with. */
  readonly request?: KeyedRequest | undefined
}

/**
 * Records a message. With `run`, the message is served by the current run, or by a new one. Resolves when the message
 * is durable, with false when a hook refused it.
 * @throws AppError `body_too_large`, `conflict`
 */
export async function takeMessage(message: Message, run: boolean, options: IncomingOptions): Promise<boolean> {
  const isToBeServed = await recordMessage(message, run, options)
  if (!run) return isToBeServed
  options.assertOpen()
  if (isToBeServed) await options.driver.serve(options.request)
  else await finishUnserved(options)
  return isToBeServed
}

/** Records and runs a text of the server's own, unless the signal is aborted before it is recorded. */
export function takeText(text: string, signal: AbortSignal, options: IncomingOptions): Promise<boolean> {
  const assertOpen = (): void => {
    options.assertOpen()
    signal.throwIfAborted()
  }
  return takeMessage(userMessageOf({ content: [toTextContent({ text })] }), true, { ...options, assertOpen })
}

/** Serves a message that an earlier try of the request recorded before the server was stopped. */
export async function serveRecorded(messageId: string, { journal, driver, request }: IncomingOptions): Promise<void> {
  if (journal.state.unserved.includes(messageId)) return driver.serve(request)
  journal.answered(request)
  await journal.durable()
}

async function recordMessage(message: Message, run: boolean, options: IncomingOptions): Promise<boolean> {
  const { journal, driver, titles, eventLimitBytes, assertOpen, request } = options
  await driver.introduce()
  const { content, skills: called } = await driver.contextOf(message)
  const contextWith = (skills: typeof called): readonly TextContent[] => {
    return [...content, ...skills.map(({ text }) => addedContent(text)), ...suffixOf(journal.state.agent)]
  }
  await assertFits(userMessageEvent(message, contextWith(called)), eventLimitBytes)
  const given = journal.givenSkills()
  const skills = called.filter(({ name }) => !Object.hasOwn(given, name))
  const context = contextWith(skills)
  const refusal = blockedReason({ source: 'user', extended_content: context })
  const event = userMessageEvent(message, context, skills.map(({ name }) => name))
  assertOpen()
  journal.move('message')
  const keyed = request === undefined ? undefined : { ...request, ...(run ? { goes_on: true } : {}) }
  const { id } = journal.record(event, keyed)
  journal.update('last_user_message_id', id)
  if (refusal !== undefined) journal.record(blockedNote(refusal))
  titles.begin(message, { isShownToModels: refusal === undefined })
  await journal.durable()
  return refusal === undefined
}

/** Records a run without a turn, because a hook refused the message. */
async function finishUnserved({ journal, driver, onRunEnd, request }: IncomingOptions): Promise<void> {
  if (driver.isRunning || journal.status === 'waiting_for_confirmation') {
    journal.answered(request)
    return journal.durable()
  }
  journal.move('run', request)
  journal.move('finished')
  await journal.durable()
  await onRunEnd()
}
