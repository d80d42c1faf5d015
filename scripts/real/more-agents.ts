/**
 * The real agents that are custom servers in the wire contract: opencode, Qwen Code, Copilot CLI, Cline, OpenHands CLI.
 *
 * All of them speak OpenAI's Chat Completions with the stand-in. Where an agent takes the address of a model from a
 * file of its own only, the file is written into its home. Their tools are named as they were seen in their requests.
 */
import type { ModelToolCall as ToolCall } from '../../test/fixtures/model-step.ts'
import { startOpenAiModel } from '../../test/fixtures/openai-model.ts'
import type { RealAgent } from './agents.ts'
import { addFile, updateFile } from './patch.ts'

const model = 'gpt-mock'

const shared = {
  startModel: startOpenAiModel,
  baseUrlPath: '/v1',
  impatience: {},
  tellsOfMcpFailures: false,
  forks: false,
  stopsWhenDenied: false,
}

const opencode: RealAgent = {
  ...shared,
  provider: 'opencode',
  package: { name: 'opencode-ai', version: '1.18.33', program: 'opencode' },
  args: ['acp', '--print-logs', '--log-level', 'WARN'],
  keyVariable: '',
  baseUrlVariable: '',
  // Otherwise it asks the network for a list of models at its start.
  serverVariables: { OPENCODE_DISABLE_MODELS_FETCH: 'true' },
  homeFiles: (url) => ({ '.config/opencode/opencode.json': opencodeConfig(url) }),
  ownVariables: (url) => ({
    OPENCODE_CONFIG_CONTENT: JSON.stringify(opencodeConfig(url)), OPENCODE_DISABLE_MODELS_FETCH: 'true',
  }),
  runCommand: (command) => ({ name: 'bash', input: { command, description: 'Run what was asked for' } }),
  writeFile: (path, content) => ({ name: 'apply_patch', input: { patchText: addFile(path, content) } }),
  replaceText: (path, before, after) => [
    { name: 'apply_patch', input: { patchText: updateFile(path, before, after) } },
  ],
  callMcpTool: (server, tool) => ({ name: `${server}_${tool}`, input: {} }),
  forks: true,
  resumes: true,
  stopsWhenDenied: true,
}

const qwen: RealAgent = {
  ...shared,
  provider: 'qwen-code',
  package: { name: '@qwen-code/qwen-code', version: '0.24.4', program: 'qwen' },
  args: ['--acp'],
  keyVariable: 'OPENAI_API_KEY',
  baseUrlVariable: 'OPENAI_BASE_URL',
  serverVariables: { OPENAI_MODEL: model },
  ownVariables: (url) => ({ OPENAI_API_KEY: 'key', OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: model }),
  runCommand: (command) => ({
    name: 'run_shell_command', input: { command, is_background: false, description: 'Run what was asked for' },
  }),
  runInBackground: (command) => ({
    name: 'run_shell_command', input: { command, is_background: true, description: 'Run it on' },
  }),
  writeFile: (file_path, content) => ({ name: 'write_file', input: { file_path, content } }),
  replaceText: (file_path, old_string, new_string) => [
    // It edits only files that it has read.
    { name: 'read_file', input: { file_path } },
    { name: 'edit', input: { file_path, old_string, new_string } },
  ],
  callMcpTool: (server, tool) => ({ name: `mcp__${server}__${tool}`, input: {} }),
  resumes: true,
  stopsWhenDenied: true,
}

const copilot: RealAgent = {
  ...shared,
  provider: 'copilot',
  package: { name: '@github/copilot', version: '1.0.102', program: 'copilot' },
  args: ['--acp'],
  keyVariable: 'COPILOT_PROVIDER_API_KEY',
  baseUrlVariable: 'COPILOT_PROVIDER_BASE_URL',
  serverVariables: { COPILOT_MODEL: model, COPILOT_OFFLINE: 'true' },
  ownVariables: (url) => ({
    COPILOT_PROVIDER_API_KEY: 'key', COPILOT_PROVIDER_BASE_URL: `${url}/v1`, COPILOT_MODEL: model,
    COPILOT_OFFLINE: 'true',
  }),
  runCommand: (command) => ({ name: 'bash', input: { command, description: 'Run what was asked for', mode: 'sync' } }),
  runInBackground: (command) => ({ name: 'bash', input: { command, description: 'Run it on', mode: 'async' } }),
  waitsForBackground: true,
  writeFile: (path, content) => ({ name: 'apply_patch', input: addFile(path, content) }),
  replaceText: (path, before, after) => [{ name: 'apply_patch', input: updateFile(path, before, after) }],
  callMcpTool: (server, tool) => ({ name: `${server}-${tool}`, input: {} }),
  refusesMcpPrograms: true,
  resumes: true,
}

