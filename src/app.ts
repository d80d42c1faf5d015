/**
 * Builds the objects of a server that lie below HTTP, and closes them in reverse order. Opens no port.
 *
 * The data folder is locked before the objects are built, because another server may use it.
 */
import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { createAgentMaker, type AgentMaker, type ChangeProgram } from './agent-maker.ts'
import { recoverFiles } from './agents/acp/session/credential-files.ts'
import { AgentSlots } from './agents/acp/session/slots.ts'
import { AppError } from './base/errors.ts'
import { formatMode } from './base/file-mode.ts'
import { isThere } from './base/read-files.ts'
import type { Log } from './base/log.ts'
import type { LogFiles } from './base/log-files.ts'
import type { Masker } from './base/masking.ts'
import type { Clock } from './base/stamp.ts'
import { runAll } from './base/wait.ts'
import type { Core } from './capabilities.ts'
import { separateKeys, type Config } from './config.ts'
import { createAgentSecrets } from './conversation/agent/secrets.ts'
import { createAgentVault, type AgentVault } from './conversation/agent/vault.ts'
import { Admission } from './conversation/run/admission.ts'
import type { CreationDeps } from './conversation/list/creation.ts'
import { ConversationService } from './conversation/list/service.ts'
import { drivenConversations } from './conversation/list/driven.ts'
import type { ConversationFollower } from './conversation/list/followers.ts'
import { storedConversations } from './conversation/list/stored.ts'
import { subConversations } from './conversation/list/sub-conversations.ts'
import { unusedConversations } from './conversation/list/unused.ts'
import { LoadedParts, type LoadedPartsOptions } from './loaded-parts.ts'
import { agentProfilesOf, pluginsOf, providerConnectionsOf, worktreesOf } from './optional-offers.ts'
import type { Part } from './part.ts'
import { findCgroupParent, sweepCgroups } from './process/cgroup.ts'
import { homeDirOf, type Environment } from './process/environment.ts'
import { isLoaderVariable } from './base/loader-variable.ts'
import { makeFolder, ownFolder } from './base/own-files.ts'
import { lockFolder, type FolderLock } from './process/lock.ts'
import { emptyLeft, SecretFolder } from './process/secret-folder.ts'
import { sweepMarked } from './process/sweep.ts'
import { checkSeals, openSealedStores, sealProblemOf } from './sealed-stores.ts'
import { Counts } from './server-load.ts'
import { createCipher } from './settings/cipher.ts'
import { exposedKeys, loadSealingKeys, loadSessionKey } from './settings/keys.ts'
import { createMaskedValues } from './settings/masked-values.ts'
import { loadProviders } from './settings/providers-file.ts'
import type { ProfileUsers } from './settings/profile-changes.ts'
import type { ProfileStore } from './settings/profiles.ts'
import type { SecretStore } from './settings/secrets.ts'
import type { SettingsStore } from './settings/store.ts'
import { Catalogue } from './storage/catalogue.ts'
import { nodeFiles } from './storage/files.ts'
import { claimDataFolder } from './storage/data-folder-claim.ts'
import { openDataFolder, type DataFolder } from './storage/layout.ts'
import { LineCache } from './storage/line-cache.ts'
import { Reserve } from './storage/reserve.ts'
import { countedFiles } from './storage/written.ts'
import { preparePlace, type PlaceOptions } from './workspace/place.ts'

export interface AppOptions {
  readonly config: Config
  /** All parts of the server (`partsOf`). */
  readonly parts: readonly Part[]
  /** The names of the parts that may be loaded (`wantedParts`); empty for all. */
  readonly wanted: readonly string[]
  /** The only environment that the server reads. `process/environment` selects the variables for child processes. */
  readonly environment: Environment
  readonly log: Log
  readonly logFiles: LogFiles
  readonly masker: Masker
  readonly clock: Clock
  /** Called when this server has lost the lock on the data folder: the server must then be closed at once. */
  readonly onLost: () => void
  /** Gets an external agent's program and returns the program to start instead. Default: no program is replaced. */
  readonly changeProgram?: ChangeProgram | undefined
}

