/**
 * Lists the plugins on this machine for clients that show them: enabled installed plugins, and plugins in the folders
 * of the user and of a project.
 */
import { join } from 'node:path'
import { AppError, messageOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { PluginInfo, PluginSkill, PluginsRequest } from './generated.ts'
import { walkTree } from '../workspace-files/directory.ts'
import { createWorkspace } from '../workspace-files/paths.ts'
import { locatePlace } from '../../workspace/place.ts'
import { readPlugin, type Plugin } from './plugin.ts'
import { readInstalled } from './conversation-plugins.ts'
import type { Shelf } from './shelf.ts'

export interface PluginListOptions {
  readonly plugins: Shelf
  readonly homeDir: string | undefined
  readonly privateDirs: readonly string[]
  readonly workspaceDir: string
  readonly log: Pick<Log, 'warn'>
}

const pluginFolders = ['.agents/plugins', '.openhands/plugins']
/** The most subfolders that are read as plugins in one of the `pluginFolders`. */
const folderLimit = 100
/** The most entries that a walk of a folder visits. */
const fileLimit = 2000

/**
 * Returns one plugin for each name: the project's, else the user's, else the enabled installed plugin. `load_project`
 * asks for plugins of the project, `load_user` for the user's and the enabled installed plugins.
 * @throws AppError `invalid_input` for a project folder that may not be used
 */
export async function listPlugins(
  { load_user, load_project, project_dir }: PluginsRequest, options: PluginListOptions,
): Promise<readonly PluginInfo[]> {
  const project = project_dir === undefined || project_dir === '' || !load_project
    ? [] : await pluginsBelow(await locatePlace(project_dir, options), options)
  const user = load_user && options.homeDir !== undefined ? await pluginsBelow(options.homeDir, options) : []
  const byName = new Map<string, PluginInfo>()
  for (const info of [...project, ...user, ...(load_user ? await enabledPlugins(options) : [])]) {
    if (!byName.has(info.name)) byName.set(info.name, info)
  }
  return [...byName.values()]
}

async function enabledPlugins({ plugins, log }: PluginListOptions): Promise<readonly PluginInfo[]> {
  const enabled = (await plugins.list()).filter(({ record }) => record.enabled)
  const infos = await Promise.all(enabled.map(async (one) => {
    return orNothing(async () => infoOf(await readInstalled(one, { log }), one.folder, []), one.folder, log)
  }))
  return infos.flat()
}

async function pluginsBelow(folder: string, options: PluginListOptions): Promise<readonly PluginInfo[]> {
  const { privateDirs, log } = options
  const found: PluginInfo[] = []
  for (const place of pluginFolders) {
    for (const name of await foldersIn(folder, place, privateDirs)) {
      const path = join(folder, place, name)
      const warn = (reason: string): void => log.warn('A file of a plugin is left out', { plugin: path, reason })
      found.push(...(await orNothing(async () => {
        return infoOf(await readPlugin({ folder: path, privateDirs, warn }, name), path, privateDirs)
      }, path, log)))
    }
  }
  return found
}

async function orNothing(
  read: () => Promise<PluginInfo>, plugin: string, log: Pick<Log, 'warn'>,
): Promise<readonly PluginInfo[]> {
  try {
    return [await read()]
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown
    log.warn('A plugin cannot be read', { plugin, reason: messageOf(thrown) })
    return []
  }
}

async function infoOf(plugin: Plugin, path: string, privateDirs: readonly string[]): Promise<PluginInfo> {
  const { name, version, description } = plugin
  return { name, version, description, path, skills: skillsOf(plugin), files: await filesIn(path, privateDirs) }
}

export function skillsOf({ skills }: Plugin): readonly PluginSkill[] {
  return skills.map(({ name, description }) => ({ name, description: description ?? null }))
}

/**
 * Returns the relative paths of the files below a folder, sorted. Does not enter `.git` and `node_modules`, and stops
 * after `fileLimit` entries.
 */
export async function filesIn(folder: string, privateDirs: readonly string[]): Promise<readonly string[]> {
  const files: string[] = []
  await createWorkspace({ workingDir: folder, privateDirs }).at('.', (place) => walkTree(place, {
    signal: new AbortController().signal,
    limitEntries: fileLimit,
    visit({ name, relativePath, place: { kind } }) {
      if (kind === 'file') files.push(relativePath)
      return name !== '.git'
    },
  }))
  return files.sort()
}

async function foldersIn(folder: string, place: string, privateDirs: readonly string[]): Promise<readonly string[]> {
  const names: string[] = []
  try {
    await createWorkspace({ workingDir: folder, privateDirs }).at(place, (found) => walkTree(found, {
      signal: new AbortController().signal,
      limitEntries: fileLimit,
      visit({ name, place: { kind } }) {
        if (kind === 'directory') names.push(name)
        return false
      },
    }))
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown
  }
  return names.slice(0, folderLimit)
}
