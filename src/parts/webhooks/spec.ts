/** Responses about webhooks and their dead letters. The requests that a webhook gets are in the README of the part. */
import {
  arrayOf, boolean, dateTime, defaultTo, integer, integerOf, nullable, optional, ref, required, response, string,
  stringOf, tolerant, type Definitions, type Endpoint,
} from '../../schema/spec/define.ts'
import { conflict, get, inGroup, post, success } from '../../schema/spec/operation.ts'

export const definitions: Definitions = {
  WebhookFailure: response('A delivery that was given up.', { reason: required(string), at: required(dateTime) }),
  WebhookView: response('A webhook, without its path, its headers and its secret.', {
    id: required(string),
    origin: required(string),
    is_signed: required(boolean),
    waiting_conversations: required(integer, 'Conversations with something to deliver.'),
    delivered_requests: required(integer, 'Requests that were accepted since the server started.'),
    dead_letters: required(integer),
    last_failure: required(nullable(ref('WebhookFailure')), 'The last failure since the start.'),
  }),
  WebhookList: response('The webhooks of the configuration.', { webhooks: required(arrayOf(ref('WebhookView'))) }),
  DeadLetter: response('A delivery that was given up, or events that were dropped from a full queue.', {
    id: required(string),
    webhook_id: required(string),
    conversation_id: required(string),
    first_event: required(nullable(integer), 'The seq of the first event; null for a change of state.'),
    end_event: required(nullable(integer), 'The seq after that of the last event.'),
    reason: required(string),
    status: required(nullable(integer), 'The status of the last answer.'),
    attempts: required(integer, '0 for dropped events.'),
    failed_at: required(dateTime),
  }),
  DeadLetterQuery: tolerant('The dead letters to list.', {
    webhook_id: optional(stringOf({ maxLength: 64 })),
    page_id: optional(stringOf({ maxLength: 64 })),
    limit: defaultTo(100, integerOf({ minimum: 1, maximum: 100 })),
  }),
  DeadLetterPage: response('Dead letters, the oldest first.', {
    items: required(arrayOf(ref('DeadLetter'))),
    next_page_id: required(nullable(string)),
  }),
}

const letter = '/api/webhooks/dead_letters/{letter_id}'
const unknown = conflict('There is no such dead letter')

export const endpoints: readonly Endpoint[] = inGroup('Webhooks', [
  get('/api/webhooks', 'List webhooks', ref('WebhookList')),
  { ...get('/api/webhooks/dead_letters', 'List dead letters', ref('DeadLetterPage')), query: 'DeadLetterQuery' },
  {
    ...post(`${letter}/redeliver`, 'Deliver a dead letter again, with one attempt'),
    responses: { 200: success, 404: unknown, 502: { doc: 'The letter was not delivered', body: ref('ServerError') } },
  },
  { ...post(letter, 'Remove a dead letter'), method: 'DELETE', responses: { 200: success, 404: unknown } },
])
