/**
 * `node dist/scripts/record-agents.js FOLDER [NAME ...]`: records exchanges with the real agents for the tests.
 *
 * Each agent is the published package, its model a stand-in that speaks 80 tokens a second; their messages over stdio
 * go into `FOLDER/<name>.jsonl`, one message a line with its time and direction. Folders and addresses of this machine
 * become `/workspace`, `/home/demo`, `/opt/agents` and `http://model`; lists of commands, skills and models, which take
 * most of the room, are emptied, and texts of more than 2,000 characters are cut. The expected events of a recording
 * (test/fixtures/acp-expected) are read before they are accepted, since the tests compare with them.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { builtInProviders } from '../src/settings/providers-table.ts'
import type { ModelStep } from '../test/fixtures/model-step.ts'
import { commandLine } from './command-line.ts'
import { installAgent } from './real/agent-package.ts'
import { rootFolder } from './real/package-folder.ts'
import { realAgents, type RealAgent } from './real/agents.ts'
import { runStdioTurn, type StdioMessage } from './real/stdio-turn.ts'

interface Recording {
  readonly name: string
  /** Which agents have something to show; all by default. */
  readonly only?: readonly string[]
  /** The agent runs in its own mode instead of the mode that the server asks for. */
  readonly inOwnMode?: true
  /** The agent may not end its turn: it is left alone after a minute, and its stderr is kept beside the recording. */
  readonly mayHang?: true
  /** Its own files have no key. */
  readonly withoutKey?: true
  /** With the MCP server `words` of test/fixtures. */
  readonly withMcpServer?: true
  readonly steps: (agent: RealAgent, workspace: string) => readonly ModelStep[]
}

const todos = [
  { content: 'Look around', activeForm: 'Looking around', status: 'completed' },
  { content: 'Write the note', activeForm: 'Writing the note', status: 'in_progress' },
  { content: 'Check it', activeForm: 'Checking it', status: 'pending' },
]
const printing = 'for word in one two three; do echo $word; sleep 0.3; done; echo oops >&2; exit 3'

const mcpServer = fileURLToPath(new URL('../test/fixtures/mcp-server.js', import.meta.url))
const listsLeftOut = ['availableCommands', 'availableModels', 'availableSkills', 'availableSkillDetails']
const moreAgents = ['opencode', 'qwen-code', 'copilot', 'cline', 'openhands']
/** Long enough to come in many pieces. */
const removing = 'rm -rf "./reports/2025" "./reports/2026" "./archive\tphotos" ./build/output && echo "all gone"'

const failures = ([400, 401, 500] as const).map((failure): Recording => ({
  name: `fail${failure}`,
  only: moreAgents,
  mayHang: true,
  steps: () => Array.from({ length: 50 }, () => ({ failure, text: 'The script says so' })),
}))

const recordings: readonly Recording[] = [
  ...failures,
  { name: 'output', steps: (agent) => [{ toolCall: agent.runCommand(printing) }] },
  {
    name: 'edit',
    steps: (agent, workspace) => {
      const path = join(workspace, 'story.txt')
      return agent.replaceText(path, 'there was a fox\n', 'there was a hen\n').map((toolCall) => ({ toolCall }))
    },
  },
  {
    name: 'slow',
    only: moreAgents,
    steps: (agent) => [{ text: 'First this.', toolCall: agent.runCommand(removing) }, { text: 'Done with it.' }],
  },
  // Copilot leaves its prompt open for as long as a command of it runs behind.
  {
    name: 'behind',
    only: ['copilot'],
    steps: ({ runInBackground }) => {
      const toolCall = runInBackground?.('sleep 3; echo the-background-is-done')
      return toolCall === undefined ? [] : [{ toolCall }, { text: 'It runs on.' }, { text: 'It is done.' }]
    },
  },
  // Codex tells of commands that only read as of reading, without the command.
  { name: 'read', only: ['codex'], steps: (agent) => [{ toolCall: agent.runCommand('cat story.txt', false) }] },
  // A model judges the commands that Codex does not ask the user about in its own mode.
  { name: 'guardian', only: ['codex'], inOwnMode: true, steps: (agent) => [{ toolCall: agent.runCommand(printing) }] },
  {
    name: 'plan',
    only: ['claude-code'],
    steps: () => [{ thought: 'Three steps.', toolCall: { name: 'TodoWrite', input: { todos } } }],
  },
  // It starts without a key, and tells only in a turn.
  { name: 'nokey', only: ['openhands'], withoutKey: true, steps: () => [] },
  // Cline takes the servers of session/new and starts none.
  {
    name: 'mcp',
    only: ['cline'],
    withMcpServer: true,
    steps: (agent) => [{ toolCall: agent.callMcpTool('words', 'read_word') }, { text: 'I have read it.' }],
  },
  {
    name: 'todos',
    only: ['opencode'],
    steps: () => [
      {
        toolCall: {
          name: 'todowrite',
          input: { todos: todos.map(({ content, status }) => ({ content, status, priority: 'high' })) },
        },
      },
    ],
  },
]

