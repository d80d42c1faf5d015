/**
 * Histories of every kind, made at random: no request that comes of one is refused by a provider (see provider-rules).
 */
import * as assert from 'uvu/assert'
import { planAll, planPart } from '../../../src/parts/builtin/condensing/plan.ts'
import type { Unit } from '../../../src/parts/builtin/view/units.ts'
import { View } from '../../../src/parts/builtin/view/view.ts'
import { anthropicBody } from '../../../src/parts/builtin/llm/anthropic-request.ts'
import { geminiBody } from '../../../src/parts/builtin/llm/gemini-request.ts'
import type { ModelRequest } from '../../../src/parts/builtin/llm/model.ts'
import { chatBodyOf } from '../../../src/parts/builtin/llm/openai-chat-body.ts'
import { responsesBodyOf } from '../../../src/parts/builtin/llm/openai-responses-body.ts'
import type { JsonObject } from '../../../src/base/json.ts'
import { toEvent, type Event, type EventDraft } from '../../../src/schema/generated/events.ts'
import { toLLM } from '../../../src/schema/generated/llm.ts'
import { below, seeded } from '../../storage/samples.ts'
import { act, observe } from '../../support/conversation.ts'
import { suite } from '../../support/suite.ts'
import { anthropicProblems, chatProblems, geminiProblems, responsesProblems } from './provider-rules.ts'

const test = suite('agents/builtin/histories')

const image = { type: 'image', image_urls: ['data:image/png;base64,AA=='] } as const
const names = ['read', 'finish', '', 'fly <x>', 'n'.repeat(100), 'mcp.server/tool']
const argumentTexts = ['{}', '', '{"a":1}', '{"a":', '[1]', 'x', '{"a":"b\nc"}', '{"a":1} trailing']
const said = ['hello', '', ' \n', 'a\ud83d']

interface Call {
  readonly id: string
  readonly name: string
}

/** Makes a history step by step, as users, models and crashes do. */
class Story {
  readonly events: Event[] = []
  readonly late = new Map<string, string>()
  readonly responses = new Map<string, JsonObject>()
  readonly #random: () => number
  #serial = 0

  constructor(seed: number) {
    this.#random = seeded(seed)
  }

  view(): View {
    const view = new View()
    view.add({ isFresh: true, events: this.events, responses: this.responses, late: this.late })
    return view
  }

