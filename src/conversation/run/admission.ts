/**
 * Decides whether a conversation or a run may begin.
 *
 * An optional part of the server sets `Admission.rules`. Without rules, nothing is refused. A conversation or a run
 * counts from the decision on, so that concurrent requests cannot pass a limit together.
 */

export interface AdmissionRules {
  /** The configured limits by name: `conversations`, `runs` and `disk_bytes`. A name without a limit is absent. */
  readonly limits: Readonly<Record<string, number>>
  /**
   * Throws to refuse a new conversation. Otherwise counts it beside the existing conversations while it is created:
   * call the returned function once the creation has succeeded or failed.
   * @param madeBy the name of the named API key (parts/keys) that makes the conversation, if any
   * @throws AppError `too_many_conversations`, `storage_full`
   */
  creating(id: string, madeBy: string | undefined): () => void
  /**
   * Throws to refuse a run for a client. Otherwise counts it beside the current runs while it begins: call the
   * returned function once the run has begun or failed to begin.
   * @param madeBy the name of the named API key (parts/keys) that made the conversation, if any
   * @throws AppError `too_many_runs`, `storage_full`
   */
  starting(id: string, madeBy: string | undefined): () => void
  /**
   * Checks that the limits of disk space allow a message, a change of the model or an upload.
   * @param id the conversation; undefined for an upload
   * @throws AppError `storage_full`
   */
  assertSpace(madeBy: string | undefined, id?: string): void
}

export class Admission {
  rules: AdmissionRules | undefined

  /** Checks that a conversation may be made now. @throws the errors of `AdmissionRules.creating` */
  assertRoom(id: string, madeBy: string | undefined): void {
    this.rules?.creating(id, madeBy)()
  }

  /** Runs `work`, which makes a conversation. @throws the errors of `AdmissionRules.creating`; the errors of `work` */
  async create<T>(id: string, madeBy: string | undefined, work: () => Promise<T>): Promise<T> {
    return during(this.rules?.creating(id, madeBy), work)
  }

  /** Runs `work`, which begins a run. @throws the errors of `AdmissionRules.starting`; the errors of `work` */
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
  /** Checks the limits of disk space, except for a sub-agent that works for its parent. @throws `storage_full` */
  assertSpace(): void
  /**
   * Runs `work`, which may begin a run, if the limits allow a run. The limits do not apply while this conversation is
   * running, nor to a sub-agent that works for its parent.
   * @throws AppError `too_many_runs`, `storage_full`; the errors of `work`
   */
  run<T>(work: () => Promise<T>): Promise<T>
}
