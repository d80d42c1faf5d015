/** Lists and makes folders of this machine, for a client that chooses a workspace (contract/others.md, section 2). */
import { join } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { clientSignal, ok, queryOf, success, type Call } from '../../api/call.ts'
import { boolean, integer, text, withDefault } from '../../http/query.ts'
import type { HttpResponse } from '../../http/reply.ts'
import { walkTree } from '../workspace-files/directory.ts'
import { pathError, type ContainedPath } from '../workspace-files/paths.ts'
import type { Machine } from '../workspace-files/machine.ts'
import { pathQuery } from './transfer.ts'

export interface FolderParts {
  readonly machine: Machine
  readonly homeDir: string
}

const favoriteLimit = 50
/** The most entries of a folder that are examined. */
const entryLimit = 100_000
const hidden = { include_hidden: withDefault(boolean(), false) }
const search = {
  ...pathQuery,
  ...hidden,
  page_id: text({ maxLength: 1024 }),
  limit: withDefault(integer({ min: 1, max: 100 }), 100),
}

export async function createDirectory({ machine }: FolderParts, call: Call): Promise<HttpResponse> {
  const { path } = queryOf(call, pathQuery)
  // Slashes at the end are removed: if the folder is missing, `Machine.at` refuses a path that ends with a slash.
  await machine.at(path.replace(/(?<=[^/])\/+$/, ''), async (place) => {
    if (place.kind === 'nothing') await makeDirectory(place)
    else if (place.kind !== 'directory') throw new AppError('bad_request', `"${place.path}" is a file`)
  }, { makeParents: true })
  return success
}

async function makeDirectory({ directory, name, path }: ContainedPath): Promise<void> {
  try {
    await directory.mkdir(name)
  } catch (thrown) {
    throw pathError(path, thrown)
  }
}

export async function showHome({ machine, homeDir }: FolderParts, call: Call): Promise<HttpResponse> {
  const { include_hidden } = queryOf(call, hidden)
  const signal = clientSignal(call)
  // If the home folder cannot be read, the response has no favorites.
  const names = await machine.at(homeDir, (place) => subdirectoriesOf(place, include_hidden, signal)).catch(() => [])
  const favorites = names.slice(0, favoriteLimit).map((name) => ({ label: name, path: join(homeDir, name) }))
  return ok({ home: homeDir, favorites, locations: [{ label: '/', path: '/' }] })
}

export async function searchSubdirectories({ machine }: FolderParts, call: Call): Promise<HttpResponse> {
  const { path, page_id = '', limit, include_hidden } = queryOf(call, search)
  const signal = clientSignal(call)
  const names = await machine.at(path, (place) => subdirectoriesOf(place, include_hidden, signal))
  const first = names.findIndex((name) => name.toLowerCase() >= page_id)
  const rest = first === -1 ? [] : names.slice(first)
  // Names that differ only in case have the same page id, so they stay on one page, which can then exceed `limit`.
  let end = Math.min(limit, rest.length)
  while (end < rest.length && rest[end]?.toLowerCase() === rest[end - 1]?.toLowerCase()) end++
  const items = rest.slice(0, end).map((name) => ({ name, path: join(path, name) }))
  return ok({ items, next_page_id: rest[end]?.toLowerCase() ?? null })
}

/**
 * Returns the subdirectories' names, sorted without regard to case. Names with a dot in front need `includeHidden`.
 */
async function subdirectoriesOf(
  place: ContainedPath, includeHidden: boolean, signal: AbortSignal,
): Promise<readonly string[]> {
  const names: string[] = []
  await walkTree(place, {
    signal,
    limitEntries: entryLimit,
    visit: ({ name, place: { kind } }) => {
      if (kind === 'directory' && (includeHidden || !name.startsWith('.'))) names.push(name)
      return false
    },
  })
  const keyed = names.map((name) => ({ name, key: name.toLowerCase() }))
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ name }) => name)
}
