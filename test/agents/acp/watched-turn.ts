/** A turn whose events, deltas and files a test can look at, with time as the test says. */
import { CallMemory } from '../../../src/agents/acp/calls/call-memory.ts'
import { TurnEvents, type TurnEventsOptions } from '../../../src/agents/acp/turn/turn-events.ts'
import { createMasker } from '../../../src/base/masking.ts'
import { silentLog } from '../../../src/base/log.ts'
import type { EventDraft } from '../../../src/schema/generated/events.ts'
import { manualTimers } from './manual-timers.ts'

export interface Watched {
  readonly events: TurnEvents
  readonly drafts: EventDraft[]
  readonly deltas: object[]
  readonly saved: string[]
  readonly timers: ReturnType<typeof manualTimers>
  /** The kinds so far. */
  kinds(): string[]
  text(words: string, messageId?: string): void
  thought(words: string, messageId?: string): void
  call(fields: object): void
}

export function watch(changes: Partial<TurnEventsOptions> = {}): Watched {
  const timers = manualTimers()
  const drafts: EventDraft[] = []
  const deltas: object[] = []
  const saved: string[] = []
  const events = new TurnEvents({
    turnId: 'turn',
    workingDir: '/repo',
    titleIsCommand: false,
    observationsDir: '/observations',
    record: (draft) => ({ id: `e${drafts.push(draft)}`, durable: async () => undefined }),
    delta: (piece) => void deltas.push(piece),
    mask: (text) => text.replaceAll('hunter22', '***'),
    maskDelta: (text) => text.replaceAll('session-id', '<session>'),
    stream: () => createMasker().stream(),
    ran: () => undefined,
    saveOutput: (text) => `file${saved.push(text)}`,
    timers,
    memory: new CallMemory(),
    log: silentLog,
    ...changes,
  })
  const chunk = (sessionUpdate: string, words: string, messageId?: string): void => {
    void events.update({
      sessionUpdate, content: { type: 'text', text: words }, ...(messageId === undefined ? {} : { messageId }),
    })
  }
  return {
    events,
    drafts,
    deltas,
    saved,
    timers,
    kinds: () => drafts.map(({ kind }) => kind),
    text: (words, id) => chunk('agent_message_chunk', words, id),
    thought: (words, id) => chunk('agent_thought_chunk', words, id),
    call: (fields) => void events.update({ sessionUpdate: 'tool_call_update', toolCallId: 't1', ...fields }),
  }
}

export const announced = { title: 'Terminal', kind: 'execute', status: 'pending', rawInput: {} }
export const filled = { title: 'ls -l', rawInput: { command: 'ls -l' } }

export function json(value: unknown): string {
  return JSON.stringify(value)
}
