/**
 * The script of the demonstration agent: decides what the agent says and does for a prompt.
 *
 * `run: <command>` runs a command, and `write: <file> <text>` writes a file. Any other prompt plays the whole script.
 * The actions are real.
 */
import { runTool, writeTool, type Outcome } from './tools.ts'
import { Cancelled, say, showPlan, think, type DemoTurn } from './turn.ts'

export type StopReason = 'end_turn' | 'cancelled'

const introduction =
  'I am the demonstration agent: I follow a fixed script and am not an AI. What I do here is real, what I say is ' +
  'prepared. '

const steps = ['Say what will happen', 'Write a file', 'List the folder']
const noteName = 'agent-server-demo.txt'

/** Matches `run: <command>`. */
const runPrefix = /^\s*run:\s*(\S[\s\S]*)$/i
/** Matches `write: <file> <text>`, also without a text. */
const writePrefix = /^\s*write:\s*(\S+)\s*([\s\S]*)$/i

/** Runs the script for the texts of a prompt. Returns `cancelled` when the client cancelled the prompt. */
export async function runPrompt(turn: DemoTurn, texts: readonly string[]): Promise<StopReason> {
  try {
    await play(turn, texts)
    return 'end_turn'
  } catch (thrown) {
    if (thrown instanceof Cancelled) return 'cancelled'
    throw thrown
  }
}

async function play(turn: DemoTurn, texts: readonly string[]): Promise<void> {
  await think(turn, 'A script has no thoughts. An agent with a model would show its own here.')
  await say(turn, introduction)
  const command = newestMatch(texts, runPrefix)?.[1]
  if (command !== undefined) return playRun(turn, command.trimEnd())
  const [, file, text] = newestMatch(texts, writePrefix) ?? []
  if (file !== undefined) return playWrite(turn, file, `${text ?? ''}\n`)
  return playScript(turn)
}

function newestMatch(texts: readonly string[], prefix: RegExp): RegExpExecArray | undefined {
  return texts.map((text) => prefix.exec(text)).findLast((match) => match !== null) ?? undefined
}

async function playRun(turn: DemoTurn, command: string): Promise<void> {
  await say(turn, 'You asked for a command, so I run it.')
  await say(turn, sentenceFor(await runTool(turn, command)))
}

async function playWrite(turn: DemoTurn, file: string, text: string): Promise<void> {
  await say(turn, 'You asked for a file, so I write it.')
  await say(turn, sentenceFor(await writeTool(turn, file, () => text)))
}

async function playScript(turn: DemoTurn): Promise<void> {
  await showPlan(turn, steps, 0)
  await say(turn, 'I make a plan, write one line into a file of your workspace and list the folder.')
  await showPlan(turn, steps, 1)
  const written = await writeTool(turn, noteName, (before) => `${before}The demonstration agent was here.\n`)
  await showPlan(turn, steps, 2)
  const listed = await runTool(turn, 'ls -la')
  await showPlan(turn, steps, 3)
  await say(turn, `${sentenceFor(written)} ${sentenceFor(listed)} `)
  await say(turn, 'You can also send `run: <command>` or `write: <file> <text>`. ')
  await say(turn, 'For real work, choose another agent in the settings.')
}

function sentenceFor(outcome: Outcome): string {
  switch (outcome.result) {
    case 'done': return `${outcome.what}: done${outcome.detail === '' ? '' : `, ${outcome.detail}`}.`
    case 'failed': return `${outcome.what}: failed, ${outcome.detail}.`
    case 'refused': return `${outcome.what}: you did not allow it, so I left it.`
  }
}
