/**
 * Replaces the paths of workspaces in a restored folder: in conversations and in settings (`*.json`,
 * `worktrees/*.json`).
 *
 * In settings, each text that is an old path, or a path below an old path, is replaced. Events are not changed.
 */
import { isAbsolute, join, normalize } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { isObject } from '../../base/json.ts'
import { readJsonFile, writeJsonFile } from '../../base/json-file.ts'
import { LineCache } from '../../storage/line-cache.ts'
import { moveWorkspace } from './move-workspace.ts'

export type PathMap = readonly (readonly [from: string, to: string])[]

/** Parses the values of `--workspace-map`: each is `OLD=NEW`. @throws AppError `invalid_option` */
export function parsePathMap(words: readonly string[]): PathMap {
  const map = words.map((word): readonly [string, string] => {
    const split = word.indexOf('=')
    const [from, to] = [word.slice(0, split), word.slice(split + 1)]
    if (split > 0 && isAbsolute(from) && isAbsolute(to)) return [pathOf(from), pathOf(to)]
    const expected = 'expected two absolute paths with = between them, such as /srv/old=/srv/new'
    throw new AppError('invalid_option', `Could not use --workspace-map "${word}": ${expected}`)
  })
  const twice = map.find(([from], index) => map.findIndex(([other]) => other === from) !== index)
  if (twice === undefined) return map
  throw new AppError('invalid_option', `Could not use --workspace-map: "${twice[0]}" is there twice`)
}

/** Returns `path` with the longest old path of `map` at its beginning replaced by the new path; `path` if none fits. */
export function mapped(map: PathMap, path: string): string {
  const fitting = map.filter(([from]) => path === from || path.startsWith(from === '/' ? from : `${from}/`))
  const best = fitting.reduce<readonly [string, string] | undefined>(
    (longest, one) => (longest === undefined || one[0].length > longest[0].length ? one : longest), undefined,
  )
  if (best === undefined) return path
  const rest = path.slice(best[0].length).replace(/^\//, '')
  return rest === '' ? best[1] : join(best[1], rest)
}

export interface Moved {
  readonly conversations: number
  readonly settings: readonly string[]
}

export interface Moving {
  /** The paths of the restored files, relative to the restored folder. */
  readonly paths: Iterable<string>
  readonly map: PathMap
  readonly signal: AbortSignal
}

/**
 * Replaces the paths of workspaces in the files `paths` of a restored folder, which no server may use meanwhile.
 * @throws AppError `storage_full`, `storage_failed`; the errors of `moveWorkspace`; the signal's reason
 */
export async function moveWorkspaces(folder: string, { paths, map, signal }: Moving): Promise<Moved> {
  const cache = new LineCache({ logBytes: 1024 * 1024, totalBytes: 4 * 1024 * 1024 })
  const settings: string[] = []
  let conversations = 0
  for (const path of paths) {
    signal.throwIfAborted()
    const [, id] = /^conversations\/([^/]+)\/events\.jsonl$/.exec(path) ?? []
    if (id !== undefined) {
      const isMoved = await moveWorkspace(join(folder, 'conversations', id), cache, (from) => mapped(map, from))
      if (isMoved) conversations++
    } else if (/^(?:worktrees\/)?[^/]+\.json$/.test(path)) {
      const before = await readJsonFile(join(folder, path))
      const after = movedValue(before, map)
      if (JSON.stringify(after) === JSON.stringify(before)) continue
      await writeJsonFile(join(folder, path), after)
      settings.push(path)
    }
  }
  return { conversations, settings }
}

function movedValue(value: unknown, map: PathMap): unknown {
  if (typeof value === 'string') return value.startsWith('/') ? mapped(map, value) : value
  if (Array.isArray(value)) return value.map((one) => movedValue(one, map))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, movedValue(member, map)]))
}

function pathOf(word: string): string {
  const path = normalize(word)
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}
