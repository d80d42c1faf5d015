/**
 * The contract of a part (module): everything that a part can add to the server.
 *
 * The `part.ts` of each part is imported at every start, so it imports only small modules. Other files of the part are
 * loaded when they are needed.
 */
import type { Right } from './access.ts'
import type { ErrorForm, HttpResponse } from './http/reply.ts'
import type { Call } from './api/call.ts'
import type { Config } from './config.ts'
import type { Core, Use } from './capabilities.ts'
import type { InspectedPart } from './inspected-part.ts'
import type { Offers } from './offers.ts'
import type { Option } from './option.ts'
import type { Environment } from './process/environment.ts'
import type { Definitions, Endpoint, Schema } from './schema/spec/define.ts'
import type { PartFigure } from './server-load.ts'
import type { WebSocketConnection } from './ws/connection.ts'

export interface Part extends InspectedPart {
  /** The part's name in `--parts`. The folder of a part of this build has the same name. */
  readonly name: string
  /** The purpose of the part: a sentence without the full stop. */
  readonly about: string
  /** Options of the command line, the environment and the configuration file. */
  readonly options?: Readonly<Record<string, Option<unknown>>>
  /** The name of the switch among `options` that leaves the part out. */
  readonly leftOutBy?: string
  /** Method and path pattern of each route, with its right. `start` returns the handlers. */
  readonly routes?: Readonly<Record<string, Right>>
  /**
   * The routes without a conversation id that a key with a tag (`Principal.tag`) may use. They must show such a key
   * only conversations with its tag.
   */
  readonly forRestricted?: readonly string[]
  /** POST routes with the right `drive` or `execute` that are served also during a shutdown, as they begin no work. */
  readonly idle?: readonly string[]
  /** `GET` and the path pattern of each WebSocket, with its right. `start` returns the functions that serve them. */
  readonly sockets?: Readonly<Record<string, Right>>
  /** The routes whose handlers read the request body themselves, piece by piece. */
  readonly uploads?: readonly string[]
  /** Makes the status and the body of error responses of the part's routes. Default: the server's usual form. */
  readonly errorForm?: ErrorForm
  /** Subcommands of the program, by name. */
  readonly commands?: Readonly<Record<string, PartCommand>>
  /** The members of `Core` that `start` may use. Any other member throws a TypeError when it is read. */
  readonly needs?: readonly (keyof Core)[]
  /** The names of the offers that `start` returns. */
  readonly offers?: readonly (keyof Offers)[]
  /** Returns the names of the part's tools for the built-in agent that work on this machine. */
  readonly tools?: (options: Values, environment: Environment) => Promise<readonly string[]>
  /** Maps the first word of a command to the path of the part's agent program (JavaScript) that it starts. */
  readonly programs?: Readonly<Record<string, string>>
  /** Loads the function that re-encrypts (seals) the part's files in a conversation's folder with a new key. */
  readonly resealFolder?: () => Promise<ResealFolder>
  /** The part starts with the server if this file or folder exists in the data folder. */
  readonly startsWith?: string
  /** Returns true if the part must start with the server because of these values of options. */
  readonly startsWhen?: (options: Values) => boolean
  /** Loads the types and the operations of the part's routes, for `npm run generate`. */
  readonly spec?: () => Promise<PartSpec>
  readonly load?: () => Promise<PartModule>
}

/** The values of all options, by name. */
type Values = Readonly<Record<string, unknown>>

export interface PartCommand {
  /** The command's flags, in addition to the options. */
  readonly flags: Readonly<Record<string, 'switch' | 'value'>>
  /** The command's line in `--help`. */
  readonly usage: readonly [usage: string, about: string]
  readonly help: string
  /** The error message when a signal ends the command. Without it, a signal ends the process at once. */
  readonly interruptedWords?: string
  readonly load: () => Promise<CommandModule>
}

export interface CommandModule {
  /** Runs the command and returns the exit code. @throws AppError */
  readonly run: (call: CommandCall) => Promise<number>
}

