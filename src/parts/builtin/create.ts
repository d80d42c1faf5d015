/**
 * Creates a built-in agent from its settings.
 *
 * Creating an agent starts no process: the shell and the browser start at their first use. A shell command gets the
 * secrets whose names it contains (contract/conversations.md, section 6).
 */
import { randomUUID } from 'node:crypto'
import type { HostModels, HostTool } from '../../agents/from-host.ts'
import { AppError, errorOf } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Log } from '../../base/log.ts'
import type { MaskingStream } from '../../base/masking.ts'
import type { Clock } from '../../base/stamp.ts'
import type { AgentHost } from '../../conversation/agent/host.ts'
import { buildEnvironment, type Environment } from '../../process/environment.ts'
import type { TerminalKind } from '../../process/pty.ts'
import type { Agent as AgentSettings } from '../../schema/generated/conversations.ts'
import type { LLM } from '../../schema/generated/llm.ts'
import type { Cipher } from '../../settings/cipher.ts'
import { createModelClient } from './llm/client.ts'
import { createHostModel } from './llm/host-model.ts'
import type { AnswerLimits } from './llm/http-call.ts'
import type { ModelClient } from './llm/model.ts'
import { createScriptedModel, scriptedModelName } from './llm/scripted.ts'
import { defaultDeps } from './llm/wire.ts'
import { withClientTools } from './tools/client-tool.ts'
import { hostToolMakers } from './tools/host-tool.ts'
import { createToolSet, filterNames, isTaskToolSet } from './tools/registry.ts'
import { createTerminalTool } from './tools/terminal.ts'
import { noSkills, type ConversationSkills } from '../../agents/skills.ts'
import type { ClosableTool, ToolMaker, ToolSet } from '../../agents/tool.ts'
import type { Use } from '../../capabilities.ts'
import { BuiltInAgent } from './agent.ts'
import { hooksOf } from './late-hooks.ts'

/** The dependencies that all built-in agents of a server share. */
export interface BuiltInShared {
  readonly createModel: CreateModel
  /** Tools of the embedding program; empty when it provides none. */
  readonly hostTools: readonly HostTool[]
  readonly environment: Environment
  /** The names of the environment variables that the operator passes to child processes. */
  readonly passEnvironment: readonly string[]
  /** Private folders of the server: no path that a model gives to a file tool may lead into them. */
  readonly privateDirs: readonly string[]
  /** Encrypts the file contents that tools keep for undo, and the calls that wait for the user's approval. */
  readonly cipher: Cipher
  /** Makes the private folder for unencrypted secrets, if it is missing. Returns its path. */
  readonly makeSecretDir: () => Promise<string>
  readonly instanceId: string
  readonly cgroupParent: string | undefined
  /** The host name of this machine, which the terminal's observations hold. */
  readonly hostname: string
  readonly platform: string
  /** Returns how a shell can run here: on a pseudo-terminal or over pipes (process/pty.ts). It is detected once. */
  readonly terminalKind: () => Promise<TerminalKind>
  readonly createMaskingStream: () => MaskingStream
  /** Loads a service of another part, such as skills, hooks or MCP tools. @throws AppError `part_missing` */
  readonly use: Use
  readonly clock: Clock
  readonly log: Log
}

/** Makes an agent without starting a process. @param open decrypts the secrets in the stored settings */
export function createBuiltInAgent(host: AgentHost, open: OpenSettings, shared: BuiltInShared): BuiltInAgent {
  const settings = openedOnce(() => host.settings(), open)
  return new BuiltInAgent({
    settings,
    host,
    clock: shared.clock,
    log: shared.log,
    platform: shared.platform,
    cipher: shared.cipher,
    createModel: shared.createModel,
    createTools: (skills, signal) => createTools(settings(), { host, shared, skills, signal, now: settings }),
    hooks: hooksOf(host, async () => (await shared.use('hooks')).open(host, shared.log)),
    openPatch: async (signal) => (await shared.use('patches')).open(host.workingDir, signal),
    loadSkills: () => loadSkills(settings().agent_context, host.workingDir, shared.use),
  })
}

type OpenSettings = (sealed: JsonObject) => AgentSettings

/** Returns a function that returns the decrypted settings. It decrypts again only when `read` returns a new object. */
function openedOnce(read: () => JsonObject, open: OpenSettings): () => AgentSettings {
  let last: { readonly sealed: JsonObject; readonly opened: AgentSettings } | undefined
  return () => {
    const sealed = read()
    if (last?.sealed !== sealed) last = { sealed, opened: open(sealed) }
    return last.opened
  }
}

/**
 * Makes the client of a model.
 * @throws ModelError when the settings give no server, or an `auth_type` other than `api_key`
 */
