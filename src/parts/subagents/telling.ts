/** The texts for the model about the tool `task`: its description, its parameters, and the result of a task. */
import type { JsonObject } from '../../base/json.ts'
import type { SubEnd } from '../../conversation/list/sub-run.ts'
import { usualName } from './builtins.ts'
import type { Definition } from './definition.ts'

const answerLimitChars = 100_000

export function describeTool(definitions: readonly Definition[]): string {
  return `Give a task to a sub-agent: an agent with its own history, in the same folder, which works alone and returns \
one message. Use it for work whose details you do not need to see, such as a long search, and for independent tasks: \
calls in one answer run at the same time, so give no two of them the same files to change. The sub-agent knows nothing \
of this conversation: say in the prompt everything that it needs, and what its answer must contain. It gives no tasks \
itself. The result names the task's id; with resume the same sub-agent continues from its own history.

Sub-agents:
${definitions.map(({ name, description }) => `- ${name}: ${description.replace(/\s+/g, ' ').trim()}`).join('\n')}`
}

export function parametersFor(definitions: readonly Definition[]): JsonObject {
  return {
    type: 'object',
    properties: {
      description: { type: 'string', description: 'The task in three to five words, for the user.' },
      prompt: { type: 'string', description: 'The whole task.' },
      subagent_type: {
        type: 'string',
        enum: definitions.map(({ name }) => name),
        description: `The sub-agent. Default: ${usualName}.`,
      },
      resume: { type: 'string', description: 'The id of an earlier task, to continue it.' },
    },
    required: ['prompt'],
  }
}

export function describeEnd(id: string, name: string, { status, answer, failure }: SubEnd): string {
  const head = `Task ID: ${id}\nSubagent: ${name}\nStatus: ${statusWord(status)}`
  const why = failure === undefined ? '' : `\n\nThe sub-agent failed (${failure.code}): ${failure.detail}`
  const note = status === 'paused' ? '\n\nThe sub-agent was stopped before its end. Resume the task to go on.' : ''
  const said = answer === '' ? 'The sub-agent said nothing.' : cut(answer)
  return `${head}${why}${note}\n\n${said}`
}

function statusWord(status: SubEnd['status']): string {
  return status === 'finished' ? 'completed' : status
}

function cut(text: string): string {
  if (text.length <= answerLimitChars) return text
  return `${text.slice(0, answerLimitChars)}\n[${text.length - answerLimitChars} characters are left out here]`
}
