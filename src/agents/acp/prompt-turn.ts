/**
 * One prompt of an external agent, from sending it to the answer that ends it, or to the end of patience with it.
 *
 * While it runs, updates go to TurnEvents, questions to the policy or the user, and reading waits while the history lags
 * behind. It ends with the agent's answer, when the conversation stops it, when the agent is silent for too long (the clock
 * rests while a question is open), or when the agent is gone. After a stop the agent is asked to cancel and gets a bounded
 * time; if it goes on, or something that it started in this turn still runs, `replace` says that the program must be ended
 * before the turn may be called stopped (decisions, 16). A late answer cannot reach another turn: a program that owes one
 * is never used again.
 */
import { errorOf } from '../../base/errors.ts'
import { deferred, sleep, within } from '../../base/wait.ts'
import type { Log } from '../../base/log.ts'
import type { Answer, AgentHost, Turn } from '../../conversation/agent.ts'
import { RpcClosedError, RpcError } from '../../rpc/errors.ts'
import { AcpFailure, failureOf, withTail } from './failure.ts'
import { memberAt, objectOf, type Fields } from '../../base/fields.ts'
import type { ObservationFiles } from './observation-files.ts'
import { allowOnce, cancelledResult, decide, deny, readOptions, type PermissionResult } from './permissions.ts'
import { promptBlocks } from './prompt.ts'
import { sessionIdMask, sessionMask } from './session-mask.ts'
import type { AcpSession } from './session.ts'
import { endOf } from './stop-reason.ts'
import type { Timer, Timers } from './timers.ts'
import { TurnEvents, type AskedCall } from './turn-events.ts'
import { mergeContextUse, type ContextUse } from './usage.ts'

export interface PromptTurnOptions {
  readonly session: AcpSession
  readonly turn: Turn
  /** Stops the turn. */
  readonly signal: AbortSignal
  readonly host: AgentHost
  readonly files: ObservationFiles
  readonly timers: Timers
  readonly log: Log
  readonly turnId: string
  /** What was said before, for a session that does not know it. */
  readonly transcript: string
  /** `acp_prompt_timeout` */
  readonly idleMs: number
  /** How long an agent may take to answer after a cancel. Default 4 s. */
  readonly drainMs?: number
  /** How long what a tool has started may take to end after that. Default 1 s. */
  readonly leftoverMs?: number
}

export interface PromptTurnEnd {
  readonly end:
    | { readonly outcome: 'finished' }
    | { readonly outcome: 'stopped' }
    | { readonly outcome: 'failed'; readonly failure: AcpFailure; readonly served: boolean }
  /** The program must not be used again. */
  readonly replace: boolean
  /** The agent's answer, if there was one. */
  readonly result: unknown
  readonly context: ContextUse
}

/** How a prompt came to its end. */
type Ending =
  | { readonly by: 'answer'; readonly result: unknown }
  | { readonly by: 'error'; readonly error: unknown }
  | { readonly by: 'stop' }
  | { readonly by: 'silence' }

export class PromptTurn {
  readonly #options: PromptTurnOptions
  readonly #events: TurnEvents
  readonly #stop = deferred<Ending>()
  readonly #cancelled = deferred<Answer>()
  /** Runs while the agent has the word. */
  #idle: Timer | undefined
  #openQuestions = 0
  #isEnding = false
  #hasDenied = false
  #hasWorked = false
  #systemError = false
  #context: ContextUse = {}

