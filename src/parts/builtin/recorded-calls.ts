/**
 * Records the tool calls of one answer, with secrets masked.
 *
 * All calls are masked before the first is recorded, because other work may run while calls are masked. So no event of
 * other work comes between the events of the calls.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AgentHost } from '../../conversation/agent/host.ts'
import type { Turn } from '../../conversation/agent/agent.ts'
import type { Action } from '../../schema/generated/actions.ts'
import type { ActionEvent } from '../../schema/generated/events.ts'
import type { Message, MessageToolCall } from '../../schema/generated/values.ts'
import type { Critique } from './critic.ts'
import type { RecordedCall } from './execute.ts'
import { maskAction, maskCall, maskingWays } from './recording/masked.ts'
import { sealAction, type CallCipher } from './recording/original-calls.ts'
import type { BadCall, PreparedCall } from './calls/tool-calls.ts'

/** The model's answer that contains the calls. */
export interface Origin {
  readonly responseId: string
  readonly critique: Critique
  readonly message: Message
  /** True when the calls wait for the user's approval: then the originals of masked calls are stored (`sealAction`). */
  readonly waits: boolean
}

export interface RecordOptions {
  readonly turn: Turn
  readonly host: AgentHost
  /** Encrypts the originals of calls that wait for the user's approval. */
  readonly cipher: CallCipher
}

/** Records the calls. The first call's event also has the model's text and thoughts. Returns the valid calls. */
export async function recordCalls(
  calls: readonly (PreparedCall | BadCall)[], origin: Origin, options: RecordOptions,
): Promise<RecordedCall[]> {
  const shown: ShownCall[] = []
  for (const call of calls) {
    shown.push(await shownCall(call, options.host))
    await nextTurn()
  }
  return shown.flatMap((call, place) => recordCall(call, place === 0, origin, options))
}

/** A call, and the masked forms of the call and of its action. */
interface ShownCall {
  readonly prepared: PreparedCall | BadCall
  readonly call: MessageToolCall
  readonly shown: Action | null
}

async function shownCall(prepared: PreparedCall | BadCall, host: AgentHost): Promise<ShownCall> {
  const ways = maskingWays(host)
  // The name of a valid call is the name of a tool, and no secret. The name of an invalid call may be any text.
  const call = prepared.ok ? prepared.call : { ...prepared.call, name: host.mask(prepared.call.name) }
  return {
    prepared,
    call: await maskCall(call, ways),
    shown: prepared.ok ? await maskAction(prepared.action, ways) : null,
  }
}

function recordCall(
  { prepared, call, shown }: ShownCall, isFirst: boolean, origin: Origin, { turn, host, cipher }: RecordOptions,
): RecordedCall[] {
  const { mask } = host
  const { id } = turn.record({
    kind: 'ActionEvent',
    source: 'agent',
    ...(isFirst ? thoughtsOf(origin.message) : { thought: [] }),
    action: shown,
    tool_name: call.name,
    tool_call_id: call.id,
    tool_call: call,
    llm_response_id: origin.responseId,
    ...(prepared.ok
      ? { security_risk: prepared.risk, summary: prepared.summary, ...origin.critique(prepared.action) }
      : {}),
  })
  if (!prepared.ok) {
    turn.record({
      kind: 'AgentErrorEvent',
      source: 'agent',
      tool_name: call.name,
      tool_call_id: call.id,
      error: mask(prepared.error),
    })
    return []
  }
  const { tool, action } = prepared
  const recorded = shown ?? action
  const kept = origin.waits ? sealAction(id, action, recorded, cipher) : undefined
  if (kept !== undefined) turn.keepCall(id, kept)
  return [{ actionId: id, callId: call.id, tool, action, recorded }]
}

function thoughtsOf({ content, reasoning_content, thinking_blocks, responses_reasoning_item }: Message): Pick<
  ActionEvent, 'thought' | 'thinking_blocks' | 'reasoning_content' | 'responses_reasoning_item'
> {
  return {
    thought: content.filter((part) => part.type === 'text'),
    thinking_blocks,
    ...(reasoning_content === undefined ? {} : { reasoning_content }),
    ...(responses_reasoning_item === undefined ? {} : { responses_reasoning_item }),
  }
}
