/**
 * Runs a turn for work that an agent began by itself.
 *
 * Without a prompt, no response ends the turn. Claude signals the end with usage figures. Without this signal the turn
 * ends after `quietMs` without an update, unless a call or a question is open.
 */
import { deferred, within, type Deferred } from '../../../base/wait.ts'
import type { Timer } from '../calls/timers.ts'
import { AcpFailure, withTail } from '../session/failure.ts'
import { endsOwnWork } from '../session/updates.ts'
import { AgentWork, type AgentWorkOptions } from './agent-work.ts'
import { hasLeftovers } from './cancelling.ts'
import { cancelledCall, type PromptTurnEnd } from './prompt-turn.ts'

export interface OwnTurnOptions {
  /** The time that an agent has after `session/cancel` to signal the end of its work. Default 4 s. */
  readonly drainMs?: number
  /** The time without updates that ends the turn, unless a call or question is open. Default 10 s. */
  readonly quietMs?: number
}

type Ending = 'sign' | 'quiet' | 'stop' | 'silence' | { readonly over: string } | { readonly unasked: AcpFailure }

export class OwnTurn {
  readonly #options: AgentWorkOptions
  readonly #own: OwnTurnOptions
  readonly #work: AgentWork
  readonly #ending: Deferred<Ending> = deferred<Ending>()
  readonly #sign = deferred<void>()
  #quiet: Timer | undefined

  constructor(options: AgentWorkOptions, own: OwnTurnOptions) {
    this.#options = options
    this.#own = own
    this.#work = new AgentWork(options, {
      silent: () => this.#ending.resolve('silence'),
      unasked: (unasked) => this.#ending.resolve({ unasked }),
      updated: (update) => {
        this.#quiet?.restart()
        if (endsOwnWork(update)) this.#signed()
      },
    })
  }

  async run(): Promise<PromptTurnEnd> {
    const { session, turn, signal } = this.#options
    const onAbort = (): void => this.#ending.resolve('stop')
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    void session.connection.over.then((over) => this.#ending.resolve({ over }))
    const content = [{ type: 'text', text: begun } as const]
    turn.record({ kind: 'MessageEvent', source: 'environment', llm_message: { role: 'user', content } })
    session.take(this.#work)
    this.#work.startIdle()
    this.#awaitQuiet()
    try {
      return await this.#finish(await this.#ending.promise)
    } finally {
      this.#quiet?.stop()
      signal.removeEventListener('abort', onAbort)
      session.rest(signal.aborted)
      await this.#work.close()
    }
  }

  async #finish(ending: Ending): Promise<PromptTurnEnd> {
    const { context, events } = this.#work
    if (ending === 'sign' || typeof ending === 'object') await this.#work.settled()
    if (ending === 'sign' || ending === 'quiet') {
      events.finish('The agent ended its work without telling how this tool call ended')
      return { end: { outcome: 'finished' }, replace: false, result: undefined, context }
    }
    if (ending === 'stop') {
      return { end: { outcome: 'stopped' }, replace: await this.#cancel(), result: undefined, context }
    }
    if (typeof ending === 'object' && 'unasked' in ending) {
      const failed = { outcome: 'failed', failure: ending.unasked, served: true } as const
      return { end: failed, replace: await this.#cancel(), result: undefined, context }
    }
    const replace = typeof ending === 'object' || (await this.#cancel())
    const silence = `The agent sent nothing for ${this.#options.idleMs / 1000} s in work of its own`
    const detail = typeof ending === 'object' ? ending.over : silence
    const { connection, agent } = this.#options.session
    const failure = withTail(new AcpFailure('ACPPromptError', detail), connection.stderrTail(), agent.quirks.idleTalk)
    events.close(`The agent failed before this tool call ended: ${this.#options.host.mask(detail)}`)
    return { end: { outcome: 'failed', failure, served: true }, replace, result: undefined, context }
  }

  /** Cancels the agent's work. Returns true when the agent's program must be ended. */
  async #cancel(): Promise<boolean> {
    const { session } = this.#options
    const { drainMs = 4000 } = this.#own
    session.cancelPrompt()
    await this.#work.stop(cancelledCall)
    const hasSaidSo = await within(this.#sign.promise.then(() => true), drainMs)
    return hasSaidSo === 'late' || (await hasLeftovers(session))
  }

  #signed(): void {
    this.#sign.resolve()
    this.#ending.resolve('sign')
  }

  #awaitQuiet(): void {
    this.#quiet = this.#options.timers.after(this.#own.quietMs ?? 10_000, () => {
      if (this.#work.isWaiting) this.#awaitQuiet()
      else this.#ending.resolve('quiet')
    })
  }
}

const begun =
  'The agent has begun to work by itself, without a message of the user (work in the background that went on or ended).'
