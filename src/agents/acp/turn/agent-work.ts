/**
 * Handles the messages of an external agent in one turn: records its updates and answers its permission requests.
 *
 * Each message restarts the idle timer (`idleMs`). The timer is stopped while a question to the user is open.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Fields } from '../../../base/fields.ts'
import type { Log } from '../../../base/log.ts'
import { andThen } from '../../../base/wait.ts'
import type { Turn } from '../../../conversation/agent/agent.ts'
import type { AgentHost } from '../../../conversation/agent/host.ts'
import type { CallMemory } from '../calls/call-memory.ts'
import type { ObservationFiles } from '../calls/observation-files.ts'
import type { Timer, Timers } from '../calls/timers.ts'
import type { AgentListener } from '../session/connection.ts'
import type { AcpFailure } from '../session/failure.ts'
import type { PermissionResult } from '../session/permissions.ts'
import { sessionIdMask, sessionMask } from '../session/session-mask.ts'
import type { AcpSession } from '../session/session.ts'
import { isModeNotice, isWork } from '../session/updates.ts'
import { chunksOf, isLong, maskedInTurns } from './long-updates.ts'
import { Silence } from './silence.ts'
import { mergeSigns, type FailureSigns } from './stop-reason.ts'
import { TurnEvents } from './turn-events.ts'
import { TurnPermissions } from './turn-permissions.ts'
import type { UnaskedCalls } from './unasked-calls.ts'
import { mergeContextUse, mergeMetaUse, type ContextUse } from './usage.ts'

export interface AgentWorkOptions {
  readonly session: AcpSession
  readonly turn: Turn
  readonly signal: AbortSignal
  readonly host: AgentHost
  readonly files: ObservationFiles
  readonly memory: CallMemory
  readonly unasked: UnaskedCalls
  readonly timers: Timers
  readonly log: Log
  readonly turnId: string
  /** The setting `acp_prompt_timeout`, in milliseconds. */
  readonly idleMs: number
  /** The time between two checks of the program's stderr (`Silence`). Default 15 s. */
  readonly silenceMs?: number | undefined
}

export interface AgentWorkEvents {
  /** Called when the agent sent nothing for `idleMs`. The time does not run while a question to the user is open. */
  silent(): void
  /** Called when the turn has to stop, because the agent ran a call without a permission that the call needed. */
  unasked(failure: AcpFailure): void
  updated?(update: Fields): void
}

export class AgentWork implements AgentListener {
  readonly events: TurnEvents
  readonly permissions: TurnPermissions
  readonly #options: AgentWorkOptions
  readonly #listener: AgentWorkEvents
  #idle: Timer | undefined
  #isEnding = false
  #hasWorked = false
  #signs: FailureSigns = {}
  readonly #silence: Silence
  /** The promise of the newest update in progress; undefined when no update is in progress. */
  #taking: Promise<void> | undefined
  #context: ContextUse = {}

