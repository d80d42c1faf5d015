/**
 * The capabilities that the core lends to parts, by name. A part takes the members that its `start` names, and no others.
 */
import type { Log } from './base/log.ts'
import type { Masker } from './base/masking.ts'
import type { Clock } from './base/stamp.ts'
import type { Config } from './config.ts'
import type { AgentVault } from './conversation/agent-vault.ts'
import type { Offers } from './offers.ts'
import type { Environment } from './process/environment.ts'
import type { SecretFolder } from './process/secret-folder.ts'
import type { LLM } from './schema/generated/llm.ts'
import type { Cipher } from './settings/cipher.ts'

export interface Core {
  /** The options of the core; those of a part are read with `valuesOf` and its own table. */
  readonly config: Config
  /** The environment of the server: see process/environment for the variables that a child gets. */
  readonly environment: Environment
  readonly log: Log
  readonly masker: Masker
  readonly clock: Clock
  /** The data folder. */
  readonly dataDir: string
  /** The id of the data folder, for the markers of processes. */
  readonly instanceId: string
  /** A folder for files that live as long as a program. */
  readonly runtimeDir: string
  readonly secretFolder: SecretFolder
  readonly cgroupParent: string | undefined
  /** Folders of the server itself: no tool and no route reads or writes there. */
  readonly privateDirs: readonly string[]
  /** The folder in which relative workspaces begin. */
  readonly workspaceDir: string
  readonly vault: AgentVault
  readonly cipher: Cipher
  /** The model of a stored profile. @throws AppError */
  readonly loadProfile: (name: string) => Promise<LLM>
  /** The global secrets in plain. @throws AppError `settings_unreadable` */
  readonly secretValues: () => Promise<ReadonlyMap<string, string>>
  /** The addresses of this server, the main one first. */
  readonly urls: readonly string[]
  /** Gives an offer of another part, which is started if need be. @throws AppError `part_missing` */
  readonly use: Use
  /** Whether some part here offers this. */
  readonly offers: (name: keyof Offers) => boolean
}

export type Use = <Name extends keyof Offers>(name: Name) => Promise<Offers[Name]>
