/**
 * An external agent in a conversation. Runs its turns, changes its model, mode and options, and asks it questions of
 * clients outside the turns (asides).
 *
 * The agent's program starts with the first turn or aside. After it has ended, the next turn or aside starts it again
 * and resumes the session, or opens a new session. A new session gets a transcript of the conversation with its first
 * prompt.
 */
import { AppError, errorOf } from '../../base/errors.ts'
import { isObject, toJsonObject, type JsonObject } from '../../base/json.ts'
import { maskJson } from '../../base/mask-json.ts'
import { untilAborted } from '../../base/wait.ts'
import type { Agent, AgentSession, AsideAnswer, Turn, TurnEnd, UsageReport } from '../../conversation/agent/agent.ts'
import { resolveAcp } from '../../settings/providers.ts'
import { CallMemory } from './calls/call-memory.ts'
import { ObservationFiles } from './calls/observation-files.ts'
import { AgentProgram, type Lease, type ProgramOptions } from './session/agent-program.ts'
import { AcpFailure, failureOf } from './session/failure.ts'
import { Introduction } from './session/introduction.ts'
import { KeptSession } from './session/kept-session.ts'
import { isTooOpen, providerRules, unknownAgentRules, type ModeRules } from './session/modes.ts'
import { isOpenOption, unknownOption } from './session/open-options.ts'
import { transcriptBlocks } from './session/prompt.ts'
import { sessionMask } from './session/session-mask.ts'
import type { AcpSession } from './session/session.ts'
import { askToSignIn } from './session/sign-in.ts'
import type { StartedSession } from './session/start-session.ts'
import type { AgentWorkOptions } from './turn/agent-work.ts'
import { askAside } from './turn/aside.ts'
import { OwnTurn } from './turn/own-turn.ts'
import { PromptTurn, type PromptTurnEnd } from './turn/prompt-turn.ts'
import { UnaskedCalls } from './turn/unasked-calls.ts'
import { keptCount, readCounted, reportOf, uncountedCost, type ContextUse } from './turn/usage.ts'

export interface AcpAgentOptions extends ProgramOptions {
  /** The time that the agent has after `session/cancel` to end its work. Then its program is ended. Default 4 s. */
  readonly drainMs?: number
  /** The time between two checks of the program's stderr (`Silence`). Default 15 s. */
  readonly silenceMs?: number
  /** The most bytes of the conversation's transcript that a session gets before its first prompt. Default 64 KiB. */
  readonly transcriptLimitBytes?: number
}

const defaultDrainMs = 4000
const defaultTranscriptLimitBytes = 64 * 1024

export function createAcpAgent(options: AcpAgentOptions): Agent & { readonly session: AgentSession } {
  return new AcpAgent(options)
}

class AcpAgent implements Agent, AgentSession {
  readonly #options: AcpAgentOptions
  readonly #files: ObservationFiles
  readonly #program: AgentProgram
  readonly #mask: (text: string) => string
  readonly #introduction: Introduction
  readonly #calls = new CallMemory()
  readonly #kept: KeptSession
  readonly #unasked: UnaskedCalls
  /** The lease (right to use the program) for work that the agent began by itself. The next turn ends this lease. */
  #ownLease: Lease | undefined
  /** The turns and asides (questions outside the turns) in progress. `close` waits for them. */
  readonly #work = new Set<Promise<unknown>>()
  readonly #closed = new AbortController()

