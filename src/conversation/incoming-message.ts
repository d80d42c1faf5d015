/**
 * A message of the user on its way into the history.
 *
 * Before it is recorded, the agent says what stands in front of it and what goes with it; that may take as long as its
 * hooks do, and holds up nothing but this message. What is recorded then is recorded in one go; a
 * skill whose text the model has already is not given again.
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
  /** What the log takes as one event. */
  readonly eventLimitBytes: number
  /** @throws AppError when the conversation has been closed meanwhile, or the message is not wanted any more */
  readonly assertOpen: () => void
  readonly onRunEnd: () => Promise<void>
  /** What the message came with. */
  readonly request?: KeyedRequest | undefined
}

/**
 * Records a message and, if asked, has it served: by a new run, or by the one under way. Resolves when it is durable,
 * with whether it is to be served: a hook may have refused it.
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

/** The same for a text of the server's own, unless the signal is aborted before it is recorded. */
export function takeText(text: string, signal: AbortSignal, options: IncomingOptions): Promise<boolean> {
  const assertOpen = (): void => {
    options.assertOpen()
    signal.throwIfAborted()
  }
  return takeMessage(userMessageOf({ content: [toTextContent({ text })] }), true, { ...options, assertOpen })
}

/** Has a message served that a request has brought before, when the server was stopped in between. */
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
  const { id } = journal.record(event, request === undefined ? undefined : { ...request, ...(run ? { goes_on: true } : {}) })
  journal.update('last_user_message_id', id)
  if (refusal !== undefined) journal.record(blockedNote(refusal))
  titles.begin(message, { isShownToModels: refusal === undefined })
  await journal.durable()
  return refusal === undefined
}

/** A run that has nothing to do, because a hook refused what it was for. */
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
