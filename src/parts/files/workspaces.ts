/** Serves the list of workspaces over REST (contract/others.md, section 7). */
import { AppError } from '../../base/errors.ts'
import { bodyOf, ok, queryOf, type Call } from '../../api/call.ts'
import type { HttpResponse } from '../../http/reply.ts'
import { AddWorkspaceParentsRequest, AddWorkspacesRequest } from './generated.ts'
import { pathQuery } from './transfer.ts'
import type { WorkspaceListFile } from './workspace-list.ts'

export interface WorkspaceParts {
  readonly list: WorkspaceListFile
}

export async function list({ list: file }: WorkspaceParts): Promise<HttpResponse> {
  return ok(await file.read())
}

export async function add({ list: file }: WorkspaceParts, call: Call): Promise<HttpResponse> {
  const { workspaces } = bodyOf(call, AddWorkspacesRequest)
  return ok(await file.change((stored) => ({ ...stored, workspaces: withNew(stored.workspaces, workspaces) })))
}

export async function addParents({ list: file }: WorkspaceParts, call: Call): Promise<HttpResponse> {
  const { parents } = bodyOf(call, AddWorkspaceParentsRequest)
  return ok(await file.change((stored) => ({ ...stored, workspaceParents: withNew(stored.workspaceParents, parents) })))
}

export async function remove({ list: file }: WorkspaceParts, call: Call): Promise<HttpResponse> {
  const { path } = queryOf(call, pathQuery)
  await file.change((stored) => ({ ...stored, workspaces: without(stored.workspaces, path) }))
  return ok({ deleted: true })
}

export async function removeParent({ list: file }: WorkspaceParts, call: Call): Promise<HttpResponse> {
  const { path } = queryOf(call, pathQuery)
  await file.change((stored) => ({ ...stored, workspaceParents: without(stored.workspaceParents, path) }))
  return ok({ deleted: true })
}

/** Returns the stored and the added entries. Of several entries with one path, only the first stays. */
function withNew<Entry extends { readonly path: string }>(stored: readonly Entry[], added: readonly Entry[]): Entry[] {
  const byPath = new Map<string, Entry>()
  for (const entry of [...stored, ...added]) if (!byPath.has(entry.path)) byPath.set(entry.path, entry)
  return [...byPath.values()]
}

function without<Entry extends { readonly path: string }>(stored: readonly Entry[], path: string): Entry[] {
  const left = stored.filter((entry) => entry.path !== path)
  if (left.length === stored.length) throw new AppError('not_found', 'No workspace with this path is in the list')
  return left
}
