/**
 * Conversations for tests: on a real folder, with a clock, a disk and an agent that the test owns.
 *
 * The agent follows scripts, one for each turn, so that a test reads as a sequence; `story` tells the history in words.
 * The disk is the real one until a test holds its syncs back or makes its writes fail.
 */
import { createMasker } from '../../src/base/masking.ts'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '../../src/base/errors.ts'
import { isObject, parseJson } from '../../src/base/json.ts'
import type { Log } from '../../src/base/log.ts'
import { deferred } from '../../src/base/wait.ts'
import type { AgentHost } from '../../src/conversation/agent/host.ts'
import type { Agent, AgentKind, AgentSession, AsideAnswer, Turn, TurnEnd } from '../../src/conversation/agent/agent.ts'
import type { Conversation } from '../../src/conversation/conversation.ts'
import { writeCreated } from '../../src/conversation/log/first-lines.ts'
import { openConversation, type ConversationDeps } from '../../src/conversation/opening.ts'
import type { Created } from '../../src/conversation/log/origins.ts'
import type { ConversationState } from '../../src/conversation/log/state.ts'
import { storedEvent } from '../../src/conversation/log/stored-event.ts'
import type { ConfirmationPolicy } from '../../src/schema/generated/conversations.ts'
import type { Event, EventDraft } from '../../src/schema/generated/events.ts'
import { toMessage, type Message } from '../../src/schema/generated/values.ts'
import { Admission } from '../../src/conversation/run/admission.ts'
import { LineCache } from '../../src/storage/line-cache.ts'
import type { ConversationLog } from '../../src/storage/log.ts'
import { Reserve } from '../../src/storage/reserve.ts'
import { TestDisk } from './test-disk.ts'

export const conversationId = '00000000-0000-4000-8000-000000000001'
export const startMillis = Date.parse('2026-11-21T12:00:00.000Z')

/** The work of an agent in one turn. */
export type Script = (turn: Turn, host: AgentHost) => TurnEnd | Promise<TurnEnd>

export const finished: TurnEnd = { outcome: 'finished', served: true }
export const stopped: TurnEnd = { outcome: 'stopped', served: true }

/** Answers with one message and has finished. */
export function answers(text: string): Script {
  return (turn) => {
    turn.record(say(text))
    return finished
  }
}

/** Works until it is told to stop. */
export async function worksOn(turn: Turn): Promise<TurnEnd> {
  await aborted(turn)
  return stopped
}

export function aborted({ signal }: Turn): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Follows its scripts, one for each turn; without one left it finishes at once. */
export class ScriptedAgent implements Agent, AgentSession {
  readonly host: AgentHost
  readonly turns: Turn[] = []
  readonly policies: ConfirmationPolicy[] = []
  readonly models: string[] = []
  closed = 0
  answerAside: (question: string) => AsideAnswer | Promise<AsideAnswer> = (question) => {
    return { text: `about ${question}`, usage: { usageId: 'a', model: 'm', cost: 0.25 } }
  }
  /** Absent, as for an external agent, until a test sets it. */
  condense?: NonNullable<Agent['condense']>
  readonly #scripts: Script[]

  constructor(host: AgentHost, scripts: Script[]) {
    this.host = host
    this.#scripts = scripts
  }

  async runTurn(turn: Turn): Promise<TurnEnd> {
    this.turns.push(turn)
    const script = this.#scripts.shift()
    return script === undefined ? finished : script(turn, this.host)
  }

  policyChanged(): void {
    this.policies.push(this.host.policy())
  }

  get session(): AgentSession {
    return this
  }

  async switchModel(model: string): Promise<void> {
    this.models.push(model)
    this.host.state({ acp_current_model_id: model })
  }

  async switchMode(mode: string): Promise<void> {
    this.host.state({ acp_current_mode_id: mode })
  }

  async switchOption(id: string, value: string): Promise<void> {
    this.host.state({ acp_config_options: [{ option_id: id, current_value: value }] })
  }

  async askAside(question: string): Promise<AsideAnswer> {
    return this.answerAside(question)
  }

  async close(): Promise<void> {
    this.closed++
  }

  /** The texts of the user in each turn. */
  get served(): string[][] {
    return this.turns.map((turn) => turn.messages.map((message) => textOf(message.llm_message)))
  }
}

