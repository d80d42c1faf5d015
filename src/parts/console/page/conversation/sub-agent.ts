/** The view of a call that gives a task to a sub-agent. */
import { textAt } from '../values.ts'
import type { CallView, Parts, Piece } from './piece.ts'
import { content } from './content-pieces.ts'
import { contentText } from './fields.ts'
import type { Call } from './timeline.ts'

/** Tells whether a call gives a task to a sub-agent. */
export function isTask({ action: { body } }: Call): boolean {
  return textAt(body, 'tool_name') === 'task' && textAt(body, 'action', 'kind') === 'MCPToolAction'
    && textAt(body, 'action', 'data', 'prompt') !== ''
}

/**
 * Matches the result of a task. The groups are the conversation's id, the sub-agent's name, the status and the answer.
 */
const taskResult = /^Task ID: ([\da-f-]{36})\nSubagent: (.+)\nStatus: (.+)\n\n([^]*)$/

export function subAgent({ action, observation }: Parts): Partial<CallView> {
  const prompt = textAt(action, 'data', 'prompt')
  const [, id, name, status, answer] = taskResult.exec(contentText(observation, 'content')) ?? []
  const result: readonly Piece[] = id === undefined
    ? content(observation)
    : [{ type: 'conversation', id }, { type: 'markdown', text: answer ?? '' }]
  return {
    verb: 'Task', subject: textAt(action, 'data', 'description') || prompt, isOpen: true,
    facts: [name ?? textAt(action, 'data', 'subagent_type'), status === 'completed' ? '' : status ?? ''],
    pieces: [{ type: 'markdown', text: prompt }, ...result],
  }
}
