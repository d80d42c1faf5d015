/** Events by short ids, and the words of a view about them. */
import { View } from '../../../../src/parts/builtin/view/view.ts'
import type { ModelMessage } from '../../../../src/parts/builtin/llm/model.ts'
import { toEvent, type Event, type EventDraft } from '../../../../src/schema/generated/events.ts'
import { act, observe, say, textOf } from '../../../support/conversation.ts'

export function event(id: string, draft: EventDraft): Event {
  return toEvent({ ...draft, id, timestamp: '2026-11-21T12:00:00.000000Z' })
}

export const prompt = event('s', { kind: 'SystemPromptEvent', system_prompt: { text: 'prompt' }, tools: [] })

export function user(id: string, content = id): Event {
  return event(id, { kind: 'MessageEvent', source: 'user', llm_message: { role: 'user', content } })
}

export function agent(id: string, content = id): Event {
  return event(id, say(content))
}

/**
 * The calls of one answer (`x` is the event `a-x`) with their results (`o-x`), without the results of the calls that
 * `unanswered` names.
 */
export function batch(response: string, calls: readonly string[], unanswered: readonly string[] = []): Event[] {
  return [
    ...calls.map((call) => event(`a-${call}`, { ...act(call), llm_response_id: response })),
    ...calls.filter((call) => !unanswered.includes(call)).map((call) => event(`o-${call}`, observe(call, `a-${call}`))),
  ]
}

export function condensation(id: string, forgotten: readonly string[], summary?: string, offset?: number): Event {
  return event(id, {
    kind: 'Condensation', forgotten_event_ids: [...forgotten], llm_response_id: 'r',
    ...(summary === undefined ? {} : { summary }), ...(offset === undefined ? {} : { summary_offset: offset }),
  })
}

export const request = event('request', { kind: 'CondensationRequest' })

export function viewOf(events: readonly Event[], late: Readonly<Record<string, string>> = {}): View {
  const view = new View()
  view.add({ isFresh: true, events, responses: new Map(), late: new Map(Object.entries(late)) })
  return view
}

/** Each message as its role, its text and its calls. */
export function words(messages: readonly ModelMessage[]): string[] {
  return messages.map(({ message }) => {
    return `${message.role}: ${[textOf(message), ...(message.tool_calls ?? []).map(({ id }) => `<${id}>`)].join('')}`
  })
}

export function told(events: readonly Event[], late: Readonly<Record<string, string>> = {}): string[] {
  return words(viewOf(events, late).messages({ withImages: true }))
}
