/** Decides whether a conversation accepts a change: it must be open, and its log must accept lines. */
import { AppError } from '../../base/errors.ts'
import type { Journal } from '../log/journal.ts'
import type { Repair } from '../log/repair.ts'
import type { Runner } from './runner.ts'

export interface GateOptions {
  readonly journal: Pick<Journal, 'durable'>
  readonly repair: Pick<Repair, 'assertWritable'>
  readonly runner: Pick<Runner, 'isRunning'>
}

export class Gate {
  readonly #options: GateOptions
  #isClosed = false

  constructor(options: GateOptions) {
    this.#options = options
  }

  /** Checks that the conversation is open. @throws AppError `conflict` when it is being closed or deleted */
  assertOpen(): void {
    if (this.#isClosed) throw new AppError('conflict', 'The conversation is being closed or deleted')
  }

  /** Does `assertOpen` and `Repair.assertWritable`, which may reopen a failed log. @throws the errors of both */
  async assertWritable(): Promise<void> {
    this.assertOpen()
    await this.#options.repair.assertWritable(() => this.#options.runner.isRunning)
    this.assertOpen()
  }

  /**
   * Runs `work`, and returns its result when the log lines that `work` recorded are durable.
   * @throws the errors of `assertWritable`, `work`, `Journal.durable`
   */
  async write<T>(work: () => T | Promise<T>): Promise<T> {
    await this.assertWritable()
    const result = await work()
    await this.#options.journal.durable()
    return result
  }

  close(): void {
    this.#isClosed = true
  }
}