/** The parsed command line, and access to the streams, the signals and the environment of the process. */
export interface CommandCall {
  readonly config: Config
  /** The words that are not flags, in order. */
  readonly words: readonly string[]
  /** The last value of each given flag of the command. A given switch has the value `true`. */
  readonly flags: Readonly<Record<string, string>>
  /** All values of each given flag of the command, in order: a flag may be repeated. */
  readonly given: Readonly<Record<string, readonly string[]>>
  /** The files that contain keys and that other users of this machine may read. */
  readonly exposedFiles: readonly string[]
  readonly environment: Environment
  /** A folder for temporary files. The command removes its files from the folder before it ends. */
  readonly temporaryDir: string
  /** Writes results to standard output. */
  readonly print: (text: string) => void
  /** Writes progress and notes to standard error. */
  readonly tell: (text: string) => void
  /** Returns the bytes of standard input. */
  readonly input: () => AsyncIterable<Uint8Array>
  /** Writes bytes to standard output, and resolves when they are written. @throws AppError for a terminal */
  readonly output: (bytes: Uint8Array) => Promise<void>
  /** Aborts when the process gets SIGINT, SIGTERM or SIGHUP, if the command has `interruptedWords`. */
  readonly signal: AbortSignal
  /** All parts of this build. */
  readonly parts: readonly Part[]
  /**
   * Starts a server without a port, for a command that changes the server's data. The command closes the server.
   * @throws AppError `owned_by_another` while another server runs; the errors of `createAgentServer`
   */
  readonly openServer: () => Promise<{ readonly use: Use; close(): Promise<void> }>
}

/** Encrypts a part's files in a folder again, with the newest key. Returns the ids of the keys that open the files. */
export type ResealFolder = (folder: string, cipher: Core['cipher']) => Promise<ReadonlySet<string>>

export interface PartSpec {
  readonly definitions?: Definitions
  readonly endpoints: readonly Endpoint[]
  /**
   * Schemas of path parameters that are not plain strings. Each key is the name of a parameter, or a path that ends
   * with the parameter, such as `/api/profiles/{name}`. A path takes precedence over a name.
   */
  readonly pathParameters?: Readonly<Record<string, Schema>>
}

/** The members of `Core` that the part with this description may use. */
export type Lent<P extends Part> = Pick<Core, NonNullable<P['needs']>[number]>

/** The result of `start` of the part P: a `StartedPart` with all handlers, sockets and offers that P declares. */
export type Started<P extends Part> = StartedPart
  & (P extends { readonly routes: infer Routes } ? { readonly handlers: Record<keyof Routes, PartHandler> } : unknown)
  & (P extends { readonly sockets: infer Sockets } ? { readonly sockets: Record<keyof Sockets, PartSocket> } : unknown)
  & (P extends { readonly offers: readonly (infer Name extends keyof Offers)[] }
    ? { readonly offers: Pick<Offers, Name> }
    : unknown)

export interface PartModule {
  readonly start: (core: Core) => StartedPart | Promise<StartedPart>
}

export interface StartedPart {
  /** Handlers of the routes in `Part.routes`, each under the name of its route. */
  readonly handlers?: Readonly<Record<string, PartHandler>>
  /** Functions that serve the sockets in `Part.sockets`, each under the name of its socket. */
  readonly sockets?: Readonly<Record<string, PartSocket>>
  readonly offers?: Partial<Offers>
  /** Returns the part's figures for the metrics and for `AgentServer.load`. They must show no ids and no texts. */
  figures?(): readonly PartFigure[]
  /** Ends everything that the part has started. Idempotent. */
  close?(): Promise<void>
}

export type PartHandler = (call: Call) => HttpResponse | Promise<HttpResponse>

/** Serves an authenticated connection. Must set `connection.owner` before it returns. `query` has no question mark. */
export type PartSocket = (connection: WebSocketConnection, query: string) => void