  constructor(options: AcpAgentOptions) {
    this.#options = options
    this.#kept = new KeptSession(options.host)
    this.#unasked = new UnaskedCalls({
      host: options.host,
      onUnasked: options.settings.acp_unasked_calls,
      log: options.log,
    })
    this.#mask = sessionMask(options.host)
    this.#introduction = new Introduction({
      mask: this.#mask,
      clientTools: options.host.clientTools,
      policy: () => options.host.policy(),
      onUnasked: options.settings.acp_unasked_calls,
    })
    const onError = (error: unknown): void => options.log.error('Cannot store a long output', { error: errorOf(error) })
    this.#files = new ObservationFiles({ folder: options.host.observationsDir, createId: options.createId, onError })
    this.#program = new AgentProgram(options, {
      choices: () => this.#kept.choices,
      started: (started) => this.#started(started),
      changed: (session) => this.#publish(session.state),
    })
  }

  runTurn(turn: Turn): Promise<TurnEnd> {
    return this.#tracked(this.#runTurn(turn, AbortSignal.any([turn.signal, this.#closed.signal])))
  }

  policyChanged(): void {
    void this.#program.policyChanged()
  }

  get session(): AgentSession {
    return this
  }

  async switchModel(model: string, signal: AbortSignal): Promise<void> {
    await this.#switch((session) => session.setModel(model), signal)
    this.#kept.keep({ model })
    this.#publish({ acp_current_model_id: model })
  }

  async switchMode(mode: string, signal: AbortSignal): Promise<void> {
    this.#program.session?.assertOffers(mode)
    if (isTooOpen(mode, this.#options.host.policy(), this.#modeRules)) {
      throw new AppError('invalid_input', `Cannot use the mode "${mode}": it is more open than the confirmation policy`)
    }
    await this.#switch((session) => session.switchMode(mode), signal)
    this.#kept.keep({ mode })
    this.#publish({ acp_current_mode_id: mode })
  }

  async switchOption(id: string, value: string, signal: AbortSignal): Promise<void> {
    const option = this.#program.session?.option(id) ?? unknownOption(id)
    if (this.#options.host.policy().kind !== 'NeverConfirm' && isOpenOption(option, value)) {
      const problem = 'it is more open than the confirmation policy'
      throw new AppError('invalid_input', `Cannot set the option "${id}" to "${value}": ${problem}`)
    }
    await this.#switch((session) => session.setOption(id, value), signal)
    this.#kept.keep({ options: { ...this.#kept.choices.options, [id]: value } })
    const { session } = this.#program
    if (session !== undefined) this.#publish(session.state)
  }

  askAside(question: string, signal: AbortSignal): Promise<AsideAnswer> {
    return this.#tracked(this.#askAside(question, AbortSignal.any([signal, this.#closed.signal])))
  }

  async close(): Promise<void> {
    this.#closed.abort(new AppError('unavailable', 'The agent was closed'))
    await Promise.allSettled(this.#work) // A failed turn or aside reports the error to its own caller.
    await this.#program.close()
    await this.#files.settled()
  }

  #tracked<T>(work: Promise<T>): Promise<T> {
    this.#work.add(work)
    const done = (): void => void this.#work.delete(work)
    work.then(done, done)
    return work
  }

  async #runTurn(turn: Turn, signal: AbortSignal): Promise<TurnEnd> {
    if (turn.isOwn) return this.#serveOwn(turn, signal)
    const reused = this.#program.session
    const end = await this.#serve(turn, signal)
    // If the program ran already and has ended before it got the messages, a new program serves the turn.
    return reused !== undefined && reused.connection.isOver && isLost(end) ? this.#serve(turn, signal) : end
  }

  async #serve(turn: Turn, signal: AbortSignal): Promise<TurnEnd> {
    try {
      const { session, leave } = await this.#program.enter(signal)
      this.#leaveOwn()
      try {
        this.#introduction.tell(turn)
        // The list of running processes must be complete before the prompt, because the prompt may start processes.
        await session.processesAtRest
        await this.#calls.recall(this.#options.host)
        signal.throwIfAborted()
        return await this.#prompt(session, turn, signal)
      } finally {
        leave()
      }
    } catch (error) {
      if (signal.aborted) return { outcome: 'stopped', served: false }
      return this.#failed(failureOf(error, 'ACPInitError'), false)
    }
  }

  /** Runs a turn for work that the agent began by itself. Finishes at once if no such work waits for a turn. */
  async #serveOwn(turn: Turn, signal: AbortSignal): Promise<TurnEnd> {
    const session = this.#ownLease?.session
    try {
      if (session?.hasOwnWork !== true) return { outcome: 'finished', served: true }
      await this.#calls.recall(this.#options.host)
      const { drainMs = defaultDrainMs } = this.#options
      const work = new OwnTurn(this.#workOptions(session, turn, signal), { drainMs })
      return await this.#concluded(await work.run(), session, turn)
    } finally {
      this.#leaveOwn()
    }
  }

  /**
   * Takes a lease of the program and requests a turn, for work that the agent began without a prompt.
   * @throws the error of `beginRun`
   */
  async #ownWorkBegan(): Promise<void> {
    this.#leaveOwn()
    this.#ownLease = this.#program.hold()
    try {
      await this.#options.host.beginRun()
    } catch (error) {
      this.#leaveOwn()
      const problem = 'An agent works by itself and no run could be begun: it is ended'
      this.#options.log.error(problem, { error: errorOf(error) })
      throw error
    }
  }

  #leaveOwn(): void {
    this.#ownLease?.leave()
    this.#ownLease = undefined
  }

  #workOptions(session: AcpSession, turn: Turn, signal: AbortSignal): AgentWorkOptions {
    const { host, timers, log, settings, createId, silenceMs } = this.#options
    const idleMs = settings.acp_prompt_timeout * 1000
    const kept = { files: this.#files, memory: this.#calls, unasked: this.#unasked }
    return { session, turn, signal, host, timers, log, ...kept, turnId: createId(), idleMs, silenceMs }
  }

  async #concluded(end: PromptTurnEnd, session: AcpSession, turn: Turn): Promise<TurnEnd> {
    await session.readBack()
    const conclusion = this.#endOf(end, session)
    if (conclusion.served) turn.usage(this.#reportOf(session.id, session, end))
    if (end.replace) await this.#program.end(session)
    return conclusion
  }

  async #prompt(session: AcpSession, turn: Turn, signal: AbortSignal): Promise<TurnEnd> {
    const { drainMs = defaultDrainMs } = this.#options
    const transcript = this.#kept.isCurrent ? '' : await this.#transcript('served')
    if (transcript === '' && !this.#kept.isCurrent) this.#kept.keep({ is_current: true })
    const prompt = new PromptTurn(this.#workOptions(session, turn, signal), { transcript, drainMs })
    // If `run` throws, the program may still work on the prompt, so the program is ended.
    const end = await prompt.run().catch((error: unknown) => {
      return this.#program.end(session).then(() => Promise.reject(error))
    })
    const isServed = end.end.outcome !== 'failed' || end.end.served
    if (isServed && !this.#kept.isPrompted) this.#kept.keep({ is_prompted: true })
    return this.#concluded(end, session, turn)
  }

  #endOf({ end }: PromptTurnEnd, session: AcpSession): TurnEnd {
    switch (end.outcome) {
      case 'finished': return { outcome: 'finished', served: true }
      case 'stopped': return { outcome: 'stopped', served: true }
      case 'failed': {
        const failure = askToSignIn(end.failure, session.signIn, session.agent.authMethods, this.#options.host)
        return this.#failed(failure, end.served)
      }
    }
  }

  #failed(failure: AcpFailure, served: boolean): TurnEnd {
    return { outcome: 'failed', served, code: failure.code, detail: this.#options.host.mask(failure.message) }
  }

  async #askAside(question: string, signal: AbortSignal): Promise<AsideAnswer> {
    const { host, timers, settings, drainMs = defaultDrainMs } = this.#options
    try {
      const { session, leave } = await this.#program.enter(signal)
      try {
        const transcript = transcriptBlocks(await this.#transcript('now'))
        const aside = await askAside({
          session,
          isPrompted: this.#kept.isPrompted,
          workingDir: host.workingDir,
          prompt: [...transcript, { type: 'text', text: question }],
          signal,
          timers,
          idleMs: settings.acp_prompt_timeout * 1000,
          drainMs,
        })
        const text = this.#mask(aside.text).replaceAll(aside.sessionId, '<session>')
        const { perTurnTokens: _, contextWindow: __, ...usage } = this.#reportOf(aside.sessionId, session, aside)
        return { text, usage }
      } finally {
        leave()
      }
    } catch (error) {
      if (!(error instanceof AcpFailure)) throw error
      throw new AppError('agent_failed', host.mask(error.message), { cause: error })
    }
  }

  async #switch(change: (session: AcpSession) => Promise<void>, signal: AbortSignal): Promise<void> {
    const { session } = this.#program
    if (session === undefined) return
    await untilAborted(change(session), signal).catch((error: unknown) => {
      throw error instanceof AppError ? new AppError(error.code, this.#mask(error.message), { cause: error }) : error
    })
  }

  #started(started: StartedSession): void {
    const { host } = this.#options
    const { session, isNew } = started
    this.#introduction.add(started, !this.#kept.exists)
    session.keepOwnWork({
      isKnownCall: (id) => this.#calls.has(id),
      begin: () => this.#ownWorkBegan(),
      refused: () => void this.#program.end(session),
    })
    const { name, version } = session.agent
    const begun: JsonObject = session.begunIn === undefined ? {} : { begun_in: session.begunIn }
    const agent = { agent_name: name, agent_version: version }
    const kept = { id: session.id, cwd: host.workingDir, ...begun, ...agent }
    if (isNew) this.#kept.begin(kept)
    else this.#kept.keep(kept)
    this.#publish(session.state)
  }

  /** Returns the transcript of the conversation; an empty text if the session has served a prompt (`isPrompted`). */
  async #transcript(upTo: 'served' | 'now'): Promise<string> {
    const { host, transcriptLimitBytes: limitBytes = defaultTranscriptLimitBytes } = this.#options
    return this.#kept.isPrompted ? '' : host.transcript({ limitBytes, upTo })
  }

  /** The rules for the modes of the session; while no program runs, the rules that follow from the settings. */
  get #modeRules(): ModeRules {
    const { settings, providers } = this.#options
    const modes = resolveAcp(settings, providers).provider?.modes
    return this.#program.session?.rules ?? (modes ? providerRules(modes, true) : unknownAgentRules(undefined))
  }

  /** Returns the usage of a turn, or of a question outside the turns. After a turn, stores the session's totals. */
  #reportOf(
    sessionId: string,
    session: AcpSession,
    { result, context }: { readonly result: unknown; readonly context: ContextUse },
  ): UsageReport {
    const { host } = this.#options
    const { cost, session: tokens } = context
    const counted = readCounted(host.kept('usage'), sessionId)
    const uncounted = cost === undefined ? undefined : uncountedCost(cost, counted)
    if (sessionId === session.id && (cost ?? tokens) !== undefined) {
      const shown = { ...(cost === undefined ? {} : { cost }), ...(tokens === undefined ? {} : { tokens }) }
      host.keep('usage', keptCount(sessionId, { ...counted, ...shown }))
    }
    const report = reportOf({ result, context, model: session.model ?? 'unknown', cost: uncounted, counted })
    return { ...report, model: this.#mask(report.model) }
  }

  #publish(state: JsonObject): void {
    const masked = maskJson(state, this.#mask)
    if (isObject(masked)) this.#options.host.state(toJsonObject(masked))
  }
}

/** True for a turn that failed before the agent got its messages, for another reason than a missing login. */
function isLost(end: TurnEnd): boolean {
  return end.outcome === 'failed' && !end.served && end.code !== 'ACPAuthRequired'
}
