/**
 * A part: a folder of `parts/` that can be deleted with its line in `parts.ts`, and what it may add to the server.
 *
 * `parts/<name>/part.ts` holds this description and is read at every start, so it imports nothing heavy. Everything else
 * of a part is loaded by `import()` when a route, a command or an offer of it is used for the first time.
 */
import type { Right } from './access.ts'
import type { Answer } from './http/reply.ts'
import type { Call } from './api/call.ts'
import type { Config } from './config.ts'
import type { Core } from './capabilities.ts'
import type { Finding } from './finding.ts'
import type { Offers } from './offers.ts'
import type { Option } from './option.ts'
import type { Environment } from './process/environment.ts'
import type { OpenSealedFile } from './settings/sealed-file.ts'

export interface Part {
  /** The name of its folder, by which `--parts` knows it. */
  readonly name: string
  /** Its use, in a sentence without the full stop. */
  readonly about: string
  /** Options of the command line, the environment and the configuration file. */
  readonly options?: Readonly<Record<string, Option<unknown>>>
  /** Method and pattern of each route with the right that it needs; `start` gives the handlers under the same names. */
  readonly routes?: Readonly<Record<string, Right>>
  /** Subcommands of the program, by name. */
  readonly commands?: Readonly<Record<string, PartCommand>>
  /** The offers that `start` gives. */
  readonly offers?: readonly (keyof Offers)[]
  /** The names of its tools of the built-in agent that can be used on this machine. */
  readonly tools?: (options: Values, environment: Environment) => Promise<readonly string[]>
  /** What `agent-server doctor` says of the machine for this part. */
  readonly examine?: (options: Values, environment: Environment) => Promise<Finding>
  /** Programs of agents that come with it: first word of a command -> path of a JavaScript file. */
  readonly programs?: Readonly<Record<string, string>>
  /** A sealed file of the data folder that is the part's own. */
  readonly sealedFile?: SealedFileOfPart
  /** Seals anew what the part keeps in the folder of a conversation; gives the ids of the keys that are still needed. */
  readonly resealFolder?: () => Promise<ResealFolder>
  /** A name in the data folder: the part is started with the server where it is there. */
  readonly startsWith?: string
  readonly load?: () => Promise<PartModule>
}

/** The values of all options, by name. */
type Values = Readonly<Record<string, unknown>>

export interface PartCommand {
  /** Flags besides the options. */
  readonly flags: Readonly<Record<string, 'switch' | 'value'>>
  /** Its line in `--help`. */
  readonly usage: readonly [usage: string, about: string]
  readonly help: string
  /** The error message when a signal ends it. */
  readonly interruptedWords: string
  readonly load: () => Promise<CommandModule>
}

export interface CommandModule {
  /** Gives the exit code. @throws AppError */
  readonly run: (call: CommandCall) => Promise<number>
}

/** What a command is given of the command line and of the process. */
export interface CommandCall {
  readonly config: Config
  /** The words that are no flag, in order. */
  readonly words: readonly string[]
  /** The flags of the command that were given; a switch has the value `true`. */
  readonly flags: Readonly<Record<string, string>>
  /** Files with keys in them that other users may read. */
  readonly exposedFiles: readonly string[]
  readonly environment: Environment
  /** For files that are removed before the command ends. */
  readonly temporaryDir: string
  /** Writes results. */
  readonly print: (text: string) => void
  /** Writes to the person who waits. */
  readonly tell: (text: string) => void
  /** Aborted by SIGINT, SIGTERM and SIGHUP. */
  readonly signal: AbortSignal
  /** All parts of this build. */
  readonly parts: readonly Part[]
}

export interface SealedFileOfPart {
  readonly name: string
  readonly load: () => Promise<OpenSealedFile>
}

export type ResealFolder = (folder: string, cipher: Core['cipher']) => Promise<ReadonlySet<string>>

export interface PartModule {
  readonly start: (core: Core) => StartedPart
}

export interface StartedPart {
  /** Answers to the routes of `Part.routes`, under the same names. */
  readonly handlers?: Readonly<Record<string, PartHandler>>
  readonly offers?: Partial<Offers>
  /** Ends everything that the part has started. Idempotent. */
  close?(): Promise<void>
}

export type PartHandler = (call: Call) => Answer | Promise<Answer>
