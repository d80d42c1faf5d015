/**
 * An external agent in a conversation: starts its program when a turn needs it, runs turns, and ends it when it is idle, in
 * the way, or no longer to be trusted.
 *
 * The program, its session and everything it starts belong to this object: after `close` nothing is left. A program that
 * was ended (idle, crashed, did not stop) is started again by the next turn and its session resumed. The session id and
 * the cost that was counted are kept with the conversation, privately.
 */
import { AppError, messageOf } from '../../base/errors.ts'
import { untilAborted } from '../../base/wait.ts'
import type { Agent, Turn, TurnEnd } from '../../conversation/agent.ts'
import { failureOf, type AcpFailure } from './failure.ts'
import { textOf } from './fields.ts'
import { ObservationFiles } from './observation-files.ts'
import { PromptTurn, type PromptTurnEnd } from './prompt-turn.ts'
import type { AcpSession } from './session.ts'
import { askToSignIn } from './sign-in.ts'
import type { AgentSlot, AgentSlots } from './slots.ts'
import { startSession, type StartOptions, type StartedSession } from './start-session.ts'
import { modelOf, readCountedCost, tokensOf, uncountedCost } from './usage.ts'

export interface AcpAgentOptions extends Omit<StartOptions, 'model'> {
  readonly slots: AgentSlots
  /** How long an agent may take to answer after a cancel. Default 4 s. */
  readonly drainMs?: number
}

/** The usage id under which the figures of an external agent are counted (contract: conversations.md). */
const usageId = 'acp-managed'

/** An agent for one conversation. Nothing is started yet. */
export function createAcpAgent(options: AcpAgentOptions): Agent {
  return new AcpAgent(options)
}

class AcpAgent implements Agent {
  readonly #options: AcpAgentOptions
  readonly #files: ObservationFiles
  #session: AcpSession | undefined
  #slot: AgentSlot | undefined
  #model: string | undefined
  /** What runs at the moment, so that `close` can wait for it. */
  #turn: Promise<unknown> | undefined
  #ending: Promise<void> | undefined
  readonly #closed = new AbortController()

  constructor(options: AcpAgentOptions) {
    this.#options = options
    this.#model = textOf(options.host.kept('session')?.model)
    const onError = (error: unknown): void => options.log.error('Cannot keep a long output', { problem: messageOf(error) })
    this.#files = new ObservationFiles({ folder: options.host.observationsDir, createId: options.createId, onError })
  }

  async runTurn(turn: Turn): Promise<TurnEnd> {
    const running = this.#runTurn(turn, AbortSignal.any([turn.signal, this.#closed.signal]))
    this.#turn = running.catch(() => undefined)
    return running
  }

