/** The routes for installed skills and plugins (contract/others.md, section 4). */
import { bodyOf, clientSignal, conversationIdOf, invalid, ok, optionalBodyOf, type Call } from '../../api/call.ts'
import { AppError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { StoredConversations } from '../../conversation/list/stored.ts'
import type { HttpResponse } from '../../http/reply.ts'
import { parameterOf } from '../../http/router.ts'
import {
  InstallRequest, LoadPluginRequest, PluginsRequest, UpdateExtensionRequest, type InstalledPlugin, type InstalledSkill,
} from './generated.ts'
import { readInstalled } from './conversation-plugins.ts'
import type { Installer } from './installer.ts'
import { filesIn, listPlugins, skillsOf, type PluginListOptions } from './plugin-list.ts'
import { isName, nameForm, nameLimit, type ExtensionKind, type Installed, type Shelf } from './shelf.ts'

export interface ExtensionParts {
  readonly installer: Installer
  readonly shelves: Readonly<Record<ExtensionKind, Shelf>>
  readonly pluginList: PluginListOptions
  readonly conversations: Pick<StoredConversations, 'info'>
  readonly log: Pick<Log, 'warn'>
}

export function syncSkills(): HttpResponse {
  return ok({ status: 'success', message: 'There is nothing to fetch: this server has no public skills' })
}

export async function install(parts: ExtensionParts, kind: ExtensionKind, call: Call): Promise<HttpResponse> {
  const request = bodyOf(call, InstallRequest)
  const installed = await parts.installer.install(kind, { ...request, signal: clientSignal(call) })
  return ok(await shown(parts, kind, installed))
}

export async function list(parts: ExtensionParts, kind: ExtensionKind): Promise<HttpResponse> {
  const all = await parts.shelves[kind].list()
  return ok({ [kind]: await Promise.all(all.map((one) => shown(parts, kind, one))) })
}

export async function get(parts: ExtensionParts, kind: ExtensionKind, call: Call): Promise<HttpResponse> {
  return ok(await shown(parts, kind, await parts.shelves[kind].get(nameOf(kind, call))))
}

export async function update(parts: ExtensionParts, kind: ExtensionKind, call: Call): Promise<HttpResponse> {
  const name = nameOf(kind, call)
  const { enabled } = bodyOf(call, UpdateExtensionRequest)
  await parts.shelves[kind].setEnabled(name, enabled)
  return ok({ name, enabled })
}

export async function remove(parts: ExtensionParts, kind: ExtensionKind, call: Call): Promise<HttpResponse> {
  const name = nameOf(kind, call)
  await parts.shelves[kind].remove(name)
  return ok({ message: `${titles[kind]} '${name}' uninstalled` })
}

/** Installs an extension again from its stored source. */
export async function refresh(parts: ExtensionParts, kind: ExtensionKind, call: Call): Promise<HttpResponse> {
  const name = nameOf(kind, call)
  const { record } = await parts.shelves[kind].get(name)
  const installed = await parts.installer.install(kind, {
    source: record.source,
    ref: record.ref ?? undefined,
    repo_path: record.repo_path ?? undefined,
    force: true,
    expectedName: name,
    signal: clientSignal(call),
  })
  const item = await shown(parts, kind, installed)
  const message = `${titles[kind]} '${name}' updated`
  return ok(kind === 'skills' ? { message, skill: item } : { message, plugin: item })
}

export function showMarketplace(kind: ExtensionKind): HttpResponse {
  return ok({ [kind]: [] })
}

export async function findPlugins({ pluginList }: ExtensionParts, call: Call): Promise<HttpResponse> {
  return ok({ plugins: await listPlugins(optionalBodyOf(call, PluginsRequest), pluginList) })
}

const titles = { skills: 'Skill', plugins: 'Plugin' } as const
/**
 * Refuses to add a plugin to an existing conversation (DECISIONS.md, section 42). Clients expect the words "no
 * marketplaces are registered".
 */
export async function loadPlugin({ conversations }: ExtensionParts, call: Call): Promise<never> {
  const { plugin_ref: name } = bodyOf(call, LoadPluginRequest)
  await conversations.info(conversationIdOf(call))
  const [told, advice] = [JSON.stringify(name.slice(0, 300)), 'Name it in `plugins` when a conversation is created']
  throw new AppError('bad_request', `Cannot load the plugin ${told}: no marketplaces are registered. ${advice}`)
}

const parameters = { skills: 'skill_name', plugins: 'plugin_name' } as const

/** Returns the name in the path. @throws AppError `invalid_input` when `isName` refuses the name */
function nameOf(kind: ExtensionKind, call: Call): string {
  const input = parameterOf(call.parameters, parameters[kind])
  if (isName(input)) return input
  const msg = `String should match pattern '${nameForm.source}' and have at most ${nameLimit} characters`
  throw invalid([{ type: 'string_pattern_mismatch', loc: ['path', parameters[kind]], msg, input }])
}

async function shown(
  parts: ExtensionParts, kind: ExtensionKind, installed: Installed,
): Promise<InstalledSkill | InstalledPlugin> {
  const { record: { ref: _, ...record }, folder } = installed
  const item = { ...record, install_path: folder }
  return kind === 'skills' ? item : { ...item, ...(await contentOf(installed, parts)) }
}

/** Returns the skills and files of a plugin; null for both when its files cannot be used. */
async function contentOf(
  installed: Installed, { log }: ExtensionParts,
): Promise<Pick<InstalledPlugin, 'skills' | 'files'>> {
  try {
    const plugin = await readInstalled(installed, { log })
    return { skills: skillsOf(plugin), files: await filesIn(installed.folder, []) }
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown
    return { skills: null, files: null }
  }
}
