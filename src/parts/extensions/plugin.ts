/**
 * Reads a plugin: a folder with skills, commands, sub-agents, hooks and MCP servers (contract/others.md, section 4).
 *
 *     .plugin/plugin.json or .claude-plugin/plugin.json    name, version, description
 *     skills/<name>/SKILL.md, skills/<name>.md             skills
 *     commands/<name>.md                                   skills that a message with "/<plugin>:<name>" loads
 *     agents/<name>.md                                     definitions of sub-agents
 *     hooks/hooks.json                                     hooks, as in `hook_config` of a request
 *     .mcp.json                                            MCP servers
 *
 * Invalid hooks are an error, because hooks may guard actions. A skill, a command or a sub-agent that cannot be read is
 * left out with a warning.
 */
import { AppError, messageOf } from '../../base/errors.ts'
import { isObject, parseJson } from '../../base/json.ts'
import { readHookConfig } from '../../conversation/agent/hook-config.ts'
import { parse } from '../../schema/check.ts'
import type { DefinitionText } from '../../offers.ts'
import type { HookConfig } from '../../schema/generated/hooks.ts'
import { McpServer } from '../../schema/generated/settings.ts'
import { isSoundServer, migrateServers } from '../../settings/mcp-servers.ts'
import { commandSkill, parseSkill, type Skill } from '../skills/skill.ts'
import { readSkillFolder, readText, textFilesIn, type SkillFolderOptions } from '../skills/skill-files.ts'
import { isName } from './shelf.ts'

export interface Plugin {
  readonly name: string
  readonly version: string
  readonly description: string
  /** The skills, including those that are made from commands. */
  readonly skills: readonly Skill[]
  /** The texts of the files that define sub-agents, not parsed. */
  readonly agents: readonly DefinitionText[]
  /** The hooks; null when the plugin has none. */
  readonly hooks: HookConfig | null
  /** The MCP servers of `.mcp.json`, by name. */
  readonly servers: Readonly<Record<string, McpServer>>
}

const manifestPaths = ['.plugin/plugin.json', '.claude-plugin/plugin.json']
const hooksPath = 'hooks/hooks.json'
const serversPath = '.mcp.json'
/** The most MCP servers of a plugin. */
const serverLimit = 20
/** Matches the variables that stand for the plugin's folder in hooks and MCP servers. */
const rootNames = /\$\{(?:CLAUDE_PLUGIN_ROOT|PLUGIN_ROOT|SKILL_ROOT)\}/g
/** Matches paths that need no quotes in a shell command. */
const plainPath = /^[\w./@%+=:,-]+$/

/**
 * Reads the plugin in `options.folder`.
 * @param usualName the name for a plugin without a manifest
 * @throws AppError `invalid_input` for a folder that is not a plugin, or an unusable name, manifest, hook or server
 */
export async function readPlugin(options: SkillFolderOptions, usualName: string): Promise<Plugin> {
  const manifest = await readManifest(options)
  const name = manifest === undefined ? usualName : textOf(manifest['name'])
  if (!isName(name)) throw unusable('expected a name of lower-case words with hyphens')
  const [hooks, servers] = [await readHooks(options), await readServers(options)]
  const skills = [...(await readSkillFolder(options, 'skills')), ...(await readCommands(options, name))]
  const agents = await textFilesIn(options, 'agents')
  const isEmpty = [skills, agents, Object.keys(servers)].every(({ length }) => length === 0)
  if (manifest === undefined && hooks === null && isEmpty) {
    throw unusable(`expected ${manifestPaths.join(' or ')}, or a folder of skills`)
  }
  return {
    name,
    version: textOf(manifest?.['version']),
    description: textOf(manifest?.['description']),
    skills,
    agents,
    hooks,
    servers,
  }
}

/** True for a plugin with hooks or MCP servers, which start programs or connect to other machines. */
export function hasPrograms({ hooks, servers }: Plugin): boolean {
  return hooks !== null || Object.keys(servers).length > 0
}

