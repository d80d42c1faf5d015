/**
 * The server as one object, for the command line and for hosts that import it as a library.
 *
 * A host can listen on a port, mount the two handlers on its own `http.Server`, or call methods. The server reads only
 * the environment that the caller passes.
 */
import type { ChangeProgram } from './agent-maker.ts'
import { allParts, optionsOf, type PartConfig } from './all-parts.ts'
import { createApp, type App } from './app.ts'
import { AppError, undefinedIfMissing } from './base/errors.ts'
import { isObject } from './base/json.ts'
import { createLog, silentLog, type Log } from './base/log.ts'
import { LogFiles } from './base/log-files.ts'
import { createMasker } from './base/masking.ts'
import type { Clock } from './base/stamp.ts'
import { within } from './base/wait.ts'
import type { Use } from './capabilities.ts'
import { createConfig, type Config, type ConfigInput } from './config.ts'
import {
  handleOf, pageSize, summaryOf, type ConversationHandle, type ConversationSummary,
} from './conversation-handle.ts'
import { settleRequest } from './conversation/list/creation.ts'
import type { Created } from './conversation/log/origins.ts'
import { chooseId } from './conversation/list/ids.ts'
import { runsEnd } from './conversation/list/runs-end.ts'
import { userMessageOf } from './conversation/log/user-message.ts'
import {
  hostProfiles, hostSecrets, hostSettings, type HostProfiles, type HostSecrets, type HostSettings,
} from './host-stores.ts'
import { partsOf, wantedParts, type HostParts } from './host-parts.ts'
import type { HttpServer } from './http/server.ts'
import type { TrafficObserver } from './http/traffic.ts'
import type { Environment } from './process/environment.ts'
import {
  StartConversationRequest, type ExecutionStatus, type StartConversationRequestInput,
} from './schema/generated/conversations.ts'
import { checked } from './schema/check.ts'
import type { ServerLoad } from './server-load.ts'
import { createHandlers, createListener, type Handlers } from './server.ts'

export interface AgentServerOptions extends ConfigInput, Partial<PartConfig>, HostParts {
  /** The server's environment; `process/environment` selects the variables for agents. Default: empty. */
  readonly environment?: Environment
  /** Receives each line of the server log, with its newline. Replaces the option `logFile`. Must not throw. */
  readonly writeLog?: (line: string) => void
  /** Opens the log files that the options name. A host that renames a log file calls `logFiles.reopen` afterwards. */
  readonly logFiles?: LogFiles
  /** Returns milliseconds since the epoch. Default: `Date.now`. */
  readonly clock?: Clock
  /** Called when this server has lost the lock on the data folder. The host must then close the server at once. */
  readonly onLost?: () => void
  /** Gets an external agent's program, and returns the program to start, such as a program that starts a container. */
  readonly changeProgram?: ChangeProgram
}

export interface Listening {
  readonly host: string
  readonly port: number
  /** The URL of the server, with its base path, without a slash at the end. */
  readonly url: string
}

export interface ConversationsQuery {
  /** Selects conversations with this status. Default: all conversations. */
  readonly status?: ExecutionStatus
  readonly oldestFirst?: boolean
  /** The largest number of conversations in the page. Default 100. */
  readonly limit?: number
  /** `nextPageId` of the previous page. Default: the first page. */
  readonly pageId?: string | null | undefined
}

export interface ConversationsPage {
  readonly items: readonly ConversationSummary[]
  /** The `pageId` of the next page; null on the last page. */
  readonly nextPageId: string | null
}

export interface AgentServer {
  /** The handlers to mount on a host's own `http.Server` (its `request` and `upgrade` events). */
  readonly handlers: Handlers
  /** The session keys that clients may present; empty when the server asks for no session key. */
  readonly sessionKeys: readonly string[]
  /** The session key's file in the data folder; undefined when the options give the keys or no key is asked for. */
  readonly sessionKeyPath: string | undefined
  /** Masks the secrets that the server knows (base/masking) in a text, for a host's own output. */
  mask(text: string): string
  /**
   * Listens on the configured host and port.
   * @throws AppError `cannot_listen`, `unavailable` once `close` was called; TypeError when the server listens already
   */
  listen(): Promise<Listening>
  /**
   * Returns an address that opens the console and signs a browser in once; undefined if the server has no console.
   * `url` is the address of the server.
   */
  consoleAddress(url: string): Promise<string | undefined>
  /**
   * Creates the conversation that a request of `POST /api/conversations` describes, and sends its first message. If
   * the conversation exists, only returns it. @throws AppError `invalid_input` and the other errors of the route
   */
  createConversation(request?: StartConversationRequestInput): Promise<ConversationHandle>
  /** Returns a handle for an existing conversation. @throws AppError `not_found` */
  conversation(id: string): Promise<ConversationHandle>
  /** Lists conversations, by default the newest first. */
  conversations(query?: ConversationsQuery): Promise<ConversationsPage>
  readonly settings: HostSettings
  readonly secrets: HostSecrets
  readonly profiles: HostProfiles
  /** Returns the API of an optional module by its name, such as `retention`. @throws the errors of `LoadedParts.use` */
  readonly use: Use
  /** Returns the present load of the server, and figures of its work since the start. */
  load(): ServerLoad
  /** Reports each response and each WebSocket to `observer` from now on. The returned function ends this. */
  observe(observer: TrafficObserver): () => void
  /** Refuses new work. Resolves when no conversation is `running` any more, or after `limitMs`. Then call `close`. */
  drain(limitMs: number): Promise<void>
  /** Accepts no new work, pauses running conversations and ends every agent. Idempotent. */
  close(): Promise<void>
}

