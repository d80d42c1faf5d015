/**
 * Decides whether a conversation or a run may begin.
 *
 * A part with limits sets `Admission.rules`; without it everything may begin. Work that is under way is never refused.
 * Conversations and runs count from the decision on, so requests at the same moment cannot pass a limit together.
 */

export interface AdmissionRules {
  /** The limits of the server, by name. A name without a limit is absent. */
  readonly limits: Readonly<Record<string, number>>
  /**
   * Decides on a new conversation. Until the returned function is called, it counts as an existing conversation.
   * @param madeBy the name of the named key that makes it; undefined for any other client
   * @throws AppError `too_many_conversations`, `storage_full`
   */
  creating(id: string, madeBy: string | undefined): () => void
  /**
   * Decides on a run that a client begins. Until the returned function is called, it counts as a run under way.
   * @param madeBy the name of the named key that made the conversation
   * @throws AppError `too_many_runs`, `storage_full`
   */
  starting(id: string, madeBy: string | undefined): () => void
  /**
   * Decides on a message or a new model, with the key that made the conversation, or on an upload.
   * @param id the conversation; undefined for an upload. While a run of it is about to begin, nothing is refused.
   * @throws AppError `storage_full`
   */
  assertSpace(madeBy: string | undefined, id?: string): void
}

export class Admission {
  rules: AdmissionRules | undefined

  /** Checks that a conversation may be made now. @throws AppError as `AdmissionRules.creating` */
  assertRoom(id: string, madeBy: string | undefined): void {
    this.rules?.creating(id, madeBy)()
  }

  /** Runs `work`, which makes a conversation. @throws AppError as `AdmissionRules.creating` */
  async create<T>(id: string, madeBy: string | undefined, work: () => Promise<T>): Promise<T> {
    return during(this.rules?.creating(id, madeBy), work)
  }

  /** Runs `work`, which begins a run. @throws AppError as `AdmissionRules.starting` */
  async start<T>(id: string, madeBy: string | undefined, work: () => Promise<T>): Promise<T> {
    return during(this.rules?.starting(id, madeBy), work)
  }
}

async function during<T>(release: (() => void) | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } finally {
    release?.()
  }
}

/** The checks of `Admission` for the messages and runs of one conversation. */
export interface Beginning {
  /** Checks the space, but not of a sub-agent that works for its parent. @throws AppError `storage_full` */
  assertSpace(): void
  /**
   * Runs `work`, which may begin a run. Never refuses during a run, or for a sub-agent that works for its parent.
   * @throws AppError `too_many_runs`, `storage_full`; the errors of `work`
   */
  run<T>(work: () => Promise<T>): Promise<T>
}
