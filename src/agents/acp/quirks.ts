/**
 * What no capability tells of an agent and was measured: data, by the name of the provider that the settings chose.
 *
 * The name that an agent gives itself decides nothing here (see `agent-info`). Each entry says where it was seen; a version
 * that behaves otherwise is found by `npm run real-agents`. How an agent's tool calls are shown needs no entry: `shape`,
 * `edits`, `exit-code` and `output` read every form from every agent (the table is in `agents.md` beside this file).
 */

export interface Quirks {
  /** The agent's titles of `execute` calls are the commands themselves. */
  readonly titleIsCommand?: true
  /** A turn whose model failed ends with `end_turn` and `usage: null`, or a thread is in the status `systemError`. */
  readonly failsWithoutUsage?: true
  /**
   * A piece of a message that is the agent's own word for a failure of its model. It counts where the answer to the prompt
   * brings no usage, which that of a turn that went well does: a model may write the same words.
   */
  readonly failureText?: RegExp
  /** Words of an error, or of such a piece, by which a login was refused; beside the ones that `failure` knows. */
  readonly loginRefused?: RegExp
  /** The same on stderr, where the error of a prompt does not say it. */
  readonly loginRefusedOnStderr?: RegExp
  /** Lines on stderr that tell of no trouble. */
  readonly idleTalk?: RegExp
  /** It takes no MCP server that is a program, and tells no client. */
  readonly refusesPrograms?: true
  /** A session that is taken up again first runs the calls that were open when it was left, and asks nobody. */
  readonly rerunsOpenCalls?: true
  /** Where this was seen. */
  readonly evidence: string
}

const none: Quirks = { evidence: '' }

const known: Readonly<Record<string, Quirks>> = {
  'claude-code': {
    idleTalk: /^\[session\/create\]/,
    evidence: 'claude-agent-acp 0.100.0: about ten such lines for each session',
  },
  codex: {
    failsWithoutUsage: true,
    evidence: 'codex-acp 2.6.0: acp-transcripts/codex-fail401.jsonl; 400, 429 and 500 are a text with end_turn',
  },
  'gemini-cli': {
    titleIsCommand: true,
    evidence: 'gemini-cli 0.61.0: acp-transcripts/gemini-output.jsonl, no rawInput',
  },
  opencode: {
    loginRefused: /ProviderAuthError/,
    idleTalk: /\blevel=(?:DEBUG|INFO|WARN)\b/,
    evidence: 'opencode 1.18: errors carry data.errorName; acp-transcripts/opencode-fail401.jsonl. It tries 500 again without a word for as long as half an hour; with --print-logs each try is on stderr',
  },
  'qwen-code': {
    loginRefused: /\b(?:401|403) /,
    idleTalk: /^\[perf\] /,
    evidence: 'qwen-code 0.24.4: data.details begins with the status; acp-transcripts/qwen-fail401.jsonl. It tries 500 again without a word, on stderr too (qwen-fail500.jsonl): only the silence tells',
  },
  copilot: {
    failureText: /^Error: (?:Failed to get response from the AI model|Authentication failed with provider|[45]\d\d )/,
    loginRefused: /Authentication failed with provider|\(HTTP (?:401|403)\)/,
    idleTalk: /^Package extraction took /,
    refusesPrograms: true,
    evidence: 'Copilot CLI 1.0.102: acp-transcripts/copilot-fail400.jsonl, -fail401 and -fail500, end_turn without usage; in ~/.copilot/logs: "Rejecting non-http/sse MCP server"',
  },
  cline: {
    idleTalk: /^\[acp\] starting ACP mode/,
    refusesPrograms: true,
    evidence: 'Cline 3.0.65: acp-transcripts/cline-fail401.jsonl, the words of the model\'s API without its status. It tries 500 again without a word, on stderr too (cline-fail500.jsonl): only the silence tells. cline-mcp.jsonl: a server of session/new whose tool its model does not have',
  },
  openhands: {
    // Without a key LiteLLM calls it an error of the server.
    loginRefused: /litellm\.AuthenticationError|litellm\.PermissionDeniedError|Missing credentials\. Please pass an/,
    // LiteLLM calls a 401 whose words it does not know a bad request; the cause is in the traceback, wrapped in columns.
    loginRefusedOnStderr: /AuthenticationError:\s+Error\s+code:\s+401\b/,
    rerunsOpenCalls: true,
    evidence: 'OpenHands CLI 1.16.0: a command that was cancelled runs again 10 s later, with the next message ("cancel while a tool runs"); acp-transcripts/openhands-fail401.jsonl, LiteLLM\'s name of the error in data.details; each further try is told on stderr',
  },
}

export function quirksOf(provider: string | undefined): Quirks {
  return (provider === undefined ? undefined : known[provider]) ?? none
}
