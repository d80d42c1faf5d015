/**
 * Permission questions of the turn under way, asked one at a time and in order, and their deadlines (decisions 15).
 *
 * A published client shows one question and one button, and one click must not allow what is hidden: only the first is
 * open, the others wait for their turn and for their deadline to begin. A question has an id of its own, is listed over
 * REST and in the state update `pending_confirmations`, and ends in exactly one of four ways: the user answers, the
 * deadline passes (denied), the turn is stopped, or the agent withdraws it (cancelled, both). The owner hears of every change
 * and publishes it; nothing here is stored, since a question of an external agent dies with its process.
 */
import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../base/json.ts'
import { formatMicros, type Clock } from '../base/stamp.ts'
import type { Answer, QuestionDiff, QuestionDraft, QuestionLocation, QuestionOption } from './agent.ts'

/** One open question as clients see it. */
export interface PendingConfirmation {
  readonly id: string
  readonly tool_call_id: string
  /** The ActionEvent that says all of it. */
  readonly action_id: string | null
  readonly title: string
  readonly command: string | null
  readonly diff: QuestionDiff | null
  readonly locations: readonly QuestionLocation[]
  readonly options: readonly QuestionOption[]
  /** When it will be denied if nobody answers: ISO 8601, UTC. Null when it waits for ever. */
  readonly deadline: string | null
}

export interface QuestionsOptions {
  readonly clock: Clock
  readonly deadlineMs: number
  /** Called after every change with what is open now. */
  readonly onChange: (open: readonly PendingConfirmation[]) => void
}

interface Question {
  readonly id: string
  readonly draft: QuestionDraft
  readonly signal: AbortSignal
  readonly settle: (answer: Answer) => void
  /** Set when it opens. */
  deadline: string | undefined
  timer: NodeJS.Timeout | undefined
}

export class Questions {
  readonly #options: QuestionsOptions
  /** In the order in which they were asked; the first is open. */
  readonly #asked = new Map<string, Question>()

  constructor(options: QuestionsOptions) {
    this.#options = options
  }

  /** The open question, if there is one. */
  list(): PendingConfirmation[] {
    const [open] = this.#asked.values()
    return open === undefined ? [] : [shown(open)]
  }

  /** Asks, as soon as the questions before have ended, and waits for the end. `withdrawn` ends this question alone. */
  ask(draft: QuestionDraft, signal: AbortSignal, withdrawn?: AbortSignal): Promise<Answer> {
    if (signal.aborted || withdrawn?.aborted === true) return Promise.resolve({ outcome: 'cancelled' })
    return new Promise((resolve) => {
      const id = randomUUID()
      const cancel = (): void => this.#cancel((question) => question.signal === signal)
      const withdraw = (): void => this.#settle(id, { outcome: 'cancelled' })
      const settle = (answer: Answer): void => {
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

  /** Answers the open question; false when there is none, or the id is that of another. */
  answer(answer: Answer, id?: string): boolean {
    const [open] = this.#asked.keys()
    if (open === undefined || (id !== undefined && id !== open)) return false
    this.#settle(open, answer)
    return true
  }

  /** Cancels what is open and what waits. */
  close(): void {
    this.#cancel(() => true)
  }

  /** Those that wait go first: none of them is to open now. */
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

  #settle(id: string, answer: Answer): void {
    const question = this.#asked.get(id)
    if (question === undefined) return
    clearTimeout(question.timer)
    this.#asked.delete(id)
    if (question.deadline !== undefined) this.#open()
    question.settle(answer)
  }
}

const late: Answer = { outcome: 'denied', reason: 'Nobody answered in time', by: 'deadline' }

function shown({ id, draft, deadline = '' }: Question): PendingConfirmation {
  const { toolCallId, actionId, title, command, diff, locations = [], options } = draft
  const said = { title, command: command ?? null, diff: diff ?? null, locations, options }
  return { id, tool_call_id: toolCallId, action_id: actionId ?? null, ...said, deadline }
}

/** A question as the state shows it. */
export function confirmationValue(question: PendingConfirmation): JsonObject {
  const { options, locations, diff, ...rest } = question
  return {
    ...rest,
    diff: diff === null ? null : { ...diff },
    locations: locations.map((location) => ({ ...location })),
    options: options.map(({ id, name, kind }) => ({ id, name, kind })),
  }
}
