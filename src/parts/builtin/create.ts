/**
 * A built-in agent with everything that its settings name: the model, the tools, the terminal with its secrets, the browser; and
 * its hooks.
 *
 * Nothing is started here. The shell starts with the first command, in the environment that any child of this server
 * gets, the browser with its first use, in next to none of it; a command is given those secrets that it names, for as long
 * as it runs (contract: conversations.md, section 6).
 */
import { randomUUID } from 'node:crypto'
import { errorOf } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Log } from '../../base/log.ts'
import type { MaskingStream } from '../../base/masking.ts'
import type { Clock } from '../../base/stamp.ts'
import { AgentBrowser } from '../browser/agent-browser.ts'
import { findBrowser, refusesSandbox } from '../browser/launch.ts'
import type { BrowserPlaces } from '../browser/places.ts'
import type { AgentHost } from '../../conversation/agent.ts'
import { startChild } from '../../process/child.ts'
import { buildEnvironment, type Environment } from '../../process/environment.ts'
import type { TerminalKind } from '../../process/pty.ts'
import type { Agent as AgentSettings } from '../../schema/generated/conversations.ts'
import type { LLM } from '../../schema/generated/llm.ts'
import type { Cipher } from '../../settings/cipher.ts'
import { createModelClient } from './llm/client.ts'
import type { AnswerLimits } from './llm/http-call.ts'
import type { ModelClient } from './llm/model.ts'
import { createScriptedModel, scriptedModelName } from './llm/scripted.ts'
import { defaultDeps } from './llm/wire.ts'
import type { McpHost } from '../mcp/connect.ts'
import type { ServerLimits } from '../mcp/server.ts'
import { withMcpServers } from '../mcp/tool-set.ts'
import { loadContext } from '../skills/load.ts'
import type { Skill } from '../skills/skill.ts'
import { browserTools } from '../browser/tools.ts'
import { withClientTools } from './tools/client-tool.ts'
import { withSkillTool } from '../skills/invoke-skill.ts'
import { createToolSet, filterNames, toolNames } from './tools/registry.ts'
import { createTerminalTool } from './tools/terminal.ts'
import type { ClosableTool, ToolMaker, ToolSet } from '../../agents/tool.ts'
import { BuiltInAgent } from './agent.ts'
import { HookSession } from '../hooks/session.ts'

/** What the built-in agents of a server share. */
export interface BuiltInAgents {
  readonly createModel: CreateModel
  readonly environment: Environment
  /** Names of variables that the operator lets children have. */
  readonly passEnvironment: readonly string[]
  /** No tool reads or writes there. */
  readonly privateDirs: readonly string[]
  /** Seals what the tools keep of files. */
  readonly cipher: Cipher
  /** Where the user's skills are; undefined when it is not known. */
  readonly homeDir: string | undefined
  readonly runtimeDir: string
  /** Gives a private folder for secrets in plain, which is there then. */
  readonly makeSecretDir: () => Promise<string>
  readonly instanceId: string
  readonly cgroupParent: string | undefined
  /** Of this machine, for observations. */
  readonly hostname: string
  readonly platform: string
  readonly browser: BrowserSettings
  /** Found by trying, once. */
  readonly terminalKind: () => Promise<TerminalKind>
  readonly createMaskingStream: () => MaskingStream
  readonly mcp: McpHost
  readonly mcpLimits: ServerLimits
  readonly clock: Clock
  readonly log: Log
}

/** What the operator has said of the browser tools. */
export interface BrowserSettings {
  /** Undefined: one is looked for in the PATH. */
  readonly program: string | undefined
  readonly withoutSandbox: boolean
  /** See parts/browser/address. */
  readonly allowed: readonly string[]
  readonly places: BrowserPlaces
}

/** What settings may name as tools on this machine: the browser's only where there is one that starts. */
export async function findUsableTools(browser: Pick<BrowserSettings, 'program' | 'withoutSandbox'>, { PATH = '' }: Environment): Promise<readonly string[]> {
  const isThere = await findBrowser(browser.program, PATH).then(() => true, () => false)
  const hasBrowser = isThere && (browser.withoutSandbox || !refusesSandbox())
  return toolNames(hasBrowser ? ['terminal', 'browser_tool_set'] : ['terminal'])
}