export interface World {
  readonly folder: string
  readonly deps: ConversationDeps
  readonly disk: TestDisk
  readonly reserve: Reserve
  /** Every agent that was made, the newest last. */
  readonly agents: ScriptedAgent[]
  /** The scripts of the next turns, of any agent. */
  readonly scripts: Script[]
  /** Lines of the server's log. */
  readonly reports: string[]
  /** In milliseconds; stands still unless a test moves it. */
  readonly time: { now: number }
  /** Conversations that were closed. */
  readonly closedIds: readonly string[]
}

/** Runs a test in a folder of its own, which is removed afterwards. */
export async function withWorld(body: (world: World) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'conversation-'))
  try {
    await body(await makeWorld(folder))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function makeWorld(folder: string): Promise<World> {
  const reports: string[] = []
  const agents: ScriptedAgent[] = []
  const scripts: Script[] = []
  const disk = new TestDisk()
  const time = { now: startMillis }
  const clock = (): number => time.now
  const reserve = await Reserve.open({ path: join(folder, 'reserve'), clock, sizeBytes: 4096 })
  const closedIds: string[] = []
  const masker = createMasker()
  masker.register(['SECRET-VALUE'])
  let seed = 0
  const deps: ConversationDeps = {
    clock,
    random: (size) => Buffer.alloc(size, seed++),
    diagnostics: reporter(reports),
    cache: new LineCache(),
    files: disk,
    reserve, admission: new Admission(),
    readerLimit: 10,
    backlogLimitBytes: 4096,
    eventLimitBytes: 100_000,
    confirmationDeadlineMs: 60_000,
    stopLimitMs: 5000,
    closeLimitMs: 60_000,
    agentKind: async ({ kind }) => ({
      ...featuresOf(kind),
      create: (host) => {
        const agent = new ScriptedAgent(host, scripts)
        agents.push(agent)
        return agent
      },
    }),
    titleByProfile: async () => undefined,
    secrets: {
      list: async (sources) => Object.keys(sources).map((name) => ({ name, description: null })),
      resolve: async (_id, sources, wanted) =>
        new Map(Object.keys(sources).filter(wanted).map((name) => [name, `value of ${name}`])),
      replace: async () => true,
    },
    mask: (text) => text.replaceAll('SECRET', '<secret-hidden>'),
    createMaskingStream: () => masker.stream(),
    onClosed: (id) => closedIds.push(id),
  }
  return { folder, deps, disk, reserve, agents, scripts, reports, time, closedIds }
}

function reporter(lines: string[]): Log {
  const at = (level: string) => (message: string, fields = {}): void => {
    lines.push(`${level}: ${message} ${JSON.stringify(fields)}`)
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

export function created(changes: Partial<Created> = {}): Created {
  return {
    id: conversationId,
    created_at: '2026-11-21T12:00:00.000000Z',
    agent: { kind: 'ACPAgent', acp_command: ['agent'] },
    working_dir: '/workspace',
    confirmation_policy: { kind: 'NeverConfirm' },
    security_analyzer: null,
    max_iterations: 500,
    stuck_detection: true,
    autotitle: false,
    tags: {},
    secrets: {},
    hook_config: null,
    client_tools: [],
    parent_conversation_id: null,
    launched_agent_profile: null,
    ...changes,
  }
}

/** Makes the folder of a conversation, without opening it. */
export async function makeConversation(world: World, changes: Partial<Created> = {}): Promise<string> {
  const { id } = created(changes)
  const directory = join(world.folder, id)
  await mkdir(directory)
  await writeCreated(directory, world.deps.cache, created(changes))
  return directory
}

export function openTestConversation(
  world: World,
  directory: string,
  onChange: (state: Readonly<ConversationState>) => void = () => undefined,
): Promise<Conversation> {
  return openConversation({ directory, deps: world.deps, onChange })
}

/** One new open conversation; it is closed afterwards. */
export async function withConversation(
  body: (conversation: Conversation, world: World) => Promise<void>,
  changes: Partial<Created> = {},
): Promise<void> {
  await withWorld(async (world) => {
    const conversation = await openTestConversation(world, await makeConversation(world, changes))
    try {
      await body(conversation, world)
    } finally {
      world.disk.heal()
      world.disk.release()
      await conversation.close()
    }
  })
}

export function userText(text: string): Message {
  return toMessage({ role: 'user', content: [{ type: 'text', text }] })
}

export function say(text: string): EventDraft {
  return {
    kind: 'MessageEvent', source: 'agent', llm_message: { role: 'assistant', content: [{ type: 'text', text }] },
  }
}

export function act(callId: string): Extract<EventDraft, { kind: 'ActionEvent' }> {
  return {
    kind: 'ActionEvent',
    thought: [],
    action: { kind: 'MCPToolAction', data: {} },
    tool_name: 'read',
    tool_call_id: callId,
    tool_call: { id: callId, name: 'read', arguments: '{}', origin: 'completion' },
    llm_response_id: 'response',
  }
}

export function observe(callId: string, actionId: string): EventDraft {
  const observation = {
    kind: 'MCPToolObservation', tool_name: 'read', content: [{ type: 'text', text: 'done' }],
  } as const
  return { kind: 'ObservationEvent', tool_name: 'read', tool_call_id: callId, action_id: actionId, observation }
}

export const question = {
  toolCallId: 'call-1', title: 'Run ls', options: [{ id: 'yes', name: 'Yes', kind: 'allow_once' }],
}

/** All events that can be read, in order. */
export async function eventsOf(log: Pick<ConversationLog, 'eventCount' | 'readRange'>): Promise<Event[]> {
  const events: Event[] = []
  for (let from = 0; from < log.eventCount; ) {
    const range = await log.readRange(from, log.eventCount, 100_000)
    for (const { json } of range.events) {
      const event = storedEvent(parseJson(json.toString()))
      if (event !== undefined) events.push(event)
    }
    from = range.next
  }
  return events
}

/** The history in words, one for each event, without the updates that only name the last user message. */
export async function story(conversation: Conversation): Promise<string[]> {
  const words = (await eventsOf(conversation.events)).map(wordsOf)
  return words.filter((word) => word !== 'update last_user_message_id')
}

export function wordsOf(event: Event): string {
  switch (event.kind) {
    case 'MessageEvent':
      return `${event.source}: ${textOf(event.llm_message)}`
    case 'ConversationStateUpdateEvent':
      if (event.key === 'execution_status') return `status ${String(event.value)}`
      if (event.key === 'pending_confirmations') {
        return `pending ${Array.isArray(event.value) ? event.value.length : '?'}`
      }
      return `update ${event.key ?? ''}`
    case 'ActionEvent':
      return `action ${event.tool_call_id}`
    case 'ObservationEvent':
      return `observation ${event.tool_call_id}`
    case 'AgentErrorEvent':
      return `error ${event.tool_call_id}`
    case 'ConversationErrorEvent':
      return `failure ${event.code}`
    case 'PauseEvent':
      return 'pause'
    default:
      return event.kind
  }
}

export function textOf(message: Message): string {
  return message.content.map((part) => (part.type === 'text' ? part.text : '[image]')).join('')
}

/** A value that is known to be an object, for looking at its members. */
export function objectOf(value: unknown): Record<string, unknown> {
  if (!isObject(value)) throw new Error(`expected an object, got ${String(value)}`)
  return value
}

/** Lets everything that is ready run until the condition holds; the test's deadline ends it. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

/** Resolves when no run is under way. */
export function ended(conversation: Conversation): Promise<void> {
  return until(() => !conversation.isRunning)
}

/** A point that a script reaches, and where it waits until the test lets it go on. */
export function checkpoint(): {
  readonly reached: Promise<void>
  readonly pass: () => void
  readonly here: () => Promise<void>
} {
  const arrival = deferred<void>()
  const gate = deferred<void>()
  return {
    reached: arrival.promise,
    pass: () => gate.resolve(),
    here: () => {
      arrival.resolve()
      return gate.promise
    },
  }
}

/** The code of the AppError, or the message of anything else, that a promise is rejected with; `done` if it is not. */
export async function failureOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'done',
    (thrown: unknown) => (thrown instanceof Error && 'code' in thrown ? String(thrown.code) : messageOf(thrown)),
  )
}

/** Returns the answers of the kind of agent that stored settings name. */
export function featuresOf(kind: unknown): Omit<AgentKind, 'create'> {
  const isBuiltIn = kind === 'Agent'
  return {
    readsMessages: isBuiltIn, takesModel: isBuiltIn, waitsBetweenRuns: isBuiltIn, takesAdditions: isBuiltIn,
  }
}
