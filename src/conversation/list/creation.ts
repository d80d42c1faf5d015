/**
 * Turns a create request into the first line of a log (contract/conversations.md, section 1, and decisions 20).
 *
 * The agent is chosen here. Later changes of the server's settings or profiles do not change it.
 */
import { AppError } from '../../base/errors.ts'
import { isJsonObject, toJsonObject, type JsonObject } from '../../base/json.ts'
import { formatMicros, type Clock } from '../../base/stamp.ts'
import type {
  ClientTool, PluginSource, StartConversationRequest,
} from '../../schema/generated/conversations.ts'
import type { AgentSettings } from '../../schema/generated/settings.ts'
import type { AgentDefinition } from '../../schema/generated/agent-definitions.ts'
import type { Settings } from '../../settings/patch.ts'
import type { AgentKind } from '../agent/agent.ts'
import type { AgentVault } from '../agent/vault.ts'
import { readHookConfig } from '../agent/hook-config.ts'
import type { Created } from '../log/origins.ts'
import type { Admission } from '../run/admission.ts'
import { definitionsOf, joinedDefinitions } from './agent-definitions.ts'
import { chooseId, dashed } from './ids.ts'
import { joinedHooks, withPlugins, type BroughtByPlugins } from './plugins.ts'

export interface CreationDeps {
  readonly clock: Clock
  /** The two hexadecimal digits with which each new id begins; undefined if any id is accepted. */
  readonly shard: string | undefined
  readonly vault: AgentVault
  readonly settings: () => Promise<Settings>
  /** Returns the settings in an agent profile, and its id and revision. @throws the errors of `AgentProfiles.launch` */
  readonly launchProfile: (profileId: string) => Promise<ProfileLaunch>
  /** Returns the additions of plugins to a new conversation. @throws AppError `invalid_input`, `part_missing` */
  readonly pluginsFor: (request: PluginChoice) => Promise<BroughtByPlugins>
  /** Returns the kind of agent that stored settings name. For the built-in agent, loads its part. */
  readonly agentKind: (settings: JsonObject) => Promise<AgentKind>
  /** Refuses an agent kind whose part is missing. Default: no kind is refused. @throws AppError `part_missing` */
  readonly assertDrivable?: (kind: string) => void
  /** Checks the working folder, creates it if needed, and returns its path. */
  readonly preparePlace: (requested: string | undefined, conversationId: string) => Promise<string>
  /**
   * Makes a git worktree of the repository that the folder is in. Returns the folder's path in the worktree; undefined
   * when git is not installed, the part `git` is left out, or there is no repository or no commit.
   * @throws AppError
   */
  readonly makeWorktree?: (conversationId: string, folder: string) => Promise<string | undefined>
  /** Refuses a new conversation that a limit forbids. Default: no limit. */
  readonly admission?: Admission | undefined
  /** Returns the working folder of a conversation; undefined when the conversation does not exist. */
  readonly workingDirOf: (conversationId: string) => Promise<string | undefined>
}

export interface PluginChoice {
  readonly named: readonly PluginSource[]
  /** True to use also the installed plugins that are enabled. */
  readonly withInstalled: boolean
}

/** Called with the name of a known member of the request that has no effect for this agent or folder. */
type TellIgnored = (member: string) => void

interface ProfileLaunch {
  readonly agent_settings: AgentSettings
  readonly launched: { readonly agent_profile_id: string; readonly revision: number }
}

/**
 * Returns the values of a new conversation. A requested worktree is made last, so that a failed call leaves none.
 * @param madeBy the name of the named API key (parts/keys) that makes the conversation, if any
 * @throws AppError `invalid_input`; the errors of `Admission.assertRoom` and of the functions in `deps`
 */
export async function settleRequest(
  request: StartConversationRequest, deps: CreationDeps, tellIgnored: TellIgnored = () => undefined,
  madeBy?: string,
): Promise<Created> {
  const id = chooseId(request.conversation_id, 'conversation_id', deps.shard)
  deps.admission?.assertRoom(id, madeBy)
  try {
    const created = { ...await settle(request, id, deps, tellIgnored), made_by: madeBy }
    if (!request.worktree) return created
    const folder = await deps.makeWorktree?.(id, created.working_dir)
    if (folder === undefined) tellIgnored('worktree')
    return { ...created, working_dir: folder ?? created.working_dir }
  } catch (thrown) {
    // No conversation is created, so the request's secrets count as removed (settings/masked-values).
    deps.vault.forget(id)
    throw thrown
  }
}

