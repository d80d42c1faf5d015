/**
 * The server as one object: for the command line, and for hosts that import it as a library.
 *
 * It can listen by itself, lend its two handlers to a host's own `http.Server`, and be driven in process. It installs no
 * signal handler, reads no environment but the one it is given, and exits nothing; after `close()` nothing of it is left.
 */
import { allParts, partOptions, type PartConfig } from './all-parts.ts'
import { createApp, type App } from './app.ts'
import { AppError } from './base/errors.ts'
import { createLog, silentLog, type Log } from './base/log.ts'
import { createMasker } from './base/masking.ts'
import type { Clock } from './base/stamp.ts'
import { createConfig, type Config, type ConfigInput } from './config.ts'
import type { Conversation } from './conversation/conversation.ts'
import { settleRequest } from './conversation/creation.ts'
import { finalResponse, readEvent, sequenceOf } from './conversation/history.ts'
import { userMessageOf } from './conversation/user-message.ts'
import { watch } from './conversation/watch.ts'
import type { ConversationService } from './conversation/service.ts'
import type { HttpServer } from './http/server.ts'
import type { Environment } from './process/environment.ts'
import { parse } from './schema/check.ts'
import { StartConversationRequest } from './schema/generated/conversations.ts'
import { createHandlers, createListener, type Handlers } from './server.ts'

export interface AgentServerOptions extends ConfigInput, Partial<PartConfig> {
  /** What the server may see of an environment; see `process/environment` for what of it reaches an agent. Default: nothing. */
  readonly environment?: Environment
  /** Takes the lines of the server's log, each with its newline. Default: they are dropped. */
  readonly writeLog?: (line: string) => void
  /** Milliseconds since the epoch. */
  readonly clock?: Clock
  /** Called if another server took the data folder over (only where flock is missing): close at once. */
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
  /** The keys that clients may present; none when no key is asked for. */
  readonly sessionKeys: readonly string[]
  /** The file that holds the session key, if the server made it. */
  readonly sessionKeyPath: string | undefined
  /** Hides every secret that the server knows in a text: for what a host tells of it. */
  mask(text: string): string
  /** Listens where the options say. @throws AppError `cannot_listen` */
  listen(): Promise<Listening>
  /** Starts a conversation as `POST /api/conversations` does. @throws AppError `invalid_input` and what that route answers. */
  createConversation(request?: unknown): Promise<ConversationHandle>
  /** @throws AppError `not_found` */
  conversation(id: string): Promise<ConversationHandle>
  /** Takes no new work, pauses what runs, ends every agent. Idempotent. */
  close(): Promise<void>
}

/** One conversation, driven in process. Every promise of a change resolves when the change is durable. */
export interface ConversationHandle {
  readonly id: string
  /** Sends a message of the user and, unless told otherwise, has it served. */
  send(text: string, options?: { readonly run?: boolean }): Promise<void>
  run(): Promise<void>
  interrupt(): Promise<void>
  /** Answers the open question with this id, or all. */
  respond(answer: { readonly accept: boolean; readonly reason?: string; readonly id?: string }): Promise<void>
  /** The agent's newest answer; empty if there is none. */
  finalResponse(): Promise<string>
  /** The full state, then events as they come: after the event named, from the beginning, or from now on. */
  watch(options: { readonly from: 'beginning' | 'now' | { readonly after: string }; readonly signal: AbortSignal }): AsyncGenerator<unknown>
}

/**
 * Takes the data folder and gets everything ready to serve.
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
    const unreadyBecause = (): string | undefined => (this.#closing === undefined ? undefined : 'The server is shutting down')
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
    if (process.pid === 1) this.#log.warn('The server is process 1 and cannot reap orphans: run it below an init (docker run --init)')
    if (this.sessionKeys.length === 0) this.#log.warn('No session key is asked for: every program on this machine may use the server')
    return { host, port, url }
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

  /** Both at the same time: sockets end when their conversations close, and the listener waits for sockets. */
  async #close(): Promise<void> {
    this.#log.info('Closing: running conversations are paused')
    await Promise.all([this.#listener?.close(this.#config.shutdownGraceMs), this.#app.close()])
    this.#log.info('Closed')
  }
}

/** Holds no conversation: one that was closed because nobody used it is opened again by the next call. */
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
    finalResponse: async () => service.read(id, finalResponse),
    async *watch({ from, signal }) {
      const conversation = await service.open(id)
      yield* watch(conversation, await numberOf(conversation, from), signal)
    },
  }
}

async function numberOf(conversation: Conversation, from: 'beginning' | 'now' | { readonly after: string }): Promise<number | 'now'> {
  if (from === 'now') return 'now'
  if (from === 'beginning') return 0
  const { log } = conversation
  if ((await readEvent(log, from.after)) === undefined) throw new AppError('not_found', `Event not found: ${from.after}`)
  return sequenceOf(log, from.after) + 1
}

function nothing(): void {}
