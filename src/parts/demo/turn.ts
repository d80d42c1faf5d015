/**
 * The functions with which the script of the demonstration agent reports to the client.
 *
 * After the client has cancelled the prompt, a function that sends a message throws `Cancelled`.
 */
import { isObject } from '../../base/json.ts'
import { sleep, untilAborted } from '../../base/wait.ts'
import type { RpcPeer } from '../../rpc/peer.ts'
import type { RunCommand } from './command.ts'
import type { Mode } from '../../agents/acp/session/demo-modes.ts'

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

/** Thrown after the client has cancelled the prompt. */
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

/** Returns an id for the next tool call, unique across sessions and processes. */
export function nextCallId(turn: DemoTurn): string {
  return `${turn.session.id}-${++turn.session.calls}`
}

/** Sends a plan: the first `done` steps are completed, the next step is in progress, the later steps are pending. */
export async function showPlan(turn: DemoTurn, steps: readonly string[], done: number): Promise<void> {
  const entries = steps.map((content, index): PlanEntry => ({
    content,
    priority: 'medium',
    status: statusOf(index, done),
  }))
  await update(turn, { sessionUpdate: 'plan', entries })
}

/** Returns whether the user allows a tool call. In mode `open` the user is not asked. */
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
  if (outcome['outcome'] === 'cancelled') throw new Cancelled()
  assertRunning(turn)
  return outcome['optionId'] === 'allow'
}

export function assertRunning(turn: DemoTurn): void {
  if (turn.signal.aborted) throw new Cancelled()
}

/** Sends a text in pieces of up to four words, with a pause of `paceMs` after each piece. */
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
  return isObject(result) && isObject(result['outcome']) ? result['outcome'] : {}
}