/**
 * Locks the data folder and starts the server. No port is open before `listen`.
 * @throws AppError `invalid_option`, `owned_by_another`, `format_unsupported`, `storage_full`, `storage_failed`,
 * `settings_unreadable`, `bad_request` for an unusable provider
 */
export async function createAgentServer(options: AgentServerOptions): Promise<AgentServer> {
  // A host that is written in JavaScript may pass any value.
  if (!isObject(options)) throw new AppError('invalid_option', 'Could not use the options: expected an object')
  const { environment = {}, clock = Date.now, onLost = nothing, changeProgram, ...others } = options
  const { writeLog, logFiles = new LogFiles(), agent, models, tools, ownParts, ...input } = others
  const given = { agent, models, tools, ownParts }
  assertFunctions({ clock, writeLog, onLost, changeProgram })
  const parts = partsOf(given, allParts)
  const config = createConfig(input, optionsOf(parts))
  const wanted = wantedParts(config.parts, given)
  const masker = createMasker()
  const mask = (line: string): string => masker.mask(line)
  const { logFile, logLevel } = config
  const output = writeLog === undefined && logFile !== undefined ? await logFiles.open('server', logFile) : undefined
  const write = output === undefined ? writeLog && thrownLater(writeLog) : (line: string): void => output.write(line)
  const log = write === undefined ? silentLog : createLog({ write, level: logLevel, clock, mask })
  const closeLog = async (): Promise<void> => output?.close()
  try {
    const app = await createApp({
      config, parts, wanted, environment, log, logFiles, masker, clock, onLost, changeProgram,
    })
    const hide = (keys: readonly string[]): void => void masker.register(keys)
    return await serverOf({ app, config, log, clock, mask, hide, closeLog })
  } catch (thrown) {
    await closeLog()
    throw thrown
  }
}

/** Returns a function that calls `write`. It throws an error of `write` in a microtask, as an uncaught exception. */
const thrownLater = (write: (line: string) => void) => (line: string): void => {
  try {
    write(line)
  } catch (thrown) {
    queueMicrotask(() => { throw thrown })
  }
}

/** Checks that each member is a function or undefined. @throws AppError `invalid_option` */
function assertFunctions(given: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && typeof value !== 'function') {
      throw new AppError('invalid_option', `Could not use ${name}: expected a function`)
    }
  }
}

/** Makes the server. Closes the app if that fails. */
async function serverOf(parts: ServerParts): Promise<AgentServer> {
  try {
    return new Server(parts)
  } catch (thrown) {
    await parts.app.close()
    throw thrown
  }
}

interface ServerParts {
  readonly app: App
  readonly config: Config
  readonly log: Log
  readonly clock: Clock
  readonly mask: (text: string) => string
  /** Masks these keys in texts from now on. */
  readonly hide: (keys: readonly string[]) => void
  /** Closes the file of the server log, if the server opened it. */
  readonly closeLog: () => Promise<void>
}

class Server implements AgentServer {
  readonly handlers: Handlers
  readonly settings: HostSettings
  readonly secrets: HostSecrets
  readonly profiles: HostProfiles
  readonly #app: App
  readonly #config: Config
  readonly #log: Log
  readonly #mask: (text: string) => string
  readonly #closeLog: () => Promise<void>
  #sessionKeys: readonly string[]
  #listener: HttpServer | undefined
  #opening: Promise<Pick<Listening, 'host' | 'port'>> | undefined
  #isDraining = false
  #closing: Promise<void> | undefined

  constructor({ app, config, log, clock, mask, hide, closeLog }: ServerParts) {
    this.#closeLog = closeLog
    this.#app = app
    this.#sessionKeys = app.sessionKeys
    this.settings = hostSettings(app.settings, app.reserve)
    this.secrets = hostSecrets(app.secrets, app.reserve)
    this.profiles = hostProfiles(app)
    this.#config = config
    this.#log = log
    this.#mask = mask
    const onSessionKeys = (keys: readonly string[]): void => {
      hide(keys)
      this.#sessionKeys = keys
      log.info('The init replaced the session keys', { keys: keys.length })
    }
    const endingBecause = (): string | undefined => this.#endingBecause()
    this.handlers = createHandlers({ app, config, log, clock, mask, endingBecause, onSessionKeys })
  }

