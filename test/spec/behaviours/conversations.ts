/** Behaviours of runs, conversations and their recovery; see table.ts. */
import type { BehaviourSection } from './table.ts'

export const conversations: readonly BehaviourSection[] = [
  {
    title: 'Run, messages, confirmation',
    behaviours: [
      ['run returns at once; 409 while one is under way', 'e2e/runs: a run while one is under way is 409'],
      [
        'a failed run is one error and the status error',
        'spec/rules: a run that fails ends with one error of the conversation and its status, and can go on',
      ],
      [
        'a message with run during a run is served; in the tail too',
        'conversation/run/runner: a message with run that comes ${step} is served',
        'e2e/races: a message to a conversation that finishes at this moment is served by a run',
      ],
      [
        'accept runs; reject answers each action with the reason',
        'parts/builtin/driving: with AlwaysConfirm the actions wait, and approval executes them without asking again',
        'parts/builtin/driving: a rejection answers every action and starts nothing',
      ],
      [
        'the table of states',
        'conversation/log/status-table: ${status} goes where the contract says',
        'e2e/runs: a message or a run in each state leads where the table says',
      ],
      [
        'text, thinking and finishing skip confirmation; a pause keeps waiting',
        'parts/builtin/confirmation: an answer that only thinks or finishes never waits',
        'parts/builtin/driving: waiting survives a restart, a pause and a message',
      ],
      [
        'pause stops between steps; run goes on; when idle too',
        'parts/builtin/driving: a pause lets the tools of the step end, and a run goes on after them',
        'e2e/runs: stop in each state that has no turn',
      ],
      [
        'interrupt ends a call of the model; repeated ones are safe',
        'e2e/built-in-stops: an interrupt while the model answers closes its connection',
        'e2e/races: ten interrupts at once stop once',
      ],
      [
        'an action is answered in any of three ways',
        'conversation/log/state: an action is open until it is answered in any of three ways',
      ],
      [
        'each change of the state is published',
        'conversation/conversation: a state update is recorded when the value changes, and not for an equal one',
      ],
      ['stats have no lists of single calls', 'conversation/log/info: the lists of single calls are always empty'],
      [
        'deltas: one for each chunk',
        'conversation/run/turn-runner: deltas reach live readers in their place and are not stored',
      ],
      [
        'content as a text or a list; skills once',
        'e2e/socket: the content of a message may be a text, or null',
        'e2e/skills: instructions and memory are in the dynamic context, Agent Skills are listed, and a trigger ' +
          'gives its skill once',
      ],
      [
        'errors of tools become AgentErrorEvents, and the loop goes on',
        'parts/builtin/tool-calls: an unknown tool keeps its name, and the error lists the tools that there are',
        'parts/builtin/sequences: a tool that throws is an error of the agent',
      ],
      [
        'security_risk only counts with an analyzer',
        'parts/builtin/confirmation: without an analyzer a declared risk counts as unknown',
      ],
      [
        'one system prompt before the first message of the user',
        'e2e/context: the suffixes of the settings go to the model, and stand in the history',
      ],
      [
        'results in the order of calls',
        'parts/builtin/execute: results are told in the order of the calls, whichever tool ends first',
      ],
      [
        'an answer of thoughts alone gets a correction',
        'parts/builtin/sequences: an answer of thoughts alone is corrected, and its thoughts are kept',
      ],
      [
        'a request that is too long is condensed',
        'parts/builtin/condensing/condenser: a request that is too long is answered with a condensation, and ' +
          'made again',
      ],
    ],
  },
  {
    title: 'Conversations',
    behaviours: [
      [
        '201 new, 200 for an id that exists',
        'e2e/create: an id that exists already gives the stored conversation and changes nothing',
      ],
      [
        'agent, agent_settings, defaults, faults',
        'e2e/create: creates a conversation with ${what}',
        'e2e/create: refuses what is not valid and says where',
        'note: without an agent or a workspace there are defaults (decisions 20)',
      ],
      [
        'title, tags, hooks are stored',
        'e2e/conversations: the list survives a restart, in order, with everything that was changed',
      ],
      [
        'secrets of the request reach the conversation; tokens open',
        'e2e/create: secrets go in and never come out: not in answers, frames, the log of the server or its files',
        'conversation/agent/vault: an agent of the request may hold tokens instead of its secrets',
      ],
      [
        'lists: defaults, orders, pages, limits',
        'e2e/conversations: the list is sorted by creation, newest first, unless asked otherwise',
        'e2e/conversations: refuses ${base}${query.slice(0, 30)} with 422 at "${name}"',
      ],
      ['counts by status', 'e2e/conversations: lists and counts can be limited to a status'],
      [
        '404, 422, batches with nulls',
        'e2e/conversations: a batch keeps the order, gives null for what is not there, and takes 99 ids',
        'e2e/driving: every route of a conversation is 404 for an unknown one and 422 for an id that is no UUID',
      ],
      ['skills are left out unless asked for', 'e2e/conversations: skills of the agent are left out unless asked for'],
      [
        'delete keeps the workspace',
        'e2e/conversations: delete takes a conversation away, keeps its workspace, and is 404 the second time',
        'note: an unknown id is 404, not 400 (decisions 17)',
      ],
      ['run: 404, 409', 'e2e/runs: a run while one is under way is 409'],
      [
        'secrets in three forms',
        'e2e/driving: secrets in their three forms reach the agent under their names, the conversation\'s own ' +
          'before the global ones',
      ],
      [
        'policy and analyzer',
        'e2e/driving: a policy is stored, shown and published once, and decides the next question',
        'e2e/driving: an analyzer is set, and taken away with null',
      ],
      [
        'PATCH of title and tags',
        'e2e/conversations: a patch changes the title and replaces the tags; it counts as a change of the conversation',
        'e2e/conversations: refuses titles and tags that are not valid',
        'note: an unknown id is 404, not success false (decisions 17)',
      ],
      ['the final response', 'conversation/log/event-reader: the final response with ${what} is "${response}"'],
      [
        'switch_profile and switch_llm',
        'e2e/profiles: an unknown profile, a malformed name, an unknown conversation and an external agent are refused',
        'e2e/switching: a key may come as a token of this server, and what is no token of it is refused',
      ],
      [
        'switch_acp_model',
        'e2e/driving: a model is switched before the first run and between turns; what the agent refuses is 400',
      ],
      [
        'fork: 201, 404, 409, from an event',
        'e2e/driving: a fork up to an event ends there; unknown events and taken ids are refused without a trace',
      ],
      [
        'navigate: 200, 404, over a restart, before all',
        'e2e/driving: the head moves to an event and in front of all, nothing is deleted, and the next event ' +
          'moves it on',
      ],
      [
        'the model that is shown',
        'conversation/log/info: the model is that of the session, and before there is one the chosen one',
      ],
      [
        'parents: both sides, same workspace',
        'e2e/create: a parent needs the same workspace, and both sides show the link',
        'conversation/list/listing: knows children by their parent',
      ],
      [
        'agent_profile_id',
        'parts/profiles/profiles: a conversation starts with the agent of a profile, and says which',
        'parts/profiles/profiles: what a profile refers to and is not there: 422 for a server, 404 for a model',
      ],
      ['generate_title is no route', 'access: has a route for every right but the socket, and none beside'],
      [
        'titles: once, from the first message, cut where the model fails',
        'conversation/conversation: the first message gives the title, in the order of the settings',
        'e2e/context: a model that cannot be reached for the title leaves the message, shortened, and a word in ' +
          'the history',
      ],
    ],
  },
  {
    title: 'Persistence, recovery',
    behaviours: [
      [
        'a stored running becomes error, open actions are answered',
        'conversation/opening: a run whose server was killed becomes an error with an answer to every open ' +
          'action, and runs again',
      ],
      [
        'after a kill everything is listed and goes on; idle ones are not opened',
        'e2e/restart: after a kill in mid-turn everything acknowledged is there, the run has ended with an ' +
          'error, and it can go on',
        'conversation/list/service: a start ends what a killed server left running, and opens nothing else',
        'conversation/list/service: opens a conversation once, whoever asks for it at the same time',
      ],
      [
        'a switched model survives',
        'e2e/switching: the switch outlives a kill of the server, and its key is sealed in the log',
      ],
      [
        'a workspace is made, and made a repository',
        'e2e/create: takes any folder as a workspace, makes it, and makes it a repository',
      ],
      [
        'secrets survive with the same key; another key leaves them out',
        'conversation/agent/vault: a secret that no key opens any more is left out',
      ],
      [
        'a folder of another id is not served',
        'conversation/list/service: a folder whose name is not the id of its conversation is not served',
      ],
      [
        'gaps, doubles and long logs',
        'e2e/damage: one flipped bit, ${caches} the caches, costs one event, which the log of the server and ' +
          'verify name',
        'e2e/recorded-folders: a folder of ${version} is opened ${caches} its caches, and everything in it is as ' +
          'it was',
      ],
      [
        'a start survives a broken conversation',
        'conversation/list/service: one conversation that cannot be read does not keep the others from being served',
      ],
      [
        'storing does not change updated_at',
        'conversation/conversation: a patch changes title and tags, and the time of the change',
      ],
    ],
  },
]