async function readManifest(options: SkillFolderOptions): Promise<Readonly<Record<string, unknown>> | undefined> {
  for (const path of manifestPaths) {
    const value = await readJson(path, options)
    if (isObject(value)) return value
    if (value !== undefined) throw unusable(`expected an object in ${path}`)
  }
  return undefined
}

async function readHooks(options: SkillFolderOptions): Promise<HookConfig | null> {
  const value = await readJson(hooksPath, options)
  if (value === undefined) return null
  const wrapped = isObject(value) ? value['hooks'] : undefined
  const given = isObject(wrapped) ? wrapped : value
  if (!isObject(given)) throw unusable(`expected an object in ${hooksPath}`)
  try {
    const config = readHookConfig(Object.fromEntries(Object.entries(given).map(([point, list]) => {
      return [point, withRoot(list, options.folder, true)]
    })))
    return Object.values(config).some((list) => list.length > 0) ? config : null
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown
    const [issue] = thrown.issues
    const where = issue === undefined ? '' : ` (${issue.loc.slice(2).join('.')}: ${issue.msg})`
    throw unusable(`${hooksPath}: ${thrown.message}${where}`)
  }
}

async function readServers(options: SkillFolderOptions): Promise<Readonly<Record<string, McpServer>>> {
  const value = await readJson(serversPath, options)
  if (value === undefined) return {}
  const given = isObject(value) ? (value['mcpServers'] ?? value) : value
  if (!isObject(given)) throw unusable(`expected an object in ${serversPath}`)
  const { mcp_config } = migrateServers({ mcp_config: withRoot(given, options.folder, false) })
  const entries = isObject(mcp_config) ? Object.entries(mcp_config) : []
  if (entries.length > serverLimit) throw unusable(`it has more than ${serverLimit} MCP servers`)
  return Object.fromEntries(entries.map(([name, server]) => {
    const parsed = parse(McpServer, server)
    if (parsed.ok && isSoundServer(parsed.value)) return [name, parsed.value]
    const [issue] = parsed.ok ? [] : parsed.issues
    const where = issue === undefined ? '' : `: ${issue.loc.join('.')}: ${issue.msg}`
    throw unusable(`its MCP server ${JSON.stringify(name.slice(0, 100))} cannot be used${where}`)
  }))
}

async function readCommands(options: SkillFolderOptions, plugin: string): Promise<Skill[]> {
  const files = await textFilesIn(options, 'commands')
  return files.flatMap(({ name, path, text }) => {
    try {
      return [commandSkill(parseSkill({ path, text, name, isAgentSkill: false }), `${plugin}:${name}`)]
    } catch (thrown) {
      if (!(thrown instanceof AppError)) throw thrown
      options.warn(`Left out "${path}": ${thrown.message}`)
      return []
    }
  })
}

/**
 * Replaces the variables of `rootNames` in a value by the path of the plugin's folder.
 * @throws AppError `invalid_input` when a variable occurs, `isForShell` is true and the path is not a `plainPath`
 */
function withRoot(value: unknown, folder: string, isForShell: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => withRoot(item, folder, isForShell))
  if (isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withRoot(item, folder, isForShell)]))
  }
  if (typeof value !== 'string' || value.search(rootNames) === -1) return value
  if (isForShell && !plainPath.test(folder)) {
    throw unusable('its hooks name its folder, whose path has characters that a shell reads')
  }
  return value.replace(rootNames, () => folder)
}

async function readJson(path: string, options: SkillFolderOptions): Promise<unknown> {
  let problem: string | undefined
  const { folder, privateDirs } = options
  const text = await readText(path, { folder, privateDirs, warn: (reason) => (problem = reason) })
  if (problem !== undefined) throw unusable(problem)
  if (text === undefined) return undefined
  try {
    return parseJson(text)
  } catch (thrown) {
    throw unusable(`${path} is not JSON: ${messageOf(thrown)}`)
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 4096) : ''
}

function unusable(why: string): AppError {
  return new AppError('invalid_input', `Cannot use the plugin: ${why}`)
}
