/** Requests and responses about files and workspaces (contract/others.md, sections 2, 7 and 8). */
import {
  absolutePath, arrayOf, boolean, defaultTo, integer, integerOf, nullable, oneOf, optional, ref, required, response,
  string, stringOf, tolerant, type Definitions, type Endpoint,
} from '../../schema/spec/define.ts'
import { get, inGroup, post, responseOf } from '../../schema/spec/operation.ts'

const path = required(stringOf({ minLength: 1, maxLength: 4096 }))
const entry = {
  id: required(stringOf({ minLength: 1, maxLength: 4096 })),
  name: required(stringOf({ minLength: 1, maxLength: 256 })),
  path,
}

export const definitions: Definitions = {
  PathQuery: tolerant('A path on this machine.', { path: absolutePath('An absolute path.') }),
  ListedPathQuery: tolerant('An entry of the list of workspaces.', {
    path: required(stringOf({ maxLength: 4096 }), 'The path of the entry, as the list has it.'),
  }),
  HomeQuery: tolerant('The folders to show.', { include_hidden: defaultTo(false, boolean) }),
  SubdirectoryQuery: tolerant('The folder to list.', {
    path: absolutePath('An absolute path.'),
    page_id: optional(stringOf({ maxLength: 1024 })),
    limit: defaultTo(100, integerOf({ minimum: 1, maximum: 100 })),
    include_hidden: defaultTo(false, boolean),
  }),
  NamedPath: response('A folder to begin at.', { label: required(string), path: required(string) }),
  HomeResponse: response("The home of the server's user.", {
    home: required(string),
    favorites: required(arrayOf(ref('NamedPath')), 'Folders in the home folder.'),
    locations: required(arrayOf(ref('NamedPath'))),
  }),
  Subdirectory: response('A folder.', { name: required(string), path: required(string) }),
  SubdirectoryPage: response('Folders in a folder.', {
    items: required(arrayOf(ref('Subdirectory'))),
    next_page_id: required(nullable(string)),
  }),
  WorkspaceEntryQuery: tolerant('The folder of a workspace to list.', {
    path: defaultTo('', stringOf({ maxLength: 4096 }), 'A path in the workspace; empty for its top.'),
    page_id: optional(stringOf({ maxLength: 1024 })),
    limit: defaultTo(200, integerOf({ minimum: 1, maximum: 500 })),
  }),
  WorkspaceEntry: response('A name in a folder of a workspace.', {
    name: required(string),
    kind: required(oneOf('directory', 'file', 'other'), 'Links and sockets are `other`.'),
    size: required(integer, 'Bytes; 0 for anything but a file.'),
  }),
  WorkspaceEntryPage: response('Names in a folder of a workspace: folders first, then by name.', {
    items: required(arrayOf(ref('WorkspaceEntry'))),
    next_page_id: required(nullable(string)),
    is_complete: required(boolean, 'False for a folder with more entries than are listed.'),
  }),
  WorkspaceItem: tolerant('A workspace in the list.', {
    ...entry,
    parentPath: optional(stringOf({ minLength: 1, maxLength: 4096 })),
  }),
  WorkspaceParent: tolerant('A folder of workspaces in the list.', entry),
  WorkspaceList: tolerant('The workspaces that a client shows to its user.', {
    workspaces: required(arrayOf(ref('WorkspaceItem'))),
    workspaceParents: required(arrayOf(ref('WorkspaceParent'))),
  }),
  AddWorkspacesRequest: tolerant('Workspaces for the list.', { workspaces: required(arrayOf(ref('WorkspaceItem'))) }),
  AddWorkspaceParentsRequest: tolerant('Folders of workspaces for the list.', {
    parents: required(arrayOf(ref('WorkspaceParent'))),
  }),
}

const unusable = responseOf('The path cannot be used', ref('ErrorDetail'))
const forbidden = responseOf('The path may not be used', ref('ErrorDetail'))
const missing = responseOf('Nothing is there', ref('ErrorDetail'))
const refusals = { 400: unusable, 403: forbidden, 404: missing }
const list = responseOf('The list', ref('WorkspaceList'))
const deleted = responseOf('Removed', ref('Deleted'))
const unreadable = responseOf('The stored list cannot be read', ref('ErrorDetail'))
const listAnswers = { 200: list, 409: unreadable }
const removalAnswers = { 200: deleted, 404: responseOf('It is not in the list', ref('ErrorDetail')), 409: unreadable }

export const endpoints: readonly Endpoint[] = inGroup('Files', [
  {
    ...post('/api/file/upload', 'Store a file'),
    query: 'PathQuery',
    form: ['file'],
    responses: { ...post('', '').responses, 400: unusable, 403: forbidden },
  },
  {
    ...get('/api/file/download', 'Get a file', string),
    query: 'PathQuery',
    responses: { 200: { doc: 'The file', mediaType: 'application/octet-stream' }, ...refusals },
  },
  {
    ...post('/api/file/create_directory', 'Make a folder'),
    query: 'PathQuery',
    responses: { ...post('', '').responses, 400: unusable, 403: forbidden },
  },
  { ...get('/api/file/home', 'Get the home folder', ref('HomeResponse')), query: 'HomeQuery' },
  {
    ...get('/api/file/search_subdirs', 'List the folders in a folder', ref('SubdirectoryPage')),
    query: 'SubdirectoryQuery',
    responses: { 200: responseOf('The folders', ref('SubdirectoryPage')), ...refusals },
  },
  {
    ...get('/api/file/download-trajectory/{conversation_id}', 'Get a conversation as an archive', string),
    responses: { 200: { doc: 'A zip archive with the conversation and its events', mediaType: 'application/zip' } },
  },
  {
    ...post('/api/auth/workspace-session', 'Get a cookie for the files of workspaces'),
    responses: { 204: { doc: 'The header Set-Cookie has the cookie' } },
  },
  {
    ...post('/api/auth/workspace-session', 'End the session of the cookie'),
    method: 'DELETE',
    responses: { 204: { doc: 'Ended' } },
  },
  {
    ...get('/api/conversations/{conversation_id}/workspace/{path}', 'Get a file of a workspace', string),
    responses: {
      200: { doc: 'The file, or the index.html of a folder', mediaType: '*/*' },
      400: responseOf('The path leaves the workspace', ref('ErrorDetail')),
    },
  },
  {
    ...get(
      '/api/conversations/{conversation_id}/workspace-entries', 'List a folder of a workspace',
      ref('WorkspaceEntryPage'),
    ),
    query: 'WorkspaceEntryQuery',
    responses: {
      200: responseOf('The entries', ref('WorkspaceEntryPage')),
      400: responseOf('The path leaves the workspace, or is no folder', ref('ErrorDetail')),
    },
  },
  { ...get('/api/workspaces', 'List workspaces', ref('WorkspaceList')), responses: listAnswers },
  { ...post('/api/workspaces', 'Add workspaces to the list', 'AddWorkspacesRequest'), responses: listAnswers },
  {
    ...post('/api/workspaces', 'Remove a workspace from the list'),
    method: 'DELETE',
    query: 'ListedPathQuery',
    responses: removalAnswers,
  },
  {
    ...post('/api/workspaces/parents', 'Add folders of workspaces to the list', 'AddWorkspaceParentsRequest'),
    responses: listAnswers,
  },
  {
    ...post('/api/workspaces/parents', 'Remove a folder of workspaces from the list'),
    method: 'DELETE',
    query: 'ListedPathQuery',
    responses: removalAnswers,
  },
])
