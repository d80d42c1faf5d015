/**
 * The real agents, as far as they differ: the package, the model that stands in for theirs, how the model asks for a
 * command or a file, and their known failures (src/agents/acp/agents.md). `more-agents` has the agents that are no
 * presets of the wire contract; the things that an agent cannot do at all are in `limits`.
 */
import { startAnthropicModel } from '../../test/fixtures/anthropic-model.ts'
import { startGeminiModel } from '../../test/fixtures/gemini-model.ts'
import type { ModelServer } from '../../test/fixtures/model-server.ts'
import type { ModelOptions, ModelToolCall as ToolCall } from '../../test/fixtures/model-step.ts'
import { startOpenAiModel } from '../../test/fixtures/openai-model.ts'
import type { AgentPackage } from './agent-package.ts'
import { moreAgents } from './more-agents.ts'
import { addFile, updateFile } from './patch.ts'

export interface RealAgent {
  /** The name of its entry in the provider table. */
  readonly provider: string
  readonly package: AgentPackage
  readonly args: readonly string[]
  readonly startModel: (options: ModelOptions) => Promise<ModelServer>
  /** The names of the secrets, empty where it takes none, and the path behind the address of the model. */
  readonly keyVariable: string
  readonly baseUrlVariable: string
  readonly baseUrlPath: string
  /** Variables of the server's own environment, which are no secrets. */
  readonly serverVariables?: Readonly<Record<string, string>>
  /** Files below its home, by path; without its key where it has none. */
  readonly homeFiles?: (modelUrl: string, hasKey: boolean) => Readonly<Record<string, object>>
  /** Its own variables for a key and a model, without the server's help. */
  readonly ownVariables: (modelUrl: string) => Readonly<Record<string, string>>
  /** Keeps its retries short. */
  readonly impatience: Readonly<Record<string, string>>
  /** How its model asks for tools. `mayAsk` is false where the agent was told not to ask the user. */
  readonly runCommand: (command: string, mayAsk?: boolean) => ToolCall
  /** How its model has a command run on behind the turn; undefined where it has no such tool. */
  readonly runInBackground?: (command: string) => ToolCall
  /** True where the turn does not end before such a command does. */
  readonly waitsForBackground?: true
  readonly writeFile: (path: string, content: string) => ToolCall
  readonly replaceText: (path: string, before: string, after: string) => readonly ToolCall[]
  /** How its model calls a tool of an MCP server. */
  readonly callMcpTool: (server: string, tool: string) => ToolCall
  /** True where an MCP server that does not start is told of. */
  readonly tellsOfMcpFailures: boolean
  /** True where MCP servers that are programs are not taken; the server must say so. */
  readonly refusesMcpPrograms?: true
  /** True where a session can be copied. */
  readonly forks: boolean
  /** True where a session survives its process. */
  readonly resumes: boolean
  /** True where a denied permission ends the turn. */
  readonly stopsWhenDenied: boolean
}


const claude: RealAgent = {
  provider: 'claude-code',
  package: { name: '@agentclientprotocol/claude-agent-acp', version: '0.100.0', program: 'claude-agent-acp' },
  args: [],
  startModel: startAnthropicModel,
  keyVariable: 'ANTHROPIC_API_KEY',
  baseUrlVariable: 'ANTHROPIC_BASE_URL',
  baseUrlPath: '',
  ownVariables: (url) => ({ ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: url, DISABLE_TELEMETRY: '1' }),
  impatience: { CLAUDE_CODE_MAX_RETRIES: '1' },
  runCommand: (command) => ({ name: 'Bash', input: { command, description: 'Run what was asked for' } }),
  runInBackground: (command) => ({
    name: 'Bash', input: { command, description: 'Run it on', run_in_background: true },
  }),
  writeFile: (file_path, content) => ({ name: 'Write', input: { file_path, content } }),
  replaceText: (file_path, old_string, new_string) => [
    // It edits only files that it has read.
    { name: 'Read', input: { file_path } },
    { name: 'Edit', input: { file_path, old_string, new_string } },
  ],
  callMcpTool: (server, tool) => ({ name: `mcp__${server}__${tool}`, input: {} }),
  tellsOfMcpFailures: false,
  forks: true,
  resumes: true,
  stopsWhenDenied: false,
}

const codex: RealAgent = {
  provider: 'codex',
  package: { name: '@agentclientprotocol/codex-acp', version: '2.6.0', program: 'codex-acp' },
  args: [],
  startModel: startOpenAiModel,
  keyVariable: 'OPENAI_API_KEY',
  baseUrlVariable: 'OPENAI_BASE_URL',
  baseUrlPath: '/v1',
  ownVariables: (url) => {
    const provider = { name: 'Stand-in', base_url: `${url}/v1`, wire_api: 'responses', env_key: 'OPENAI_API_KEY' }
    const config = { model: 'gpt-5.5', model_provider: 'stand-in', model_providers: { 'stand-in': provider } }
    return { OPENAI_API_KEY: 'key', CODEX_CONFIG: JSON.stringify(config), MODEL_PROVIDER: 'stand-in' }
  },
  impatience: {},
  // A command that does not ask for more runs unasked, inside the agent's own sandbox.
  runCommand: (cmd, mayAsk = true) => ({
    name: 'exec_command',
    input: mayAsk ? { cmd, sandbox_permissions: 'require_escalated', justification: 'May I?' } : { cmd },
  }),
  writeFile: (path, content) => applyPatch(addFile(path, content)),
  replaceText: (path, before, after) => [applyPatch(updateFile(path, before, after))],
  // Its model would find the tool by a search first; it may call it all the same.
  callMcpTool: (server, tool) => ({ name: tool, namespace: `mcp__${server}`, input: {} }),
  tellsOfMcpFailures: true,
  forks: true,
  resumes: true,
  stopsWhenDenied: true,
}

const gemini: RealAgent = {
  provider: 'gemini-cli',
  package: { name: '@google/gemini-cli', version: '0.61.0', program: 'gemini' },
  args: ['--acp'],
  startModel: startGeminiModel,
  keyVariable: 'GEMINI_API_KEY',
  baseUrlVariable: 'GEMINI_BASE_URL',
  baseUrlPath: '',
  ownVariables: (url) => ({ GEMINI_API_KEY: 'key', GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_TRUST_WORKSPACE: 'true' }),
  impatience: {},
  runCommand: (command) => ({ name: 'run_shell_command', input: { command, description: 'Run what was asked for' } }),
  writeFile: (file_path, content) => ({ name: 'write_file', input: { file_path, content } }),
  replaceText: (file_path, old_string, new_string) => [
    { name: 'replace', input: { file_path, old_string, new_string, instruction: 'Replace the word' } },
  ],
  callMcpTool: (server, tool) => ({ name: `mcp_${server}_${tool}`, input: {} }),
  tellsOfMcpFailures: false,
  forks: false,
  resumes: false,
  stopsWhenDenied: false,
}

export const realAgents: readonly RealAgent[] = [claude, codex, gemini, ...moreAgents]

function applyPatch(input: string): ToolCall {
  return { name: 'apply_patch', input }
}
