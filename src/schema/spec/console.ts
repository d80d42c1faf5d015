/** Requests and responses of the console: its page, the sign-in to it, and the list of its sessions. */
import {
  arrayOf, boolean, number, ref, required, response, secret, string, stringOf, tolerant, type Definitions,
  type Endpoint,
} from './define.ts'
import { get, inGroup, post, responseOf } from './operation.ts'

export const consoleTypes: Definitions = {
  ConsoleSignInRequest: tolerant('A sign-in to the console.', {
    code: secret(required(stringOf({ minLength: 1, maxLength: 256 }), 'A one-time code.')),
  }),
  ConsoleProof: response('A session of the console.', {
    proof: required(string, 'For the header X-Console-Proof; empty when the request has a session already.'),
  }),
  ConsoleCode: response('A one-time code.', {
    code: required(string),
    expires_in: required(number, 'Seconds.'),
  }),
  ConsoleSession: response('A session of the console.', {
    id: required(string),
    host: required(string, 'The Host at which it counts.'),
    label: required(string, 'The User-Agent of the browser.'),
    begun_at: required(string),
    used_at: required(string),
    is_current: required(boolean, 'It is that of this request.'),
  }),
  ConsoleSessionList: response('The sessions of the console.', { items: required(arrayOf(ref('ConsoleSession'))) }),
}

const signedIn = { 200: responseOf('The header Set-Cookie has the cookie', ref('ConsoleProof')) }

export const consoleEndpoints: readonly Endpoint[] = inGroup('Console', [
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
])
