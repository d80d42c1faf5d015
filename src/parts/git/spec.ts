/** Requests and responses about git repositories (contract/others.md, section 3). */
import {
  absolutePath, arrayOf, boolean, defaultTo, integerOf, nullable, oneOf, optional, ref, required, response, stated,
  string, stringOf, tolerant, type Definitions, type Endpoint, type Schema,
} from '../../schema/spec/define.ts'
import { get, inGroup, responseOf } from '../../schema/spec/operation.ts'

const path = absolutePath('The absolute path of a folder in the repository.')
const revision = optional(
  stringOf({ maxLength: 1024 }), 'The revision to compare with; default: the branch at origin, else another base.',
)
const excluded = { type: 'string', maxLength: 256, pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$' }

export const definitions: Definitions = {
  GitChangesQuery: tolerant('The changes to list.', { path, ref: revision }),
  GitDiffQuery: tolerant('The file to compare.', {
    path: absolutePath('The absolute path of a file in the repository.'),
    ref: revision,
    commit: optional(stringOf({ pattern: '^[0-9a-fA-F]{4,64}$' }), 'Shows what this commit changed.'),
  }),
  GitCommitsQuery: tolerant('The commits to list.', {
    path,
    limit: defaultTo(50, integerOf({ minimum: 1, maximum: 200 })),
  }),
  ArchiveQuery: tolerant('The work to send, and its form.', {
    path,
    format: defaultTo('git-delta', oneOf('git-delta', 'tar.gz')),
    base_ref: optional(stringOf({ maxLength: 1024 }), 'The revision at which the patch begins.'),
    use_default_excludes: defaultTo(true, boolean, 'Whether folders such as node_modules are left out.'),
    exclude: stated({ maxItems: 200, items: excluded },
      optional(arrayOf(string), 'Patterns of paths that are left out; the parameter may be repeated.')),
  }),
  GitCommitQuery: tolerant('The repository of the commit.', { path }),
  GitChange: response('A file that differs.', {
    status: required(oneOf('MOVED', 'ADDED', 'DELETED', 'UPDATED'), 'A moved file is DELETED and ADDED.'),
    path: required(string, 'The path from the folder of the request.'),
  }),
  GitDiff: response('Both versions of a file; null for a version without the file.', {
    modified: required(nullable(string)),
    original: required(nullable(string)),
  }),
  GitCommit: response('A commit.', {
    sha: required(string),
    short_sha: required(string),
    subject: required(string),
    author: required(string),
    timestamp: required(string, 'ISO 8601 with an offset.'),
  }),
  GitCommitPage: response('Commits, the newest first.', {
    commits: required(arrayOf(ref('GitCommit'))),
    has_more: required(boolean),
  }),
}

export const pathParameters: Readonly<Record<string, Schema>> = {
  sha: { type: 'string', pattern: '^[0-9a-fA-F]{4,64}$' },
}

const failures = {
  400: responseOf('Git failed, or the path cannot be used', ref('ErrorDetail')),
  403: responseOf('The path may not be used', ref('ErrorDetail')),
}
const changes = { 200: responseOf('The changes', arrayOf(ref('GitChange'))), ...failures }

export const endpoints: readonly Endpoint[] = inGroup('Git', [
  { ...get('/api/git/changes', 'List changed files', string), query: 'GitChangesQuery', responses: changes },
  {
    ...get('/api/git/diff', 'Get both sides of a changed file', string),
    query: 'GitDiffQuery',
    responses: { 200: responseOf('Both sides', ref('GitDiff')), ...failures },
  },
  {
    ...get('/api/git/commits', 'List commits', string),
    query: 'GitCommitsQuery',
    responses: { 200: responseOf('The commits', ref('GitCommitPage')), ...failures },
  },
  {
    ...get('/api/git/commits/{sha}/changes', 'List the files that a commit changed', string),
    query: 'GitCommitQuery',
    responses: changes,
  },
  {
    ...get('/api/file/archive', 'Get the work in a folder as one file', string),
    query: 'ArchiveQuery',
    responses: {
      200: { doc: 'A patch, or a gzipped tar archive', mediaType: '*/*' },
      ...failures,
      404: responseOf('There is no such folder', ref('ErrorDetail')),
    },
  },
])
