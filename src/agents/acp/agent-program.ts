/**
 * The program of an agent: started when somebody needs it, shared by all who do, ended when it is idle, in the way, or no
 * longer to be trusted.
 *
 * There is at most one at a time, and it holds a slot from its start to its end. Who works with it has a lease; while
 * there is one the program does not count as idle. A program that has ended, whoever ended it, is replaced for the next
 * one who needs it, and never takes what it has started with it into the next. After `close` nothing is left.
 */
import { errorOf } from '../../base/errors.ts'
import { untilAborted } from '../../base/wait.ts'
import type { AcpSession } from './session.ts'
import type { AgentSlot, AgentSlots } from './slots.ts'
import { startSession, type StartOptions, type StartedSession } from './start-session.ts'

export interface ProgramOptions extends Omit<StartOptions, 'model' | 'mode' | 'options'> {
  readonly slots: AgentSlots
}

export interface ProgramEvents {
  /** What was chosen for this conversation, of this moment. */
  choices(): Pick<StartOptions, 'model' | 'mode' | 'options'>
  started(started: StartedSession): void
  /** The session has changed by the agent's own doing. */
  changed(session: AcpSession): void
}

/** The right to work with the program. */
export interface Lease {
  readonly session: AcpSession
  /** Once, whatever has become of the program. */
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
  /** Whoever entered last: two that come at once must not start two programs. */
  #entered: Promise<unknown> = Promise.resolve()

  constructor(options: ProgramOptions, events: ProgramEvents) {
    this.#options = options
    this.#events = events
  }

  /** The session, if its program runs, as far as that has been noticed. */
  get session(): AcpSession | undefined {
    return this.#running?.session.connection.isOver === false ? this.#running.session : undefined
  }

  /**
   * The program that runs, in the mode of this moment, or a new one.
   * @throws AcpFailure, or the signal's reason.
   */
  enter(signal: AbortSignal): Promise<Lease> {
    const entering = untilAborted(this.#entered, signal).then(() => this.#enter(signal))
    this.#entered = Promise.allSettled([this.#entered, entering])
    return entering
  }

  /** A lease of what runs, as it is: for work that the agent has begun. */
  hold(): Lease | undefined {
    return this.session === undefined || this.#running === undefined ? undefined : this.#lease(this.#running)
  }

  /** Ends the program of this session, in whatever state it is; nothing happens if it is not the one that runs. */
  async end(session: AcpSession | undefined): Promise<void> {
    const running = this.#running
    if (session === undefined || session !== running?.session) return this.#ending
    this.#running = undefined
    this.#ending = session.close().catch((error: unknown) => {
      this.#options.log.error('An agent could not be ended completely', { error: errorOf(error) })
    }).finally(() => running.slot.release())
    return this.#ending
  }

  /** Brings what runs into the mode that the policy asks for. Where that fails it is ended. */
  async policyChanged(): Promise<void> {
    if (this.#running === undefined) return
    await this.#applyMode(this.#running.session).catch((error: unknown) => {
      this.#options.log.error('An agent does not follow the confirmation policy', { error: errorOf(error) })
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
      const started = await startSession({ ...this.#options, ...this.#events.choices() }, signal)
      const { session } = started
      this.#tellLife(session)
      this.#running = { session, slot, leases: 0 }
      session.watch(() => this.#changed(session))
      // Also when it ends by itself between two turns, what it has left behind goes, and its slot is free.
      void session.connection.over.then(() => this.end(session))
      this.#events.started(started)
      return this.#running
    } catch (error) {
      slot.release()
      const { log, settings } = this.#options
      if (!signal.aborted) log.warn('An agent could not be started', { agent: settings.acp_server, error: errorOf(error) })
      throw error
    }
  }

  /** Tells the operator when the program of a session has started, and when and how it has ended. */
  #tellLife({ connection }: AcpSession): void {
    const { log, settings: { acp_server: agent }, clock } = this.#options
    const { pid } = connection
    const startedAt = clock()
    log.info('An agent has started', { agent, pid })
    void connection.over.then((end) => log.info('An agent has ended', { agent, pid, end, ms: Math.round(clock() - startedAt) }))
  }

  async #takeSlot(signal: AbortSignal): Promise<AgentSlot> {
    const { host, slots } = this.#options
    const waits = slots.isFull
    if (waits) host.state({ acp_waiting_for_slot: true })
    try {
      return await slots.take(() => void this.close(), signal)
    } finally {
      if (waits) host.state({ acp_waiting_for_slot: false })
    }
  }

  /** An agent that moves itself into a mode which is more open than the policy is moved back, or ended. */
  #changed(session: AcpSession): void {
    this.#events.changed(session)
    if (session.isTooOpen(this.#options.host.policy())) void this.policyChanged()
  }

  /** An agent that would go on without asking is ended: the next one is started under the policy of that moment. */
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
