/**
 * Pursues a goal of a conversation over several runs (contract/conversations.md, section 9).
 *
 * The objective is sent as a message that starts a run. After the run a model judges whether the goal is reached. If
 * not, the next message names the missing work, up to a limit of rounds. An interrupted goal can be resumed.
 */
import { AppError, errorOf } from '../../base/errors.ts'
import { toJsonObject } from '../../base/json.ts'
import type { Log } from '../../base/log.ts'
import { untilAborted } from '../../base/wait.ts'
import { toGoal, type Goal, type GoalVerdict } from '../../schema/generated/conversations.ts'
import type { Asides } from './asides.ts'
import type { Gate } from '../run/gate.ts'
import type { Inbox } from '../run/inbox.ts'
import type { Journal } from '../log/journal.ts'
import type { Runner } from '../run/runner.ts'
import type { Beginning } from '../run/admission.ts'
import { isEnded } from '../log/status-table.ts'

export interface GoalLoopOptions {
  readonly journal: Pick<Journal, 'state' | 'status' | 'update' | 'durable'>
  readonly diagnostics: Log
  readonly gate: Pick<Gate, 'assertWritable'>
  readonly runner: Pick<Runner, 'isRunning' | 'settled' | 'nextEnd'>
  readonly asides: Pick<Asides, 'hasJudge' | 'judgeGoal'>
  readonly inbox: Pick<Inbox, 'takeText'>
  readonly beginning: Pick<Beginning, 'run'>
}

/** A goal while it is pursued. */
interface Pursuit {
  /** The goal with its newest verdict. */
  goal: Goal
  readonly controller: AbortController
}

export class GoalLoop {
  readonly #options: GoalLoopOptions
  #pursuit: Pursuit | undefined
  /** Resolves when all pursuits so far have ended. */
  #work: Promise<void> = Promise.resolve()

  constructor(options: GoalLoopOptions) {
    this.#options = options
  }

  get isActive(): boolean {
    return this.#pursuit !== undefined
  }

  /**
   * Begins to pursue a goal. Resolves after the objective was recorded as a user message.
   * @throws AppError `bad_request` for an empty objective or an agent that cannot judge; `conflict` while a goal is
   * pursued; `already_running`; the errors of `Gate.assertWritable`, `AdmissionRules.starting` and `Inbox.take`
   */
  async start(objective: string, maxIterations: number): Promise<void> {
    if (objective.trim() === '') throw new AppError('bad_request', 'Cannot pursue a goal: the objective is empty')
    await this.#settled()
    const goal = { objective, iteration: 0, max_iterations: maxIterations, verdict: null }
    await this.#options.beginning.run(() => this.#begin(goal, objective))
  }

  /**
   * Resumes the newest goal where it was interrupted.
   * @throws the errors of `start`; `bad_request` when no goal can be resumed
   */
  async resume(): Promise<void> {
    const { goal } = this.#options.journal.state
    const isResumable = goal !== null && goal.status !== 'complete' && goal.status !== 'capped'
    if (!isResumable) throw new AppError('bad_request', 'no_resumable_goal')
    await this.#settled()
    await this.#options.beginning.run(() => this.#begin(goal, resumption(goal)))
  }

  /** Interrupts the goal, if any. The current run continues. */
  stop(): void {
    if (this.#pursuit !== undefined) this.#end(this.#pursuit, 'interrupted')
  }

  /** Interrupts the goal, if one is pursued. Resolves when its end is durable. */
  async interrupt(): Promise<void> {
    this.stop()
    await this.#options.journal.durable()
  }

  /** Interrupts the goal, if any. Resolves when its current round has ended. Idempotent. */
  async close(): Promise<void> {
    this.stop()
    await this.#work
  }

  async #settled(): Promise<void> {
    const { journal, gate, runner } = this.#options
    await gate.assertWritable()
    // A run whose end is published may still be writing its state cache.
    if (isEnded(journal.status)) await runner.settled()
  }

