/**
 * Permission questions that are open in a conversation, and their deadlines (decisions 15).
 *
 * A question has an id of its own, is listed over REST and in the state update `pending_confirmations`, and ends in
 * exactly one of three ways: the user answers, the deadline passes (denied), or the turn is stopped (cancelled).
 * The owner hears of every change and publishes it; nothing here is stored, since a question of an external agent
 * dies with its process.
 */
import { randomUUID } from 'node:crypto'
import { formatMicros, type Clock } from '../base/stamp.ts'
import type { Answer, QuestionDraft, QuestionOption } from './agent.ts'

/** One open question as clients see it. */
export interface PendingConfirmation {
  readonly id: string
  readonly tool_call_id: string
  readonly title: string
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

interface OpenQuestion {
  readonly shown: PendingConfirmation
  readonly settle: (answer: Answer) => void
}

export class Questions {
  readonly #options: QuestionsOptions
  readonly #open = new Map<string, OpenQuestion>()

  constructor(options: QuestionsOptions) {
    this.#options = options
  }

  list(): PendingConfirmation[] {
    return [...this.#open.values()].map((question) => question.shown)
  }

  /** Opens a question and waits for its end. */
  ask(draft: QuestionDraft, signal: AbortSignal): Promise<Answer> {
    if (signal.aborted) return Promise.resolve({ outcome: 'cancelled' })
    return new Promise((resolve) => {
      const { clock, deadlineMs } = this.#options
      const id = randomUUID()
      const cancel = (): void => settle({ outcome: 'cancelled' })
      const timer = setTimeout(() => settle({ outcome: 'denied', reason: 'Nobody answered in time' }), deadlineMs)
      const settle = (answer: Answer): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', cancel)
        if (!this.#open.delete(id)) return
        this.#options.onChange(this.list())
        resolve(answer)
      }
      signal.addEventListener('abort', cancel, { once: true })
      const deadline = formatMicros((clock() + deadlineMs) * 1000)
      this.#open.set(id, {
        shown: { id, tool_call_id: draft.toolCallId, title: draft.title, options: draft.options, deadline },
        settle,
      })
      this.#options.onChange(this.list())
    })
  }

  /** Answers the question with this id, or all of them. False when there was nothing to answer. */
  answer(answer: Answer, id?: string): boolean {
    const chosen = id === undefined ? [...this.#open.values()] : [this.#open.get(id)]
    const found = chosen.filter((question) => question !== undefined)
    for (const question of found) question.settle(answer)
    return found.length > 0
  }

  /** Cancels whatever is open. */
  close(): void {
    this.answer({ outcome: 'cancelled' })
  }
}
