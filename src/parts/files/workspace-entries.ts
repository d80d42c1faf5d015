/**
 * Lists a folder of a conversation's workspace, a page at a time, for a client that shows the files of an agent.
 *
 * `workspace/paths` resolves the path, so nothing outside of the workspace is listed. A link is listed as a link and is
 * not followed: the client sees its name and nothing of its target.
 */
import { conversationIdOf, ok, queryOf, type Call } from '../../api/call.ts'
import { AppError } from '../../base/errors.ts'
import { memberAt, textOf } from '../../base/fields.ts'
import type { StoredConversations } from '../../conversation/list/stored.ts'
import { integer, text, withDefault } from '../../http/query.ts'
import type { HttpResponse } from '../../http/reply.ts'
import { walkTree } from '../../workspace/directory.ts'
import { createWorkspace, type ContainedPath, type PlaceKind } from '../../workspace/paths.ts'

export interface WorkspaceEntryParts {
  readonly conversations: StoredConversations
  readonly privateDirs: readonly string[]
}

/** The most entries of a folder that are read. */
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
  /** The place in the order of the list: folders first, then by name. */
  readonly key: string
}

/** @throws AppError `not_found`, `bad_request` for a path outside of the workspace or of a file */
export async function listWorkspace(parts: WorkspaceEntryParts, call: Call): Promise<HttpResponse> {
  const { path, page_id = '', limit } = queryOf(call, query)
  const info = await parts.conversations.info(conversationIdOf(call))
  const workingDir = textOf(memberAt(info, 'workspace', 'working_dir'))
  if (workingDir === undefined) throw new AppError('not_found', 'The conversation has no workspace')
  const workspace = createWorkspace({ workingDir, privateDirs: parts.privateDirs })
  const { entries, isComplete } = await workspace.at(path === '' ? '.' : path, entriesOf).catch((thrown: unknown) => {
    if (!(thrown instanceof AppError) || thrown.code !== 'invalid_input') throw thrown
    throw new AppError('bad_request', thrown.message, { cause: thrown.cause })
  })
  const rest = entries.filter(({ key }) => key >= page_id)
  const items = rest.slice(0, limit).map(({ key: _, ...entry }) => entry)
  return ok({ items, next_page_id: rest[limit]?.key ?? null, is_complete: isComplete })
}

async function entriesOf(place: ContainedPath): Promise<{ entries: readonly Listed[]; isComplete: boolean }> {
  const entries: Listed[] = []
  const { isComplete } = await walkTree(place, {
    signal: new AbortController().signal,
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
