/**
 * The server as one object, for the command line and for hosts that import it as a library.
 *
 * It can listen, lend its two handlers to a host's own `http.Server`, and be driven in process. It installs no signal
 * handler, reads no environment except the given one, and never exits the process. After `close()` nothing of it is
 * left.
 */
import { allParts, partOptions, type PartConfig } from './all-parts.ts'
import { createApp, type App } from './app.ts'
import { AppError } from './base/errors.ts'
import { createLog, silentLog, type Log } from './base/log.ts'
import { createMasker } from './base/masking.ts'
import type { Clock } from './base/stamp.ts'
import { createConfig, type Config, type ConfigInput } from './config.ts'
import type { Conversation } from './conversation/conversation.ts'
import { settleRequest } from './conversation/list/creation.ts'
import { userMessageOf } from './conversation/log/user-message.ts'
import { watch } from './conversation/watch.ts'
import type { ConversationService } from './conversation/list/service.ts'
import type { HttpServer } from './http/server.ts'
import type { Environment } from './process/environment.ts'
import { parse } from './schema/check.ts'
import { StartConversationRequest } from './schema/generated/conversations.ts'
import { createHandlers, createListener, type Handlers } from './server.ts'

export interface AgentServerOptions extends ConfigInput, Partial<PartConfig> {
  /** The server's environment; `process/environment` selects the variables for agents. Default: empty. */
  readonly environment?: Environment
  /** Takes each line of the server's log, with its newline. Default: log lines are dropped. */
  readonly writeLog?: (line: string) => void
  /** Returns milliseconds since the epoch. */
  readonly clock?: Clock
  /** Called when another server took over the data folder (only where flock is missing). Close the server at once. */
  readonly onLost?: () => void
}

export interface Listening {
  readonly host: string
  readonly port: number
  readonly url: string
}

export interface AgentServer {
  /** The handlers to mount on a host's own `http.Server` (its `request` and `upgrade` events). */
  readonly handlers: Handlers
  /** The keys that clients may present; empty when the server asks for no key. */
  readonly sessionKeys: readonly string[]
  /** The file that holds the session key, if the server created the key. */
  readonly sessionKeyPath: string | undefined
  /** Returns a text with every secret that the server knows masked, for a host's own output. */
  mask(text: string): string
  /** Listens on the configured host and port. @throws AppError `cannot_listen` */
  listen(): Promise<Listening>
  /** Returns the address that opens the console and signs in, once; undefined without the console. */
  consoleAddress(url: string): Promise<string | undefined>
  /**
   * Starts a conversation as `POST /api/conversations` does. @throws AppError `invalid_input` and the errors of that
   * route
   */
  createConversation(request?: unknown): Promise<ConversationHandle>
  /** @throws AppError `not_found` */
  conversation(id: string): Promise<ConversationHandle>
  /** Accepts no new work, pauses running conversations and ends every agent. Idempotent. */
  close(): Promise<void>
}

/** The first event of `watch`: `beginning`, only new events, or the event after the named event. */
type WatchStart = 'beginning' | 'now' | { readonly after: string }

/** A conversation that is driven in process. The promise of a change resolves when the change is durable. */
export interface ConversationHandle {
  readonly id: string
  /** Sends a user message and, unless `run` is false, has it served. */
  send(text: string, options?: { readonly run?: boolean }): Promise<void>
  run(): Promise<void>
  interrupt(): Promise<void>
  /** Answers the pending confirmation with this id; without an id, all pending confirmations. */
  respond(answer: { readonly accept: boolean; readonly reason?: string; readonly id?: string }): Promise<void>
  /** Returns the agent's newest answer; empty if there is none. */
  finalResponse(): Promise<string>
  /** Yields the full state, then events: after the named event, from the beginning, or only new events. */
  watch(options: { readonly from: WatchStart; readonly signal: AbortSignal }): AsyncGenerator<unknown>
}

/**
 * Takes the data folder and prepares the server to serve.
 * @throws AppError `invalid_option`, `owned_by_another`, `format_unsupported`, `storage_failed`, `settings_unreadable`
 */
export async function createAgentServer(options: AgentServerOptions): Promise<AgentServer> {
  const { environment = {}, writeLog, clock = Date.now, onLost = nothing, ...input } = options
  const config = createConfig(input, partOptions)
  const masker = createMasker()
  const mask = (line: string): string => masker.mask(line)
  const log = writeLog === undefined ? silentLog : createLog({ write: writeLog, level: config.logLevel, clock, mask })
  const app = await createApp({ config, parts: allParts, environment, log, masker, clock, onLost })
  return new Server({ app, config, log, clock, mask })
}