const cline: RealAgent = {
  ...shared,
  provider: 'cline',
  package: { name: 'cline', version: '3.0.65', program: 'cline' },
  args: ['--acp'],
  keyVariable: 'CLINE_API_KEY',
  baseUrlVariable: '',
  serverVariables: { CLINE_PROVIDER: 'openai-compatible', CLINE_MODEL: model },
  homeFiles: (url) => ({ '.cline/data/settings/providers.json': clineProviders(url) }),
  ownVariables: () => ({ CLINE_API_KEY: 'key', CLINE_PROVIDER: 'openai-compatible', CLINE_MODEL: model }),
  runCommand: (command) => ({ name: 'run_commands', input: { commands: [command] } }),
  writeFile: (path, content) => ({ name: 'apply_patch', input: { input: addFile(path, content) } }),
  replaceText: (path, before, after) => [{ name: 'apply_patch', input: { input: updateFile(path, before, after) } }],
  callMcpTool: (server, tool) => ({ name: `${server}__${tool}`, input: {} }),
  refusesMcpPrograms: true,
  resumes: true,
}

const openhands: RealAgent = {
  ...shared,
  provider: 'openhands',
  package: { name: 'openhands', version: '1.16.0', program: 'openhands', isPython: true },
  args: ['acp'],
  keyVariable: '',
  baseUrlVariable: '',
  homeFiles: (url, hasKey) => ({ '.openhands/agent_settings.json': openhandsSettings(url, hasKey) }),
  ownVariables: () => ({ LITELLM_LOCAL_MODEL_COST_MAP: 'True', OPENHANDS_SUPPRESS_BANNER: '1' }),
  runCommand: (command) => ({
    name: 'terminal', input: { command, security_risk: 'LOW', summary: 'Run what was asked for' },
  }),
  writeFile: (path, file_text) => openhandsEdit({ command: 'create', path, file_text }),
  replaceText: (path, old_str, new_str) => [openhandsEdit({ command: 'str_replace', path, old_str, new_str })],
  callMcpTool: (server, tool) => ({
    name: `${server}_${tool}`, input: { summary: 'Call the tool', security_risk: 'LOW' },
  }),
  // The server does not: its open calls would run again.
  resumes: false,
}

export const moreAgents: readonly RealAgent[] = [opencode, qwen, copilot, cline, openhands]

function opencodeConfig(url: string): object {
  const options = { baseURL: `${url}/v1`, apiKey: 'key' }
  const provider = {
    npm: '@ai-sdk/openai-compatible', name: 'Stand-in', options, models: { [model]: { name: 'Stand-in' } },
  }
  return { provider: { 'stand-in': provider }, model: `stand-in/${model}`, small_model: `stand-in/${model}` }
}

function clineProviders(url: string): object {
  const provider = 'openai-compatible'
  const settings = { provider, apiKey: 'key', model, baseUrl: `${url}/v1` }
  const entry = { settings, updatedAt: '2026-01-01T00:00:00.000Z', tokenSource: 'manual' }
  return { version: 1, lastUsedProvider: provider, modes: {}, providers: { [provider]: entry } }
}

/** Only these settings count over ACP. Its retries are kept short. */
function openhandsSettings(url: string, hasKey: boolean): object {
  const patience = { num_retries: 1, retry_min_wait: 1, retry_max_wait: 1 }
  return {
    kind: 'Agent',
    llm: {
      model: `openai/${model}`, base_url: `${url}/v1`, usage_id: 'agent', ...patience,
      ...(hasKey ? { api_key: 'key' } : {}),
    },
  }
}

function openhandsEdit(input: Readonly<Record<string, unknown>>): ToolCall {
  return { name: 'file_editor', input: { ...input, security_risk: 'LOW', summary: 'Edit the file' } }
}
