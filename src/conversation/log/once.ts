/** Runs a request with an idempotency key once. A repeat waits while the first runs, and later finds its record. */
import type { EventReader } from './event-reader.ts'
import { isSame, recordsOf, type KeyedRequest, type RequestRecord } from './requests.ts'

/** The requests with an idempotency key that are under way. A repeated request waits for the result of the first. */
export class OpenRequests<T> {
  readonly #open = new Map<string, { readonly request: KeyedRequest; readonly end: Promise<T> }>()

  /**
   * Returns the result of an equal request under way, or else of `work`.
   * @throws AppError `idempotency_mismatch` when another request with the same key is under way; the errors of `work`
   */
  async join(request: KeyedRequest, work: () => Promise<T>): Promise<T> {
    const open = this.#open.get(request.key)
    if (open !== undefined && isSame(open.request, request)) return open.end
    const end = work().finally(() => this.#open.delete(request.key))
    this.#open.set(request.key, { request, end })
    return end
  }

  /** True when an equal request is under way. @throws AppError `idempotency_mismatch`, as `join` does */
  has(request: KeyedRequest): boolean {
    const open = this.#open.get(request.key)
    return open !== undefined && isSame(open.request, request)
  }
}

export interface RequestsOptions {
  readonly events: EventReader
  readonly known: () => readonly RequestRecord[]
}

export class Requests {
  readonly #options: RequestsOptions
  readonly #open = new OpenRequests<void>()

  constructor(options: RequestsOptions) {
    this.#options = options
  }

  /**
   * Runs `work`, unless an equal request is done already. If an equal request is under way, waits for that one instead.
   * `work` must record the request together with its effect. Its argument `done` is the id of the event that an
   * earlier, incomplete try of the request recorded, if any.
   * @throws AppError `idempotency_mismatch`; the errors of `work`
   */
  once(request: KeyedRequest | undefined, work: (done: string | undefined) => Promise<void>): Promise<void> {
    if (request === undefined) return work(undefined)
    return this.#open.join(request, async () => {
      const done = await this.#find(request)
      if (done === undefined || done.goes_on === true) await work(done?.event ?? undefined)
    })
  }

  /** Finds the request's newest record whose event, if any, is in the log. @throws AppError `idempotency_mismatch` */
  async #find(request: KeyedRequest): Promise<RequestRecord | undefined> {
    const { events, known } = this.#options
    for (const record of recordsOf(known(), request)) {
      const isDone = record.event === null || (await events.find(record.event)) !== undefined
      if (isDone && isSame(record, request)) return record
    }
    return undefined
  }
}
