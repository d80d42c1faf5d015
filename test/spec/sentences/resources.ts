/** Sentences about resources and their fields; see outline.ts. tables.test.ts holds the rows of their tables. */
import { actions, observations } from '../payload-tables.ts'
import { embedded, events } from '../event-tables.ts'
import type { Sentence, Sentences } from './sentence.ts'

const refusesUnknown = 'schema/systematic: holds every member of ${type.name} to its rules'
const itsFields = 'its fields, required or with their defaults'
const everyEvent = 'spec/tables: event: ${kind} is closed and has the fields of the table'
const toolKinds = 'spec/tables: the tool kinds are the twenty-eight of the list, in its order'

export const eventCommonRules: Sentences = {
  1: [
    'an event is an object, and its kind selects one of 14 variants',
    'spec/tables: the event kinds are the fourteen of the table, in its order',
    'schema/systematic: takes each variant of ${type.name} by its tag and no other',
  ],
  1.2: [
    'every variant refuses unknown members',
    refusesUnknown,
    'schema/openapi: closes events and leaves requests open',
  ],
  id: ['unique id', everyEvent, 'e2e/events: every event fits its closed schema, with ids and times that only grow'],
  timestamp: [
    'time of the event',
    everyEvent,
    'e2e/events: every event fits its closed schema, with ids and times that only grow',
  ],
  source: ['agent, user or environment', everyEvent, 'schema/vectors: refuses what a ${name} may not be, and says why'],
  kind: ['the name of the variant', everyEvent, 'schema/openapi: tells the variants of a union apart by kind'],
}

/** The behaviour of some kinds of events besides their fields. */
const behaviour: Readonly<Record<string, readonly string[]>> = {
  Condensation: [
    'parts/builtin/condensing/condenser: a view with more events than it may have is condensed before the next step, ' +
      'by one event',
  ],
  CondensationRequest: [
    'parts/builtin/condensing/condenser: a request that is too long is answered with a condensation, and made again',
    'e2e/condense: a client has the history condensed, forks it with its summary, and leads it back to before',
  ],
  CondensationSummaryEvent: [
    'parts/builtin/condensing/view: view: ${what}',
  ],
  ConversationErrorEvent: [
    'conversation/run/runner: a failed turn records why and then the status, and can be run again',
  ],
  ConversationStateUpdateEvent: [
    'conversation/conversation: a state update is recorded when the value changes, and not for an equal one',
  ],
  LLMCompletionLogEvent: [
    'e2e/built-in-models: a log of each completion is pushed and stored when it is asked for, and names the model ' +
      'and its use',
  ],
  ActionEvent: [
    'agents/acp/transcripts: ${name}: maps to the expected events',
    'conversation/log/state: an action that cannot be executed is never open',
  ],
  MessageEvent: [
    'agents/acp/turn-events: makes one message of the chunks between two other things, with the thoughts before it',
  ],
  AgentErrorEvent: [
    'agents/acp/turn-calls: answers every open call with an error when it is not waited for any more',
  ],
  ObservationEvent: ['e2e/events: every action has one answer that names it'],
  UserRejectObservation: ['agents/acp/agent-turn: records a refusal of the user'],
  SystemPromptEvent: ['agents/acp/agent-session: records a placeholder system prompt once, then what the agent says'],
  TokenEvent: ['e2e/built-in-models: token ids of a backend that gives them are an event'],
  PauseEvent: ['conversation/run/runner-stop: an interrupt ends the turn, answers its actions and records the pause'],
}

