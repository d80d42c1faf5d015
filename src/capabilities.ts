/** The objects that the server gives to its optional parts (`part.ts`). A part gets those that its `needs` names. */
import type { Log } from './base/log.ts'
import type { LogFiles } from './base/log-files.ts'
import type { Masker } from './base/masking.ts'
import type { Clock } from './base/stamp.ts'
import type { KeylessConfig, SealingKeyOptions } from './config.ts'
import type { AgentVault } from './conversation/agent/vault.ts'
import type { DrivenConversations } from './conversation/list/driven.ts'
import type { StoredConversations } from './conversation/list/stored.ts'
import type { UnusedConversations } from './conversation/list/unused.ts'
import type { SubConversations } from './conversation/list/sub-conversations.ts'
import type { Admission } from './conversation/run/admission.ts'
import type { PageSessions } from './http/page-sessions.ts'
import type { NamedKeys } from './http/principal.ts'
import type { Trail } from './http/trail.ts'
import type { Traffic } from './http/traffic.ts'
import type { WorkspaceSessions } from './http/workspace-sessions.ts'
import type { InspectedPart } from './inspected-part.ts'
import type { Offers } from './offers.ts'
import type { Environment } from './process/environment.ts'
import type { ServerLoad } from './server-load.ts'
import type { SecretFolder } from './process/secret-folder.ts'
import type { Cipher } from './settings/cipher.ts'
import type { ProfileStore } from './settings/profiles.ts'
import type { Provider } from './settings/provider.ts'
import type { SettingsStore } from './settings/store.ts'

export interface Core {
  /** All options but the session and sealing keys. A part reads its own options with `valuesOf`. */
  readonly config: KeylessConfig
  /** The session keys (values of `X-Session-API-Key`) that the options give. */
  readonly sessionApiKeys: readonly string[]
  readonly sealingKeyOptions: SealingKeyOptions
  /** The server's environment variables. `process/environment` selects the variables for child processes. */
  readonly environment: Environment
  /** The home folder of the server's user; undefined when `HOME` is no absolute path. */
  readonly homeDir: string | undefined
  readonly log: Log
  readonly logFiles: LogFiles
  readonly masker: Masker
  readonly clock: Clock
  readonly dataDir: string
  /** The id of the data folder. It marks the processes that the server starts (`process/marker`). */
  readonly instanceId: string
  /** A folder for files that running child processes need. */
  readonly runtimeDir: string
  readonly secretFolder: SecretFolder
  readonly cgroupParent: string | undefined
  /** Folders of the server itself, which tools and routes must not open. */
  readonly privateDirs: readonly string[]
  /** The folder that relative workspace paths start from. */
  readonly workspaceDir: string
  readonly vault: AgentVault
  readonly conversations: StoredConversations
  readonly unusedConversations: UnusedConversations
  /** Decides whether conversations and runs may begin. The part `retention` sets `admission.rules`. */
  readonly admission: Admission
  readonly subConversations: SubConversations
  readonly drivenConversations: DrivenConversations
  /** Returns the ids of the conversations whose external agents wait to be started, the longest wait first. */
  readonly agentQueue: () => readonly string[]
  /** Returns the present load of the server. Call it only after the server has started. */
  readonly load: () => ServerLoad
  /** The number, the bytes and the total time of all writes to the logs of conversations since the server's start. */
  readonly written: ServerLoad['written']
  readonly workspaceSessions: WorkspaceSessions
  /** Checks the cookie sessions of the console. The part `console` sets `pageSessions.source`. */
  readonly pageSessions: PageSessions
  /** The API keys that have a name. The part `keys` sets `namedKeys.source`. */
  readonly namedKeys: NamedKeys
  /** The audit trail. The part `audit` sets `trail.writer`. */
  readonly trail: Trail
  /** Informs observers about responses and WebSockets. */
  readonly traffic: Traffic
  readonly cipher: Cipher
  readonly settings: Pick<SettingsStore, 'get' | 'update'>
  readonly llmProfiles: Pick<ProfileStore, 'list' | 'view' | 'load' | 'save'>
  /** The descriptions of all external agents that this server knows. */
  readonly providers: readonly Provider[]
  /** Returns the plain values of the global secrets. @throws AppError `settings_unreadable` */
  readonly secretValues: () => Promise<ReadonlyMap<string, string>>
  /** The addresses at which this server listens; empty until it listens. */
  readonly urls: readonly string[]
  /** Returns an offer (an object that a part provides). Starts the part if needed. @throws as `LoadedParts.use` */
  readonly use: Use
  /** Returns true when the server may load a part that has this offer. The part need not be loaded yet. */
  readonly offers: (name: keyof Offers) => boolean
  /** All parts of the server, also parts that the options leave out. */
  readonly parts: readonly InspectedPart[]
  /** Returns the names of the built-in agent's tools that work on this machine. */
  readonly usableTools: () => Promise<readonly string[]>
  /** Returns the OpenAPI description of this server's routes, as JSON. */
  readonly description: () => Promise<Buffer>
}

export type Use = <Name extends keyof Offers>(name: Name) => Promise<Offers[Name]>
