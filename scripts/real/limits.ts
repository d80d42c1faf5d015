/**
 * The known limits of the agents themselves, each with the scenario in which it shows and the evidence for it: data.
 *
 * A check that fails as a limit says is no failure of the server. `checks` are beginnings of the checks' names; a limit
 * without one is told, and explains no failure.
 */

export interface Limit {
  readonly agent: string
  /** The scenarios' names. */
  readonly scenarios: readonly string[]
  readonly checks: readonly string[]
  readonly limit: string
  readonly evidence: string
}

/** The scenarios in which two notes are left. */
const turns = ['turn, asked and allowed', 'turn that never asks', 'mode that is not offered']

export const limits: readonly Limit[] = [
  {
    agent: 'openhands',
    scenarios: turns,
    checks: ['the text is kept'],
    limit: 'The text that its model says beside a call is told as a thought, with the heading "**Thought**:".',
    evidence: 'test/fixtures/acp-transcripts/openhands-slow.jsonl: agent_thought_chunk "First this."',
  },
  {
    agent: 'cline',
    scenarios: turns,
    checks: ['the file was written'],
    limit: 'A file that its tool apply_patch adds loses the line feed at its end.',
    evidence: 'the file of this scenario has "from-the-tool" without the line feed that the patch has',
  },
  {
    agent: 'cline',
    scenarios: ['tool of an MCP server'],
    checks: [],
    limit: 'It takes the MCP servers of session/new without a word and starts none of them; the server says so in ' +
      'its place.',
    evidence: 'test/fixtures/acp-transcripts/cline-mcp.jsonl: "Model tried to call unavailable tool"',
  },
  {
    agent: 'openhands',
    scenarios: ['file that comes slowly'],
    checks: [],
    limit: 'It asks its model for whole answers, so no input grows.',
    evidence: 'its requests have no "stream"; test/fixtures/acp-transcripts/openhands-slow.jsonl: one tool_call, whole',
  },
  {
    agent: 'openhands',
    scenarios: ['question of a slow command'],
    checks: [],
    limit: 'It asks under an id of its own, with the title "Confirm Agent Actions" and no input; the call itself is ' +
      'told before.',
    evidence: 'test/fixtures/acp-transcripts/openhands-slow.jsonl: session/request_permission',
  },
  {
    agent: 'openhands',
    scenarios: ['turn, asked and allowed'],
    checks: [],
    limit: 'Over ACP it takes key, address and model from its own settings alone, from no variable.',
    evidence: 'test/fixtures/acp-transcripts/openhands-nokey.jsonl; openhands_cli/entrypoint.py: ' +
      '--override-with-envs is not handed to "acp"',
  },
  {
    agent: 'openhands',
    scenarios: ['cancel while a tool runs'],
    checks: [],
    limit: 'All its programs of a user run their commands in one tmux server, which goes on when the program that ' +
      'started it ends without this server.',
    evidence: 'after record-agents: tmux -Lopenhands, its parent process 1, with sessions of folders that are gone',
  },
  {
    agent: 'openhands',
    scenarios: ['cancel while a tool runs', 'agent killed in mid-turn', 'server restart in mid-turn'],
    checks: [],
    limit: 'A session that is loaded runs the calls that were open again, without a question; so the server gives it ' +
      'a new one and a record.',
    evidence: 'with session/load: the process of the cancelled command ended, and a second one began with the next ' +
      'message; the request then has its result',
  },
  {
    agent: 'gemini-cli',
    scenarios: ['question of a slow command'],
    checks: [],
    limit: 'Its API sends a call whole, so no input grows.',
    evidence: 'ai.google.dev/api/generate-content: FunctionCall.args; test/fixtures/pace.test.ts',
  },
  {
    agent: 'cline',
    scenarios: ['model answers 401'],
    checks: ['the history says so'],
    limit: 'A failure of its model is told in the words of the model\'s API alone, without a status.',
    evidence: 'test/fixtures/acp-transcripts/cline-fail401.jsonl: the error of session/prompt',
  },
  {
    agent: 'opencode',
    scenarios: ['model answers 401'],
    checks: ['the history says so'],
    limit: 'A failure of its model is told in the words of the model\'s API alone, without a status; its log has no ' +
      'status either.',
    evidence: 'test/fixtures/acp-transcripts/opencode-fail401.jsonl; its stderr: error.error="AI_APICallError: The ' +
      'script says so"',
  },
  {
    agent: 'copilot',
    scenarios: ['model answers 401'],
    checks: ['and answered'],
    limit: 'It makes one text of the messages of a prompt: the one that is sent again and the next, which the ' +
      'stand-in does not know.',
    evidence: 'its request after the failure: "Please leave two notes in this folder.\\nAre you still there?"',
  },
  {
    agent: 'copilot',
    scenarios: ['no credential, then one'],
    checks: ['and says that a login is required', 'and the state, which key'],
    limit: 'Offline it ends at its start without the address of a provider; nothing asks for a login.',
    evidence: 'its stderr, which the error carries: "Offline mode requires a local model provider. Set ' +
      'COPILOT_PROVIDER_BASE_URL"',
  },
  {
    agent: 'copilot',
    scenarios: ['turn that never asks', 'tool of an MCP server'],
    checks: ['the last text is the last message', 'and the agent has the last word'],
    limit: 'In its mode "autopilot" it asks its model on until that calls task_complete; every answer is a part of ' +
      'one message.',
    evidence: 'its requests: "You have not yet marked the task as complete using the task_complete tool."',
  },
  {
    agent: 'copilot',
    scenarios: ['tool of an MCP server'],
    checks: [],
    limit: 'It takes no MCP server that is a program, and says so only in a log of its own; the server says so in ' +
      'its place.',
    evidence: '~/.copilot/logs: "Rejecting non-http/sse MCP server "words" from client"',
  },
  {
    agent: 'copilot',
    scenarios: ['denied'],
    checks: ['the agent went on, or not'],
    limit: 'A refusal ends its turn, with the text "Info: Operation cancelled by user".',
    evidence: 'the last message of this scenario',
  },
  {
    agent: 'copilot',
    scenarios: ['agent killed in mid-turn', 'server restart in mid-turn'],
    checks: ['and answered'],
    limit: 'After a resume its next answer begins with a warning about calls without a result.',
    evidence: 'the last message: "Warning: 1 tool call(s) had no recorded result at resume."',
  },
  {
    agent: 'copilot',
    scenarios: ['work behind the turn'],
    checks: [],
    limit: 'It leaves its prompt open for as long as a command of it runs behind, so no work comes after its turn.',
    evidence: 'test/fixtures/acp-transcripts/copilot-behind.jsonl: the answer to the prompt comes after the command ' +
      'has ended',
  },
  {
    agent: 'copilot',
    scenarios: ['turn, asked and allowed'],
    checks: [],
    limit: 'Without a network only models of the user run (COPILOT_PROVIDER_BASE_URL); GitHub\'s own endpoints were ' +
      'not driven.',
    evidence: '"copilot help providers": COPILOT_OFFLINE needs a provider of one\'s own',
  },
]

export function limitsOf(agent: string, scenario: string): readonly Limit[] {
  return limits.filter((one) => one.agent === agent && one.scenarios.includes(scenario))
}

export function isKnown(check: string, among: readonly Limit[]): boolean {
  return among.some(({ checks }) => checks.some((beginning) => check.startsWith(beginning)))
}
