/**
 * Plays the agent's side of a recorded exchange into the mapping, with the recorded times as the clock, and returns the
 * events of each turn. The client's messages of then (answers, cancel) are sent again.
 */
import { readFileSync } from 'node:fs'
import { createMasker } from '../../../src/base/masking.ts'
import { silentLog } from '../../../src/base/log.ts'
import { isObject } from '../../../src/base/json.ts'
import { memberAt, objectOf, textOf } from '../../../src/base/fields.ts'
import { CallMemory } from '../../../src/agents/acp/calls/call-memory.ts'
import { TurnEvents } from '../../../src/agents/acp/turn/turn-events.ts'
import type { RanCall } from '../../../src/agents/acp/calls/unasked.ts'
import type { EventDraft } from '../../../src/schema/generated/events.ts'
import { manualTimers, type ManualTimers } from './manual-timers.ts'

const fixtures = new URL('../../../../test/fixtures/', import.meta.url)

/**
 * The events of every prompt of a transcript, each with the id that others refer to. `ran` is told of the calls that
 * ran.
 */
export function replay(name: string, ran: (ran: RanCall) => void = () => undefined): object[][] {
  const lines = readFileSync(new URL(`acp-transcripts/${name}.jsonl`, fixtures), 'utf8').trimEnd().split('\n')
  const turns: object[][] = []
  const timers = manualTimers()
  const memory = new CallMemory()
  const asked = new Map<unknown, readonly string[]>()
  let events: TurnEvents | undefined
  let promptId: unknown

  for (const line of lines) {
    const { t, dir, msg } = objectOf(JSON.parse(line))
    timers.advanceTo(Number(t))
    const { id, method, params } = objectOf(msg)
    if (dir === '>' && method === 'session/prompt') {
      promptId = id
      events = beginTurn({ name, turns, timers, memory, ran })
    } else if (dir === '>' && method === 'session/cancel') {
      events?.abandonCalls('Cancelled')
    } else if (dir === '>' && method === undefined && asked.has(id)) {
      const option = textOf(memberAt(msg, 'result', 'outcome', 'optionId')) ?? ''
      for (const callId of asked.get(id) ?? []) {
        if (/reject|cancel/.test(option)) events?.rejects(callId, 'No')
        else events?.allowed(callId)
      }
    } else if (dir === '<' && method === 'session/update') {
      events?.update(objectOf(memberAt(params, 'update')))
    } else if (dir === '<' && method === 'session/request_permission') {
      asked.set(id, (events?.asks(objectOf(memberAt(params, 'toolCall'))) ?? []).map((one) => one.id))
    } else if (dir === '<' && method === undefined && id === promptId && promptId !== undefined) {
      events?.finish('The turn has ended')
      events = undefined
    }
  }
  events?.close('The transcript has ended')
  return turns
}

export function expected(name: string): unknown {
  const value: unknown = JSON.parse(readFileSync(new URL(`acp-expected/${name}.json`, fixtures), 'utf8'))
  return isObject(value) ? value['turns'] : undefined
}

interface Replay {
  readonly name: string
  readonly turns: object[][]
  readonly timers: ManualTimers
  readonly memory: CallMemory
  readonly ran: (ran: RanCall) => void
}

function beginTurn({ name, turns, timers, memory, ran }: Replay): TurnEvents {
  const drafts: object[] = []
  turns.push(drafts)
  const turnId = `turn${turns.length}`
  return new TurnEvents({
    turnId,
    workingDir: '/workspace',
    titleIsCommand: name.startsWith('gemini'),
    observationsDir: '/observations',
    record: (draft: EventDraft) => {
      const id = `${turnId}/${drafts.length}`
      drafts.push({ id, ...draft })
      return { id, durable: async () => undefined }
    },
    delta: () => undefined,
    mask: (text) => text,
    maskDelta: (text) => text,
    stream: () => createMasker().stream(),
    saveOutput: () => 'output.txt',
    ran,
    timers,
    memory,
    log: silentLog,
  })
}
