/** Changes the model, mode and options of a conversation's agent while the conversation is open. */
import { AppError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import type { AgentRecords } from './agent-records.ts'
import type { AgentSeat } from './agent-seat.ts'
import type { AgentSession } from '../agent/agent.ts'
import type { Beginning } from './admission.ts'
import type { Gate } from './gate.ts'

export interface SwitchesOptions {
  readonly gate: Gate
  readonly seat: AgentSeat
  readonly records: AgentRecords
  readonly beginning: Pick<Beginning, 'assertSpace'>
}

export class Switches {
  readonly #options: SwitchesOptions

  constructor(options: SwitchesOptions) {
    this.#options = options
  }

  /** Checks that the method `llm` can switch the model of this kind of agent. @throws AppError `bad_request` */
  assertTakesModel(): void {
    if (this.#options.seat.takesModel) return
    throw new AppError('bad_request', 'Cannot switch the model: the conversation is not driven by the built-in agent')
  }

  /**
   * Switches the built-in agent's model from the next step on. `change` returns the settings with encrypted secrets.
   * @throws the errors of `Beginning.assertSpace`, `Gate.write`
   */
  async llm(change: (settings: JsonObject) => JsonObject): Promise<void> {
    const { gate, records, beginning } = this.#options
    beginning.assertSpace()
    await gate.write(() => records.changeSettings(change))
  }

  /** Switches the model of the agent's session for later turns. @throws the errors of `AgentSession`, `Gate.write` */
  model(model: string, signal: AbortSignal): Promise<void> {
    return this.#options.gate.write(() => this.#session('switch the model').switchModel(model, signal))
  }

  /** Switches the mode of the agent's current and later sessions. @throws the errors of `AgentSession`, `Gate.write` */
  mode(mode: string, signal: AbortSignal): Promise<void> {
    return this.#options.gate.write(() => this.#session('switch the mode').switchMode(mode, signal))
  }

  /** Sets an option of the agent's current and later sessions. @throws the errors of `AgentSession`, `Gate.write` */
  option(id: string, value: string, signal: AbortSignal): Promise<void> {
    return this.#options.gate.write(() => this.#session('set the option').switchOption(id, value, signal))
  }

  #session(deed: string): AgentSession {
    const { session } = this.#options.seat.agent()
    if (session !== undefined) return session
    throw new AppError('bad_request', `Cannot ${deed}: the conversation is not driven by an ACP agent`)
  }
}