/** A server without HTTP. `server.ts` puts it behind HTTP and WebSocket. */
export interface App {
  readonly service: ConversationService
  readonly vault: AgentVault
  readonly creation: CreationDeps
  /** Returns a keyed hash (HMAC) of a text, with which requests are compared. */
  readonly fingerprint: (text: string) => string
  readonly settings: SettingsStore
  readonly profiles: ProfileStore
  readonly secrets: SecretStore
  readonly profileUsers: ProfileUsers
  /** The session keys at the start of the server; empty when the server asks for no key. */
  readonly sessionKeys: readonly string[]
  /** The session key's file in the data folder; undefined when the options give the keys or no key is asked for. */
  readonly sessionKeyPath: string | undefined
  readonly reserve: Reserve
  /** Returns a sentence for `/ready` when stored secrets cannot be opened; otherwise undefined. */
  sealProblem(): Promise<string | undefined>
  readonly parts: LoadedParts
  /** Adds an address of this server to `Core.urls`, and writes it to `owner.json` in the data folder. */
  announce(url: string): Promise<void>
  /** Pauses running conversations, ends every agent and releases the data folder. Idempotent. */
  close(): Promise<void>
}

/** Undoes a step of the start. At the shutdown, or after a failed start, these functions run in the reverse order. */
type Undo = () => Promise<void>

/** @throws the errors of `createAgentServer` */
export async function createApp(options: AppOptions): Promise<App> {
  const undo: Undo[] = []
  const takeDown = (): Promise<void> => runAll(undo.splice(0).reverse())
  try {
    return await build(options, undo, takeDown)
  } catch (thrown) {
    await takeDown()
    throw thrown
  }
}

async function build(options: AppOptions, undo: Undo[], takeDown: () => Promise<void>): Promise<App> {
  const { config, environment, masker, clock, log, parts: all, wanted, changeProgram } = options
  const lock = await takeFolder(options, undo)
  const folder = await openDataFolder(config.dataDir)
  const cgroupParent = await endLeftovers(folder)
  const keys = await loadKeys(options, folder)
  masker.register([...keys.sessionKeys, ...sealingTexts(config, keys.sealingKeys)])
  const cipher = createCipher({ keys: keys.sealingKeys, random: randomBytes })
  const providers = await loadProviders({ file: config.providersFile, commands: config.acpCommands })
  const { find: findConnection } = providerConnectionsOf(() => parts)
  const stores = openSealedStores({ dataDir: folder.path, cipher, masker, providers, parts: all, log, findConnection })
  const reserve = await Reserve.open({ path: folder.reserve, clock })
  undo.push(() => reserve.close(), () => stores.changes.close())
  const { settings, profiles, secrets } = stores
  await checkSeals(stores, log)
  const { runtimeDir, secretFolder } = await prepareRuntime(folder, secrets, options)
  undo.push(() => secretFolder.close())
  const vault = createAgentVault({ cipher, providers, setMasked: createMaskedValues(masker), isLoaderVariable })
  const urls: string[] = []
  const followers = new Set<ConversationFollower>()
  const [counts, admission] = [new Counts(), new Admission()]
  const slots = new AgentSlots({ limit: config.agentLimit, idleMs: config.agentIdleMs })
  const place = { workspaceDir: resolve(config.workspaceDir), privateDirs: [folder.path, ...secretFolder.paths] }
  const { keyless, sessionApiKeys, sealingKeyOptions } = separateKeys(config)
  const core: LoadedPartsOptions['core'] = (own) => ({
    config: keyless, sessionApiKeys, sealingKeyOptions, environment, homeDir: homeDirOf(environment), log,
    logFiles: options.logFiles, masker, clock, dataDir: folder.path, instanceId: folder.instance, runtimeDir,
    secretFolder, cgroupParent, vault, cipher, privateDirs: place.privateDirs, workspaceDir: place.workspaceDir,
    settings, llmProfiles: profiles, providers, conversations: storedConversations(() => service, followers),
    unusedConversations: unusedConversations(() => service), admission, written: counts.written,
    subConversations: subConversations(() => ({ service, creation })),
    drivenConversations: drivenConversations(() => ({ service, creation })), agentQueue: () => slots.queue,
    load: () => counts.load(service, slots, parts.figures()), secretValues: () => secrets.values(), urls, use: own.use,
    offers: own.offers, parts: own.parts, usableTools: own.usableTools, workspaceSessions: own.workspaceSessions,
    pageSessions: own.pageSessions, namedKeys: own.namedKeys, traffic: own.traffic, trail: own.trail,
    description: own.description,
  })
  const parts = await openParts({ parts: all, wanted, config, clock, core }, undo)
  const agents = createAgentMaker({ core: parts.core, providers, slots, programs: parts.programs(), changeProgram })
  const worktrees = worktreesOf(parts)
  const isOwner = (): boolean => lock.isOurs()
  const { core: lent } = parts
  const owned = { folder, isOwner, agents, secrets, vault, reserve, urls, followers, worktrees, counts, lent }
  const service = await startService(options, owned, undo)
  const creation = creationOf({ config, clock, vault, settings, parts, place, service, worktrees, agents })
  for (const follower of followers) follower.started()
  let closing: Promise<void> | undefined
  return {
    service, vault, settings, profiles, secrets, reserve, profileUsers: agentProfilesOf(parts),
    sealProblem: () => sealProblemOf(stores), parts,
    sessionKeys: keys.sessionKeys, sessionKeyPath: keys.sessionKeyPath,
    fingerprint: (text) => cipher.fingerprint(text),
    creation,
    async announce(url) {
      urls.push(url)
      await lock.announce(url)
    },
    close: () => (closing ??= takeDown()),
  }
}