async function settle(
  request: StartConversationRequest, id: string, deps: CreationDeps, tellIgnored: TellIgnored,
): Promise<Created> {
  assertOneAgent(request)
  const configs = request.hook_config === undefined ? [] : [readHookConfig(request.hook_config)]
  const launch = await launchOf(request, deps)
  const settings = launch === undefined ? deps.settings : async () => launch
  const fromPlugins: AgentDefinition[] = []
  const chosen = await deps.vault.sealAgent(id, request, settings, async (agent) => {
    const kind = await deps.agentKind({ kind: agent.kind })
    const withInstalled = kind.takesAdditions && agent.agent_context?.load_user_skills === true
    const brought = await deps.pluginsFor({ named: request.plugins ?? [], withInstalled })
    configs.push(...brought.hooks)
    fromPlugins.push(...brought.agents)
    return withPlugins(agent, kind, brought)
  })
  const kind = await deps.agentKind(chosen)
  const agent = withAdditions(chosen, kind, request, tellIgnored)
  const definitions = joinedDefinitions(fromPlugins, definitionsOf(request, kind, tellIgnored))
  const hooks = joinedHooks(configs)
  if (hooks !== undefined && !kind.takesAdditions) tellIgnored('hook_config')
  deps.assertDrivable?.(String(agent['kind']))
  assertClientTools(request.client_tools)
  const own = deps.vault.sealSources(id, request.secrets, request.secrets_encrypted)
  const secrets = { ...deps.vault.sealContextSecrets(id, agent), ...own }
  const workingDir = await deps.preparePlace(request.workspace?.working_dir, id)
  const parent = await parentOf(request, id, workingDir, deps)
  return {
    id,
    created_at: formatMicros(Math.floor(deps.clock() * 1000)),
    agent,
    working_dir: workingDir,
    confirmation_policy: toJsonObject(request.confirmation_policy),
    security_analyzer: request.security_analyzer === undefined ? null : toJsonObject(request.security_analyzer),
    max_iterations: request.max_iterations,
    stuck_detection: request.stuck_detection,
    autotitle: request.autotitle,
    tags: request.tags,
    secrets,
    hook_config: hooks === undefined ? null : toJsonObject(hooks),
    client_tools: request.client_tools.map(toJsonObject),
    agent_definitions: definitions.map(toJsonObject),
    parent_conversation_id: parent,
    launched_agent_profile: launch === undefined ? null : launch.launched,
    max_budget_per_task: request.max_budget_per_task ?? null,
    title_llm_profile: request.title_llm_profile ?? null,
  }
}

function assertOneAgent(request: StartConversationRequest): void {
  const { agent, agent_settings: settings, agent_profile_id: profile } = request
  if (profile === undefined) return
  if (agent !== undefined || settings !== undefined) {
    const reason = '"agent_profile_id" excludes "agent" and "agent_settings"'
    throw new AppError('invalid_input', `Cannot start the conversation: ${reason}`)
  }
}

async function launchOf(
  { agent_profile_id: id }: StartConversationRequest, deps: CreationDeps,
): Promise<ProfileLaunch | undefined> {
  return id === undefined ? undefined : deps.launchProfile(dashed(id))
}

/** Adds `agent_launch_additions` of the request to the agent's system message, but not to an external agent. */
function withAdditions(
  agent: JsonObject, kind: AgentKind, { agent_launch_additions: additions }: StartConversationRequest,
  tellIgnored: TellIgnored,
): JsonObject {
  const added = additions?.system_message_suffix_append?.trim() ?? ''
  if (added === '') return agent
  if (!kind.takesAdditions) {
    tellIgnored('agent_launch_additions')
    return agent
  }
  const context = isJsonObject(agent['agent_context']) ? agent['agent_context'] : {}
  const own = context['system_message_suffix']
  const suffix = typeof own === 'string' && own.trim() !== '' ? `${own.trim()}\n\n${added}` : added
  return { ...agent, agent_context: { ...context, system_message_suffix: suffix } }
}

function assertClientTools(tools: readonly ClientTool[]): void {
  const names = tools.map(({ name }) => name)
  const double = names.find((name, place) => names.indexOf(name) < place)
  if (double === undefined) return
  throw new AppError('invalid_input', `Cannot use the client tool "${double}" twice: give each tool once`)
}

async function parentOf(
  request: StartConversationRequest,
  id: string,
  workingDir: string,
  deps: CreationDeps,
): Promise<string | null> {
  if (request.parent_conversation_id === undefined) return null
  const parent = dashed(request.parent_conversation_id)
  if (parent === id) throw new AppError('invalid_input', 'A conversation cannot be its own parent')
  const parentDir = await deps.workingDirOf(parent)
  if (parentDir === undefined) throw new AppError('invalid_input', `Parent conversation not found: ${parent}`)
  if (parentDir !== workingDir) throw new AppError('invalid_input', 'Expected the workspace of the parent conversation')
  return parent
}
