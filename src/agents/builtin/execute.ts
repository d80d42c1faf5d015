/**
 * Executes the actions of one answer: several at once if allowed, their results recorded in the order of the calls.
 *
 * The actions are in the log before this begins, so a crash never leaves a deed without a trace. Whatever a tool throws
 * becomes an AgentErrorEvent; what is stopped records nothing, since the conversation answers what is left open.
 */
import { messageOf } from '../../base/errors.ts'
import type { Turn } from '../../conversation/agent.ts'
import type { Action } from '../../schema/generated/actions.ts'
import type { EventDraft } from '../../schema/generated/events.ts'
import type { Observation } from '../../schema/generated/observations.ts'
import type { Tool } from '../tools/tool.ts'

/** An action that is in the log. */
export interface Deed {
  readonly actionId: string
  readonly callId: string
  readonly tool: Tool
  readonly action: Action
}

export interface ExecuteOptions {
  readonly turn: Turn
  /** How many tools may run at once. */
  readonly concurrencyLimit: number
  readonly mask: (text: string) => string
  readonly maskObservation: (observation: Observation) => Observation
}

/** Resolves when nothing runs any more and every result is recorded. @throws the signal's reason when the turn is stopped */
export async function executeAll(deeds: readonly Deed[], options: ExecuteOptions): Promise<void> {
  const { turn, concurrencyLimit } = options
  const results: (EventDraft | undefined)[] = deeds.map(() => undefined)
  let next = 0
  let recorded = 0
  const recordInOrder = (): void => {
    for (let result = results[recorded]; result !== undefined; result = results[recorded]) {
      turn.record(result)
      recorded++
    }
  }
  const work = async (): Promise<void> => {
    while (next < deeds.length && !turn.signal.aborted) {
      const place = next++
      const deed = deeds[place]
      if (deed === undefined) return
      const result = await execute(deed, options)
      if (turn.signal.aborted) return
      results[place] = result
      recordInOrder()
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, concurrencyLimit) }, work))
  turn.signal.throwIfAborted()
}

async function execute({ actionId, callId, tool, action }: Deed, { turn, mask, maskObservation }: ExecuteOptions): Promise<EventDraft> {
  const names = { tool_name: tool.name, tool_call_id: callId }
  try {
    const observation = maskObservation(await tool.run(action, { id: callId, signal: turn.signal }))
    return { kind: 'ObservationEvent', source: 'environment', ...names, action_id: actionId, observation }
  } catch (thrown) {
    const error = mask(`Error executing tool '${tool.name}': ${messageOf(thrown)}`)
    return { kind: 'AgentErrorEvent', source: 'agent', ...names, error }
  }
}
