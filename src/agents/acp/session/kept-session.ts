/**
 * The private record of an agent's session, with which a later program of the agent resumes the session. `begin` and
 * `keep` set the given members of the record. Its other members keep their values.
 */
import { objectOf, textOf } from '../../../base/fields.ts'
import type { JsonObject } from '../../../base/json.ts'
import type { AgentHost } from '../../../conversation/agent/host.ts'
import type { SessionChoice } from './start-session.ts'

export class KeptSession {
  readonly #host: Pick<AgentHost, 'kept' | 'keep'>

  constructor(host: Pick<AgentHost, 'kept' | 'keep'>) {
    this.#host = host
  }

  /** False until the first session of the conversation was opened. */
  get exists(): boolean {
    return this.#kept?.['id'] !== undefined
  }

  /** False for a session that has worked on no prompt. True without a record, or when the record does not say. */
  get isPrompted(): boolean {
    return this.#kept?.['is_prompted'] !== false
  }

  /** True when the next prompt needs no transcript before it. */
  get isCurrent(): boolean {
    return this.isPrompted || this.#kept?.['is_current'] === true
  }

  get choices(): SessionChoice {
    const options = Object.entries(objectOf(this.#kept?.['options'])).flatMap(([id, value]) => {
      return typeof value === 'string' ? [[id, value] as const] : []
    })
    const [model, mode] = [this.#kept?.['model'], this.#kept?.['mode']].map(textOf)
    return { model, mode, options: Object.fromEntries(options) }
  }

  /** Records a new session, which does not know the conversation yet. */
  begin(changes: JsonObject): void {
    this.keep({ ...changes, is_prompted: false, is_current: false })
  }

  keep(changes: JsonObject): void {
    this.#host.keep('session', { ...this.#kept, ...changes })
  }

  get #kept(): JsonObject | undefined {
    return this.#host.kept('session')
  }
}
