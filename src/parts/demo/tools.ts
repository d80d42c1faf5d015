/**
 * The two tools of the demonstration agent: write a file in the workspace, run a command there.
 *
 * A tool sends a tool call (ACP v1), asks the user (not in mode `open`), and reports the result. A write that fails
 * before the tool call sends nothing. Output and exit code of a command are in `_meta`, as Codex sends them.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { messageOf, systemCodeOf } from '../../base/errors.ts'
import { assertRunning, Cancelled, mayDo, nextCallId, update, type DemoTurn } from './turn.ts'

export interface Outcome {
  readonly what: string
  readonly result: 'done' | 'failed' | 'refused'
  /** The result in words, such as `exit code 0`; empty when `result` says enough. */
  readonly detail: string
}

const fileLimitChars = 64 * 1024

/**
 * Writes a file if `mayDo` allows the call. `textFrom` makes the new text from the current text, which is empty for
 * a new file. The result is `failed` for a file outside the workspace, an unreadable file, a text above
 * `fileLimitChars`, or a failed write.
 */
export async function writeTool(turn: DemoTurn, file: string, textFrom: (before: string) => string): Promise<Outcome> {
  const path = resolve(turn.session.cwd, file)
  const what = `Writing ${file}`
  if (isOutside(turn.session.cwd, path)) return { what, result: 'failed', detail: 'it lies outside the workspace' }
  const oldText = await readText(path)
  if (oldText === undefined) return { what, result: 'failed', detail: 'the present content cannot be read' }
  const newText = textFrom(oldText ?? '')
  if (newText.length > fileLimitChars) {
    return { what, result: 'failed', detail: `it would grow over ${fileLimitChars} characters` }
  }
  const call = {
    toolCallId: nextCallId(turn),
    title: `Write ${file}`,
    kind: 'edit',
    status: 'pending',
    rawInput: { path, text: newText },
    content: [{ type: 'diff', path, oldText, newText }],
    locations: [{ path }],
  }
  await update(turn, { sessionUpdate: 'tool_call', ...call })
  if (!(await mayDo(turn, call))) return refused(turn, call.toolCallId, what)
  assertRunning(turn)
  const problem = await writeFile(path, newText).then(() => undefined, messageOf)
  return ended(turn, call.toolCallId, {
    what,
    result: problem === undefined ? 'done' : 'failed',
    detail: problem ?? '',
  })
}

/** Runs a shell command if `mayDo` allows the call. Sends the output to the client as it arrives. */
export async function runTool(turn: DemoTurn, command: string): Promise<Outcome> {
  const toolCallId = nextCallId(turn)
  const what = `Running \`${command}\``
  const call = {
    toolCallId,
    title: command,
    kind: 'execute',
    status: 'pending',
    rawInput: { command, cwd: turn.session.cwd },
  }
  await update(turn, { sessionUpdate: 'tool_call', ...call })
  if (!(await mayDo(turn, call))) return refused(turn, toolCallId, what)
  await update(turn, { sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress' })
  const end = await turn.runCommand({
    command,
    cwd: turn.session.cwd,
    signal: turn.signal,
    // After the prompt is cancelled, `update` rejects with `Cancelled`, and the output is dropped.
    onOutput: (data) => void update(turn, outputUpdate(toolCallId, data)).catch(ignoreCancelled),
  })
  assertRunning(turn)
  const outcome = { what, result: end.exitCode === 0 ? 'done' : 'failed', detail: end.words } as const
  const exit = { terminal_id: toolCallId, exit_code: end.exitCode, signal: end.signal }
  return ended(turn, toolCallId, outcome, { terminal_exit: exit })
}

async function refused(turn: DemoTurn, toolCallId: string, what: string): Promise<Outcome> {
  return ended(turn, toolCallId, { what, result: 'refused', detail: '' })
}

async function ended(turn: DemoTurn, toolCallId: string, outcome: Outcome, meta?: object): Promise<Outcome> {
  const status = outcome.result === 'done' ? 'completed' : 'failed'
  const rawOutput = outcome.detail === '' || meta !== undefined ? {} : { rawOutput: outcome.detail }
  const extra = meta === undefined ? {} : { _meta: meta }
  await update(turn, { sessionUpdate: 'tool_call_update', toolCallId, status, ...rawOutput, ...extra })
  return outcome
}

function outputUpdate(toolCallId: string, data: string): object {
  return {
    sessionUpdate: 'tool_call_update',
    toolCallId,
    _meta: { terminal_output_delta: { terminal_id: toolCallId, data } },
  }
}

/** Returns the text of a file; null for a missing file, undefined for an unreadable file. */
async function readText(path: string): Promise<string | null | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    return systemCodeOf(error) === 'ENOENT' ? null : undefined
  }
}

function isOutside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way === '' || way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)
}

function ignoreCancelled(thrown: unknown): void {
  if (!(thrown instanceof Cancelled)) throw thrown
}
