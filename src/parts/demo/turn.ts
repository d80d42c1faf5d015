/**
 * What a script can do in one prompt of the demonstration agent: say, think, plan, ask and report on a tool call.
 *
 * Each function sends one message or a few; all of them stop with `Cancelled` once the client has cancelled the prompt,
 * so a script needs no checks of its own.
 */
import { isObject } from '../../base/json.ts'
import { sleep, untilAborted } from '../../base/wait.ts'
import type { RpcPeer } from '../../rpc/peer.ts'
import type { RunCommand } from './command.ts'
import type { Mode } from '../../agents/acp/demo-modes.ts'

export interface DemoTurn {
  readonly peer: RpcPeer
  readonly session: { readonly id: string; readonly cwd: string; readonly mode: Mode; calls: number }
  readonly signal: AbortSignal
  readonly runCommand: RunCommand
  readonly paceMs: number
}

export interface PlanEntry {
  readonly content: string
  readonly priority: 'medium'
  readonly status: 'pending' | 'in_progress' | 'completed'
}

/** The client has cancelled the prompt. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled'
}

export async function say(turn: DemoTurn, text: string): Promise<void> {
  await stream(turn, 'agent_message_chunk', text)
}

export async function think(turn: DemoTurn, text: string): Promise<void> {
  await stream(turn, 'agent_thought_chunk', text)
}

export async function update(turn: DemoTurn, fields: object): Promise<void> {
  assertRunning(turn)
  await turn.peer.notify('session/update', { sessionId: turn.session.id, update: fields })
}

/** An id for the next tool call: no other process or session makes the same. */
export function nextCallId(turn: DemoTurn): string {
  return `${turn.session.id}-${++turn.session.calls}`
}

/** Shows a plan of which the first `done` steps are complete and the next one is being worked on. */
export async function showPlan(turn: DemoTurn, steps: readonly string[], done: number): Promise<void> {
  const entries = steps.map((content, index): PlanEntry => ({
    content,
    priority: 'medium',
    status: statusOf(index, done),
  }))
  await update(turn, { sessionUpdate: 'plan', entries })
}

/** Whether the user allows a tool call. Mode `open` does not ask. */
export async function mayDo(turn: DemoTurn, toolCall: object): Promise<boolean> {
  assertRunning(turn)
  if (turn.session.mode === 'open') return true
  const answer = turn.peer.request('session/request_permission', {
    sessionId: turn.session.id,
    toolCall,
    options: [
      { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
      { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
    ],
  }, { timeoutMs: Infinity })
  const outcome = outcomeOf(await untilAborted(answer, turn.signal).catch(assertNotCancelled(turn)))
  if (outcome.outcome === 'cancelled') throw new Cancelled()
  assertRunning(turn)
  return outcome.optionId === 'allow'
}

export function assertRunning(turn: DemoTurn): void {
  if (turn.signal.aborted) throw new Cancelled()
}

/** Sends a text a few words at a time. */
async function stream(turn: DemoTurn, sessionUpdate: string, text: string): Promise<void> {
  for (const piece of text.match(/(?:\S+\s*){1,4}/g) ?? []) {
    await update(turn, { sessionUpdate, content: { type: 'text', text: piece } })
    await sleep(turn.paceMs, turn.signal).catch(assertNotCancelled(turn))
  }
}

function assertNotCancelled(turn: DemoTurn): (thrown: unknown) => never {
  return (thrown) => {
    assertRunning(turn)
    throw thrown
  }
}

function statusOf(index: number, done: number): PlanEntry['status'] {
  if (index < done) return 'completed'
  return index === done ? 'in_progress' : 'pending'
}

function outcomeOf(result: unknown): Record<string, unknown> {
  return isObject(result) && isObject(result.outcome) ? result.outcome : {}
}
