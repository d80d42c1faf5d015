/**
 * The parts (modules) of one server. Loads and starts a part on its first use, or with the server if the part asks for
 * that. Closes the part with the server.
 *
 * After a failed start, the next use tries again.
 */
import { join } from 'node:path'
import { access } from './access.ts'
import { AppError, errorOf } from './base/errors.ts'
import { isThere } from './base/read-files.ts'
import type { Clock } from './base/stamp.ts'
import { runAll } from './base/wait.ts'
import type { Core } from './capabilities.ts'
import { createDescription } from './description.ts'
import { PageSessions } from './http/page-sessions.ts'
import { NamedKeys } from './http/principal.ts'
import { Traffic } from './http/traffic.ts'
import { Trail } from './http/trail.ts'
import { WorkspaceSessions } from './http/workspace-sessions.ts'
import type { Offers } from './offers.ts'
import type { Part, PartHandler, StartedPart } from './part.ts'
import type { PartFigure } from './server-load.ts'
import type { WebSocketConnection } from './ws/connection.ts'

/** The capabilities in `Core` that `LoadedParts` makes itself. */
export type OwnCapabilities = Pick<
  Core, 'use' | 'offers' | 'parts' | 'usableTools' | 'workspaceSessions' | 'pageSessions' | 'namedKeys' | 'traffic'
  | 'trail' | 'description'
>

export interface LoadedPartsOptions {
  /** All parts of the server (`partsOf`). */
  readonly parts: readonly Part[]
  /** The names of the parts that may be loaded; empty for all. */
  readonly wanted: readonly string[]
  /** The values of all options. The switch that `Part.leftOutBy` names can leave a part out. */
  readonly config: { readonly [name: string]: unknown; readonly basePath: string }
  readonly clock: Clock
  /** Returns all capabilities: `own`, and the capabilities that the core makes. */
  readonly core: (own: OwnCapabilities) => Core
}

export class LoadedParts {
  readonly traffic = new Traffic()
  readonly #parts: readonly Part[]
  readonly #allowed: readonly Part[]
  readonly #notLoaded: readonly Part[]
  readonly #core: Core
  readonly #started = new Map<string, Promise<StartedPart>>()
  /** The parts in `#started` whose start has succeeded. */
  readonly #running = new Set<StartedPart>()
  #tools: Promise<readonly string[]> | undefined
  #isClosed = false

