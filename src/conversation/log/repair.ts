/**
 * Makes a conversation writable again after its disk failed or was full (decisions 6 and 13).
 *
 * A failed log refuses all lines until it is reopened: at the end of the failed run, or else at the next write.
 * Reopening also records the end of a run that the status still shows.
 */
import { errorOf, type AppError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { ConversationLog } from '../../storage/log.ts'
import type { Reserve } from '../../storage/reserve.ts'
import type { AgentKind } from '../agent/agent.ts'
import type { Journal } from './journal.ts'
import { endOrphanedRun, type OrphanReason } from './orphaned-run.ts'

export interface RepairOptions {
  readonly kind: AgentKind
  readonly journal: Journal
  readonly log: ConversationLog
  readonly reserve: Reserve
  readonly diagnostics: Log
  /** Called after the log was reopened. Calls `AgentRecords.restore`, because lines may be lost. */
  readonly restore: () => void
}

export class Repair {
  readonly #options: RepairOptions
  #reopening: Promise<void> | undefined

  constructor(options: RepairOptions) {
    this.#options = options
  }

  /**
   * Checks that there is disk space. Reopens a failed log if no run is under way.
   * @throws AppError `storage_full`, `storage_failed`, `owned_by_another`; `unavailable` when the server is closed
   */
  async assertWritable(isRunning: () => boolean): Promise<void> {
    const { reserve, log } = this.#options
    await reserve.ensureHeld()
    if (log.failure !== undefined && !isRunning()) await this.#reopen(log.failure)
  }

  /** Reopens a failed log and records the run's end. Never rejects: if the log fails again, the next write retries. */
  async closeRun(cause: unknown): Promise<void> {
    const { log, reserve, diagnostics } = this.#options
    diagnostics.error('A run ended because its conversation cannot be read or written', { error: errorOf(cause) })
    try {
      if (log.failure?.code === 'storage_full') await reserve.release()
      if (log.failure !== undefined) await this.#reopen(log.failure)
      else await this.#endRun({ code: 'StorageFailed', detail: 'The conversation could not be read' })
    } catch (thrown) {
      diagnostics.error('The end of a run could not be recorded', { error: errorOf(thrown) })
    }
  }

  #reopen(failure: AppError): Promise<void> {
    this.#reopening ??= this.#recover(failure).finally(() => (this.#reopening = undefined))
    return this.#reopening
  }

  async #recover(failure: AppError): Promise<void> {
    await this.#options.journal.reopen()
    this.#options.restore()
    const code = failure.code === 'storage_full' ? 'StorageFull' : 'StorageFailed'
    await this.#endRun({ code, detail: failure.message })
  }

  async #endRun(reason: OrphanReason): Promise<void> {
    const { journal, kind } = this.#options
    endOrphanedRun(journal, kind, reason)
    await journal.durable()
  }
}
