/**
 * Lists special behaviour of agents, by the name of the provider in the settings. Tests have shown the behaviour, which
 * no ACP capability announces. `npm run real-agents` can show that a version behaves differently.
 */

export interface Quirks {
  /** True when the title of an `execute` call is the command. */
  readonly titleIsCommand?: true
  /** True when a prompt's result with `usage: null`, or the status `systemError`, means that the model failed. */
  readonly failsWithoutUsage?: true
  /**
   * Matches the text of a message chunk that reports a failure of the model. A model may write the same text, so the
   * text counts only if the prompt's result has no usage.
   */
  readonly failureText?: RegExp
  /** Matches a refused login in an error or the agent's last text. failure.ts has the patterns for all agents. */
  readonly loginRefused?: RegExp
  /** Matches a refused login on stderr, for an agent whose response does not report it. */
  readonly loginRefusedOnStderr?: RegExp
  /** Matches lines on stderr that report no trouble. */
  readonly idleTalk?: RegExp
  /** True when the agent ignores MCP servers on stdio, which it would have to start as programs. */
  readonly ignoresStdioServers?: true
  /** True when the agent, after a resume or a cancel, runs a session's unfinished calls again without asking. */
  readonly rerunsOpenCalls?: true
  /** The tested version, and what shows the quirks, such as recorded transcripts. */
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
    evidence: 'opencode 1.18: errors carry data.errorName; acp-transcripts/opencode-fail401.jsonl. '
      + 'It tries 500 again without a word for as long as half an hour; with --print-logs each try is on stderr',
  },
  'qwen-code': {
    loginRefused: /\b(?:401|403) /,
    idleTalk: /^\[perf\] /,
    evidence: 'qwen-code 0.24.4: data.details begins with the status; acp-transcripts/qwen-fail401.jsonl. '
      + 'It tries 500 again without a word, on stderr too (qwen-fail500.jsonl): only the silence tells',
  },
  copilot: {
    failureText: /^Error: (?:Failed to get response from the AI model|Authentication failed with provider|[45]\d\d )/,
    loginRefused: /Authentication failed with provider|\(HTTP (?:401|403)\)/,
    idleTalk: /^Package extraction took /,
    ignoresStdioServers: true,
    evidence: 'Copilot CLI 1.0.102: acp-transcripts/copilot-fail400.jsonl, -fail401 and -fail500, '
      + 'end_turn without usage; in ~/.copilot/logs: "Rejecting non-http/sse MCP server"',
  },
  cline: {
    idleTalk: /^\[acp\] starting ACP mode/,
    ignoresStdioServers: true,
    evidence: 'Cline 3.0.65: acp-transcripts/cline-fail401.jsonl, the words of the model\'s API without its status. '
      + 'It tries 500 again without a word, on stderr too (cline-fail500.jsonl): only the silence tells. '
      + 'cline-mcp.jsonl: a server of session/new whose tool its model does not have',
  },
  openhands: {
    // LiteLLM reports a missing key with the last of these texts.
    loginRefused: /litellm\.AuthenticationError|litellm\.PermissionDeniedError|Missing credentials\. Please pass an/,
    // LiteLLM reports a 401 with unknown text as a bad request. Its traceback on stderr has the cause in wrapped lines.
    loginRefusedOnStderr: /AuthenticationError:\s+Error\s+code:\s+401\b/,
    rerunsOpenCalls: true,
    evidence: 'OpenHands CLI 1.16.0: a command that was cancelled runs again 10 s later, with the next message '
      + '("cancel while a tool runs"); acp-transcripts/openhands-fail401.jsonl, '
      + 'LiteLLM\'s name of the error in data.details; each further try is told on stderr',
  },
}

export function quirksOf(provider: string | undefined): Quirks {
  return (provider === undefined ? undefined : known[provider]) ?? none
}
