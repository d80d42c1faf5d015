/**
 * REST handlers that show changes and commits of git repositories (contract/others.md, section 3). For a folder without
 * a repository, the lists are empty.
 */
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { clientSignal, invalid, ok, queryOf, type Call } from '../../api/call.ts'
import { AppError, undefinedIfMissing } from '../../base/errors.ts'
import { integer, required, text, withDefault } from '../../http/query.ts'
import type { HttpResponse } from '../../http/reply.ts'
import { parameterOf } from '../../http/router.ts'
import { readFile } from '../workspace-files/files.ts'
import { findRepository, type Repository } from '../../workspace/git.ts'
import type { Machine } from '../workspace-files/machine.ts'
import { fileLimitBytes, History } from './history.ts'
import { openIfInstalled, type Git } from './program.ts'

export interface GitParts {
  readonly machine: Machine
  readonly git: Git
}

const path = required(text({ maxLength: 4096 }))
const ref = text({ maxLength: 1024 })
const shaForm = /^[0-9a-fA-F]{4,64}$/

export async function listChanges(parts: GitParts, call: Call): Promise<HttpResponse> {
  const query = queryOf(call, { path, ref })
  const found = await openFolder(parts, query.path, call)
  if (found === undefined) return ok([])
  const { history } = found
  return ok(await history.changes(query.ref === undefined ? await history.usualTree() : await history.tree(query.ref)))
}

export async function showDiff(parts: GitParts, call: Call): Promise<HttpResponse> {
  const query = queryOf(call, { path, ref, commit: text() })
  if (query.commit !== undefined) assertSha(query.commit, ['query', 'commit'])
  if (query.commit !== undefined && query.ref !== undefined) {
    throw new AppError('bad_request', 'Expected ref or commit, and not both')
  }
  const found = await openFolder(parts, dirname(resolve('/', query.path)), call, query.path)
  if (found === undefined) return ok({ modified: null, original: null })
  const { history, repository: { root, folder }, missing } = found
  const file = relative(root, join(folder, missing, basename(query.path)))
  if (query.commit !== undefined) {
    const { before, after } = await history.treesOf(query.commit)
    return answerDiff(await history.file(after, file), await history.file(before, file))
  }
  const tree = query.ref === undefined ? await history.usualTree() : await history.tree(query.ref)
  return answerDiff(await fileNow(parts, join(root, file)), await history.file(tree, file))
}

export async function listCommits(parts: GitParts, call: Call): Promise<HttpResponse> {
  const query = queryOf(call, { path, limit: withDefault(integer({ min: 1, max: 200 }), 50) })
  const found = await openFolder(parts, query.path, call)
  const commits = (await found?.history.commits(query.limit + 1)) ?? []
  return ok({ commits: commits.slice(0, query.limit), has_more: commits.length > query.limit })
}

export async function listCommitChanges(parts: GitParts, call: Call): Promise<HttpResponse> {
  const query = queryOf(call, { path })
  const sha = parameterOf(call.parameters, 'sha')
  assertSha(sha, ['path', 'sha'])
  const found = await openFolder(parts, query.path, call)
  if (found === undefined) return ok([])
  const { before, after } = await found.history.treesOf(sha)
  return ok(await found.history.changesBetween(before, after))
}

interface Found {
  readonly repository: Repository
  readonly history: History
  /** The path from the nearest existing folder to the requested folder; empty when the requested folder exists. */
  readonly missing: string
}

/**
 * Returns the repository of the folder `asked`; undefined without a repository or without git. With `file`, a path in
 * this folder, the folder can be missing: then the nearest existing folder above `asked` is used.
 * @throws AppError `bad_request`, `forbidden` for a folder that may not be used
 */
async function openFolder(
  { machine, git }: GitParts, asked: string, call: Call, file = asked,
): Promise<Found | undefined> {
  if (!isAbsolute(file)) throw new AppError('bad_request', 'Path must be absolute')
  let existing = asked
  let real = await folderAt(machine, existing)
  while (real === undefined && file !== asked && existing !== '/') {
    existing = dirname(existing)
    real = await folderAt(machine, existing)
  }
  const repository = real === undefined ? undefined : await findRepository(real)
  const run = repository && (await openIfInstalled(git, repository, clientSignal(call)))
  if (repository === undefined || run === undefined) return undefined
  return { repository, history: new History(run), missing: relative(existing, asked) }
}

/** Returns the real path of a folder; undefined when the path names no folder. */
async function folderAt(machine: Machine, path: string): Promise<string | undefined> {
  return machine.at(path, async (place) => (place.kind === 'directory' ? place.path : undefined))
    .catch(undefinedIfMissing)
}

async function fileNow({ machine }: GitParts, path: string): Promise<string | undefined> {
  return machine.at(path, async (place) => {
    return place.kind === 'nothing' ? undefined : (await readFile(place, fileLimitBytes)).bytes.toString()
  }).catch(undefinedIfMissing)
}

function answerDiff(modified: string | undefined, original: string | undefined): HttpResponse {
  if (modified === undefined && original === undefined) throw new AppError('bad_request', 'There is no such file')
  return ok({ modified: modified ?? null, original: original ?? null })
}

function assertSha(input: string, loc: readonly string[]): void {
  if (shaForm.test(input)) return
  const msg = `String should match pattern '${shaForm.source}'`
  throw invalid([{ type: 'string_pattern_mismatch', loc, msg, input }])
}
