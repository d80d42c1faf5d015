/**
 * Records user messages, and starts a run for them if requested.
 *
 * Text that the built-in agent or the agent's settings add to a message is recorded in the event of the message.
 */
import { toTextContent, type Message, type TextContent } from '../../schema/generated/values.ts'
import type { AgentSeat } from './agent-seat.ts'
import { addedContent, blockedNote, blockedReason } from '../log/blocked-message.ts'
import type { EventReader } from '../log/event-reader.ts'
import type { Gate } from './gate.ts'
import type { Journal } from '../log/journal.ts'
import type { KeyedRequest, RequestRecord } from '../log/requests.ts'
import type { Runner } from './runner.ts'
import type { TurnRunner } from './turn-runner.ts'
import { assertFits, suffixOf, userMessageEvent, userMessageOf } from '../log/user-message.ts'

export interface InboxOptions {
  readonly journal: Journal
  readonly events: EventReader
  readonly gate: Gate
  readonly seat: AgentSeat
  readonly runner: Runner
  readonly turns: Pick<TurnRunner, 'beforeMessage'>
  readonly titles: TitleMaker
  /** The length in bytes of the largest event that the log accepts. */
  readonly eventLimitBytes: number
}

export interface TitleMaker {
  begin(message: Message, options: { readonly isShownToModels: boolean }): void
}

export interface Delivery {
  /** True if the current run or a new run must give the message to the agent. A hook may refuse the message. */
  readonly run: boolean
  readonly request?: KeyedRequest | undefined
  /** Aborted when the message is no longer wanted. A message that is recorded already stays. */
  readonly signal?: AbortSignal
}

export class Inbox {
  readonly #options: InboxOptions
  #introducing: Promise<void> | undefined

  constructor(options: InboxOptions) {
    this.#options = options
  }

  /**
   * Records a message durably. Returns false if a hook refused the message. With `run`, then calls `Runner.serve`, or
   * `Runner.finishUnserved` for a refused message.
   * @throws AppError, such as `body_too_large` or `conflict`; `signal.reason`
   */
  async take(message: Message, delivery: Delivery): Promise<boolean> {
    const isToBeServed = await this.#record(message, delivery)
    if (!delivery.run) return isToBeServed
    this.#assertWanted(delivery)
    const { runner } = this.#options
    await (isToBeServed ? runner.serve(delivery.request) : runner.finishUnserved(delivery.request))
    return isToBeServed
  }

  /** Calls `take` with `run`, for a text that the server writes as a user message. */
  takeText(text: string, signal: AbortSignal): Promise<boolean> {
    return this.take(userMessageOf({ content: [toTextContent({ text })] }), { run: true, signal })
  }

  /** Handles the repeat of a request whose message is recorded. If no turn has got the message, has a run serve it. */
  async serveRecorded(messageId: string, request: KeyedRequest | undefined): Promise<void> {
    const { journal, runner } = this.#options
    if (journal.state.unserved.includes(messageId)) return runner.serve(request)
    journal.answered(request)
    await journal.durable()
  }

  async #record(message: Message, delivery: Delivery): Promise<boolean> {
    const { journal, seat, turns, titles, eventLimitBytes } = this.#options
    await this.#introduceAgent()
    const { content, skills: called } = (await seat.messageReader()?.contextOf?.(message)) ?? nothing
    const contextWith = (skills: typeof called): readonly TextContent[] => {
      return [...content, ...skills.map(({ text }) => addedContent(text)), ...suffixOf(journal.state.agent)]
    }
    await assertFits(userMessageEvent(message, contextWith(called)), eventLimitBytes)
    const given = journal.givenSkills()
    const skills = called.filter(({ name }) => !Object.hasOwn(given, name))
    const context = contextWith(skills)
    const refusal = blockedReason({ source: 'user', extended_content: context })
    const event = userMessageEvent(message, context, skills.map(({ name }) => name))
    this.#assertWanted(delivery)
    turns.beforeMessage()
    journal.move('message')
    const { id } = journal.record(event, keyedOf(delivery))
    journal.update('last_user_message_id', id)
    if (refusal !== undefined) journal.record(blockedNote(refusal))
    titles.begin(message, { isShownToModels: refusal === undefined })
    await journal.durable()
    return refusal === undefined
  }

  /** Records the agent's introduction (a SystemPromptEvent), if it has one, once and before the first user message. */
  async #introduceAgent(): Promise<void> {
    const { journal, events, gate, seat } = this.#options
    if (journal.state.last_user_message_id !== null) return
    const reader = seat.messageReader()
    if (reader?.introduction === undefined || events.hasKind('SystemPromptEvent')) return
    this.#introducing ??= reader.introduction()
      .then((draft) => {
        gate.assertOpen()
        return journal.record(draft).durable()
      })
      .finally(() => (this.#introducing = undefined))
    await this.#introducing
  }

  #assertWanted({ signal }: Delivery): void {
    this.#options.gate.assertOpen()
    signal?.throwIfAborted()
  }
}

const nothing = { content: [], skills: [] }

/** Returns the request's record, if any, to store before the message. With `run`, a second record follows later. */
function keyedOf({ request, run }: Delivery): Omit<RequestRecord, 'event'> | undefined {
  return request === undefined || !run ? request : { ...request, goes_on: true }
}
