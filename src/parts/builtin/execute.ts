/**
 * Executes the actions of one answer. Results are recorded in the order of the calls.
 *
 * The caller writes the actions durably to the log first, so a crash leaves no executed action without a record. An
 * error of a tool becomes an AgentErrorEvent.
 */
import { AppError, maskedErrorOf, messageOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { Turn } from '../../conversation/agent/agent.ts'
import type { Action } from '../../schema/generated/actions.ts'
import type { EventDraft } from '../../schema/generated/events.ts'
import type { Observation } from '../../schema/generated/observations.ts'
import type { Tool, ToolTurn } from '../../agents/tool.ts'
import type { Hooks } from '../../agents/hooks.ts'
import { environmentMessage } from './environment-message.ts'

/** A tool call whose action is recorded in the log. */
export interface RecordedCall {
  readonly actionId: string
  readonly callId: string
  readonly tool: Tool
  /** The action to execute, with its secrets. */
  readonly action: Action
  /** The action as recorded, with secrets masked. Hooks get this form. */
  readonly recorded: Action
}

export interface ExecuteOptions {
  readonly turn: Turn
  /** Takes one of the turn's steps, for a step of a sub-agent. Returns false when no step is left. */
  readonly takeStep: () => boolean
  /** The most actions that run at once. There is no limit when the tools of all actions are `isConcurrent`. */
  readonly concurrencyLimit: number
  /** True when the user has approved the actions to execute. */
  readonly isApproved: boolean
  readonly mask: (text: string) => string
  readonly maskObservation: (observation: Observation) => Promise<Observation>
  readonly hooks: Pick<Hooks, 'beforeTool' | 'afterTool'>
  readonly log: Pick<Log, 'warn'>
}

/**
 * Runs the actions and records their results. Returns the actions that no hook refused.
 * @throws the signal's reason when the turn is stopped
 */
export async function executeAll(
  calls: readonly RecordedCall[], options: ExecuteOptions,
): Promise<readonly RecordedCall[]> {
  const { turn } = options
  const limit = calls.every(({ tool }) => tool.isConcurrent) ? calls.length : options.concurrencyLimit
  const results: (readonly EventDraft[] | undefined)[] = calls.map(() => undefined)
  let next = 0
  let recorded = 0
  const recordInOrder = (): void => {
    for (let result = results[recorded]; result !== undefined; result = results[recorded]) {
      result.forEach((draft) => turn.record(draft))
      recorded++
    }
  }
  const work = async (): Promise<void> => {
    while (next < calls.length && !turn.signal.aborted) {
      const place = next++
      const call = calls[place]
      if (call === undefined) return
      const result = await execute(call, options)
      // After a stop, record a result only if it begins with an observation: an error may come from the stop itself.
      if (turn.signal.aborted && result[0]?.kind !== 'ObservationEvent') return
      results[place] = result
      recordInOrder()
    }
  }
  await Promise.all(Array.from({ length: Math.min(calls.length, limit) }, work))
  turn.signal.throwIfAborted()
  return calls.filter((_call, place) => results[place]?.[0]?.kind !== 'UserRejectObservation')
}

/** Returns the events of one action: its result, its error or a hook's refusal, then the hooks' texts for the model. */
async function execute(call: RecordedCall, options: ExecuteOptions): Promise<EventDraft[]> {
  const { turn, mask, maskObservation, hooks, isApproved, log } = options
  const { actionId, callId, tool, action, recorded } = call
  const use = { tool: tool.name, action: recorded }
  const names = { tool_name: tool.name, tool_call_id: callId }
  let notes: readonly string[] = []
  try {
    const { refusal, ...before } = await hooks.beforeTool(use, turn.signal)
    notes = before.notes
    if (refusal !== undefined) return [rejection(call, refusal), ...notes.map(environmentMessage)]
    const toolCall = { id: callId, signal: turn.signal, isApproved, turn: turnOf(call, options) }
    const observation = await maskObservation(await tool.run(action, toolCall))
    const answer = {
      kind: 'ObservationEvent',
      source: 'environment',
      ...names,
      action_id: actionId,
      observation,
    } as const
    // Record the tool's result even when a hook fails.
    const words = await hooks.afterTool(use, observation, turn.signal).catch((thrown: unknown) => {
      return turn.signal.aborted ? [] : [mask(`[PostToolUse hook failed] ${messageOf(thrown)}`)]
    })
    return [answer, ...[...notes, ...words].map(environmentMessage)]
  } catch (thrown) {
    if (!turn.signal.aborted && !(thrown instanceof AppError)) {
      log.warn('A tool failed unexpectedly', { tool: tool.name, error: maskedErrorOf(thrown, mask) })
    }
    const error = mask(`Error executing tool '${tool.name}': ${messageOf(thrown)}`)
    return [{ kind: 'AgentErrorEvent', source: 'agent', ...names, error }, ...notes.map(environmentMessage)]
  }
}

function turnOf({ actionId }: RecordedCall, { turn, takeStep }: ExecuteOptions): ToolTurn {
  return {
    actionId,
    takeStep,
    pausing: turn.pausing,
    ask: (question, withdrawn) => turn.ask(question, withdrawn),
    usage: (report) => turn.usage(report),
    record: (draft) => turn.record(draft),
  }
}

function rejection({ actionId, callId, tool }: RecordedCall, reason: string): EventDraft {
  return {
    kind: 'UserRejectObservation',
    source: 'environment',
    tool_name: tool.name,
    tool_call_id: callId,
    action_id: actionId,
    rejection_reason: reason,
    rejection_source: 'hook',
  }
}