interface ServerParts {
  readonly app: App
  readonly config: Config
  readonly log: Log
  readonly clock: Clock
  readonly mask: (text: string) => string
}

class Server implements AgentServer {
  readonly handlers: Handlers
  readonly #app: App
  readonly #config: Config
  readonly #log: Log
  readonly #mask: (text: string) => string
  #listener: HttpServer | undefined
  #closing: Promise<void> | undefined

  constructor(parts: ServerParts) {
    this.#app = parts.app
    this.#config = parts.config
    this.#log = parts.log
    this.#mask = parts.mask
    const closingReason = 'The server is shutting down'
    const unreadyBecause = (): string | undefined => (this.#closing === undefined ? undefined : closingReason)
    this.handlers = createHandlers({ ...parts, unreadyBecause })
  }

  get sessionKeys(): readonly string[] {
    return this.#app.sessionKeys
  }

  get sessionKeyPath(): string | undefined {
    return this.#app.sessionKeyPath
  }

  mask(text: string): string {
    return this.#mask(text)
  }

  async listen(): Promise<Listening> {
    if (this.#listener !== undefined) throw new TypeError('The server listens already')
    this.#listener = createListener(this.handlers, this.#config)
    const { host, port } = await this.#listener.listen({ host: this.#config.host, port: this.#config.port })
    const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
    await this.#app.announce(url)
    this.#log.info('Listening', { url, conversations: this.#app.service.count() })
    if (process.pid === 1) this.#log.warn(noReaper)
    if (this.sessionKeys.length === 0) this.#log.warn(noKey)
    return { host, port, url }
  }

  async consoleAddress(url: string): Promise<string | undefined> {
    const { parts } = this.#app
    return parts.offers('console') ? (await parts.use('console')).signInAddress(url) : undefined
  }

  async createConversation(request: unknown = {}): Promise<ConversationHandle> {
    const { service, creation } = this.#app
    const parsed = parse(StartConversationRequest, request)
    if (!parsed.ok) throw new AppError('invalid_input', 'The request is not valid', { issues: parsed.issues })
    const { conversation, isNew } = await service.create(await settleRequest(parsed.value, creation))
    const { initial_message: first } = parsed.value
    if (isNew && first !== undefined) await conversation.send(userMessageOf(first), true)
    return handleOf(service, conversation.id)
  }

  async conversation(id: string): Promise<ConversationHandle> {
    const { id: found } = await this.#app.service.open(id)
    return handleOf(this.#app.service, found)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /**
   * Closes listener and app at the same time: the listener waits for sockets, which end when their conversations close.
   */
  async #close(): Promise<void> {
    this.#log.info('Closing: running conversations are paused')
    await Promise.all([this.#listener?.close(this.#config.shutdownGraceMs), this.#app.close()])
    this.#log.info('Closed')
  }
}

/** Returns a handle that holds only the id: each call opens the conversation if it was closed for idleness. */
function handleOf(service: ConversationService, id: string): ConversationHandle {
  return {
    id,
    async send(text, { run = true } = {}) {
      const content = [{ type: 'text', cache_prompt: false, text } as const]
      const conversation = await service.open(id)
      await conversation.send({ role: 'user', content, thinking_blocks: [] }, run)
    },
    run: async () => (await service.open(id)).run(),
    interrupt: async () => (await service.open(id)).interrupt(),
    async respond({ accept, reason = 'User rejected the action.', id: question }) {
      const conversation = await service.open(id)
      await conversation.respond({ accept, reason, id: question })
    },
    finalResponse: async () => service.read(id, (events) => events.finalResponse()),
    async *watch({ from, signal }) {
      const conversation = await service.open(id)
      yield* watch(conversation, await numberOf(conversation, from), signal)
    },
  }
}

async function numberOf(conversation: Conversation, from: WatchStart): Promise<number | 'now'> {
  if (from === 'now') return 'now'
  if (from === 'beginning') return 0
  const { events } = conversation
  const isThere = (await events.find(from.after)) !== undefined
  if (!isThere) throw new AppError('not_found', `Event not found: ${from.after}`)
  return events.seqOf(from.after) + 1
}

const noReaper = 'The server is process 1 and cannot reap orphans: run it under an init (docker run --init)'
const noKey = 'No session key is asked for: every program on this machine may use the server'

function nothing(): void {}