export const eventVariants: Sentences = {
  ...Object.fromEntries(Object.keys(events).map((kind): [string, Sentence] => {
    const canonical = 'schema/vectors: prints ${name} in its canonical form'
    return [kind, [itsFields, everyEvent, canonical, ...(behaviour[kind] ?? [])]]
  })),
  'Condensation.2': [
    'what it removes and where its summary goes',
    'parts/builtin/condensing/view: view: ${what}',
  ],
  'ConversationStateUpdateEvent.2': [
    'nothing but its kind is required',
    'schema/vectors: accepts what a ${name} may be',
  ],
  'LLMCompletionLogEvent.2': [
    'which model and which use of it the log is of',
    'e2e/built-in-models: a log of each completion is pushed and stored when it is asked for, and names the model ' +
      'and its use',
  ],
  'ActionEvent.2': [
    'a call that cannot be executed has no action',
    'schema/vectors: accepts what a ${name} may be',
    'conversation/log/state: an action that cannot be executed is never open',
  ],
  'ActionEvent.3': [
    'it keeps the call as the model sent it, with the risk that the model declared',
    'agents/acp/action-of: gives the raw input as the arguments of the call',
    'parts/builtin/tool-calls: a repaired call has the name of the tool and its arguments as they came',
    'parts/builtin/tool-calls: the risk counts with an analyzer and for a tool that changes something, and is ' +
      'UNKNOWN otherwise',
  ],
  'ActionEvent.4': [
    'calls of one response of the model are known by its id',
    'agents/acp/turn-events: gives the parts of one response one id and those after an answer another',
  ],
  'MessageEvent.2': [
    'only a message of the agent names a response of the model',
    'spec/rules: only a message of the agent names the response it is from',
  ],
  'MessageEvent.3': [
    'it lists the skills that it activated',
    'conversation/log/state: skills that messages activate are listed once',
    'e2e/skills: instructions and memory are in the dynamic context, Agent Skills are listed, and a trigger gives ' +
      'its skill once',
  ],
  'AgentErrorEvent.2': [
    'it carries no thought',
    everyEvent,
  ],
  'SystemPromptEvent.2': [
    'what belongs to one conversation is a second block',
    'parts/builtin/view: the context of a conversation is a second block of the system message',
  ],
  'TokenEvent.2': [
    'it comes from a backend that gives token ids',
    'e2e/built-in-models: token ids of a backend that gives them are an event',
  ],
  'PauseEvent.2': [
    'it says that the user stopped the run',
    'conversation/run/runner-stop: two interrupts at once record one pause',
  ],
  'default of source': [
    'where the table gives no source, it is required',
    'schema/vectors: refuses what a ${name} may not be, and says why',
  ],
  'rule 1': [
    'an error of the conversation stops the run, belongs to no tool, and the status becomes error',
    'spec/rules: a run that fails ends with one error of the conversation and its status, and can go on',
  ],
  'rule 1.2': [
    'it is not sent to the model',
    'parts/builtin/weather: an error of the conversation is not told to the model',
  ],
  'rule 1.3': [
    'an error of the agent is the answer of a tool, and the conversation goes on',
    'agents/acp/agent-turn: answers a tool call that the agent left open when it died, and starts again',
  ],
  'rule 2': [
    'a rejection by the user is recorded as such',
    'agents/acp/agent-turn: records a refusal of the user',
    'conversation/run/turn-runner: a rejection gives the agent the reason and the turn goes on',
  ],
  'rule 2.2': [
    'a hook that blocks an action is recorded as such',
    'parts/hooks/points: an action that a hook blocks is answered with a rejection of the hook, and the others go on',
  ],
  'rule 3': [
    'the system prompt has no cache markers',
    'spec/rules: the system prompt of an external agent has neither tools nor a cache marker',
  ],
}

export const embeddedObjects: Sentences = {
  ...Object.fromEntries(Object.keys(embedded).map((name): [string, Sentence] => {
    return [name, [itsFields, 'spec/tables: object: ${name} has the fields of the table']]
  })),
  'ReasoningItemModel.2': [
    'its encrypted content is neither logged nor shown',
    'e2e/built-in-models: encrypted reasoning goes back to its model, over a restart and in a fork, and is shown and ' +
      'logged nowhere',
  ],
  SecurityRisk: ['four levels, rising', everyEvent],
  ValidationError: ['place, message and type', 'spec/tables: error: ${name} has the fields of the table'],
  HTTPValidationError: ['a list of those', 'spec/tables: error: ${name} has the fields of the table'],
}

const mcpTools = 'e2e/mcp: the tools of a server are listed, called and answered like any other, and no secret shows'

