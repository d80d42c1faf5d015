/**
 * Reads the source of an installation: a folder or an archive of this machine, or a git repository
 * (contract/others.md, section 4).
 *
 * An address must not contain credentials, because sources are stored and shown.
 */
import { isAbsolute } from 'node:path'
import { invalid } from '../../api/call.ts'
import type { AppError } from '../../base/errors.ts'
import { partsOf } from './archive/names.ts'

export type Source = LocalSource | GitSource

/** A folder or an archive on this machine. */
export interface LocalSource {
  readonly type: 'local'
  readonly path: string
  /** The path of the extension inside the folder or archive; empty for the top. */
  readonly below: string
}

export interface GitSource {
  readonly type: 'git'
  /** An https address, or the absolute path of a repository on this machine. */
  readonly url: string
  /** A branch, a tag or a whole commit id; `HEAD` for the default branch. */
  readonly ref: string
  readonly below: string
}

export interface SourceRequest {
  readonly source: string
  readonly ref?: string | undefined
  readonly repo_path?: string | undefined
}

const refForm = /^(?!-)(?!.*(?:\.\.|@\{|\/\/|\/$|\.$))[A-Za-z0-9_./@+-]{1,256}$/
const accepted = 'expected the absolute path of a folder or an archive, an https address of a git repository, or ' +
  '"github:owner/repository"'

/** Reads the source in a request. @throws AppError `invalid_input` for an unusable `source`, `ref` or `repo_path` */
export function readSource({ source, ref, repo_path }: SourceRequest): Source {
  const text = source.trim()
  if (ref !== undefined && !refForm.test(ref)) throw fault('ref', 'expected a branch, a tag or a commit id', ref)
  const below = pathBelow(repo_path ?? '', 'repo_path')
  const github = /^github:([A-Za-z0-9_.-]+)\/([A-Za-z0-9_.-]+?)(?:\.git)?(?:\/(.+))?$/.exec(text)
  if (github !== null) {
    const [, owner = '', repository = '', inside = ''] = github
    const path = [pathBelow(inside, 'source'), below].filter((part) => part !== '').join('/')
    return { type: 'git', url: `https://github.com/${owner}/${repository}.git`, ref: ref ?? 'HEAD', below: path }
  }
  if (/^https:/i.test(text)) return remote(text, { ref, below })
  const path = text.startsWith('file:///') ? decoded(text.slice('file://'.length), decodeURIComponent) : text
  if (!isAbsolute(path) || path.includes('\0')) throw fault('source', accepted, source)
  const isRepository = ref !== undefined || /\.git\/*$/.test(path)
  return isRepository ? { type: 'git', url: path, ref: ref ?? 'HEAD', below } : { type: 'local', path, below }
}

function remote(text: string, given: { readonly ref: string | undefined; readonly below: string }): GitSource {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) throw fault('source', accepted, 'an address')
  const hasMore = url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== ''
  // The error does not repeat the address, which may contain credentials.
  if (hasMore) throw fault('source', 'expected an address without credentials, query and fragment', 'an address')
  const page = /^\/([^/]+\/[^/]+)\/(?:tree|blob)\/([^/]+)\/?(.*)$/.exec(decoded(url.pathname, decodeURI))
  if (url.hostname !== 'github.com' || page === null) {
    return { type: 'git', url: url.href, ref: given.ref ?? 'HEAD', below: given.below }
  }
  const [, repository = '', branch = '', inside = ''] = page
  if (!refForm.test(branch)) throw fault('source', 'expected a branch, a tag or a commit id', branch)
  const below = [pathBelow(inside, 'source'), given.below].filter((part) => part !== '').join('/')
  return { type: 'git', url: `https://github.com/${repository}.git`, ref: given.ref ?? branch, below }
}

/** Decodes the percent-encoded path of an address. @throws AppError `invalid_input` for a wrong encoding */
function decoded(path: string, decode: (path: string) => string): string {
  try {
    return decode(path)
  } catch {
    throw fault('source', accepted, path)
  }
}

function pathBelow(path: string, member: 'source' | 'repo_path'): string {
  if (path === '') return ''
  try {
    return partsOf(path).join('/')
  } catch {
    throw fault(member, 'expected a relative path without ".."', path)
  }
}

function fault(member: string, expected: string, input: string): AppError {
  return invalid([{ type: 'value_error', loc: ['body', member], msg: `Value error, ${expected}`, input }])
}
