/**
 * The confirmations of the current turn, asked one at a time and in order (decisions 15).
 *
 * Only the first confirmation is pending: it waits for the user's answer, and is denied at its deadline. The agent may
 * withdraw a confirmation, and the end of the turn cancels all.
 */
import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../base/json.ts'
import { formatMicros, type Clock } from '../../base/stamp.ts'
import type {
  ConfirmationAnswer, QuestionDiff, QuestionDraft, QuestionLocation, QuestionOption,
} from '../agent/agent.ts'

/** A pending confirmation as clients see it. */
export interface PendingConfirmation {
  readonly id: string
  readonly tool_call_id: string
  /** Id of the ActionEvent that describes the action; null without such an event. */
  readonly action_id: string | null
  readonly title: string
  readonly command: string | null
  readonly diff: QuestionDiff | null
  readonly locations: readonly QuestionLocation[]
  readonly options: readonly QuestionOption[]
  /** Time at which the confirmation is denied: ISO 8601, UTC. Null for a confirmation without a deadline. */
  readonly deadline: string | null
}

export interface ConfirmationsOptions {
  readonly clock: Clock
  readonly deadlineMs: number
  /** Called with the result of `list` each time that this result has changed. */
  readonly onChange: (open: readonly PendingConfirmation[]) => void
}

interface Question {
  readonly id: string
  readonly draft: QuestionDraft
  readonly signal: AbortSignal
  readonly settle: (answer: ConfirmationAnswer) => void
  /** The time at which the confirmation is denied; undefined until the confirmation becomes pending. */
  deadline: string | undefined
  timer: NodeJS.Timeout | undefined
}

export class Confirmations {
  readonly #options: ConfirmationsOptions
  /** All unanswered confirmations, in the order of the calls of `ask`. Only the first is pending. */
  readonly #asked = new Map<string, Question>()

  constructor(options: ConfirmationsOptions) {
    this.#options = options
  }

  /** Returns the pending confirmation as a list of one; an empty list if no confirmation is pending. */
  list(): PendingConfirmation[] {
    const [open] = this.#asked.values()
    return open === undefined ? [] : [shown(open)]
  }

  /**
   * Asks the user, after the earlier confirmations. An abort of `withdrawn` cancels this confirmation. An abort of
   * `signal` cancels all confirmations that were asked with the same signal.
   */
  ask(draft: QuestionDraft, signal: AbortSignal, withdrawn?: AbortSignal): Promise<ConfirmationAnswer> {
    if (signal.aborted || withdrawn?.aborted === true) return Promise.resolve({ outcome: 'cancelled' })
    return new Promise((resolve) => {
      const id = randomUUID()
      const cancel = (): void => this.#cancel((question) => question.signal === signal)
      const withdraw = (): void => this.#settle(id, { outcome: 'cancelled' })
      const settle = (answer: ConfirmationAnswer): void => {
        signal.removeEventListener('abort', cancel)
        withdrawn?.removeEventListener('abort', withdraw)
        resolve(answer)
      }
      signal.addEventListener('abort', cancel, { once: true })
      withdrawn?.addEventListener('abort', withdraw, { once: true })
      this.#asked.set(id, { id, draft, signal, settle, deadline: undefined, timer: undefined })
      if (this.#asked.size === 1) this.#open()
    })
  }

  /** Answers the pending confirmation. Returns false when no confirmation is pending or `id` does not match. */
  answer(answer: ConfirmationAnswer, id?: string): boolean {
    const [open] = this.#asked.keys()
    if (open === undefined || (id !== undefined && id !== open)) return false
    this.#settle(open, answer)
    return true
  }

  /** Cancels all confirmations that are not answered. `ask` can be called again afterwards. */
  close(): void {
    this.#cancel(() => true)
  }

  /** Cancels the selected confirmations, the newest first, so that none of them becomes pending in between. */
  #cancel(isMeant: (question: Question) => boolean): void {
    const meant = [...this.#asked.values()].filter(isMeant).reverse()
    for (const { id } of meant) this.#settle(id, { outcome: 'cancelled' })
  }

  #open(): void {
    const [question] = this.#asked.values()
    if (question !== undefined) {
      const { clock, deadlineMs } = this.#options
      question.deadline = formatMicros((clock() + deadlineMs) * 1000)
      question.timer = setTimeout(() => this.#settle(question.id, late), deadlineMs)
    }
    this.#options.onChange(this.list())
  }

  #settle(id: string, answer: ConfirmationAnswer): void {
    const question = this.#asked.get(id)
    if (question === undefined) return
    clearTimeout(question.timer)
    this.#asked.delete(id)
    if (question.deadline !== undefined) this.#open()
    question.settle(answer)
  }
}

const late: ConfirmationAnswer = { outcome: 'denied', reason: 'Nobody answered in time', by: 'deadline' }

function shown({ id, draft, deadline = '' }: Question): PendingConfirmation {
  const { toolCallId, actionId, title, command, diff, locations = [], options } = draft
  const said = { title, command: command ?? null, diff: diff ?? null, locations, options }
  return { id, tool_call_id: toolCallId, action_id: actionId ?? null, ...said, deadline }
}

/** The most characters of the command or the title in `askedLine`. */
const nameChars = 300

/** Returns a line that names the action of a confirmation by its command or title. */
export function askedLine({ command, title }: PendingConfirmation): string {
  return `\n[Asks: ${(command ?? title).slice(0, nameChars)}]\n`
}

/** Returns a confirmation as JSON, for the update `pending_confirmations`. */
export function confirmationValue(question: PendingConfirmation): JsonObject {
  const { options, locations, diff, ...rest } = question
  return {
    ...rest,
    diff: diff === null ? null : { ...diff },
    locations: locations.map((location) => ({ ...location })),
    options: options.map(({ id, name, kind }) => ({ id, name, kind })),
  }
}