  user(isLate = false): void {
    const { id } = this.#add({
      kind: 'MessageEvent',
      source: this.#oneIn(5) ? 'environment' : 'user',
      llm_message: { role: 'user', content: this.#oneIn(4) ? [{ text: this.#pick(said) }, image] : this.#pick(said) },
    })
    if (isLate) this.late.set(id, `event-${this.#serial + 1}`)
  }

  /** Forgets the events that a plan names, with a summary; undefined when there is no plan. */
  condense(): Event | undefined {
    const input = { units: this.view().units, before: 0, keepFirst: below(this.#random, 4) }
    const plan = this.#oneIn(4)
      ? planAll(input)
      : planPart(input, { events: below(this.#random, 8), chars: below(this.#random, 200) })
    if (plan === undefined) return undefined
    const forgotten_event_ids = plan.forgotten.flatMap(({ ids }) => ids)
    return this.#add({
      kind: 'Condensation', forgotten_event_ids, summary: 'sum', summary_offset: plan.offset, llm_response_id: 'r',
    })
  }

  answer(): void {
    const response = `response-${++this.#serial}`
    if (this.#oneIn(2)) this.responses.set(response, this.#state())
    if (this.#oneIn(3)) this.user(true)
    if (this.#oneIn(3)) {
      const llm_message = { role: 'assistant', content: this.#pick(said), reasoning_content: 'hm' } as const
      this.#add({ kind: 'MessageEvent', source: 'agent', llm_message, llm_response_id: response })
      return
    }
    const calls = Array.from({ length: 1 + below(this.#random, 3) }, (_, place) => this.#call(response, place))
    if (this.#oneIn(3)) this.user()
    for (const call of calls) if (!this.#oneIn(6)) this.#result(call)
  }

  #call(response: string, place: number): Call {
    const id = `call-${this.#serial + 1}`
    const name = this.#pick(names)
    const call = { id, name, arguments: this.#pick(argumentTexts), origin: 'completion' } as const
    this.#add({
      ...act(id), tool_name: name, tool_call: call, llm_response_id: response,
      thought: place === 0 ? [{ text: this.#pick(said) }] : [],
      thinking_blocks: place === 0 ? [{ type: 'thinking', thinking: 'hm', signature: 's' }] : [],
      action: this.#oneIn(3) ? null : { kind: 'MCPToolAction', data: {} },
    })
    return { id, name }
  }

  #result({ id, name }: Call): void {
    const names = { tool_name: name, tool_call_id: id }
    const content = this.#pick([[], [{ text: this.#pick(said) }], [{ text: 'x' }, image]])
    const observation = { kind: 'MCPToolObservation', tool_name: 'read', content } as const
    this.#add(this.#pick<EventDraft>([
      { ...observe(id, 'action'), ...names },
      { kind: 'ObservationEvent', ...names, action_id: 'action', observation },
      { kind: 'AgentErrorEvent', ...names, error: 'no' },
      { kind: 'UserRejectObservation', ...names, action_id: 'action' },
    ]))
  }

  /** Some data that a provider wants back names other calls than the calls that are left. */
  #state(): JsonObject {
    const call_id = `call-${this.#serial + 1}`
    const items = [
      { type: 'reasoning', id: 'rs', summary: [], encrypted_content: 'e' },
      { type: 'function_call', id: 'fc', call_id },
      { type: 'message', id: 'm' },
    ]
    return this.#pick<JsonObject>([
      { openai_responses: { items } },
      { anthropic: { order: ['tool_use', 'text', 'thinking'] } },
      { gemini: { parts: [{ kind: 'text', chars: 5, signature: 's' }, { kind: 'call', signature: 't' }] } },
      { openai_chat: { reasoning_name: 'reasoning', reasoning_details: [{}] } },
    ])
  }

  #add(draft: EventDraft): Event {
    const event = toEvent({ ...draft, id: `event-${++this.#serial}`, timestamp: '2026-11-21T12:00:00.000000Z' })
    this.events.push(event)
    return event
  }

  #oneIn(count: number): boolean {
    return below(this.#random, count) === 0
  }

  #pick<T>(values: readonly T[]): T {
    const value = values[below(this.#random, values.length)]
    if (value === undefined) throw new RangeError('expected something to pick from')
    return value
  }
}

const target = { provider: 'OpenAI', baseUrl: 'https://host', model: 'gpt-5', isOpenAi: true }
const llm = toLLM({ model: 'test/model' })

function assertKeepsRules(view: View, seed: number, where: string): void {
  const messages = view.messages({ withImages: seed % 2 === 0 })
  const request: ModelRequest = { messages, tools: [], signal: new AbortController().signal }
  assert.equal(anthropicProblems(anthropicBody(request, 'claude-opus-4-6', llm)), [], where)
  assert.equal(geminiProblems(geminiBody(request, 'gemini-3-pro', llm)), [], where)
  assert.equal(chatProblems(chatBodyOf(request, target, llm)), [], where)
  assert.equal(responsesProblems(responsesBodyOf(request, target, llm)), [], where)
}

test('whatever has happened, what is sent keeps to the rules of its provider', () => {
  let requests = 0
  for (let seed = 1; seed <= 150; seed++) {
    const story = new Story(seed)
    story.user()
    for (let step = 0; step < 8; step++) {
      const view = story.view()
      if (!view.isOpen) {
        story.user()
        continue
      }
      assertKeepsRules(view, seed, `seed ${seed}, step ${step}`)
      requests++
      story.answer()
    }
  }
  assert.ok(requests > 500)
})

const idsOf = (units: readonly Unit[]): string[] => units.flatMap(({ ids }) => ids)

test(
  'whatever is condensed, the rest stays in its order, the summary is where it belongs, and the rules are kept',
  () => {
    let condensed = 0
    for (let seed = 1; seed <= 150; seed++) {
      const story = new Story(seed)
      story.user()
      for (let step = 0; step < 12; step++) {
        const where = `seed ${seed}, step ${step}`
        if (story.view().isOpen) story.answer()
        else story.user()
        const before = idsOf(story.view().units)
        const event = step % 3 === 2 ? story.condense() : undefined
        const view = story.view()
        if (view.isOpen) assertKeepsRules(view, seed, where)
        if (event?.kind !== 'Condensation') continue
        condensed++
        const left = before.filter((id) => !event.forgotten_event_ids.includes(id))
        const expected = [
          ...left.slice(0, event.summary_offset), `${event.id}-summary`, ...left.slice(event.summary_offset),
        ]
        assert.equal(idsOf(view.units), expected, where)
        assert.is(view.size.events, expected.length, where)
      }
    }
    assert.ok(condensed > 300)
  },
)

test('a history that is read in parts gives the view of one that is read at once', () => {
  for (let seed = 1; seed <= 60; seed++) {
    const story = new Story(seed)
    const view = story.view()
    let read = 0
    for (let step = 0; step < 12; step++) {
      if (story.view().isOpen) story.answer()
      else story.user()
      if (step % 3 === 2) story.condense()
      view.add({ isFresh: false, events: story.events.slice(read), responses: story.responses, late: story.late })
      read = story.events.length
      const whole = story.view()
      assert.is(
        JSON.stringify(view.messages({ withImages: true })),
        JSON.stringify(whole.messages({ withImages: true })),
        `seed ${seed}, step ${step}`,
      )
      assert.equal([view.size, view.isOpen], [whole.size, whole.isOpen])
    }
  }
})

test.run()
