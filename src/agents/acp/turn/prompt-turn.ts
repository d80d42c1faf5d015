/**
 * Sends one prompt to an external agent and processes its updates and permission requests until the prompt ends.
 *
 * A stop of the turn, a silence of the agent and a call without a required permission cancel the prompt. If the agent
 * then does not respond within `drainMs`, or if a call may run on or run again, the program must be ended (`replace`).
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { deferred, within } from '../../../base/wait.ts'
import { RpcClosedError, RpcError } from '../../../rpc/errors.ts'
import { AcpFailure, failureOf, withRefusedLogin, withTail } from '../session/failure.ts'
import { promptBlocks } from '../session/prompt.ts'
import { AgentWork, type AgentWorkOptions } from './agent-work.ts'
import { hasLeftovers } from './cancelling.ts'
import { endOf } from './stop-reason.ts'
import type { ContextUse } from './usage.ts'

export interface PromptTurnOptions {
  /** The conversation so far; empty for a session that knows it. */
  readonly transcript: string
  /** The time that an agent has to respond after `session/cancel`. Default 4 s. */
  readonly drainMs?: number
  /** The time that processes of a tool have to end after the agent has responded to a cancel. Default 1 s. */
  readonly leftoverMs?: number
}

export interface PromptTurnEnd {
  readonly end:
    | { readonly outcome: 'finished' }
    | { readonly outcome: 'stopped' }
    | { readonly outcome: 'failed'; readonly failure: AcpFailure; readonly served: boolean }
  /** True when the program must not be used again. */
  readonly replace: boolean
  /** The result in the response to `session/prompt`, even if the prompt was cancelled; undefined without a result. */
  readonly result: unknown
  readonly context: ContextUse
}

type Ending =
  | { readonly by: 'answer'; readonly result: unknown }
  | { readonly by: 'error'; readonly error: unknown }
  | { readonly by: 'stop' }
  | { readonly by: 'silence' }
  | { readonly by: 'unasked'; readonly failure: AcpFailure }

export class PromptTurn {
  readonly #options: AgentWorkOptions
  readonly #own: PromptTurnOptions
  readonly #work: AgentWork
  readonly #stop = deferred<Ending>()

  constructor(options: AgentWorkOptions, own: PromptTurnOptions) {
    this.#options = options
    this.#own = own
    this.#work = new AgentWork(options, {
      silent: () => this.#stop.resolve({ by: 'silence' }),
      unasked: (failure) => this.#stop.resolve({ by: 'unasked', failure }),
    })
  }

  async run(): Promise<PromptTurnEnd> {
    const { session, signal } = this.#options
    const onAbort = (): void => this.#stop.resolve({ by: 'stop' })
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    const answer = this.#send()
    this.#work.startIdle()
    try {
      return await this.#finish(await Promise.race([answer, this.#stop.promise]), answer)
    } finally {
      signal.removeEventListener('abort', onAbort)
      session.rest(signal.aborted)
      await this.#work.close()
    }
  }

  #send(): Promise<Ending> {
    const { session, turn } = this.#options
    const { transcript } = this.#own
    const blocks = promptBlocks(turn.messages, { takesImages: session.agent.takesImages, transcript })
    return session.prompt(blocks, this.#work).then(
      (result): Ending => ({ by: 'answer', result }),
      (error: unknown): Ending => ({ by: 'error', error }),
    )
  }

  async #finish(ending: Ending, answer: Promise<Ending>): Promise<PromptTurnEnd> {
    if (ending.by === 'answer' || ending.by === 'error') await this.#work.settled()
    switch (ending.by) {
      case 'answer': return this.#answered(ending.result)
      case 'error': return this.#failed(await this.#explain(ending.error))
      case 'stop': {
        const { replace, result } = await this.#cancel(answer)
        return { end: { outcome: 'stopped' }, replace, result, context: this.#work.context }
      }
      case 'silence': {
        const seconds = this.#options.idleMs / 1000
        const { replace, result } = await this.#cancel(answer)
        const detail = `The agent sent nothing for ${seconds} s (acp_prompt_timeout) and was cancelled`
        const failed = this.#failed(this.#withTail(new AcpFailure('ACPPromptError', detail)))
        return { ...failed, replace: replace || failed.replace, result }
      }
      case 'unasked': {
        const { replace, result } = await this.#cancel(answer, true)
        return { ...this.#failed(ending.failure), replace, result }
      }
    }
  }

  #answered(result: unknown): PromptTurnEnd {
    const { events, permissions, signs, context } = this.#work
    events.finish('The agent ended its turn without telling how this tool call ended')
    const failure = endOf(result, {
      hasDenied: permissions.hasDenied,
      signs,
      quirks: this.#options.session.agent.quirks,
      lastText: events.lastText,
    })
    if (failure !== undefined) return { ...this.#failed(failure), result }
    return { end: { outcome: 'finished' }, replace: false, result, context }
  }

  #failed(failure: AcpFailure): PromptTurnEnd {
    const { connection } = this.#options.session
    const { events, hasWorked, context } = this.#work
    events.close(`The agent failed before this tool call ended: ${this.#options.host.mask(failure.message)}`)
    // After a missing login the agent has not read the prompt. Otherwise an agent that has worked or still runs counts
    // as having read it.
    const served = failure.code !== 'ACPAuthRequired' && (hasWorked || !connection.isOver)
    // Credentials are in the environment of the process, so only a new process gets new credentials.
    const replace = connection.isOver || failure.code === 'ACPAuthRequired'
    return { end: { outcome: 'failed', failure, served }, replace, result: undefined, context }
  }

  async #explain(error: unknown): Promise<AcpFailure> {
    const { connection, agent } = this.#options.session
    const isGone = error instanceof RpcClosedError || connection.isOver
    const reason = isGone ? new AcpFailure('ACPPromptError', await connection.over, error) : error
    // The program may write to stderr right before its response. That text is read one turn of the event loop later.
    await nextTurn()
    const failure = failureOf(reason, 'ACPPromptError', agent.quirks.loginRefused)
    return this.#withTail(failure)
  }

  #withTail(failure: AcpFailure): AcpFailure {
    const { connection, agent } = this.#options.session
    const tail = connection.stderrTail()
    return withTail(withRefusedLogin(failure, tail, agent.quirks.loginRefusedOnStderr), tail, agent.quirks.idleTalk)
  }

  /** Cancels the prompt. Returns `replace` and `result` of PromptTurnEnd. `mayRunOn`: a call may outlast the cancel. */
  async #cancel(
    answer: Promise<Ending>,
    mayRunOn = this.#work.events.hasOpenCalls,
  ): Promise<{ replace: boolean; result: unknown }> {
    const { session } = this.#options
    const { drainMs = 4000, leftoverMs } = this.#own
    session.cancelPrompt()
    await this.#work.stop(cancelledCall)
    const ending = await within(answer, drainMs)
    if (ending === 'late' || !isAnswer(ending)) return { replace: true, result: undefined }
    const { rerunsOpenCalls } = session.agent.quirks
    const replace = mayRunOn && (rerunsOpenCalls === true || (await hasLeftovers(session, leftoverMs)))
    return { replace, result: ending.by === 'answer' ? ending.result : undefined }
  }
}

/** The error text for a call that is still open when the agent's work is cancelled. */
export const cancelledCall = 'Cancelled: the turn was stopped before this tool call ended; it may have run in part'

/** True when the agent has responded with a result or an error. */
function isAnswer(ending: Ending): boolean {
  return ending.by === 'answer' || (ending.by === 'error' && ending.error instanceof RpcError)
}
