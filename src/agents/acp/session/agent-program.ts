/**
 * Starts and ends the program of an external agent. The agent's turns and asides (questions of clients outside the
 * turns) share one program.
 *
 * Each turn or aside has a lease (the right to use the program). A program without leases is idle. It is ended after a
 * time, or when another agent needs its slot (the right to run a program). The next turn or aside starts a new program.
 */
import { errorOf } from '../../../base/errors.ts'
import { untilAborted } from '../../../base/wait.ts'
import type { AcpSession } from './session.ts'
import type { AgentSlot, AgentSlots } from './slots.ts'
import { startSession, type SessionChoice, type StartOptions, type StartedSession } from './start-session.ts'

export interface ProgramOptions extends StartOptions {
  readonly slots: AgentSlots
}

export interface ProgramEvents {
  /** Returns the model, mode and options that clients have chosen in this conversation. */
  choices(): SessionChoice
  started(started: StartedSession): void
  /** Called when an update or a response of the agent may have changed the session's state. */
  changed(session: AcpSession): void
}

/** The right of a turn, or of a question outside the turns, to use the program. A program with a lease is not idle. */
export interface Lease {
  readonly session: AcpSession
  /** Ends the lease. Call it exactly once. */
  leave(): void
}

interface Running {
  readonly session: AcpSession
  readonly slot: AgentSlot
  leases: number
}

export class AgentProgram {
  readonly #options: ProgramOptions
  readonly #events: ProgramEvents
  #running: Running | undefined
  #ending: Promise<void> | undefined
  /** Settles when all calls of `enter` so far have settled. The next call waits for it: only one program may start. */
  #entered: Promise<unknown> = Promise.resolve()

  constructor(options: ProgramOptions, events: ProgramEvents) {
    this.#options = options
    this.#events = events
  }

  /** The session of the running program; undefined without a program or after its connection has ended. */
  get session(): AcpSession | undefined {
    return this.#running?.session.connection.isOver === false ? this.#running.session : undefined
  }

  /**
   * Returns a lease of the running program, or of a new program. Sets the session mode by the confirmation policy and
   * the chosen mode.
   * @throws the errors of starting the program and of setting the mode; the signal's reason
   */
  enter(signal: AbortSignal): Promise<Lease> {
    const entering = untilAborted(this.#entered, signal).then(() => this.#enter(signal))
    this.#entered = Promise.allSettled([this.#entered, entering])
    return entering
  }

  /** Returns a lease of the running program. Unlike `enter`, sets no mode. Returns undefined if no program runs. */
  hold(): Lease | undefined {
    return this.session === undefined || this.#running === undefined ? undefined : this.#lease(this.#running)
  }

  /** Ends the program if `session` is its session. Otherwise waits for an end in progress, if any. */
  async end(session: AcpSession | undefined): Promise<void> {
    const running = this.#running
    if (session === undefined || session !== running?.session) return this.#ending
    this.#running = undefined
    this.#ending = session.close().catch((error: unknown) => {
      this.#options.log.error('An agent could not be ended completely', { error: errorOf(error) })
    }).finally(() => running.slot.release())
    return this.#ending
  }

  /** Sets the session mode by the current policy. Ends the program if that fails. Never rejects. */
  async policyChanged(): Promise<void> {
    if (this.#running === undefined) return
    await this.#applyMode(this.#running.session).catch((error: unknown) => {
      const problem = 'An agent could not be brought into the mode that the confirmation policy requires; it was ended'
      this.#options.log.error(problem, { error: errorOf(error) })
    })
  }

  async close(): Promise<void> {
    await this.end(this.#running?.session)
  }

  async #enter(signal: AbortSignal): Promise<Lease> {
    await this.#ending
    if (this.session === undefined) await this.end(this.#running?.session)
    else await this.#applyMode(this.session)
    const running = this.#running ?? (await this.#start(signal))
    return this.#lease(running)
  }

  #lease(running: Running): Lease {
    running.leases++
    running.slot.busy()
    return {
      session: running.session,
      leave: () => {
        if (--running.leases === 0) running.slot.idle()
      },
    }
  }

  async #start(signal: AbortSignal): Promise<Running> {
    const slot = await this.#takeSlot(signal)
    try {
      const started = await startSession(this.#options, () => this.#events.choices(), signal)
      const { session } = started
      this.#tellLife(session)
      this.#running = { session, slot, leases: 0 }
      session.watch(() => this.#changed(session))
      // `end` also cleans up after a program that ended by itself, and releases its slot.
      void session.connection.over.then(() => this.end(session))
      this.#events.started(started)
      return this.#running
    } catch (error) {
      slot.release()
      const { log, settings } = this.#options
      if (!signal.aborted) {
        log.warn('An agent could not be started', { agent: settings.acp_server, error: errorOf(error) })
      }
      throw error
    }
  }

  /** Logs the start and the end of the session's program. */
  #tellLife({ connection }: AcpSession): void {
    const { log, settings: { acp_server: agent }, clock } = this.#options
    const { pid } = connection
    const startedAt = clock()
    log.info('An agent has started', { agent, pid })
    void connection.over.then((end) => {
      log.info('An agent has ended', { agent, pid, end, ms: Math.round(clock() - startedAt) })
    })
  }

  async #takeSlot(signal: AbortSignal): Promise<AgentSlot> {
    const { host, slots } = this.#options
    const waits = slots.isFull
    if (waits) host.state({ acp_waiting_for_slot: true })
    try {
      return await slots.take(host.conversationId, () => void this.close(), signal)
    } finally {
      if (waits) host.state({ acp_waiting_for_slot: false })
    }
  }

  /** Reports a change of the session. If the agent may now skip required questions, sets mode and options again. */
  #changed(session: AcpSession): void {
    this.#events.changed(session)
    if (session.isTooOpen(this.#options.host.policy())) void this.policyChanged()
  }

  /** Sets the session mode by the policy and a mode from a client or the settings. Ends the program on an error. */
  async #applyMode(session: AcpSession): Promise<void> {
    const { host, settings } = this.#options
    const named = this.#events.choices().mode ?? settings.acp_session_mode ?? undefined
    try {
      await session.applyMode(host.policy(), named)
    } catch (error) {
      await this.end(session)
      throw error
    }
  }
}