  constructor(options: PromptTurnOptions) {
    const { session, turn, host, files, timers, turnId } = options
    this.#options = options
    this.#events = new TurnEvents({
      turnId,
      workingDir: host.workingDir,
      titleIsCommand: session.agent.titleIsCommand,
      observationsDir: host.observationsDir,
      record: (draft) => turn.record(draft),
      delta: (piece) => turn.delta(piece),
      mask: sessionMask(host),
      maskDelta: sessionIdMask(host),
      saveOutput: (text) => files.save(text),
      timers,
    })
  }

  /** Whether nothing may be allowed any more: from the call that stops the turn on. */
  get #isStopping(): boolean {
    return this.#isEnding || this.#options.signal.aborted
  }

  async run(): Promise<PromptTurnEnd> {
    const { session, signal } = this.#options
    const onAbort = (): void => this.#stop.resolve({ by: 'stop' })
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    const answer = this.#send()
    this.#startIdle()
    try {
      return await this.#finish(await Promise.race([answer, this.#stop.promise]), answer)
    } finally {
      this.#isEnding = true
      this.#idle?.stop()
      signal.removeEventListener('abort', onAbort)
      session.rest()
      this.#events.close('The turn ended before this tool call did')
      await this.#options.files.settled()
    }
  }

  #send(): Promise<Ending> {
    const { session, turn, transcript } = this.#options
    const answer = session.prompt(promptBlocks(turn.messages, { takesImages: session.agent.takesImages, transcript }), {
      onUpdate: (update) => this.#update(update),
      onPermission: (params) => this.#answerPermission(params),
    })
    return answer.then(
      (result): Ending => ({ by: 'answer', result }),
      (error: unknown): Ending => ({ by: 'error', error }),
    )
  }

  async #finish(ending: Ending, answer: Promise<Ending>): Promise<PromptTurnEnd> {
    switch (ending.by) {
      case 'answer': return this.#answered(ending.result)
      case 'error': return this.#failed(await this.#explain(ending.error))
      case 'stop': {
        const { replace, result } = await this.#cancel(answer)
        return { end: { outcome: 'stopped' }, replace, result, context: this.#context }
      }
      case 'silence': {
        const seconds = this.#options.idleMs / 1000
        const { replace } = await this.#cancel(answer)
        const detail = `The agent sent nothing for ${seconds} s (acp_prompt_timeout) and was cancelled`
        return { ...this.#failed(this.#withTail(new AcpFailure('ACPPromptError', detail))), replace }
      }
    }
  }

  #answered(result: unknown): PromptTurnEnd {
    this.#events.close('The agent ended its turn without telling how this tool call ended')
    const failure = endOf(result, {
      hasDenied: this.#hasDenied,
      hidFailure: this.#options.session.agent.hidesFailures && (this.#systemError || memberAt(result, 'usage') === null),
      lastText: this.#events.lastText,
    })
    if (failure !== undefined) return { ...this.#failed(failure), result }
    return { end: { outcome: 'finished' }, replace: false, result, context: this.#context }
  }

  #failed(failure: AcpFailure): PromptTurnEnd {
    const { connection } = this.#options.session
    this.#events.close(`The agent failed before this tool call ended: ${this.#options.host.mask(failure.message)}`)
    // What needs a login was not looked at; what was answered with another error, or worked on, the agent has got.
    const served = failure.code !== 'ACPAuthRequired' && (this.#hasWorked || !connection.isOver)
    // The credentials are in its environment: others take effect in another program only.
    const replace = connection.isOver || failure.code === 'ACPAuthRequired'
    return { end: { outcome: 'failed', failure, served }, replace, result: undefined, context: this.#context }
  }

  async #explain(error: unknown): Promise<AcpFailure> {
    const { connection } = this.#options.session
    const isGone = error instanceof RpcClosedError || connection.isOver
    const reason = isGone ? new AcpFailure('ACPPromptError', await connection.over, error) : error
    return this.#withTail(failureOf(reason, 'ACPPromptError'))
  }

  #withTail(failure: AcpFailure): AcpFailure {
    return withTail(failure, this.#options.session.connection.stderrTail())
  }

  async #cancel(answer: Promise<Ending>): Promise<{ replace: boolean; result: unknown }> {
    const { session, drainMs = 4000 } = this.#options
    const hadOpenCalls = this.#events.hasOpenCalls
    this.#isEnding = true
    this.#idle?.stop()
    this.#events.abandonCalls('Cancelled: the turn was stopped before this tool call ended; it may have run in part')
    session.cancelPrompt()
    this.#cancelled.resolve({ outcome: 'cancelled' })
    const ending = await within(answer, drainMs)
    if (ending === 'late' || !isAnswer(ending)) return { replace: true, result: undefined }
    const replace = hadOpenCalls && (await this.#hasLeftovers())
    return { replace, result: ending.by === 'answer' ? ending.result : undefined }
  }

  /** Whether something that was not there before the turn runs on. Where that cannot be seen, it must be feared. */
  async #hasLeftovers(): Promise<boolean> {
    const { session, leftoverMs = 1000 } = this.#options
    const before = await session.processesAtRest
    const known = new Set(before?.map(({ pid, start }) => `${pid} ${start}`))
    for (let waited = 0; ; waited += 50) {
      const now = await session.connection.processes()
      if (before === undefined || now === undefined) return true
      if (now.every(({ pid, start }) => known.has(`${pid} ${start}`))) return false
      if (waited >= leftoverMs) return true
      await sleep(50)
    }
  }

  #update(update: Fields): Promise<void> | undefined {
    this.#idle?.restart()
    if (update.sessionUpdate === 'usage_update') this.#context = mergeContextUse(this.#context, update)
    if (memberAt(update, '_meta', 'codex', 'threadStatus', 'type') === 'systemError') this.#systemError = true
    if (isModeNotice(update)) return undefined
    this.#hasWorked ||= isWork(update)
    this.#events.update(update)
    return this.#backlog()
  }

  /** What the next update has to wait for; mostly nothing. */
  #backlog(): Promise<void> | undefined {
    const ready = this.#options.turn.ready()
    const settled = this.#options.files.settled()
    if (settled === undefined) return ready
    return settled.then(() => ready)
  }

  async #answerPermission(params: Fields): Promise<PermissionResult> {
    const asked = this.#isStopping ? undefined : this.#events.asks(objectOf(params.toolCall))
    if (asked === undefined) return cancelledResult
    this.#hasWorked = true
    this.#idle?.restart()
    const options = readOptions(params.options)
    const decision = decide(this.#options.host.policy(), options)
    switch (decision.do) {
      case 'allow': return this.#allow(asked, options)
      case 'deny': return this.#deny(asked, options, decision.reason)
      case 'ask': return this.#ask(asked, options)
    }
  }

  /** Nothing is allowed that is not in the history yet. */
  async #allow(asked: AskedCall, options: ReturnType<typeof readOptions>): Promise<PermissionResult> {
    try {
      await asked.recorded.durable()
    } catch (error) {
      this.#options.log.error('A tool call was not allowed: its action could not be stored', { error: errorOf(error) })
      return cancelledResult
    }
    return this.#isStopping ? cancelledResult : allowOnce(options)
  }

  #deny(asked: AskedCall, options: ReturnType<typeof readOptions>, reason: string): PermissionResult {
    this.#hasDenied = true
    this.#events.rejects(asked.id, reason)
    return deny(options)
  }

  async #ask(asked: AskedCall, options: ReturnType<typeof readOptions>): Promise<PermissionResult> {
    const { turn, host } = this.#options
    const shown = options.map((option) => ({ ...option, name: host.mask(option.name) }))
    this.#openQuestions++
    this.#idle?.stop()
    const question = turn.ask({ toolCallId: asked.id, title: asked.title, options: shown })
    const answer = await Promise.race([question, this.#cancelled.promise])
    this.#openQuestions--
    this.#startIdle()
    if (this.#isStopping || answer.outcome === 'cancelled') return cancelledResult
    return answer.outcome === 'accepted' ? this.#allow(asked, options) : this.#deny(asked, options, answer.reason)
  }

  #startIdle(): void {
    if (this.#isEnding || this.#openQuestions > 0) return
    this.#idle = this.#options.timers.after(this.#options.idleMs, () => this.#stop.resolve({ by: 'silence' }))
  }
}

/** True when the agent has answered, also with an error: it is done with the prompt then. */
function isAnswer(ending: Ending): boolean {
  return ending.by === 'answer' || (ending.by === 'error' && ending.error instanceof RpcError)
}

/** Gemini says a change of mode as a message of its own (acp.md, section 4, point 3). */
function isModeNotice(update: Fields): boolean {
  const text = memberAt(update, 'content', 'text')
  return update.sessionUpdate === 'agent_message_chunk' && typeof text === 'string' && text.startsWith('[MODE_UPDATE] ')
}

/** Updates that show that the agent has the prompt. */
function isWork(update: Fields): boolean {
  switch (update.sessionUpdate) {
    case 'agent_message_chunk':
    case 'agent_thought_chunk':
    case 'tool_call':
    case 'tool_call_update':
    case 'plan': return true
    default: return false
  }
}
