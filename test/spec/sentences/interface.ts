/** Sentences about endpoints, events and errors; see outline.ts. */
import type { Sentences } from './sentence.ts'

const describesReading = 'schema/openapi: describes the reading of one event as the specification does'
const notFound = 'e2e/events: an unknown event and an unknown conversation are 404'
const noUuid = 'e2e/events: a conversation id that is no UUID is 422 with detail entries'
const failedRun = 'spec/rules: a run that fails ends with one error of the conversation and its status, and can go on'

export const readEvent: Sentences = {
  operation: ['one event by its id, under the tag Events', describesReading],
  event_id: ['a text in the path', describesReading, notFound],
  conversation_id: [
    'a UUID in the path',
    describesReading, noUuid,
    'e2e/events: ids are taken with and without dashes',
  ],
  'request body': ['none', describesReading],
  'response 200': ['one event', describesReading, 'spec/answers: a conversation and its run fit their description'],
  'response 404': ['item not found', describesReading, notFound],
  'response 422': ['validation error', describesReading, noUuid],
  'rule 1': [
    '200 when both exist',
    'e2e/events: an event is the same bytes on the socket, by its id, in a page and in a batch',
  ],
  'rule 2': ['404 when one does not', notFound, 'e2e/events: an event of another conversation is not found'],
  'rule 3': ['422 with details when a parameter is not valid', noUuid],
}

export const patchSettings: Sentences = {
  1: ['changes the settings of the service', 'spec/answers: settings fit their description'],
  2: [
    'the body has agent_settings_diff with the four members',
    'spec/tables: the agent settings have the four fields of the specification',
    'settings/store: 3.3 takes what the onboarding of a published client sends',
  ],
  3: [
    'the choice is for conversations started afterwards',
    'spec/rules: a new choice of agent drives the conversations started afterwards, and none that is there already',
  ],
  4: ['answer, statuses and other members are not shown there', 'settings/store: 2.3 answers with the redacted view'],
}

export const otherEndpoints: Sentences = {
  1: [
    'not shown there; the contract has them',
    'schema/openapi-structure: describes every route of the core and of the parts but the socket, and no other',
  ],
}

export const events: Sentences = {
  1: ['the kinds are the fourteen', 'spec/tables: the event kinds are the fourteen of the table, in its order'],
  2: [
    'every change of state is sent over the WebSocket',
    'spec/rules: a client on a socket hears of every change of state as REST gives it',
    'conversation/log/feed: replays from the log and then goes on live without a gap or a double',
  ],
  2.2: [
    'as the serialised fields of the state',
    'spec/rules: a client on a socket hears of every change of state as REST gives it',
  ],
  3: [
    'logs of completions are sent when they are asked for, and replace a file',
    'e2e/built-in-models: a log of each completion is pushed and stored when it is asked for, and names the model ' +
      'and its use',
    'e2e/built-in-models: no completion is logged unless it is asked for',
  ],
  4: ['clients show an error of the conversation on top', failedRun],
  5: [
    'an action is answered once, by the same call and tool, and the answer names the action',
    'e2e/events: every action has one answer that names it',
    'agents/acp/transcripts: ${name}: every action has exactly one answer, after it',
    'conversation/log/state: an action is open until it is answered in any of three ways',
  ],
  6: [
    'address, framing and order of the WebSocket are not shown there',
    'ws/upgrade: reads frames that came together with the handshake',
  ],
  7: [
    'which operation emits what is not shown there',
    'conversation/run/runner: a message with run begins a turn with it, and the run ends with the turn',
  ],
}

export const errors: Sentences = {
  404: [
    'event or conversation not found',
    notFound,
    'spec/answers: what is not there, and what is no id, fits its description for every operation of a conversation',
  ],
  422: [
    'a list of place, message and type',
    noUuid,
    'spec/answers: what is not there, and what is no id, fits its description for every operation of a conversation',
  ],
  ConversationErrorEvent: [
    'a failure of the run, with code and detail',
    failedRun,
    'agents/acp/agent-failures: fails with ${code} when the agent does "${behaviour}"',
  ],
  AgentErrorEvent: [
    'an error of a tool; the conversation can continue',
    'agents/acp/agent-turn: answers a tool call that the agent left open when it died, and starts again',
  ],
  code: [
    'its values are not shown there',
    'agents/acp/agent-failures: fails with ${code} when the agent does "${behaviour}"',
  ],
}
