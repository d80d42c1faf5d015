/** Histories of every kind, made at random: no request that comes of one is refused by a provider (see provider-rules). */
import * as assert from 'uvu/assert'
import { View } from '../../../src/agents/builtin/view.ts'
import { anthropicBody } from '../../../src/agents/llm/anthropic-request.ts'
import { geminiBody } from '../../../src/agents/llm/gemini-request.ts'
import type { ModelRequest } from '../../../src/agents/llm/model.ts'
import { chatBodyOf } from '../../../src/agents/llm/openai-chat-body.ts'
import { responsesBodyOf } from '../../../src/agents/llm/openai-responses-body.ts'
import type { JsonObject } from '../../../src/base/json.ts'
import { toEvent, type Event, type EventDraft } from '../../../src/schema/generated/events.ts'
import { toLLM } from '../../../src/schema/generated/llm.ts'
import { below, seeded } from '../../storage/samples.ts'
import { act, observe } from '../../support/conversation.ts'
import { suite } from '../../support/suite.ts'
import { anthropicProblems, chatProblems, geminiProblems, responsesProblems } from './provider-rules.ts'

const test = suite('agents/builtin/histories', 60_000)

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
      ...act(id), tool_name: name, tool_call: call, llm_response_id: response, thought: place === 0 ? [{ text: this.#pick(said) }] : [],
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

  /** Some of what a provider wants back speaks of other calls than those that are left. */
  #state(): JsonObject {
    const call_id = `call-${this.#serial + 1}`
    const items = [{ type: 'reasoning', id: 'rs', summary: [], encrypted_content: 'e' }, { type: 'function_call', id: 'fc', call_id }, { type: 'message', id: 'm' }]
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
      const messages = view.messages({ withImages: seed % 2 === 0 })
      const request: ModelRequest = { messages, tools: [], signal: new AbortController().signal }
      const where = `seed ${seed}, step ${step}`
      assert.equal(anthropicProblems(anthropicBody(request, 'claude-opus-4-6', llm)), [], where)
      assert.equal(geminiProblems(geminiBody(request, 'gemini-3-pro', llm)), [], where)
      assert.equal(chatProblems(chatBodyOf(request, target, llm)), [], where)
      assert.equal(responsesProblems(responsesBodyOf(request, target, llm)), [], where)
      requests++
      story.answer()
    }
  }
  assert.ok(requests > 500)
})

test.run()
