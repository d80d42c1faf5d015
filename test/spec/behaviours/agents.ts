/** Behaviours of external agents, and of the built-in agent towards its model; see table.ts. */
import type { BehaviourSection } from './table.ts'

export const agents: readonly BehaviourSection[] = [
  {
    title: 'ACP agent',
    behaviours: [
      [
        'start: placeholder prompt, stored session, resume in the same folder, typed failures',
        'agents/acp/agent-session: records a placeholder system prompt once, then what the agent says',
        'agents/acp/agent-session: resumes its session after a restart',
        'agents/acp/agent-session: does not take up a session of another folder',
        'agents/acp/agent-failures: fails with ${code} when the agent does "${behaviour}"',
      ],
      [
        'environment: order, removed variables, files',
        'agents/acp/launch: gives variables of the settings on top of global secrets and beneath the ' +
          'conversation\'s own',
        'agents/acp/launch: removes the key where a login is found',
        'agents/acp/credential-files: lends each file for its owner alone, below the runtime directory, and says ' +
          'where it is',
      ],
      [
        'the method of a login',
        'agents/acp/agent-session: logs in with the method that the credentials ask for, where the agent offers it',
      ],
      [
        'models: applied, refused at the start, switched',
        'agents/acp/agent-session: uses the model of the settings, tells of one that is refused, and switches',
      ],
      [
        'calls: one action, one answer, masked, cut',
        'agents/acp/turn-calls: gives each call one action and one answer, whatever comes twice',
        'agents/acp/turn-calls: answers every open call with an error when it is not waited for any more',
        'agents/acp/turn-events: masks secrets in every text, joined first',
      ],
      [
        'the end of a turn is a message; figures are recorded',
        'agents/acp/agent-turn: counts only the difference of a cumulative cost',
        'note: text is a MessageEvent, not a FinishAction (decisions 3)',
      ],
      [
        'requests for permission',
        'agents/acp/permissions: ${JSON.stringify(policy)}: ${decision} when offered [${kinds}]',
        'note: the policy decides, not the first option (decisions 24)',
      ],
      [
        'lines that are no JSON are ignored; the idle time begins anew',
        'rpc/lines: reports lines that are not JSON as short printable noise and goes on',
        'agents/acp/agent-turn: lets the idle clock rest while a question is open',
      ],
      [
        'a question beside the work',
        'agents/acp/aside: answers from a copy of the session, denied every permission, masked, counted, without ' +
          'a trace',
      ],
    ],
  },
  {
    title: 'Model input and tool-call repair',
    behaviours: [
      [
        'events become messages',
        'parts/builtin/view: plain messages of the user that follow each other become one, in their order; others stay',
        'parts/builtin/view: the calls of one answer are one message with the thoughts of the first, and their ' +
          'results follow in their order',
      ],
      [
        'a later parallel action with a thought',
        'parts/builtin/sequences: the thoughts of an answer are in its first action alone',
      ],
      [
        'a call that cannot run stays in the message',
        'parts/builtin/view: a call that could not be executed is shown with its error, one without an answer is not',
      ],
      [
        'dynamic context is a second block',
        'parts/builtin/view: the context of a conversation is a second block of the system message',
      ],
      ['completion logs', 'e2e/built-in-models: no completion is logged unless it is asked for'],
      [
        'answers: calls, text, thoughts, nothing',
        'parts/builtin/weather: a refusal in words is an answer',
        'parts/builtin/weather: an answer that was broken off for its content is corrected once, and its calls ' +
          'are not executed',
      ],
      [
        'a message during the last step is served',
        'parts/builtin/weather: a message during the last answer is told after that answer, also when the ' +
          'history is read anew',
      ],
      [
        'filter_tools_regex',
        'parts/builtin/tools/registry: the filter is matched at the start of the names of configured tools only',
        'parts/mcp/servers: gives only what the filter lets through',
      ],
      [
        'include_default_tools',
        'parts/builtin/tools/registry: a name that is given twice is refused, unless it is that of a default tool',
        'parts/builtin/tools/registry: an empty list of default tools leaves the named tools alone',
      ],
    ],
  },
]
