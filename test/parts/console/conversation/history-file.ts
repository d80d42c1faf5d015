/** Histories of any content for tests: events written into the log of a conversation while no server runs on it. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { createStamper } from '../../../../src/base/stamp.ts'
import { eventKinds, toEvent, type Event, type EventInput } from '../../../../src/schema/generated/events.ts'
import { LineCache } from '../../../../src/storage/line-cache.ts'
import { openLog } from '../../../../src/storage/log.ts'

const stamp = createStamper(Date.now, randomBytes)
let calls = 0

/** Writes the events behind the history of a conversation. */
export async function appendHistory(dataDir: string, conversationId: string, events: Iterable<Event>): Promise<void> {
  const directory = join(dataDir, 'conversations', conversationId)
  const log = await openLog({ directory, kinds: eventKinds, cache: new LineCache(), onDamage: () => undefined })
  let count = 0
  for (const event of events) {
    log.append(JSON.stringify(event))
    if (++count % 2000 === 0) await log.durable()
  }
  await log.durable()
  await log.close()
}

export function message(text: string, source: 'agent' | 'user' = 'agent'): Event {
  const role = source === 'user' ? 'user' : 'assistant'
  return made({ kind: 'MessageEvent', source, llm_message: { role, content: [{ type: 'text', text }] } })
}

/** An action with its result. */
export function call(command: string, output: string): readonly Event[] {
  const id = `call_${++calls}`
  const action = { kind: 'TerminalAction', command } as const
  const names = { tool_name: 'terminal', tool_call_id: id }
  const told = { id, name: 'terminal', arguments: '{}', origin: 'completion' } as const
  const asked = made({
    kind: 'ActionEvent', source: 'agent', thought: [], action, ...names, tool_call: told, llm_response_id: `r_${id}`,
  })
  const content = [{ type: 'text', text: output }] as const
  const observation = { kind: 'TerminalObservation', command, content, exit_code: 0 } as const
  return [asked, made({
    kind: 'ObservationEvent', source: 'environment', action_id: asked.id, ...names, observation,
  })]
}

export function failure(code: string, detail: string): Event {
  return made({ kind: 'ConversationErrorEvent', source: 'environment', code, detail })
}

/** Returns an event with a new id and time. */
export function made(event: EventInput): Event {
  const { id, timestamp } = stamp()
  return toEvent({ ...event, id, timestamp })
}
