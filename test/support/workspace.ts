/**
 * A workspace in a folder of its own, with a file outside that nobody may reach, and the tools that work in it.
 */
import { mkdir, mkdtemp, readdir, readlink, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testCipher } from './cipher.ts'
import type { JsonObject } from '../../src/base/json.ts'
import type { FileLimits } from '../../src/parts/builtin/tools/file-scope.ts'
import type { ToolMaker } from '../../src/agents/tool.ts'
import { createToolSet, type ToolSettings } from '../../src/parts/builtin/tools/registry.ts'
import type { Observation } from '../../src/schema/generated/observations.ts'

export const secretText = 'what nobody may see'

export interface Folders {
  /** Holds everything; the workspace is in it. */
  readonly root: string
  readonly workspace: string
  /** A directory beside the workspace, with the file `secret.txt`. */
  readonly outside: string
}

export async function withFolders(body: (folders: Folders) => Promise<void>): Promise<void> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'workspace-')))
  const folders = { root, workspace: join(root, 'workspace'), outside: join(root, 'outside') }
  try {
    await mkdir(folders.workspace)
    await mkdir(folders.outside)
    await writeFile(join(folders.outside, 'secret.txt'), secretText)
    await body(folders)
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

export interface Tools {
  /** The observation, with the text for the model; arguments that are refused are a test's mistake. */
  call(name: string, args: JsonObject, signal?: AbortSignal): Promise<Called>
}

export type Called = { readonly text: string; readonly isError: boolean; readonly observation: Record<string, unknown> }

export const allFileTools: readonly string[] = [
  'file_editor', 'planning_file_editor', 'read_file', 'write_file', 'edit', 'list_directory', 'glob', 'grep',
  'task_tracker',
]

export interface ToolOptions {
  readonly limits?: Partial<FileLimits>
  readonly settings?: Partial<ToolSettings>
  readonly makers?: Readonly<Record<string, ToolMaker>>
  readonly privateDirs?: readonly string[]
}

export async function openTools(folders: Folders, options: ToolOptions = {}): Promise<Tools> {
  const { settings, ...rest } = options
  const set = await createToolSet({
    cipher: testCipher(), mask: (text) => text,
    workingDir: folders.workspace,
    observationsDir: join(folders.root, 'observations'),
    privateDirs: [],
    ...rest,
    settings: {
      tools: allFileTools.map((name) => ({ name, params: {} })),
      include_default_tools: ['FinishTool', 'ThinkTool'],
      filter_tools_regex: null,
      ...settings,
    },
    signal: new AbortController().signal,
  })
  return {
    call: async (name, args, signal = new AbortController().signal) => {
      const tool = set.tools.find((candidate) => candidate.name === name)
      if (tool === undefined) throw new Error(`there is no tool ${name}`)
      const read = tool.read(args)
      if (!read.ok) throw new Error(read.problem)
      return called(await tool.run(read.action, { id: 'call', signal }))
    },
  }
}

function called(observation: Observation): Called {
  const text = observation.content.map((item) => (item.type === 'text' ? item.text : '')).join('')
  return { text, isError: observation.is_error, observation: { ...observation } }
}

/** Returns the paths below a folder that this process has open. */
export async function openBelow(folder: string): Promise<string[]> {
  const names = await readdir('/proc/self/fd').catch(() => [])
  const targets = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')))
  return targets.filter((target) => target.startsWith(folder))
}
