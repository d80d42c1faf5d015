/** Requests and responses of the console. */
import {
  arrayOf, boolean, integer, integerOf, nullable, number, openObject, optional, ref, required, response,
  secret, string, stringOf, tolerant, type Definitions, type Endpoint,
} from '../../schema/spec/define.ts'
import { get, inGroup, post, responseOf } from '../../schema/spec/operation.ts'

export const definitions: Definitions = {
  ConsoleSignInRequest: tolerant('A sign-in to the console.', {
    code: secret(required(stringOf({ minLength: 1, maxLength: 256 }), 'A one-time code.')),
  }),
  ConsoleProof: response('The proof of a session of the console.', {
    proof: required(string, 'For the header X-Console-Proof; empty when the request has a session already.'),
  }),
  ConsoleCode: response('A one-time code.', {
    code: required(string),
    expires_in: required(number, 'The life of the code, in seconds.'),
  }),
  ConsoleSession: response('A session of the console.', {
    id: required(string),
    host: required(string, 'The host, with its port, for which the session is valid.'),
    label: required(string, 'The User-Agent of the browser.'),
    key_name: required(nullable(string), 'The named key with which the session was begun; null for a session key.'),
    begun_at: required(string),
    used_at: required(string),
    is_current: required(boolean, 'True for the session of this request.'),
  }),
  ConsoleChange: response('A conversation that changed.', {
    id: required(string),
    removed: optional(boolean, 'True when the conversation was deleted or cannot be read.'),
    title: optional(nullable(string)),
    execution_status: optional(string),
    created_at: optional(string),
    updated_at: optional(string),
    tags: optional(openObject),
    parent_conversation_id: optional(nullable(string)),
  }),
  ConsoleQueue: response('The conversations that wait for an external agent.', {
    length: required(integer, 'The number of all waiting conversations, also if the client may not see them.'),
    places: required(openObject, 'The places of visible conversations, by their ids. The place 1 is next.'),
  }),
  ConsoleVerification: response('A check of all conversations.', {
    conversations: required(number),
    problems: required(arrayOf(string)),
  }),
  HistorySearchQuery: tolerant('A search in the history of a conversation.', {
    text: required(stringOf({ minLength: 1, maxLength: 1024 }), 'The text to find; case does not matter.'),
    before: optional(integerOf({ minimum: 0 }), 'Where the search goes on: `next` of the response before.'),
  }),
  HistoryHit: response('An event with the text.', {
    id: required(string),
    kind: required(string),
    source: required(string),
    timestamp: required(string),
    tool: required(string, 'The tool of a call or a result; empty for another event.'),
    excerpt: required(string, 'The first found text with the characters around it.'),
  }),
  HistorySearch: response('A part of a search, from the newest event back.', {
    items: required(arrayOf(ref('HistoryHit'))),
    total: required(integer, 'The number of events of the history.'),
    next: required(nullable(integer), 'The number of events that are not examined yet; null when all are.'),
  }),
  ConsoleSessionList: response('The sessions of the console.', { items: required(arrayOf(ref('ConsoleSession'))) }),
}

const signedIn = { 200: responseOf('The header Set-Cookie has the cookie', ref('ConsoleProof')) }

export const endpoints: readonly Endpoint[] = inGroup('Console', [
  {
    ...get('/console/', 'Get the console', string),
    responses: { 200: { doc: 'The page', mediaType: 'text/html' } },
  },
  {
    ...get('/console/assets/{digest}/{file}', 'Get a file of the console', string),
    responses: { 200: { doc: 'The file', mediaType: '*/*' } },
  },
  { ...post('/api/console/sign-in', 'Sign in with a one-time code', 'ConsoleSignInRequest'), responses: {
    ...signedIn, 401: responseOf('The code is not valid', ref('ErrorDetail')),
  } },
  { ...post('/api/console/sign-out', 'End the session of this request') },
  get('/api/console/sessions', 'List the sessions of the console', ref('ConsoleSessionList')),
  { ...post('/api/console/sessions', 'Sign in with a session key'), responses: signedIn },
  { ...post('/api/console/sessions/{session_id}', 'End a session of the console'), method: 'DELETE' },
  {
    ...post('/api/console/codes', 'Make a one-time code'),
    responses: { 200: responseOf('The code', ref('ConsoleCode')) },
  },
  {
    ...get('/api/console/changes', 'Follow changes of all conversations', string),
    responses: { 200: {
      doc: 'Server-sent events: each has a ConsoleChange, or a ConsoleQueue if its type is `queue`',
      mediaType: 'text/event-stream',
    } },
  },
  {
    ...post('/api/console/verify', 'Check every stored conversation'),
    responses: { 200: responseOf('The outcome', ref('ConsoleVerification')) },
  },
  {
    ...get(
      '/api/console/conversations/{conversation_id}/search', 'Find a text in a whole history', ref('HistorySearch'),
    ),
    query: 'HistorySearchQuery',
  },
])