  /** Checks that a pursuit may begin. No `await` may follow before it begins, or another pursuit could begin first. */
  #assertFree(): void {
    const { journal, runner, asides } = this.#options
    if (!asides.hasJudge()) throw new AppError('bad_request', 'no_judge_llm')
    if (this.#pursuit !== undefined) {
      throw new AppError('conflict', 'Cannot pursue a goal: another goal is pursued already')
    }
    if (runner.isRunning || !isEnded(journal.status)) {
      throw new AppError('already_running', 'Cannot pursue a goal: the conversation is running')
    }
  }

  async #begin(goal: Omit<Goal, 'active' | 'status'>, text: string): Promise<void> {
    this.#assertFree()
    const pursuit = { goal: { ...goal, active: true, status: 'running' as const }, controller: new AbortController() }
    this.#pursuit = pursuit
    try {
      this.#record(pursuit.goal)
      const isTaken = await this.#options.inbox.takeText(text, pursuit.controller.signal)
      if (!isTaken) this.#end(pursuit, 'interrupted')
    } catch (thrown) {
      this.#end(pursuit, 'interrupted')
      throw thrown
    }
    const before = this.#work
    this.#work = before.then(() => this.#pursue(pursuit))
  }

  /** Runs rounds until the pursuit ends. Never rejects. */
  async #pursue(pursuit: Pursuit): Promise<void> {
    const { signal } = pursuit.controller
    try {
      while (!signal.aborted) await this.#round(pursuit, signal)
    } catch (thrown) {
      if (signal.aborted) return
      this.#options.diagnostics.warn('A goal was interrupted', { error: errorOf(thrown) })
      this.#end(pursuit, 'interrupted')
    }
  }

  async #round(pursuit: Pursuit, signal: AbortSignal): Promise<void> {
    const { journal, gate, asides, inbox } = this.#options
    await this.#untilRunEnded(signal)
    if (journal.status !== 'finished' && journal.status !== 'stuck') return this.#end(pursuit, 'interrupted')
    const verdict = await asides.judgeGoal(pursuit.goal.objective, signal)
    signal.throwIfAborted()
    const iteration = pursuit.goal.iteration + 1
    pursuit.goal = { ...pursuit.goal, iteration, verdict }
    if (verdict.complete) return this.#end(pursuit, 'complete')
    if (iteration >= pursuit.goal.max_iterations) return this.#end(pursuit, 'capped')
    await gate.assertWritable()
    signal.throwIfAborted()
    this.#record(pursuit.goal)
    const isTaken = await inbox.takeText(followUp(pursuit.goal, verdict), signal)
    if (!isTaken) this.#end(pursuit, 'interrupted')
  }

  /** Resolves when no run is under way and no confirmation is pending. */
  async #untilRunEnded(signal: AbortSignal): Promise<void> {
    const { journal, runner } = this.#options
    for (;;) {
      await untilAborted(runner.settled(), signal)
      signal.throwIfAborted()
      if (!runner.isRunning && isEnded(journal.status)) return
      await untilAborted(runner.nextEnd(), signal)
    }
  }

  /** Ends the pursuit and records its end. Does nothing for a pursuit that has ended. */
  #end(pursuit: Pursuit, status: 'complete' | 'capped' | 'interrupted'): void {
    if (this.#pursuit !== pursuit) return
    this.#pursuit = undefined
    pursuit.controller.abort(new AppError('conflict', 'The goal was ended'))
    try {
      this.#record({ ...pursuit.goal, active: false, status })
    } catch (thrown) {
      this.#options.diagnostics.warn('The end of a goal could not be recorded', { error: errorOf(thrown) })
    }
  }

  #record(goal: Goal): void {
    this.#options.journal.update('goal', toJsonObject(toGoal(goal)))
  }
}

/** Records that the goal was interrupted if it was being pursued when the server was killed. */
export function endOrphanedGoal(journal: Pick<Journal, 'state' | 'update'>): void {
  const { goal } = journal.state
  if (goal?.active === true) journal.update('goal', toJsonObject({ ...goal, active: false, status: 'interrupted' }))
}

/** A published client recognizes the messages of a goal by these beginnings. */
const notReached = 'The goal is NOT yet complete (audit iteration'
const resumed = 'Resuming a goal that was paused or interrupted.'

function followUp({ objective, iteration, max_iterations: limit }: Goal, { score, missing }: GoalVerdict): string {
  const judged = `${notReached} ${iteration} of ${limit}): a judge scores it with ${score.toFixed(2)} of 1.`
  return `${judged} What is missing:\n\n${missing}\n\n${reminder(objective)}`
}

function resumption({ objective, verdict }: Goal): string {
  const isEmpty = verdict === null || verdict.missing === ''
  const missing = isEmpty ? '' : `What was missing when it was judged last:\n\n${verdict.missing}\n\n`
  return `${resumed} ${missing}${reminder(objective)}`
}

function reminder(objective: string): string {
  return `The goal:\n\n${objective}\n\nSee for yourself how far it is, do what is missing, and check it.`
}