export const action: Sentences = {
  1: ['a union told apart by kind', 'spec/tables: the action kinds are the twenty-eight of the table, in its order'],
  ...Object.fromEntries(Object.keys(actions).map((kind): [string, Sentence] => {
    const table = 'spec/tables: action: ${kind} is closed and has the fields of the table'
    return [
      kind,
      [itsFields, table,
        kind.startsWith('Browser') ? 'parts/browser/tools: every tool does its part' : 'later: tools, browser, memory'],
    ]
  })),
  MCPToolAction: [itsFields, 'spec/tables: action: ${kind} is closed and has the fields of the table', mcpTools],
  'FileEditorAction.2': [
    'which fields each command needs',
    'parts/builtin/tools/file-editor: a file is created with its directories, and never over another',
    'parts/builtin/tools/file-editor: a text that cannot be replaced is refused with the reason, and the file stays',
    'parts/builtin/tools/file-editor: lines are inserted behind a line',
    'parts/builtin/tools/file-editor: a file is shown with the numbers of its lines',
  ],
}

export const observation: Sentences = {
  1: ['a union of fourteen kinds', 'spec/tables: the observation kinds are the fourteen of the list, in its order'],
  ...Object.fromEntries(Object.keys(observations).map((kind): [string, Sentence] => {
    const table = 'spec/tables: observation: ${kind} is closed and has the fields of the contract'
    return [kind, ['its fields are not shown there; the contract has them', table]]
  })),
  MCPToolObservation: [
    'its fields are not shown there; the contract has them',
    'spec/tables: observation: ${kind} is closed and has the fields of the contract',
    mcpTools,
  ],
}

export const toolDefinition: Sentences = {
  1: ['a union of twenty-eight kinds', toolKinds, 'schema/openapi: tells the variants of a union apart by kind'],
  2: ['fields are not shown there; the contract has them', toolKinds],
}

export const agentSettings: Sentences = {
  1: [
    'the settings hold a choice of agent',
    'spec/tables: the agent settings have the four fields of the specification',
  ],
  agent_kind: [
    'the built-in agent or an external one',
    'spec/tables: the agent settings have the four fields of the specification',
    'settings/store: 2.5 refuses the kind ${JSON.stringify(kind)}',
  ],
  acp_server: [
    'one of three presets, or a custom server',
    'spec/tables: the agent settings have the four fields of the specification',
    'parts/forms/schema-view: offers the four servers by name',
  ],
  acp_command: [
    'the command line that starts the program',
    'settings/store: 3.3 splits a command line, finds its provider and fills its model',
  ],
  'acp_command.2': [
    'a preset fills in its command',
    'settings/store: shows the command of a preset resolved and stores it empty',
    'agents/acp/launch: starts the command of a preset with the extra arguments and the default model',
  ],
  'acp_command.3': [
    'a command that matches another preset is recognised',
    'settings/providers: ${expected ?? \'no provider\'} is found for ${JSON.stringify(command)}',
    'settings/store: 3.3 splits a command line, finds its provider and fills its model',
  ],
  acp_model: [
    'the model for the agent',
    'agents/acp/agent-session: uses the model of the settings, tells of one that is refused, and switches',
  ],
  'acp_model.2': [
    'a preset saves a concrete model',
    'settings/store: 3.3 takes what the onboarding of a published client sends',
  ],
  'acp_model.3': [
    'a custom server has no list of models',
    'settings/providers: resolves a custom server to nothing but what it says',
  ],
  others: [
    'other settings are not shown there',
    'settings/store: shows the demo agent and the defaults on a fresh server, nulls included',
  ],
}

export const globalSecret: Sentences = {
  1: [
    'a credential is stored under the name of the variable that the agent reads, which is what makes it arrive',
    'spec/rules: a global secret reaches the program of the agent under its name, and changes and goes with it',
  ],
  2: [
    'it can be changed and removed at any time',
    'settings/secrets: stores, lists without values, gives, replaces and deletes',
    'spec/rules: a global secret reaches the program of the agent under its name, and changes and goes with it',
  ],
  3: ['records and endpoints are not shown there', 'spec/answers: global secrets fit their description'],
}
