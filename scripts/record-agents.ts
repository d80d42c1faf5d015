/**
 * `node dist/scripts/record-agents.js FOLDER [NAME ...]`: records exchanges with the real agents for the tests.
 *
 * Each agent is the published package, its model a stand-in; what they say to each other over stdio goes into
 * `FOLDER/<name>.jsonl`, one message a line with its time and direction. Folders of this machine become `/workspace` and
 * `/home/demo`, and lists of available commands, which take most of the room, are emptied. The expected events of a
 * recording (test/fixtures/acp-expected) are written by hand: they are what is tested.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { builtInProviders } from '../src/settings/providers-table.ts'
import type { ModelStep } from '../test/fixtures/model-step.ts'
import { installAgent } from './real/agent-package.ts'
import { realAgents, type RealAgent } from './real/agents.ts'
import { runStdioTurn, type StdioMessage } from './real/stdio-turn.ts'

interface Recording {
  readonly name: string
  /** Which agents have something to show; all by default. */
  readonly only?: string
  /** In the agent's own mode instead of the one that the server asks for. */
  readonly inOwnMode?: true
  readonly steps: (agent: RealAgent, workspace: string) => readonly ModelStep[]
}

const todos = [
  { content: 'Look around', activeForm: 'Looking around', status: 'completed' },
  { content: 'Write the note', activeForm: 'Writing the note', status: 'in_progress' },
  { content: 'Check it', activeForm: 'Checking it', status: 'pending' },
]
const printing = 'for word in one two three; do echo $word; sleep 0.3; done; echo oops >&2; exit 3'

const recordings: readonly Recording[] = [
  { name: 'output', steps: (agent) => [{ toolCall: agent.runCommand(printing) }] },
  {
    name: 'edit',
    steps: (agent, workspace) => {
      const path = join(workspace, 'story.txt')
      return agent.replaceText(path, 'there was a fox\n', 'there was a hen\n').map((toolCall) => ({ toolCall }))
    },
  },
  // Codex tells of commands that only read as of reading, without the command.
  { name: 'read', only: 'codex', steps: (agent) => [{ toolCall: agent.runCommand('cat story.txt', false) }] },
  // Codex has a model judge what its own mode does not ask the user about.
  { name: 'guardian', only: 'codex', inOwnMode: true, steps: (agent) => [{ toolCall: agent.runCommand(printing) }] },
  { name: 'plan', only: 'claude-code', steps: () => [{ thought: 'Three steps.', toolCall: { name: 'TodoWrite', input: { todos } } }] },
]

const [target = '', ...names] = process.argv.slice(2)
if (target === '') throw new TypeError('Expected the folder to write to')
for (const agent of realAgents) {
  for (const recording of recordings) {
    if (recording.only !== undefined && recording.only !== agent.provider) continue
    const title = `${agent.provider.replace(/-.*/, '')}-${recording.name}`
    if (names.length === 0 || names.includes(title)) await record(agent, title, recording)
  }
}

async function record(agent: RealAgent, title: string, { steps, inOwnMode }: Recording): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'record-'))
  const [workspace, home] = [join(folder, 'workspace'), join(folder, 'home')]
  await Promise.all([mkdir(workspace), mkdir(home)])
  await writeFile(join(workspace, 'story.txt'), 'once upon a time\nthere was a fox\nthe end\n')
  const prompt = `Record the ${title}`
  const model = await agent.startModel({ script: (asked) => (asked === prompt ? steps(agent, workspace) : []) })
  try {
    const { messages } = await runStdioTurn({
      program: await installAgent(agent.package),
      args: agent.args,
      workspace,
      environment: { PATH: process.env['PATH'] ?? '', HOME: home, ...agent.ownVariables(model.url) },
      mode: inOwnMode ? null : (builtInProviders.find(({ name }) => name === agent.provider)?.modes?.asking ?? null),
      prompt,
      timeoutMs: 120_000,
    })
    const text = messages.map(lineOf).join('').replaceAll(workspace, '/workspace').replaceAll(home, '/home/demo')
    await writeFile(join(target, `${title}.jsonl`), text)
    process.stdout.write(`${title}: ${messages.length} messages\n`)
  } finally {
    await model.close()
    await rm(folder, { recursive: true, force: true })
  }
}

function lineOf(message: StdioMessage): string {
  const line = JSON.stringify(message, (name, value: unknown) => (name === 'availableCommands' ? [] : value))
  return `${line}\n`
}