  policyChanged(): void {
    if (this.#session === undefined) return
    this.#applyMode(this.#session).catch((error: unknown) => {
      this.#options.log.error('An agent does not follow the new confirmation policy', { problem: messageOf(error) })
    })
  }

  async switchModel(model: string, signal: AbortSignal): Promise<void> {
    const { host } = this.#options
    if (this.#session !== undefined) {
      await untilAborted(this.#session.setModel(model), signal).catch((error: unknown) => {
        throw error instanceof AppError ? new AppError(error.code, host.mask(error.message), { cause: error }) : error
      })
    }
    this.#model = model
    host.keep('session', { ...host.kept('session'), model })
    host.state({ acp_current_model_id: model })
  }

  async close(): Promise<void> {
    this.#closed.abort(new AppError('unavailable', 'The agent was closed'))
    await this.#turn
    await this.#end(this.#session)
    await this.#files.settled()
  }

  async #runTurn(turn: Turn, signal: AbortSignal): Promise<TurnEnd> {
    const reused = this.#running
    const end = await this.#serve(turn, signal)
    // A program may end between two turns and be met before its end is noticed. It has got nothing then: once more.
    return reused !== undefined && reused.connection.isOver && isLost(end) ? this.#serve(turn, signal) : end
  }

  async #serve(turn: Turn, signal: AbortSignal): Promise<TurnEnd> {
    try {
      const session = await this.#ready(turn, signal)
      // Before the prompt, so that whatever it starts is told apart.
      await session.processesAtRest
      signal.throwIfAborted()
      return await this.#prompt(session, turn, signal)
    } catch (error) {
      if (signal.aborted) return { outcome: 'stopped', served: false }
      return this.#failed(failureOf(error, 'ACPInitError'), false)
    } finally {
      this.#slot?.idle()
    }
  }

  async #prompt(session: AcpSession, turn: Turn, signal: AbortSignal): Promise<TurnEnd> {
    const { host, timers, log, settings, createId, drainMs } = this.#options
    const prompt = new PromptTurn({
      session,
      turn,
      signal,
      host,
      timers,
      log,
      files: this.#files,
      turnId: createId(),
      idleMs: settings.acp_prompt_timeout * 1000,
      ...(drainMs === undefined ? {} : { drainMs }),
    })
    // Whatever went wrong here, a program with an open prompt is not used again.
    const end = await prompt.run().catch((error: unknown) => this.#end(session).then(() => Promise.reject(error)))
    await session.readBack()
    this.#count(turn, session, end)
    if (end.replace) await this.#end(session)
    return this.#endOf(end, session)
  }

  #endOf({ end }: PromptTurnEnd, session: AcpSession): TurnEnd {
    switch (end.outcome) {
      case 'finished': return { outcome: 'finished', served: true }
      case 'stopped': return { outcome: 'stopped', served: true }
      case 'failed': return this.#failed(askToSignIn(end.failure, session.signIn, session.agent.authMethods, this.#options.host), end.served)
    }
  }

  #failed(failure: AcpFailure, served: boolean): TurnEnd {
    return { outcome: 'failed', served, code: failure.code, detail: this.#options.host.mask(failure.message) }
  }

  /** The session to work with: the one that runs, or a new program. */
  async #ready(turn: Turn, signal: AbortSignal): Promise<AcpSession> {
    await this.#ending
    const session = this.#running
    if (session === undefined) {
      await this.#end(this.#session)
      return this.#start(turn, signal)
    }
    this.#slot?.busy()
    await this.#applyMode(session)
    return session
  }

  /** The session, if its program runs, as far as that has been noticed. */
  get #running(): AcpSession | undefined {
    return this.#session?.connection.isOver === false ? this.#session : undefined
  }

  async #start(turn: Turn, signal: AbortSignal): Promise<AcpSession> {
    const { host, slots } = this.#options
    const isFirst = host.kept('session')?.id === undefined
    const waits = slots.isFull
    if (waits) host.state({ acp_waiting_for_slot: true })
    try {
      this.#slot = await slots.take(() => void this.#end(this.#session), signal)
    } finally {
      if (waits) host.state({ acp_waiting_for_slot: false })
    }
    try {
      const started = await startSession({ ...this.#options, model: this.#model }, signal)
      this.#session = started.session
      // Also when it ends by itself between two turns, what it has left behind goes, and its slot is free.
      void started.session.connection.over.then(() => this.#end(started.session))
      this.#announce(turn, started, isFirst)
      return started.session
    } catch (error) {
      this.#slot.release()
      this.#slot = undefined
      throw error
    }
  }

  #announce(turn: Turn, { session, notes }: StartedSession, isFirst: boolean): void {
    const { host } = this.#options
    host.keep('session', { id: session.id, cwd: host.workingDir, ...(this.#model === undefined ? {} : { model: this.#model }) })
    host.state(session.state)
    if (isFirst) {
      const name = host.mask(session.agent.name)
      const text = `This conversation is driven by the external agent "${name}". Its system prompt and tools are not known here.`
      turn.record({ kind: 'SystemPromptEvent', system_prompt: { type: 'text', text }, tools: [] })
    }
    for (const note of notes) {
      const content = [{ type: 'text', text: host.mask(note) } as const]
      turn.record({ kind: 'MessageEvent', source: 'environment', llm_message: { role: 'user', content } })
    }
  }

  #count(turn: Turn, session: AcpSession, { result, context }: PromptTurnEnd): void {
    const { host } = this.#options
    const { used, size, cost } = context
    const tokens = tokensOf(result)
    if (Object.keys(tokens).length === 0 && Object.keys(context).length === 0) return
    const counted = cost === undefined ? undefined : uncountedCost(cost, session.id, readCountedCost(host.kept('usage')))
    turn.usage({
      usageId,
      model: host.mask(modelOf(result) ?? session.model ?? 'unknown'),
      ...tokens,
      ...(used === undefined ? {} : { perTurnTokens: used }),
      ...(size === undefined ? {} : { contextWindow: size }),
      ...(counted === undefined ? {} : { cost: counted }),
    })
    if (cost !== undefined) host.keep('usage', { session_id: session.id, cost })
  }

  /** Ends a program, whatever state it is in, and gives its slot back. */
  async #end(session: AcpSession | undefined): Promise<void> {
    if (session === undefined || session !== this.#session) return this.#ending
    const slot = this.#slot
    this.#session = undefined
    this.#slot = undefined
    this.#ending = session.close().catch((error: unknown) => {
      this.#options.log.error('An agent could not be ended completely', { problem: messageOf(error) })
    }).finally(() => slot?.release())
    return this.#ending
  }

  /** An agent that would go on without asking is ended: the next turn starts it under the policy of that moment. */
  async #applyMode(session: AcpSession): Promise<void> {
    const { host, settings } = this.#options
    try {
      await session.applyMode(host.policy(), settings.acp_session_mode ?? undefined)
    } catch (error) {
      await this.#end(session)
      throw error
    }
  }
}

/** True when nobody has got the messages, for a reason that another program may not have. */
function isLost(end: TurnEnd): boolean {
  return end.outcome === 'failed' && !end.served && end.code !== 'ACPAuthRequired'
}
