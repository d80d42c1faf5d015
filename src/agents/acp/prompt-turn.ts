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
import { setImmediate as nextTurn } from 'node:timers/promises'
import { deferred, within } from '../../base/wait.ts'
import { RpcClosedError, RpcError } from '../../rpc/errors.ts'
import { AgentWork, type AgentWorkOptions } from './agent-work.ts'
import { hasLeftovers } from './cancelling.ts'
import { AcpFailure, failureOf, withRefusedLogin, withTail } from './failure.ts'
import { promptBlocks } from './prompt.ts'
import { endOf } from './stop-reason.ts'
import type { ContextUse } from './usage.ts'

export interface PromptTurnOptions extends AgentWorkOptions {
  /** What was said before, for a session that does not know it. */
  readonly transcript: string
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
  | { readonly by: 'unasked'; readonly failure: AcpFailure }

export class PromptTurn {
  readonly #options: PromptTurnOptions
  readonly #work: AgentWork
  readonly #stop = deferred<Ending>()

  constructor(options: PromptTurnOptions) {
    this.#options = options
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
    const { session, turn, transcript } = this.#options
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
        const { replace } = await this.#cancel(answer)
        const detail = `The agent sent nothing for ${seconds} s (acp_prompt_timeout) and was cancelled`
        return { ...this.#failed(this.#withTail(new AcpFailure('ACPPromptError', detail))), replace }
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
    // What needs a login was not looked at; what was answered with another error, or worked on, the agent has got.
    const served = failure.code !== 'ACPAuthRequired' && (hasWorked || !connection.isOver)
    // The credentials are in its environment: others take effect in another program only.
    const replace = connection.isOver || failure.code === 'ACPAuthRequired'
    return { end: { outcome: 'failed', failure, served }, replace, result: undefined, context }
  }

  async #explain(error: unknown): Promise<AcpFailure> {
    const { connection, agent } = this.#options.session
    const isGone = error instanceof RpcClosedError || connection.isOver
    const reason = isGone ? new AcpFailure('ACPPromptError', await connection.over, error) : error
    // What was written to stderr before the answer is read in the same turn of the loop, maybe behind it.
    await nextTurn()
    const failure = failureOf(reason, 'ACPPromptError', agent.quirks.loginRefused)
    return this.#withTail(failure)
  }

  #withTail(failure: AcpFailure): AcpFailure {
    const { connection, agent } = this.#options.session
    const tail = connection.stderrTail()
    return withTail(withRefusedLogin(failure, tail, agent.quirks.loginRefusedOnStderr), tail, agent.quirks.idleTalk)
  }

  /** `hasRun`: what is over may have left something that runs. */
  async #cancel(answer: Promise<Ending>, hasRun = this.#work.events.hasOpenCalls): Promise<{ replace: boolean; result: unknown }> {
    const { session, drainMs = 4000, leftoverMs } = this.#options
    session.cancelPrompt()
    await this.#work.stop(cancelledCall)
    const ending = await within(answer, drainMs)
    if (ending === 'late' || !isAnswer(ending)) return { replace: true, result: undefined }
    const replace = hasRun && (session.agent.quirks.rerunsOpenCalls === true || (await hasLeftovers(session, leftoverMs)))
    return { replace, result: ending.by === 'answer' ? ending.result : undefined }
  }
}

/** What a call is answered with that was under way when its turn was stopped. */
export const cancelledCall = 'Cancelled: the turn was stopped before this tool call ended; it may have run in part'

/** True when the agent has answered, also with an error: it is done with the prompt then. */
function isAnswer(ending: Ending): boolean {
  return ending.by === 'answer' || (ending.by === 'error' && ending.error instanceof RpcError)
}