  /** @throws AppError `invalid_option` for an unknown name in `wanted` */
  constructor({ parts, wanted, config, clock, core }: LoadedPartsOptions) {
    this.#parts = parts
    const chosen = choose(parts, wanted)
    this.#allowed = chosen.filter(({ leftOutBy }) => !isSet(config, leftOutBy))
    this.#notLoaded = parts.filter((part) => !chosen.includes(part))
    this.#core = core({
      use: (name) => this.use(name),
      offers: (name) => this.offers(name),
      parts,
      usableTools: () => this.tools(),
      workspaceSessions: new WorkspaceSessions(clock, config.basePath),
      pageSessions: new PageSessions(),
      namedKeys: new NamedKeys(),
      trail: new Trail(),
      traffic: this.traffic,
      description: createDescription([...Object.keys(access), ...this.routes], config.basePath),
    })
  }

  /** The parts that may be loaded: neither `--parts` nor their switch `leftOutBy` leaves them out. */
  get allowed(): readonly Part[] {
    return this.#allowed
  }

  /** The parts that `--parts` leaves out. */
  get notLoaded(): readonly Part[] {
    return this.#notLoaded
  }

  /** Method and pattern of each route of the parts that may be loaded. */
  get routes(): readonly string[] {
    return this.#allowed.flatMap(({ routes = {} }) => Object.keys(routes))
  }

  offers(name: keyof Offers): boolean {
    return this.#allowed.some(({ offers = [] }) => offers.includes(name))
  }

  /**
   * Returns an offer (an object of a part), after loading and starting the part if needed.
   * @throws AppError `part_missing`, `unavailable` after `close` was called; the errors of the part's start
   */
  async use<Name extends keyof Offers>(name: Name): Promise<Offers[Name]> {
    const part = this.#allowed.find(({ offers = [] }) => offers.includes(name))
    if (part === undefined) throw this.#missing(name)
    const offer = (await this.#start(part)).offers?.[name]
    if (offer === undefined) throw new TypeError(`The part "${part.name}" does not give its offer "${name}"`)
    return offer
  }

  /** All capabilities. A part gets those that its `needs` name. */
  get core(): Core {
    return this.#core
  }

  /** Returns the agent programs (`Part.programs`) of all parts that may be loaded, as one object. */
  programs(): Readonly<Record<string, string>> {
    return Object.assign({}, ...this.#allowed.map(({ programs = {} }) => programs))
  }

  /** Returns the names of the built-in agent's tools that work on this machine; empty without the built-in agent. */
  tools(): Promise<readonly string[]> {
    this.#tools ??= this.#findTools()
    return this.#tools
  }

  /** Checks that this server can drive agents of this kind. @throws AppError `part_missing` */
  assertAgent(kind: string): void {
    if (kind === 'Agent' && !this.offers('builtInAgent')) throw this.#missing('builtInAgent')
  }

  /** Returns the handler of a route. A call of the handler first starts the route's part, if needed. */
  handler(part: Part, route: string): PartHandler {
    return async (call) => {
      const handle = (await this.#start(part)).handlers?.[route]
      if (handle === undefined) throw new TypeError(`The part "${part.name}" does not answer "${route}"`)
      return handle(call)
    }
  }

  /** Starts a part if needed, then gives it a WebSocket connection. If this fails, closes the connection with 1011. */
  serveSocket(part: Part, name: string, connection: WebSocketConnection, query: string): void {
    let isClosed = false
    connection.owner = { onClose: () => (isClosed = true) }
    connection.pause()
    const serve = async (): Promise<void> => {
      const socket = (await this.#start(part)).sockets?.[name]
      if (socket === undefined) throw new TypeError(`The part "${part.name}" does not serve "${name}"`)
      if (isClosed) return
      socket(connection, query)
      connection.resume()
    }
    serve().catch((thrown: unknown) => {
      this.#core.log.error('A part could not serve a socket', { part: part.name, error: errorOf(thrown) })
      connection.close(1011, 'The part cannot be used')
    })
  }

  /** Starts each part whose file or folder `startsWith` exists, or whose `startsWhen` returns true. */
  async startWithServer(): Promise<void> {
    const { config, dataDir } = this.#core
    for (const part of this.#allowed) {
      const { startsWith: name, startsWhen = () => false } = part
      if (startsWhen(config) || (name !== undefined && (await isThere(join(dataDir, name))))) await this.#start(part)
    }
  }

  /** Returns the figures (for the metrics) of the parts that have been started. */
  figures(): readonly PartFigure[] {
    return [...this.#running].flatMap((part) => part.figures?.() ?? [])
  }

  /** Closes the started parts in the reverse order of their starts. Idempotent. @throws the first error of a part */
  async close(): Promise<void> {
    this.#isClosed = true
    const started = [...this.#started.values()].reverse()
    this.#started.clear()
    this.#running.clear()
    // A part that failed to start is not closed.
    await runAll(started.map((part) => async () => (await part.catch(() => undefined))?.close?.()))
  }

  #start(part: Part): Promise<StartedPart> {
    if (this.#isClosed) throw new AppError('unavailable', 'The server is shutting down')
    const known = this.#started.get(part.name)
    if (known !== undefined) return known
    const starting = this.#load(part)
    this.#started.set(part.name, starting)
    starting.catch(() => this.#started.delete(part.name)) // The caller of `#start` gets the error.
    return starting
  }

  async #load(part: Part): Promise<StartedPart> {
    const module = await part.load?.()
    const started = (await module?.start(lend(this.#core, part))) ?? {}
    if (!this.#isClosed) this.#running.add(started)
    return started
  }

  async #findTools(): Promise<readonly string[]> {
    if (!this.offers('builtInAgent')) return []
    const { config, environment } = this.#core
    const names = await Promise.all(this.#allowed.map(({ tools }) => tools?.(config, environment) ?? []))
    return names.flat().sort()
  }

  #missing(offer: keyof Offers): AppError {
    const part = this.#parts.find(({ offers = [] }) => offers.includes(offer))
    if (part !== undefined) return notLoaded(part, this.#notLoaded.includes(part) ? undefined : part.leftOutBy)
    return new AppError('part_missing', `No part of this server offers "${offer}": it was built without that part`)
  }
}

/** Returns a copy of `core` for a part. Reading a member that the part's `needs` do not name throws a TypeError. */
function lend(core: Core, { name, needs = [] }: Part): Core {
  const lent = Object.assign({}, core)
  const named = new Set<string>(needs)
  const unknown = needs.find((need) => !Object.hasOwn(core, need))
  if (unknown !== undefined) throw new TypeError(`The part "${name}" needs "${unknown}", which is no capability`)
  for (const member of Object.keys(core).filter((key) => !named.has(key))) {
    const get = (): never => {
      throw new TypeError(`The part "${name}" uses the capability "${member}", which its needs do not name`)
    }
    Object.defineProperty(lent, member, { get, enumerable: false })
  }
  return lent
}

/** Returns true when the switch with this name is on; false for an undefined name. */
function isSet(options: Readonly<Record<string, unknown>>, name: string | undefined): boolean {
  return name !== undefined && options[name] === true
}

/** Returns the error for a part that this server leaves out. `option` is the name of the option that leaves it out. */
export function notLoaded({ name }: Pick<Part, 'name'>, option = '--parts'): AppError {
  return new AppError('part_missing', `The part "${name}" is not loaded on this server (${option})`)
}

function choose(parts: readonly Part[], wanted: readonly string[]): readonly Part[] {
  const known = parts.map(({ name }) => name)
  const unknown = wanted.find((name) => name !== 'none' && !known.includes(name))
  if (unknown !== undefined) {
    const expected = `expected one of ${[...known, 'none'].join(', ')}`
    throw new AppError('invalid_option', `Could not use the part "${unknown}": ${expected}`)
  }
  return wanted.length === 0 ? parts : parts.filter(({ name }) => wanted.includes(name))
}