interface CreationParts
  extends Pick<App, 'service' | 'vault' | 'settings' | 'parts'>, Pick<AppOptions, 'config' | 'clock'> {
  readonly place: PlaceOptions
  readonly worktrees: ReturnType<typeof worktreesOf>
  readonly agents: AgentMaker
}

function creationOf(
  { config, clock, vault, settings, parts, place, service, worktrees, agents }: CreationParts,
): CreationDeps {
  return {
    clock, vault, shard: config.shard, admission: parts.core.admission,
    settings: () => settings.get(),
    launchProfile: (profileId) => agentProfilesOf(parts).launch(profileId),
    pluginsFor: pluginsOf(parts), agentKind: (stored) => agents.kindOf(stored),
    assertDrivable: (kind) => parts.assertAgent(kind),
    preparePlace: (requested, id) => preparePlace(requested, id, place),
    makeWorktree: (id, folder) => worktrees.create(id, folder),
    workingDirOf: async (id) => (service.has(id) ? (await service.open(id)).state.working_dir : undefined),
  }
}

/** Starts the parts that start with the server. At the shutdown, conversations close first, because they use parts. */
async function openParts(options: LoadedPartsOptions, undo: Undo[]): Promise<LoadedParts> {
  const parts = new LoadedParts(options)
  undo.push(() => parts.close())
  await parts.startWithServer()
  return parts
}

/** Claims the data folder, then locks it. The claim refuses a folder that has content but is no data folder. */
async function takeFolder({ config, clock, onLost, log }: AppOptions, undo: Undo[]): Promise<FolderLock> {
  const { othersMay } = await claimDataFolder(config.dataDir)
  if (othersMay === 'read') {
    log.warn('Other users may look into the data folder: expected chmod 700', { dataDir: config.dataDir })
  }
  const lock = await lockFolder(config.dataDir, { clock, onLost })
  const { former } = lock
  if (former !== undefined) log.warn('The last server of the data folder ended without closing', { was: former.text })
  undo.push(() => lock.release())
  return lock
}

/** Ends processes that a killed server left. Returns the cgroup in which the server may make cgroups, if any. */
async function endLeftovers(folder: DataFolder): Promise<string | undefined> {
  await sweepMarked({ instance: folder.instance })
  const parent = await findCgroupParent()
  if (parent !== undefined) await sweepCgroups({ parent, instance: folder.instance, limitMs: 5000 })
  return parent
}

interface Runtime {
  /** The folder for files that running child processes need. */
  readonly runtimeDir: string
  readonly secretFolder: SecretFolder
}

/**
 * Makes the runtime folder, and cleans up the private files that a killed server left. If an agent renewed a credential
 * in its file, stores it, unless the secret was changed meanwhile. Keeps folders whose credential cannot be stored.
 */
async function prepareRuntime(folder: DataFolder, secrets: SecretStore, options: AppOptions): Promise<Runtime> {
  const { path, instance } = folder
  const { environment, log } = options
  const runtimeDir = join(path, 'runtime')
  const secretFolder = new SecretFolder({ instance, environment, runtimeDir })
  for (const left of await secretFolder.left()) {
    const kept = await recoverFiles(left, ({ name, lent, current }) => secrets.replace(name, lent, current), log)
    await emptyLeft(left, (name) => kept.has(name))
  }
  await makeFolder(runtimeDir, ownFolder)
  return { runtimeDir, secretFolder }
}

interface Keys {
  readonly sealingKeys: Buffer[]
  readonly sessionKeys: readonly string[]
  readonly sessionKeyPath: string | undefined
}