/** @param open gives what is sealed in settings back in plain */
export function createBuiltInAgent(host: AgentHost, open: OpenSettings, shared: BuiltInAgents): BuiltInAgent {
  const settings = openedOnce(() => host.settings(), open)
  return new BuiltInAgent({
    settings,
    host,
    clock: shared.clock,
    log: shared.log,
    platform: shared.platform,
    cipher: shared.cipher,
    createModel: shared.createModel,
    createTools: (skills, signal) => createTools(settings(), { host, shared, skills, signal }),
    hooks: createHooks(host, shared),
    loadContext: () => loadContext(settings().agent_context, host.workingDir, shared),
  })
}

type OpenSettings = (sealed: JsonObject) => AgentSettings

/** The settings in plain, opened anew only when they were set anew. */
function openedOnce(read: () => JsonObject, open: OpenSettings): () => AgentSettings {
  let last: { readonly sealed: JsonObject; readonly opened: AgentSettings } | undefined
  return () => {
    const sealed = read()
    if (last?.sealed !== sealed) last = { sealed, opened: open(sealed) }
    return last.opened
  }
}

/** The client of a model. @throws ModelError */
export type CreateModel = (llm: LLM) => ModelClient

/** Clients whose answers have these limits. */
export function createModelWith(limits: AnswerLimits): CreateModel {
  const deps = { ...defaultDeps, limits }
  return (llm) => (llm.model === scriptedModelName ? createScriptedModel() : createModelClient(llm, deps))
}

interface ToolParts {
  readonly host: AgentHost
  readonly shared: BuiltInAgents
  readonly skills: readonly Skill[]
  readonly signal: AbortSignal
}

async function createTools(settings: AgentSettings, { host, shared, skills, signal }: ToolParts): Promise<ToolSet> {
  const kind = await shared.terminalKind()
  const set = await createToolSet({
    workingDir: host.workingDir,
    observationsDir: host.observationsDir,
    privateDirs: shared.privateDirs,
    cipher: shared.cipher,
    mask: host.mask,
    settings,
    makers: { terminal: () => createTerminal(kind, host, shared), ...createBrowserTools(host, shared) },
    signal,
  })
  const own = withSkillTool(set, { skills, onInvoked: (name) => host.skillInvoked(name) })
  return withMcpServers(withClientTools(own, host.clientTools), {
    settings: settings.mcp_config,
    conversation: host,
    host: shared.mcp,
    limits: shared.mcpLimits,
    filter: (names, stop) => filterNames(names, settings.filter_tools_regex, stop),
    clock: shared.clock,
    log: shared.log,
  })
}

function createTerminal(kind: TerminalKind, host: AgentHost, shared: BuiltInAgents): ClosableTool {
  const { environment, passEnvironment, makeSecretDir, instanceId, cgroupParent, hostname, createMaskingStream, log } = shared
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
    onError: (error) => log.warn('The output of a command could not be kept', { error: errorOf(error) }),
    secretsFor: async (command, abort) => Object.fromEntries(await host.secrets(abort, (name) => names(command, name))),
    hostname,
  })
}

function createHooks(host: AgentHost, { environment, passEnvironment, instanceId, cgroupParent, log }: BuiltInAgents): HookSession {
  return new HookSession({
    host,
    env: buildEnvironment({ server: environment, pass: passEnvironment }),
    instance: instanceId,
    createId: randomUUID,
    startProcess: (options) => startChild({ ...options, cgroupParent }),
    log,
  })
}

function createBrowserTools(host: AgentHost, shared: BuiltInAgents): Readonly<Record<string, ToolMaker>> {
  const { environment, passEnvironment, runtimeDir, instanceId: instance, cgroupParent } = shared
  const browser = new AgentBrowser({
    ...shared.browser,
    env: buildEnvironment({ server: environment, pass: passEnvironment }),
    runtimeDir,
    observationsDir: host.observationsDir,
    instance,
    cgroupParent,
    createId: randomUUID,
  })
  return browserTools({ browser, createId: randomUUID })
}

/** Whether a command speaks of a secret, in any case of letters. */
function names(command: string, name: string): boolean {
  return command.toLowerCase().includes(name.toLowerCase())
}
