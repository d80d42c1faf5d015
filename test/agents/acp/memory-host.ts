/** A conversation in memory: the input and the reports of an agent, for tests of the agent alone. */
import { createMasker, type Masker } from '../../../src/base/masking.ts'
import { deferred, type Deferred } from '../../../src/base/wait.ts'
import type { JsonObject } from '../../../src/base/json.ts'
import type { AgentHost, KeptKey } from '../../../src/conversation/agent/host.ts'
import type { ConfirmationAnswer, QuestionDraft, Turn, UsageReport } from '../../../src/conversation/agent/agent.ts'
import type { ConfirmationPolicy } from '../../../src/schema/generated/conversations.ts'
import type { EventDraft, MessageEvent } from '../../../src/schema/generated/events.ts'

export const secret = 'SECRET-VALUE-1'

export interface MemoryHost extends AgentHost {
  readonly events: EventDraft[]
  readonly states: JsonObject
  readonly usages: UsageReport[]
  readonly questions: QuestionDraft[]
  /** How the questions ended, in that order: the call and the outcome. */
  readonly outcomes: string[]
  readonly deltas: string[]
  readonly memory: Map<KeptKey, JsonObject>
  confirmation: ConfirmationPolicy
  /** Called when the agent begins to work by itself. */
  begun: () => void
  /** The ids that `toolCallIds` returns. */
  callIds: readonly string[]
  /** The text that `transcript` returns. */
  past: string
  environment: Map<string, string>
  /** How questions are answered; without an answer they wait until they are withdrawn, or for the end of the turn. */
  answer: ((question: QuestionDraft) => ConfirmationAnswer | undefined) | undefined
  /** Resolved by a test that waits for something to be recorded. */
  seen(pattern: RegExp): Promise<void>
  /** Returns the history and the questions as one text. */
  text(): string
  turn(prompt: string, options?: TurnOptions): MemoryTurn
}

export interface TurnOptions {
  readonly isOwn?: boolean
  readonly ready?: () => Promise<void> | undefined
  readonly durable?: () => Promise<void>
}

export interface MemoryTurn extends Turn {
  stop(): void
}

export function memoryHost(workingDir: string): MemoryHost {
  const waiting = new Set<{ pattern: RegExp; found: Deferred<void> }>()
  const host: MemoryHost = {
    conversationId: '00000000-0000-4000-8000-000000000000',
    workingDir,
    observationsDir: `${workingDir}/observations`,
    agentDir: `${workingDir}/acp`,
    hookConfig: null,
    clientTools: [],
    agentDefinitions: [],
    events: [],
    states: {},
    usages: [],
    questions: [],
    outcomes: [],
    deltas: [],
    memory: new Map(),
    environment: new Map(),
    confirmation: { kind: 'NeverConfirm' },
    past: '',
    callIds: [],
    begun: () => undefined,
    answer: undefined,
    history: () => ({ next: async () => ({ isFresh: true, events: [], responses: new Map(), late: new Map() }) }),
    toolCallIds: async () => host.callIds,
    settings: () => ({}),
    takeStep: () => true,
    rules: () => ({ maxIterations: 500, stuckDetection: true, analyzer: null, budgetSpent: undefined }),
    policy: () => host.confirmation,
    secrets: async () => host.environment,
    ownSecretNames: () => new Set(),
    secretNames: async () => [...host.environment.keys()].map((name) => ({ name, description: null })),
    replaceSecret: async ({ name, lent, current }) => {
      if (host.environment.get(name) !== lent) return false
      host.environment.set(name, current)
      return true
    },
    beginRun: async () => host.begun(),
    kept: (key) => host.memory.get(key),
    keep: (key, value) => void host.memory.set(key, value),
    state: (changes) => void Object.assign(host.states, changes),
    skillInvoked: () => undefined,
    mask: (text) => text.replaceAll(secret, '<secret-hidden>'),
    maskingStream: () => createMaskerFor(secret).stream(),
    transcript: async () => host.past,
    text: () => JSON.stringify([host.events, host.deltas, host.questions, host.outcomes]),
    seen(pattern) {
      const found = deferred<void>()
      waiting.add({ pattern, found })
      check()
      return found.promise
    },
    turn: (prompt, options = {}) => memoryTurn(host, check, prompt, options),
  }
  const check = (): void => {
    const text = host.text()
    for (const wait of waiting) if (wait.pattern.test(text)) wait.found.resolve()
  }
  return host
}

function memoryTurn(host: MemoryHost, check: () => void, prompt: string, options: TurnOptions): MemoryTurn {
  const { ready = () => undefined, durable = async () => undefined, isOwn = false } = options
  const controller = new AbortController()
  return {
    messages: prompt === '' ? [] : [userMessage(prompt)],
    signal: controller.signal,
    pausing: new AbortController().signal,
    approved: [],
    isOwn,
    served() {},
    keepResponse() {},
    keepCall() {},
    record(draft) {
      const id = `e${host.events.push(draft)}`
      check()
      return { id, durable }
    },
    delta(piece) {
      host.deltas.push(piece.content ?? piece.reasoning_content ?? '')
      check()
    },
    async ask(question, withdrawn) {
      host.questions.push(question)
      check()
      const answer = host.answer?.(question) ??
        (await cancelled(AbortSignal.any([controller.signal, ...(withdrawn === undefined ? [] : [withdrawn])])))
      host.outcomes.push(`${question.toolCallId} ${answer.outcome}`)
      check()
      return answer
    },
    usage: (report) => void host.usages.push(report),
    onMessage: () => undefined,
    ready,
    stop: () => controller.abort(new Error('stopped')),
  }
}

function cancelled(signal: AbortSignal): Promise<ConfirmationAnswer> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve({ outcome: 'cancelled' }), { once: true })
  })
}

export function userMessage(text: string): MessageEvent {
  return {
    kind: 'MessageEvent',
    id: 'm1',
    timestamp: '2026-11-21T09:30:00.123456Z',
    source: 'user',
    llm_message: { role: 'user', content: [{ type: 'text', text, cache_prompt: false }], thinking_blocks: [] },
    activated_skills: [],
    extended_content: [],
  }
}

function createMaskerFor(value: string): Masker {
  const masker = createMasker()
  masker.register([value])
  return masker
}
