/** The specification's introduction, "What the service does", "States and transitions", "Limits" and "Versioning". */
import type { Sentences } from './sentence.ts'

const notShown = 'note: not shown there; the contract fills the gap'
const describesItself =
  'schema/openapi: has the title and version of the specification, no servers and an empty security requirement'

export const introduction: Sentences = {
  1: ['what the document covers', 'note: about the document'],
  2: ['order of its parts and the mark for gaps', 'note: about the document'],
  'base address': ['everything is below one address', 'spec/answers: every operation of the description has answered well, and with an error'],
}

export const whatTheServiceDoes: Sentences = {
  1: ['REST and WebSocket for a coding agent; title, version, no server list', describesItself],
  2: [
    'a conversation has a UUID',
    'e2e/create: takes an id with dashes or without, in any case, and shows it with dashes',
  ],
  2.2: [
    'its events are an ordered history',
    'e2e/events: every event fits its closed schema, with ids and times that only grow',
  ],
  2.3: [
    'an event is one record of what happened',
    'conversation/log/state: takes every kind of event, and each becomes the head',
  ],
  3: [
    'one event can be read by its id',
    'e2e/events: an event is the same bytes on the socket, by its id, in a page and in a batch',
  ],
  4: [
    'state changes are pushed over a WebSocket, so that nobody polls',
    'spec/rules: a client on a socket hears of every change of state as REST gives it',
  ],
  4.2: [
    'logs of model completions are pushed too',
    'e2e/built-in-models: a log of each completion is pushed and stored when it is asked for, and names the model ' +
      'and its use',
  ],
  '5 built-in': [
    'the built-in agent calls a model itself',
    'e2e/built-in: ${name}: a turn with a command and a file over the provider\'s wire format',
  ],
  '5 external': [
    'an external agent is a program that the service starts and speaks JSON-RPC with over its standard streams',
    'agents/acp/agent-session: serves several turns with one program and asks it to go on when there is no message',
    'e2e/create: a request that names nothing gets the stored agent and a folder of its own',
  ],
  '5 external.2': [
    'the external agent brings its own model, tools and execution',
    'agents/acp/demo: shows its script as a plan, an edit, a command and messages',
    'agents/acp/transcripts: ${name}: maps to the expected events',
  ],
  '5 external.3': [
    'the service owns the program and its credentials',
    'agents/acp/agent-turn: is closed for good, twice without harm, and ends a turn that runs',
    'agents/acp/agent-session: gives the agent its secrets and of the server only what is allowed',
  ],
  6: ['the choice is stored with the service and changed by PATCH', 'spec/answers: settings fit their description'],
  6.2: [
    'what runs keeps its agent; a new choice is for what starts later',
    'spec/rules: a new choice of agent drives the conversations started afterwards, and none that is there already',
    'spec/rules: a conversation that runs while the choice changes goes on with its agent',
    'conversation/conversation: what a conversation is survives its closing, with the agent it began with',
  ],
}

export const statesAndTransitions: Sentences = {
  1: [
    'one state is named: error, behind an error of the conversation',
    'conversation/run/runner: a failed turn records why and then the status, and can be run again',
  ],
  1.2: [
    'other states and transitions',
    notShown,
    'conversation/log/status-table: ${status} goes where the contract says',
  ],
  2: ['risk levels are values of a field', 'spec/tables: event: ${kind} is closed and has the fields of the table'],
}

export const limits: Sentences = {
  1: ['rates, sizes, times and quotas', notShown],
  2: ['bounds of fields stand with the fields', 'schema/systematic: holds every member of ${type.name} to its rules'],
}

export const versioning: Sentences = {
  1: ['the description has version 0.1.0', describesItself],
  2: [
    'the kind on the wire is the bare name of the variant',
    'schema/openapi: tells the variants of a union apart by kind',
  ],
  2.2: [
    'an internal versioned name of each variant',
    'note: its exact text is not given there, and nothing sends it',
  ],
  3: [
    'providers and their commands come from a list upstream',
    'settings/providers: holds the three providers of the contract in their order, and others after them',
    'settings/providers-file: adds a provider behind the built-in ones',
  ],
  4: ['negotiation, deprecation, compatibility', notShown],
}
