/**
 * Chooses the plugins of a new conversation and returns their skills, sub-agents, hooks and MCP servers.
 *
 * A plugin in the request must be on this machine. An unusable plugin in the request is an error, because a client may
 * rely on its hooks.
 */
import { basename } from 'node:path'
import { AppError, messageOf } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Log } from '../../base/log.ts'
import type { DefinitionText, PluginContent, PluginRequest } from '../../offers.ts'
import type { PluginSource } from '../../schema/generated/conversations.ts'
import type { AgentDefinition } from '../../schema/generated/agent-definitions.ts'
import type { Machine } from '../workspace-files/machine.ts'
import { clientSkillOf } from '../skills/skill.ts'
import { isFolder } from './folder-entries.ts'
import { readPlugin, type Plugin } from './plugin.ts'
import type { Installed, Shelf } from './shelf.ts'
import { readSource } from './source.ts'

/** The most characters that the plugins' skills in one conversation have together. */
const skillsLimitChars = 256 * 1024

/** The most sub-agents that plugins bring to a conversation. */
const agentLimit = 100

export interface ConversationPluginOptions {
  readonly plugins: Shelf
  readonly machine: Machine
  readonly privateDirs: readonly string[]
  /** Reads the definition of a sub-agent. @throws AppError `invalid_input`, `part_missing` */
  readonly readDefinition: (file: DefinitionText) => Promise<AgentDefinition>
  readonly log: Pick<Log, 'warn'>
}

/**
 * Returns the content of the plugins that the request names and, with `withInstalled`, of the enabled plugins.
 * @throws AppError `invalid_input` for a named plugin that is unusable or named twice; `not_found`, `bad_request` and
 * `forbidden` for its path
 */
export async function pluginsFor(
  { named, withInstalled }: PluginRequest, options: ConversationPluginOptions,
): Promise<PluginContent> {
  const installed = await options.plugins.list()
  const found: Plugin[] = []
  for (const source of named) found.push(await namedPlugin(source, installed, options))
  const double = found.find(({ name }, place) => found.findIndex((other) => other.name === name) < place)
  if (double !== undefined) throw unusable(double.name, 'it is named twice')
  if (withInstalled) {
    const others = installed.filter(({ record }) => record.enabled && !found.some(({ name }) => name === record.name))
    for (const plugin of others) found.push(...(await enabledPlugin(plugin, options)))
  }
  return { ...contentOf(found, options.log), agents: await agentsOf(found, options) }
}

async function namedPlugin(
  source: PluginSource, installed: readonly Installed[], options: ConversationPluginOptions,
): Promise<Plugin> {
  const match = installed.find((one) => isMeant(one, source))
  if (match !== undefined) {
    if (!match.record.enabled) throw unusable(match.record.name, 'it is disabled')
    return readInstalled(match, options)
  }
  const { ref, repo_path, source: name } = source
  const read = readSource({ source: name, ref, repo_path })
  if (read.type === 'git') throw unusable(name, 'it is not installed; install it first')
  const path = read.below === '' ? read.path : `${read.path}/${read.below}`
  if (!await isFolder(options.machine, path)) throw unusable(name, 'it is no folder; install it first')
  const warn = warnOf(options.log, name)
  return readPlugin({ folder: path, privateDirs: options.privateDirs, warn }, basename(path).toLowerCase())
}

/**
 * True when a request names this plugin by its name, its folder, or the source from which it was installed. With the
 * source, `repo_path` must be equal too, and a `ref` in the request must be the plugin's ref or commit.
 */
function isMeant({ record, folder }: Installed, { source, ref, repo_path }: PluginSource): boolean {
  if (source === record.name || source === folder) return true
  const isSameRef = ref === undefined || ref === record.ref || ref === record.resolved_ref
  return source === record.source && (repo_path ?? null) === record.repo_path && isSameRef
}

/** Returns the plugin in an array. If its files cannot be used, logs the reason and returns an empty array. */
async function enabledPlugin(installed: Installed, options: ConversationPluginOptions): Promise<Plugin[]> {
  try {
    return [await readInstalled(installed, options)]
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown
    options.log.warn('An enabled plugin is not used', { plugin: installed.record.name, reason: messageOf(thrown) })
    return []
  }
}

/** Reads an installed plugin. `privateDirs` is empty: usually it forbids the data folder, where the plugin is. */
export function readInstalled(
  { record, folder }: Installed, { log }: Pick<ConversationPluginOptions, 'log'>,
): Promise<Plugin> {
  return readPlugin({ folder, privateDirs: [], warn: warnOf(log, record.name) }, record.name)
}

/**
 * Joins the skills, hooks and servers of plugins. Of two servers with one name, the first plugin's server is used. A
 * skill that would exceed `skillsLimitChars` is left out and logged; a later, shorter skill may fit.
 */
function contentOf(plugins: readonly Plugin[], log: Pick<Log, 'warn'>): Omit<PluginContent, 'agents'> {
  const skills: JsonObject[] = []
  let left = skillsLimitChars
  for (const skill of plugins.flatMap((plugin) => plugin.skills)) {
    if (skill.content.length > left) {
      log.warn('A skill of a plugin is not used', { skill: skill.name, reason: 'The skills are too long together' })
      continue
    }
    left -= skill.content.length
    skills.push(clientSkillOf(skill))
  }
  return {
    skills,
    hooks: plugins.flatMap(({ hooks }) => (hooks === null ? [] : [hooks])),
    servers: Object.assign({}, ...[...plugins].reverse().map(({ servers }) => servers)),
  }
}

/** Returns at most `agentLimit` sub-agents, the first of each name. Logs and leaves out unusable files. */
async function agentsOf(
  plugins: readonly Plugin[], { readDefinition, log }: ConversationPluginOptions,
): Promise<readonly AgentDefinition[]> {
  const found = new Map<string, AgentDefinition>()
  for (const { name: plugin, agents } of plugins) {
    for (const file of agents) {
      try {
        const definition = await readDefinition(file)
        if (!found.has(definition.name)) found.set(definition.name, definition)
      } catch (thrown) {
        if (!(thrown instanceof AppError)) throw thrown
        log.warn('A sub-agent of a plugin is not used', { plugin, agent: file.name, reason: thrown.message })
      }
    }
  }
  return [...found.values()].slice(0, agentLimit)
}

function warnOf(log: Pick<Log, 'warn'>, plugin: string): (reason: string) => void {
  return (reason) => log.warn('A file of a plugin is left out', { plugin, reason })
}

function unusable(name: string, why: string): AppError {
  return new AppError('invalid_input', `Cannot use the plugin ${JSON.stringify(name.slice(0, 300))}: ${why}`)
}