export type CreateModel = (llm: LLM) => ModelClient

/**
 * Returns a function that makes the client of a model. A model that the embedding program provides takes precedence
 * over other models of the same name.
 */
export function createModelWith(
  limits: AnswerLimits, log: Log, hostModels: HostModels = () => undefined,
): CreateModel {
  const deps = { ...defaultDeps, limits }
  return (llm) => {
    const own = hostModels(llm.model)
    if (own !== undefined) return createHostModel(llm.model, own, log)
    return llm.model === scriptedModelName ? createScriptedModel() : createModelClient(llm, deps)
  }
}

interface ToolParts {
  readonly host: AgentHost
  readonly shared: BuiltInShared
  readonly skills: ConversationSkills
  readonly signal: AbortSignal
  /** Returns the agent's current settings. */
  readonly now: () => AgentSettings
}

async function createTools(settings: AgentSettings, parts: ToolParts): Promise<ToolSet> {
  const { host, shared, skills, signal, now } = parts
  const kind = await shared.terminalKind()
  const set = await createToolSet({
    workingDir: host.workingDir,
    observationsDir: host.observationsDir,
    privateDirs: shared.privateDirs,
    cipher: shared.cipher,
    mask: host.mask,
    settings,
    makers: {
      terminal: () => createTerminal(kind, host, shared),
      ...await browserMakers(settings, host, shared.use),
      ...await taskMakers(settings, host, now, shared.use),
      ...hostToolMakers(shared.hostTools, host),
    },
    signal,
  })
  const skillTool = skills.tool((name) => host.skillInvoked(name))
  const own = skillTool === undefined ? set : { ...set, tools: [...set.tools, skillTool] }
  const all = withClientTools(own, host.clientTools)
  if (Object.keys(settings.mcp_config).length === 0) return all
  return (await shared.use('mcpTools')).extend(all, {
    settings: settings.mcp_config,
    conversation: host,
    filter: (names, stop) => filterNames(names, settings.filter_tools_regex, stop),
    log: shared.log,
  })
}

type BrowserChoice = Pick<AgentSettings, 'tools' | 'include_default_tools'>

/** Returns functions that make the browser tools, by tool name; `{}` when the settings name no browser tool. */
async function browserMakers(
  { tools, include_default_tools }: BrowserChoice, host: AgentHost, use: Use,
): Promise<Readonly<Record<string, ToolMaker>>> {
  const named = [...tools.map(({ name }) => name), ...include_default_tools]
  return named.some((name) => /^browser/i.test(name)) ? (await use('browserTools')).makers(host) : {}
}

/** Returns the maker of the tool `task`, as `{ task }`; `{}` if the settings do not name it or no part offers it. */
async function taskMakers(
  { tools }: Pick<AgentSettings, 'tools'>, host: AgentHost, now: () => AgentSettings, use: Use,
): Promise<Readonly<Record<string, ToolMaker>>> {
  if (!tools.some(({ name }) => isTaskToolSet(name))) return {}
  const part = await use('subAgents').catch((thrown: unknown) => {
    if (thrown instanceof AppError && thrown.code === 'part_missing') return undefined
    throw thrown
  })
  return part === undefined ? {} : { task: await part.taskTool(host, now) }
}

/** Returns the skills and the memory that the settings name. */
async function loadSkills(
  context: AgentSettings['agent_context'], workingDir: string, use: Use,
): Promise<ConversationSkills> {
  if (context === null) return noSkills
  const { skills, load_user_skills, load_project_skills, load_memory } = context
  const wantsAny = skills.length > 0 || load_user_skills || load_project_skills || load_memory
  return wantsAny ? (await use('skills')).load(context, workingDir) : noSkills
}

function createTerminal(kind: TerminalKind, host: AgentHost, shared: BuiltInShared): ClosableTool {
  const { environment, passEnvironment, makeSecretDir, instanceId, cgroupParent, hostname, createMaskingStream, log } =
    shared
  return createTerminalTool({
    kind,
    workingDir: host.workingDir,
    observationsDir: host.observationsDir,
    makeSecretDir,
    env: buildEnvironment({ server: environment, pass: passEnvironment }),
    instance: instanceId,
    cgroupParent,
    createId: randomUUID,
    createMaskingStream,
    onError: (error) => log.warn('Could not store the output of a command', { error: errorOf(error) }),
    secretsFor: async (command, abort) => Object.fromEntries(await host.secrets(abort, (name) => names(command, name))),
    hostname,
  })
}

/** Returns whether a command contains the name of a secret, in any mix of upper and lower case. */
function names(command: string, name: string): boolean {
  return command.toLowerCase().includes(name.toLowerCase())
}