const { words: [target = '', ...names] } = commandLine({
  command: 'node dist/scripts/record-agents.js',
  help: 'Records exchanges with the real agents for the tests.',
  words: { name: 'FOLDER [NAME]', help: 'Where to write, and the recordings; all by default', isRequired: true },
})
for (const agent of realAgents) {
  for (const recording of recordings) {
    if (recording.only?.includes(agent.provider) === false) continue
    const title = `${agent.provider.replace(/-.*/, '')}-${recording.name}`
    if (names.length === 0 || names.includes(title)) await record(agent, title, recording)
  }
}

async function record(
  agent: RealAgent, title: string, { steps, inOwnMode, mayHang, withMcpServer, withoutKey }: Recording,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'record-'))
  const [workspace, home] = [join(folder, 'workspace'), join(folder, 'home')]
  await Promise.all([mkdir(workspace), mkdir(home)])
  await writeFile(join(workspace, 'story.txt'), 'once upon a time\nthere was a fox\nthe end\n')
  const prompt = `Record the ${title}`
  const script = (asked: string): readonly ModelStep[] => (asked === prompt ? steps(agent, workspace) : [])
  const model = await agent.startModel({ script, pace: () => ({ tokensPerSecond: 80 }) })
  const provider = builtInProviders.find(({ name }) => name === agent.provider)
  try {
    for (const [path, content] of Object.entries(agent.homeFiles?.(model.url, withoutKey !== true) ?? {})) {
      await mkdir(dirname(join(home, path)), { recursive: true })
      await writeFile(join(home, path), JSON.stringify(content))
    }
    const program = await programOf(agent)
    const environment = {
      PATH: process.env['PATH'] ?? '', HOME: home, ...provider?.defaults, ...agent.ownVariables(model.url),
    }
    const { messages, stderr } = await runStdioTurn({
      program,
      args: agent.args,
      workspace,
      environment,
      mode: inOwnMode ? null : (provider?.modes?.asking ?? null),
      prompt,
      mcpServers: withMcpServer ? [{ name: 'words', command: process.execPath, args: [mcpServer], env: [] }] : [],
      timeoutMs: mayHang ? 60_000 : 120_000,
    })
    const places = [
      [workspace, '/workspace'], [workspace.slice(1), 'workspace'], [home, '/home/demo'], [rootFolder(), '/opt/agents'],
      [model.url, 'http://model'], [process.execPath, '/usr/bin/node'], [mcpServer, '/opt/mcp-server.js'],
    ] as const
    const whole = places.reduce((found, [here, there]) => found.replaceAll(here, there), messages.map(lineOf).join(''))
    // Agents cut long titles, and paths in them.
    const text = whole.replaceAll(/\/tmp\/record-[A-Za-z0-9]*\.\.\./g, '/workspace...')
    await writeFile(join(target, `${title}.jsonl`), text)
    if (mayHang) {
      await writeFile(
        join(target, `${title}.stderr.txt`), stderr.replaceAll(workspace, '/workspace').replaceAll(home, '/home/demo'),
      )
    }
    process.stdout.write(`${title}: ${messages.length} messages\n`)
  } finally {
    await model.close()
    await rm(folder, { recursive: true, force: true })
  }
}

function lineOf(message: StdioMessage): string {
  const line = JSON.stringify(message, (name, value: unknown) => {
    if (listsLeftOut.includes(name) && Array.isArray(value)) return []
    return typeof value === 'string' && value.length > 2000 ? `${value.slice(0, 2000)} [...]` : value
  })
  return `${line}\n`
}

/** Where npm's own script would have put another program, that one is started. */
async function programOf({ provider, package: wanted }: RealAgent): Promise<string> {
  const found = await installAgent(wanted)
  const own = builtInProviders.find(({ name }) => name === provider)?.programs[`${process.platform}-${process.arch}`]
  return own === undefined ? found : join(dirname(dirname(found)), own)
}
