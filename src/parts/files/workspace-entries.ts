/** Lists a folder of a conversation's workspace, a page at a time, for a client that shows the workspace. */
import { clientSignal, ok, queryOf, type Call } from '../../api/call.ts'
import { integer, text, withDefault } from '../../http/query.ts'
import type { HttpResponse } from '../../http/reply.ts'
import { walkTree } from '../workspace-files/directory.ts'
import type { ContainedPath, PlaceKind } from '../workspace-files/paths.ts'
import { inWorkspace, type WorkspaceOfParts } from './workspace-of.ts'

/** The most entries of a folder that are listed. */
const entryLimit = 20_000
const query = {
  path: withDefault(text({ maxLength: 4096 }), ''),
  page_id: text({ maxLength: 1024 }),
  limit: withDefault(integer({ min: 1, max: 500 }), 200),
}

interface Listed {
  readonly name: string
  readonly kind: 'directory' | 'file' | 'other'
  readonly size: number
  /** The sort key: folders first, each group by name. The id of a page is the key of its first entry. */
  readonly key: string
}

/** Lists one page of a folder. @throws AppError `not_found`, `bad_request` for a path that cannot be listed */
export async function listWorkspace(parts: WorkspaceOfParts, call: Call): Promise<HttpResponse> {
  const { path, page_id = '', limit } = queryOf(call, query)
  const signal = clientSignal(call)
  const { entries, isComplete } = await inWorkspace(parts, call, (workspace) => {
    return workspace.at(path === '' ? '.' : path, (place) => entriesOf(place, signal))
  })
  const rest = entries.filter(({ key }) => key >= page_id)
  const items = rest.slice(0, limit).map(({ key: _, ...entry }) => entry)
  return ok({ items, next_page_id: rest[limit]?.key ?? null, is_complete: isComplete })
}

async function entriesOf(place: ContainedPath, signal: AbortSignal) {
  const entries: Listed[] = []
  const { isComplete } = await walkTree(place, {
    signal,
    limitEntries: entryLimit,
    visit: ({ name, size, place: { kind } }) => {
      const key = `${kind === 'directory' ? 0 : 1}${name}`
      entries.push({ name, kind: kindOf(kind), size, key })
      return false
    },
  })
  entries.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  return { entries, isComplete }
}

function kindOf(kind: PlaceKind): Listed['kind'] {
  return kind === 'directory' || kind === 'file' ? kind : 'other'
}
