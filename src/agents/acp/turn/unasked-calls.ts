/**
 * Counts the tool calls that an agent ran although they may have needed a permission (a `Verdict` other than `fine`).
 *
 * A call that certainly needed a permission stops the turn, unless the setting `acp_unasked_calls` is `allow`. The
 * count and the last counted call are in `agent_state` (`acp_unasked`).
 */
import { numberOf } from '../../../base/fields.ts'
import { isObject, type JsonObject } from '../../../base/json.ts'
import type { Log } from '../../../base/log.ts'
import type { AgentHost } from '../../../conversation/agent/host.ts'
import { judgeRan, type RanCall, type Verdict } from '../calls/unasked.ts'
import { AcpFailure } from '../session/failure.ts'
import { asks } from '../session/permissions.ts'

export interface UnaskedCallsOptions {
  readonly host: Pick<AgentHost, 'policy' | 'state' | 'kept' | 'keep'>
  readonly onUnasked: 'stop' | 'allow'
  readonly log: Log
}

/** The members of a session that are needed to judge a call. */
interface JudgedSession {
  /** The first words of commands that run without a question in the current mode; `*` stands for every command. */
  readonly runsUnasked: readonly string[]
}

const shownTitleChars = 200

export class UnaskedCalls {
  readonly #options: UnaskedCallsOptions
  /**
   * The verdicts of this turn other than `fine`, by call id. A call may be reported twice, as running and as ended, but
   * is counted once.
   */
  readonly #judged = new Map<string, Verdict>()
  #isShown = true

  constructor(options: UnaskedCallsOptions) {
    this.#options = options
  }

  /**
   * Judges a call that ran, and counts it once if the verdict is not `fine`. Does nothing under a policy that
   * requires no questions. Returns the failure that must stop the turn; undefined if the turn may continue.
   */
  see(ran: RanCall, { runsUnasked }: JudgedSession): AcpFailure | undefined {
    const { host, onUnasked, log } = this.#options
    if (!asks(host.policy())) return undefined
    const verdict = judgeRan(ran, runsUnasked)
    const before = this.#judged.get(ran.id)
    if (verdict === 'fine' || before === verdict || before === 'unasked') return undefined
    this.#judged.set(ran.id, verdict)
    const about = { call: ran.id, kind: ran.call.kind, verdict }
    this.#mark(ran, verdict, before === undefined ? 1 : 0)
    if (verdict !== 'unasked') {
      log.info('An agent ran a tool call without a permission', about)
      return undefined
    }
    log.warn('An agent ran a tool call that nobody had allowed', about)
    this.#show()
    return onUnasked === 'allow' ? undefined : new AcpFailure('UnaskedAction', stoppedBy(ran))
  }

  /** Ends a turn: forgets its verdicts, publishes the count of unasked calls in `agent_state`, if it has changed. */
  settle(): void {
    this.#judged.clear()
    this.#show()
  }

  #mark({ id, call }: RanCall, verdict: Verdict, more: number): void {
    const { host } = this.#options
    const session = host.kept('session')
    const calls = (isObject(session?.['unasked']) ? (numberOf(session['unasked']['calls']) ?? 0) : 0) + more
    const title = call.title.slice(0, shownTitleChars)
    const last = { tool_call_id: id, kind: call.kind, title, verdict: verdict.replace('-', '_') }
    host.keep('session', { ...session, unasked: { calls, last } })
    this.#isShown = false
  }

  #show(): void {
    if (this.#isShown) return
    this.#isShown = true
    const kept = this.#options.host.kept('session')?.['unasked']
    const shown: JsonObject = { acp_unasked: kept ?? null }
    this.#options.host.state(shown)
  }
}

const reasons: Readonly<Record<RanCall['permission'], string>> = {
  none: 'and nobody had allowed it',
  allowed: 'which was allowed',
  changed: 'with another input than the one that was allowed',
  refused: 'which was refused',
}

function stoppedBy({ call, shape, permission }: RanCall): string {
  const what = (shape.as === 'command' ? shape.command : call.title).slice(0, shownTitleChars)
  return `The agent ran this (${call.kind}), ${reasons[permission]}: ${what}. The turn was stopped. `
    + 'To let such calls run, set "acp_unasked_calls" of the agent to "allow", or use the policy NeverConfirm'
}