/** Returns the texts to mask for the sealing keys: the keys given in options, and all keys in base64 and base64url. */
function sealingTexts({ secretKey, oldSecretKeys }: Config, keys: readonly Buffer[]): string[] {
  const given = [secretKey, ...oldSecretKeys].flatMap((key) => key ?? [])
  return [...given, ...keys.flatMap((key) => [key.toString('base64url'), key.toString('base64')])]
}

function writableKey(path: string, mode: string): AppError {
  const remedy = 'check the file, then remove that right with chmod go-rwx'
  return new AppError('storage_failed', `Cannot use "${path}": other users may write it (mode ${mode}); ${remedy}`)
}

async function loadKeys({ config, log }: AppOptions, folder: DataFolder): Promise<Keys> {
  const keyFolder = { folder: join(folder.path, 'keys'), random: randomBytes }
  for (const { path, othersMay, mode } of await exposedKeys(keyFolder.folder)) {
    const found = { path, mode: formatMode(mode) }
    if (othersMay === 'write') throw writableKey(path, found.mode)
    log.warn('Other users could read a key until now: consider new keys', found)
  }
  const { secretKey, oldSecretKeys } = config
  const sealingKeys = await loadSealingKeys({ ...keyFolder, secretKey, oldSecretKeys })
  const given = config.sessionApiKeys
  if (config.noAuth || given.length > 0) {
    return { sealingKeys, sessionKeys: config.noAuth ? [] : given, sessionKeyPath: undefined }
  }
  const { key, path, made } = await loadSessionKey(keyFolder)
  if (made) log.info('A session key was made', { path })
  return { sealingKeys, sessionKeys: [key], sessionKeyPath: path }
}

interface ServiceParts {
  readonly folder: DataFolder
  readonly isOwner: () => boolean
  readonly agents: AgentMaker
  readonly secrets: SecretStore
  readonly vault: AgentVault
  readonly reserve: Reserve
  /** Addresses of this server, the main address first. */
  readonly urls: readonly string[]
  readonly followers: ReadonlySet<ConversationFollower>
  readonly worktrees: ReturnType<typeof worktreesOf>
  readonly counts: Counts
  readonly lent: Pick<Core, 'admission' | 'trail' | 'use'>
}

async function startService(
  { config, log, masker, clock }: AppOptions, parts: ServiceParts, undo: Undo[],
): Promise<ConversationService> {
  const { folder, isOwner, agents, reserve, secrets, vault, urls, followers, worktrees, counts, lent } = parts
  const onError = (error: Error): void => log.warn('A removed conversation could not be deleted', { error })
  const service = new ConversationService({
    catalogue: await Catalogue.open(folder, onError),
    idleTimeoutMs: config.agentIdleMs,
    isOwner,
    followers,
    releaseWorktree: (dir, isUsed) => worktrees.release(dir, isUsed),
    deps: {
      clock, admission: lent.admission, random: randomBytes, diagnostics: log,
      files: countedFiles(nodeFiles, counts.written),
      work: counts.work,
      cache: new LineCache({ logBytes: config.logCacheBytes, totalBytes: config.cacheBytes }),
      reserve,
      readerLimit: config.subscriberLimit,
      readLimiter: counts.readLimiter,
      backlogLimitBytes: backlogLimitBytes,
      eventLimitBytes: config.eventLimitBytes,
      confirmationDeadlineMs: config.confirmationDeadlineMs,
      stopLimitMs: config.shutdownGraceMs,
      closeLimitMs: Math.max(config.shutdownGraceMs, processEndLimitMs),
      agentKind: (stored) => agents.kindOf(stored),
      titleByProfile: agents.titleByProfile,
      secrets: createAgentSecrets({
        vault, globals: secrets, log, serverUrls: urls,
        fetchText: async (request) => (await lent.use('fetchText'))(request),
        onUsed: (id, names) => lent.trail.writer?.secretsUsed(id, names),
      }),
      mask: (text) => masker.mask(text),
      createMaskingStream: () => masker.stream(),
      onClosed: (id) => vault.forget(id),
    },
  })
  undo.push(() => service.close())
  await service.start()
  if (await isThere(join(folder.path, 'worktrees'))) await worktrees.releaseLeft((dir) => service.isUsed(dir))
  return service
}

/** If more bytes of a conversation than this wait to be written, the output of its external agent is not read. */
const backlogLimitBytes = 8 * 1024 * 1024

/** The time limit for closing an agent is at least this, in ms: the agent's hooks and processes need time to end. */
const processEndLimitMs = 20_000