  get sessionKeys(): readonly string[] {
    return this.#sessionKeys
  }

  get sessionKeyPath(): string | undefined {
    return this.#app.sessionKeyPath
  }

  mask(text: string): string {
    return this.#mask(text)
  }

  async listen(): Promise<Listening> {
    if (this.#listener !== undefined) throw new TypeError('The server listens already')
    this.#assertOpen()
    this.#listener = createListener(this.handlers, this.#config, this.#app.parts.traffic)
    this.#opening = this.#listener.listen({ host: this.#config.host, port: this.#config.port })
    const { host, port } = await this.#opening.catch((thrown: unknown) => {
      this.#listener = undefined // The host may call `listen` again.
      throw thrown
    })
    this.#assertOpen()
    const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}${this.#config.basePath}`
    await this.#app.announce(url)
    this.#log.info('Listening', { url, conversations: this.#app.service.count() })
    if (process.pid === 1) this.#log.warn(noReaper)
    if (this.sessionKeys.length === 0) this.#log.warn(noKey)
    if (this.#config.deferredInit && this.#config.secretKey === undefined) this.#log.warn(openInit)
    return { host, port, url }
  }

  async consoleAddress(url: string): Promise<string | undefined> {
    const { parts } = this.#app
    return parts.offers('console') ? (await parts.use('console')).signInAddress(url) : undefined
  }

  async createConversation(request: StartConversationRequestInput = {}): Promise<ConversationHandle> {
    const { service, creation, parts } = this.#app
    const wanted = checked(StartConversationRequest, request)
    const { initial_message: first } = wanted
    const id = chooseId(wanted.conversation_id, 'conversation_id', creation.shard)
    const make = async (): Promise<void> => {
      const settle = (): Promise<Created> => settleRequest({ ...wanted, conversation_id: id }, creation)
      const { isNew } = await service.creations.once({ keyed: undefined, id, settle })
      if (isNew && first !== undefined) await (await service.open(id)).send(userMessageOf(first), true)
    }
    // `admission` checks the limits for the first run before the conversation is made.
    const startsRun = first !== undefined && !service.has(id)
    await (startsRun ? parts.core.admission.start(id, undefined, make) : make())
    return handleOf(service, id)
  }

  async conversations(query: ConversationsQuery = {}): Promise<ConversationsPage> {
    const { service } = this.#app
    const { status, limit, pageId, oldestFirst = false } = query
    const sortOrder = oldestFirst ? 'CREATED_AT' : 'CREATED_AT_DESC'
    const size = pageSize(limit)
    const { ids, nextPageId } = service.page({ status, limit: size, pageId: pageId ?? undefined, sortOrder })
    const states = await Promise.all(ids.map((id) => service.state(id).catch(undefinedIfMissing)))
    return { items: states.flatMap((state) => (state === undefined ? [] : [summaryOf(state)])), nextPageId }
  }

  async conversation(id: string): Promise<ConversationHandle> {
    const { id: found } = await this.#app.service.open(id)
    return handleOf(this.#app.service, found)
  }

  readonly use: Use = (name) => this.#app.parts.use(name)

  load(): ServerLoad {
    return this.#app.parts.core.load()
  }

  observe(observer: TrafficObserver): () => void {
    return this.#app.parts.traffic.observe(observer)
  }

  async drain(limitMs: number): Promise<void> {
    this.#isDraining = true
    this.#log.info('Draining: new work is refused', { limit_ms: limitMs })
    const inTime = (await within(runsEnd(() => this.#app.service.opened()), limitMs)) !== 'late'
    this.#log.info(inTime ? 'Drained: no run is under way' : 'The time of the drain is over', { limit_ms: limitMs })
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** Returns why the server accepts no work; undefined while it accepts work. */
  #endingBecause(): string | undefined {
    if (this.#closing !== undefined) return 'The server is shutting down'
    return this.#isDraining ? 'The server finishes its work before it ends' : undefined
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw new AppError('unavailable', 'The server is closed')
  }

  /** Closes the listener and the app at the same time, because the listener waits for sockets that the app closes. */
  async #close(): Promise<void> {
    this.#log.info('Closing: running conversations are paused')
    await this.#opening?.catch(() => undefined) // The caller of `listen` gets this error.
    const app = this.#app.close()
    // The last line throws an error of `app`.
    await Promise.allSettled([this.#listener?.close(this.#config.shutdownGraceMs), app])
    await app.then(() => this.#log.info('Closed')).finally(() => this.#closeLog())
  }
}

const noReaper = 'The server is process 1 and cannot reap orphans: run it under an init (docker run --init)'
const noKey = 'No session key is asked for: every program on this machine may use the server'
const openInit = 'No secret key is given: every program on this machine may initialize the server'

function nothing(): void {}