  constructor(options: AgentWorkOptions, listener: AgentWorkEvents) {
    const { session, turn, signal, host, files, memory, unasked, timers, log, turnId } = options
    this.#options = options
    this.#listener = listener
    this.events = new TurnEvents({
      turnId,
      memory,
      workingDir: host.workingDir,
      titleIsCommand: session.agent.quirks.titleIsCommand === true,
      observationsDir: host.observationsDir,
      record: (draft) => turn.record(draft),
      delta: (piece) => turn.delta(piece),
      mask: sessionMask(host),
      maskDelta: sessionIdMask(host),
      stream: () => host.maskingStream(),
      saveOutput: (text) => files.save(text),
      ran: (ran) => {
        const failure = unasked.see(ran, session)
        if (failure !== undefined) listener.unasked(failure)
      },
      timers,
      log,
    })
    turn.onMessage(() => this.events.endText())
    const mask = sessionMask(host)
    this.#silence = new Silence({
      timers,
      stderrTail: () => session.connection.stderrTail(),
      isWaiting: () => this.isWaiting,
      idleTalk: session.agent.quirks.idleTalk,
      everyMs: options.silenceMs,
      tell: (trouble) => host.state({ acp_trouble: trouble === undefined ? null : mask(trouble) }),
    })
    const onQuestions = (): void => this.startIdle()
    this.permissions = new TurnPermissions({ events: this.events, turn, signal, host, log, onQuestions })
  }

  /** The usage figures from the updates so far. */
  get context(): ContextUse {
    return this.#context
  }

  /** True once an update reported work (`isWork`) other than a change of mode, or the agent asked for a permission. */
  get hasWorked(): boolean {
    return this.#hasWorked
  }

  /** The signs of a failure of the agent's model in the updates so far. */
  get signs(): FailureSigns {
    return this.#signs
  }

  get isWaiting(): boolean {
    return this.permissions.openQuestions > 0 || this.events.hasOpenCalls
  }

  onUpdate(update: Fields): Promise<void> | undefined {
    this.#idle?.restart()
    if (update['sessionUpdate'] === 'usage_update') this.#context = mergeContextUse(this.#context, update)
    this.#context = mergeMetaUse(this.#context, update)
    this.#signs = mergeSigns(this.#signs, update, this.#options.session.agent.quirks)
    this.#silence.heard()
    if (isModeNotice(update)) return undefined
    this.#hasWorked ||= isWork(update)
    const taking = this.#inOrder(() => this.#take(update))
    return taking === undefined ? this.#backlog() : taking.then(() => this.#backlog())
  }

  onPermission(params: Fields, withdrawn: AbortSignal): Promise<PermissionResult> {
    this.#hasWorked = true
    this.#idle?.restart()
    const answer = (): Promise<PermissionResult> => this.permissions.answer(params, withdrawn)
    return this.#taking === undefined ? answer() : this.settled().then(answer)
  }

  /** Resolves when the updates so far are processed. */
  async settled(): Promise<void> {
    await this.#taking?.catch(() => undefined) // The promise of `onUpdate` rejects with this error.
  }

  /** Runs `take` at once, or after the update in progress: an update may take several turns of the event loop. */
  #inOrder(take: () => void | Promise<void>): Promise<void> | undefined {
    const taking = this.#taking === undefined ? take() : this.#taking.then(take, take)
    if (!(taking instanceof Promise)) return undefined
    this.#taking = taking
    const over = (): void => {
      if (this.#taking === taking) this.#taking = undefined
    }
    taking.then(over, over)
    return taking
  }

  #take(update: Fields): void | Promise<void> {
    const taken = isLong(update) ? this.#takeInTurns(update) : this.events.update(update)
    return andThen(taken, () => this.#listener.updated?.(update))
  }

  async #takeInTurns(update: Fields): Promise<void> {
    const chunks = chunksOf(update)
    if (chunks === undefined) await this.events.update(await maskedInTurns(update, this.#options.host), true)
    for (const chunk of chunks ?? []) {
      await this.events.update(chunk)
      await nextTurn()
      await this.#backlog()
    }
  }

  /** Restarts the idle timer. Leaves it stopped while a question to the user is open, or once the turn ends. */
  startIdle(): void {
    this.#idle?.stop()
    if (this.#isEnding || this.permissions.openQuestions > 0) return
    this.#idle = this.#options.timers.after(this.#options.idleMs, () => this.#listener.silent())
  }

  /** Stops the turn: ends open calls with `reason` and cancels questions. Text that comes later is still recorded. */
  async stop(reason: string): Promise<void> {
    this.#endWaits()
    if (this.#taking !== undefined) await this.settled()
    this.events.abandonCalls(reason)
    this.permissions.close()
  }

  /** Ends the recording of the turn. Resolves when long outputs are stored. */
  async close(): Promise<void> {
    this.#endWaits()
    this.#silence.close()
    await this.settled()
    this.events.close('The turn ended before this tool call did')
    this.permissions.close()
    this.#options.unasked.settle()
    await this.#options.files.settled()
  }

  #endWaits(): void {
    this.#isEnding = true
    this.#idle?.stop()
  }

  /** While many events or a long output wait for the disk, returns a promise for the next update to wait for. */
  #backlog(): Promise<void> | undefined {
    const ready = this.#options.turn.ready()
    const settled = this.#options.files.settled()
    if (settled === undefined) return ready
    return settled.then(() => ready)
  }
}
